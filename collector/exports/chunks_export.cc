// `crema export --to chunks`.
#include <string>
#include <vector>

#include "collector/exports/chunk_fields.h"
#include "collector/exports/delimited_text.h"
#include "collector/exports/formats.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

absl::Status WriteChunks(const ExportSource& source, const std::string& path, TextSink* sink) {
  if (EndsWith(path, ".csv")) return WriteCsv(source, sink);
  return source.for_each_attempt([sink](const Attempt& attempt) {
    sink->Write(ChunkAsJson(attempt).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  });
}

}  // namespace crema
