#include "collector/sources/roastcoffea/roastcoffea_records.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "absl/status/status.h"
#include "collector/insight/document_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMebibyte = 1024.0 * 1024.0;

std::optional<int64_t> Nanoseconds(const std::optional<double>& seconds) {
  // beyond this a double does not fit 64 bits of nanoseconds
  if (!seconds.has_value() || *seconds < 0 || *seconds > 9e9) return std::nullopt;
  return std::llround(*seconds * 1e9);
}

Json PositiveInteger(const Json& record, const char* key) {
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value > 0 && *value < 9e18 ? Json(std::llround(*value)) : Json();
}

Json CountOrNull(const Json& record, const char* key) {
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value >= 0 && *value < 9e18 ? Json(std::llround(*value)) : Json();
}

Json TextOrNull(const Json& record, const char* key) {
  const std::string text = TextField(record, key);
  return text.empty() || text == "None" ? Json() : Json(text);
}

Json Mebibytes(const Json& record, const char* key) {
  // 0.0 is what it writes without psutil: no process has no memory
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value > 0 ? Json(std::llround(*value * kMebibyte)) : Json();
}

/// A name is one section: a slash in it is no path.
std::string SectionName(std::string name) {
  for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at)) name.replace(at, 1, "%2F");
  return name;
}

Json Sections(const Json& record, int64_t duration_ns, RoastcoffeaRecords* told) {
  Json rows = Json::array();
  int64_t sum_ns = 0;
  for (const auto& [name, seconds] : Field(record, "timing").items()) {
    if (!seconds.is_number()) continue;
    const std::optional<int64_t> ns = Nanoseconds(seconds.get<double>());
    if (!ns.has_value()) continue;
    sum_ns += *ns;
    rows.push_back({{"path", SectionName(name)},
                    {"count", 1},
                    {"total_ns", *ns},
                    {"self_ns", *ns},
                    {"min_ns", *ns},
                    {"max_ns", *ns}});
  }
  if (sum_ns <= duration_ns) return rows;
  ++told->overlapping_timings;
  return Json::array();
}

Json MemorySections(const Json& record) {
  Json rows = Json::array();
  for (const auto& [name, mebibytes] : Field(record, "memory").items()) {
    if (!mebibytes.is_number()) continue;
    const int64_t bytes = std::llround(mebibytes.get<double>() * kMebibyte);
    rows.push_back({{"path", SectionName(name)},
                    {"count", 1},
                    {"delta_bytes", bytes},
                    {"min_bytes", bytes},
                    {"max_bytes", bytes}});
  }
  return rows;
}

std::optional<Json> ChunkLine(const Json& record, RoastcoffeaRecords* told) {
  const std::optional<int64_t> start_ns = Nanoseconds(NumberField(record, "t_start"));
  const std::optional<int64_t> duration_ns = Nanoseconds(NumberField(record, "duration"));
  if (!start_ns.has_value() || !duration_ns.has_value()) return std::nullopt;
  const bool failed = Field(record, "error").is_string();
  Json columns = Json::array();
  for (const Json& column : ListField(record, "accessed_branches")) {
    if (column.is_string()) columns.push_back(column);
  }
  Json line = {{"type", "chunk"},
               {"chunk", told->chunks},
               {"start_ns", *start_ns},
               {"stop_ns", *start_ns + *duration_ns},
               {"status", failed ? "failed" : "ok"},
               {"events", CountOrNull(record, "num_events")},
               {"bytes_read", PositiveInteger(record, "bytes_read")},
               {"rss_start_bytes", Mebibytes(record, "mem_before_mb")},
               {"rss_stop_bytes", Mebibytes(record, "mem_after_mb")},
               {"dataset", TextOrNull(record, "dataset")},
               {"file", TextOrNull(record, "file")},
               {"entry_start", CountOrNull(record, "entry_start")},
               {"entry_stop", CountOrNull(record, "entry_stop")},
               {"error", failed ? Field(record, "error") : Json()},
               {"columns", std::move(columns)}};
  line["sections"] = Sections(record, *duration_ns, told);
  line["memory_sections"] = MemorySections(record);
  return line;
}

Json FileLine(const std::string& name, const Json& metadata) {
  const Json compressed = PositiveInteger(metadata, "total_tree_bytes");
  const std::optional<double> ratio = NumberField(metadata, "compression_ratio");
  const bool has_bytes = compressed.is_number() && ratio.has_value() && *ratio > 0;
  return {{"type", "file"},
          {"file", name},
          {"branches", PositiveInteger(metadata, "total_branches")},
          // theirs is compressed over uncompressed
          {"bytes", has_bytes ? Json(std::llround(compressed.get<double>() / *ratio)) : Json()},
          {"compressed_bytes", compressed}};
}

}  // namespace

absl::StatusOr<RoastcoffeaRecords> WriteRoastcoffeaRecords(const RoastcoffeaMeasurement& measurement,
                                                           const std::string& directory) {
  RoastcoffeaRecords told;
  std::string lines;
  int64_t last_ns = 0;
  const auto add = [&lines](const Json& line) {
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  for (const Json& record : ListField(measurement.metrics, "raw_chunk_metrics")) {
    const std::optional<Json> line = ChunkLine(record, &told);
    if (!line.has_value()) {
      ++told.malformed;
      continue;
    }
    last_ns = std::max(last_ns, line->at("stop_ns").get<int64_t>());
    add(*line);
    ++told.chunks;
  }
  if (told.chunks == 0) {
    return absl::FailedPreconditionError(
        fmt::format("{}: holds no chunk records (raw_chunk_metrics); was the processor decorated with @track_metrics?",
                    measurement.name));
  }
  for (const auto& [name, metadata] : Field(measurement.metrics, "file_metadata").items())
    add(FileLine(name, metadata));
  add({{"type", "end"}, {"time_ns", last_ns}, {"realtime_offset_ns", 0}, {"chunks", told.chunks}});

  const int64_t start_ns = last_ns - std::llround(measurement.elapsed_seconds * 1e9);
  const std::optional<double> cores = NumberField(measurement.metrics, "total_cores");
  const Json process = {{"type", "process"},
                        {"schema", "crema.records/1"},
                        {"schema_minor", 0},
                        {"run_id", "roastcoffea-" + measurement.name},
                        {"host", "unknown"},
                        {"pid", 0},
                        {"start_ns", std::max<int64_t>(0, start_ns)},
                        {"recorder", 0},
                        {"threads", cores.has_value() && *cores >= 1 ? Json(std::llround(*cores)) : Json()}};
  const std::string path = fmt::format("{}/unknown-0-{}-0.jsonl", directory, std::max<int64_t>(0, start_ns));
  std::ofstream log(path, std::ios::binary);
  log << process.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n" << lines;
  log.close();
  if (!log) return absl::UnavailableError(fmt::format("{}: cannot be written", path));
  return told;
}

}  // namespace crema
