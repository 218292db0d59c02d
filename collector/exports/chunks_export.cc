// `crema export --to chunks`.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "collector/exports/chunk_fields.h"
#include "collector/exports/delimited_text.h"
#include "collector/exports/formats.h"
#include "collector/exports/missing_ranges.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Entries = std::pair<int64_t, int64_t>;

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

absl::Status WriteCsv(const ExportSource& source, TextSink* sink) {
  std::vector<std::string> line;
  for (const ChunkField& field : ChunkFields()) line.emplace_back(field.name);
  sink->Write(CsvLine(line));
  return source.for_each_attempt([&line, sink](const Attempt& attempt) {
    line.clear();
    for (const ChunkField& field : ChunkFields()) line.push_back(CsvField(ToJson(field.value(attempt))));
    sink->Write(CsvLine(line));
  });
}

Json NumberOr(const MissingRange& range, int64_t Entries::*member) {
  return range.has_value() ? Json((*range).*member) : Json();
}

/// One row a range; its entries are null where the whole file is meant.
absl::Status WriteMissing(const ExportSource& source, const std::string& path, TextSink* sink) {
  const absl::StatusOr<std::vector<MissingFile>> missing = FindMissing(source);
  if (!missing.ok()) return missing.status();
  const bool is_csv = EndsWith(path, ".csv");
  if (is_csv) sink->Write("dataset,file,tree,entry_start,entry_stop\n");
  for (const MissingFile& file : *missing) {
    for (const MissingRange& range : file.ranges) {
      const Json first = NumberOr(range, &Entries::first);
      const Json stop = NumberOr(range, &Entries::second);
      if (EndsWith(path, ".txt")) {
        // Programs that read lines take the last entry, not the one after it; `0 -1` is the whole file.
        sink->Write(range.has_value() ? fmt::format("{} {} {}\n", file.file, range->first, range->second - 1)
                                      : fmt::format("{} 0 -1\n", file.file));
      } else if (is_csv) {
        sink->Write(CsvLine({CsvField(Json(file.dataset)), CsvField(Json(file.file)), CsvField(Json(file.tree)),
                             CsvField(first), CsvField(stop)}));
      } else {
        const Json row = {{"dataset", file.dataset},
                          {"file", file.file},
                          {"tree", file.tree.empty() ? Json() : Json(file.tree)},
                          {"entry_start", first},
                          {"entry_stop", stop}};
        sink->Write(row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteChunks(const ExportSource& source, const std::string& path, TextSink* sink) {
  if (source.without_result) return WriteMissing(source, path, sink);
  if (EndsWith(path, ".csv")) return WriteCsv(source, sink);
  return source.for_each_attempt([sink](const Attempt& attempt) {
    sink->Write(ChunkAsJson(attempt).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  });
}

}  // namespace crema
