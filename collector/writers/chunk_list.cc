#include "collector/writers/chunk_list.h"

#include "collector/appearance/human_numbers.h"
#include "collector/records/loose_json.h"
#include "collector/writers/document_table.h"
#include "collector/writers/table_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// What they are sorted by is always shown.
std::vector<CellColumn> ChunkColumns(std::string_view sorted_by) {
  std::vector<CellColumn> columns = {{"chunk", "chunk", Kind::kText, 0},
                                     {"status", "status", Kind::kText, 1},
                                     {"dataset", "dataset", Kind::kText, 1},
                                     {"file", "file", Kind::kPath, 6},
                                     {"entry_start", "from entry", Kind::kExactCount, 7},
                                     {"entry_stop", "to entry", Kind::kExactCount, 7},
                                     {"worker", "worker", Kind::kText, 3},
                                     {"start", "start", Kind::kDuration, 5},
                                     {"duration", "took", Kind::kDuration, 0},
                                     {"events", "events", Kind::kCount, 2},
                                     {"event_rate", "rate", Kind::kRate, 5},
                                     {"bytes_read", "read", Kind::kData, 5},
                                     {"cpu", "cpu", Kind::kDuration, 2},
                                     {"cpu_wait", "cpu wait", Kind::kDuration, 4},
                                     {"joined", "joined", Kind::kDuration, 8},
                                     {"blocked", "blocked", Kind::kDuration, 4},
                                     {"rss_delta_bytes", "RSS delta", Kind::kMemory, 6},
                                     {"error", "error", Kind::kText, 3}};
  for (CellColumn& column : columns) {
    if (column.key != sorted_by) continue;
    column.rank = 0;
    return columns;
  }
  columns.insert(columns.begin() + 1, {sorted_by, std::string(sorted_by), Kind::kText, 0});
  return columns;
}

}  // namespace

std::string RenderChunkList(const ChunkListing& listing, const TerminalStyle& style) {
  std::string text;
  if (listing.summed > 0) {
    AddNote(Counted(static_cast<double>(listing.summed), "more chunk was summed, and is",
                    "more chunks were summed, and are") +
                " not in this list",
            style, &text);
  }
  if (listing.seen == 0 && listing.summed > 0) return text;
  if (listing.rows.empty()) {
    AddNote(listing.seen == 0 ? "no chunk was recorded"
                              : fmt::format("none of {} meets the conditions",
                                            Counted(static_cast<double>(listing.seen), "attempt", "attempts")),
            style, &text);
    return text;
  }
  Json rows = listing.rows;
  for (Json& row : rows) {
    const Json& start_ns = Field(row, "start_ns");
    if (listing.run_start_ns.has_value() && start_ns.is_number_integer()) {
      // the difference in integers: a double holds Unix nanoseconds to 256 ns only
      row["start"] = static_cast<double>(start_ns.get<int64_t>() - *listing.run_start_ns) / 1e9;
    }
  }
  AddTable(TableOf(CellsOf(rows, ChunkColumns(listing.sorted_by))), style, &text);
  const std::string of_all = listing.matched == listing.seen
                                 ? ""
                                 : fmt::format(" that match, of {}", ExactCount(static_cast<double>(listing.seen)));
  AddNote(fmt::format("{} of {}{}, by {}", ExactCount(static_cast<double>(rows.size())),
                      Counted(static_cast<double>(listing.matched), "attempt", "attempts"), of_all, listing.sorted_by),
          style, &text);
  return text;
}

}  // namespace crema
