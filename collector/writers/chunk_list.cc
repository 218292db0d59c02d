#include "collector/writers/chunk_list.h"

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/writers/table_columns.h"
#include "collector/writers/table_text.h"
#include "fmt/format.h"

namespace crema {

using Json = nlohmann::ordered_json;

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
  AddTable(TableOf(rows, ChunkColumns(listing.sorted_by)), style, &text);
  const std::string of_all = listing.matched == listing.seen
                                 ? ""
                                 : fmt::format(" that match, of {}", ExactCount(static_cast<double>(listing.seen)));
  AddNote(fmt::format("{} of {}{}, by {}", ExactCount(static_cast<double>(rows.size())),
                      Counted(static_cast<double>(listing.matched), "attempt", "attempts"), of_all, listing.sorted_by),
          style, &text);
  return text;
}

}  // namespace crema
