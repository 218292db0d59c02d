#include "collector/sources/roastcoffea/roastcoffea_records.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "collector/records/loose_json.h"
#include "collector/records/section_path.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMebibyte = 1024.0 * 1024.0;

std::optional<int64_t> Nanoseconds(const std::optional<double>& seconds) {
  // so that the sum of two fits 64 bits of nanoseconds
  if (!seconds.has_value() || !(*seconds >= 0 && *seconds < 4e9)) return std::nullopt;
  return std::llround(*seconds * 1e9);
}

/// null where it does not fit.
Json Integer(double value) { return std::fabs(value) < 9e18 ? Json(std::llround(value)) : Json(); }

Json PositiveInteger(const Json& record, const char* key) {
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value > 0 ? Integer(*value) : Json();
}

Json CountOrNull(const Json& record, const char* key) {
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value >= 0 ? Integer(*value) : Json();
}

Json TextOrNull(const Json& record, const char* key) {
  const std::string text = TextField(record, key);
  return text.empty() || text == "None" ? Json() : Json(text);
}

Json Mebibytes(const Json& record, const char* key) {
  // 0.0 is what it writes without psutil: no process has no memory
  const std::optional<double> value = NumberField(record, key);
  return value.has_value() && *value > 0 ? Integer(*value * kMebibyte) : Json();
}

/// roastcoffea's own names are one section each: a slash in one is no path.
std::string PathOf(const std::string& name, bool has_section_paths) {
  return has_section_paths ? name : PathPartOfName(name);
}

/// What lies inside each section, by its path; what lies in no other one, by the empty path.
std::map<std::string, int64_t> InnerNanoseconds(const std::map<std::string, int64_t>& total_ns) {
  std::map<std::string, int64_t> inner_ns;
  for (const auto& [path, ns] : total_ns) {
    const size_t slash = path.rfind('/');
    const std::string around = slash == std::string::npos ? "" : path.substr(0, slash);
    int64_t& inner = inner_ns[total_ns.count(around) > 0 ? around : ""];
    inner = std::min(inner, INT64_MAX - ns) + ns;
  }
  return inner_ns;
}

Json Sections(const Json& record, int64_t duration_ns, bool has_section_paths, RoastcoffeaRecords* told) {
  std::map<std::string, int64_t> total_ns;
  for (const auto& [name, seconds] : Field(record, "timing").items()) {
    if (!seconds.is_number()) continue;
    const std::optional<int64_t> ns = Nanoseconds(seconds.get<double>());
    if (ns.has_value()) total_ns[PathOf(name, has_section_paths)] = *ns;
  }
  std::map<std::string, int64_t> inner_ns = InnerNanoseconds(total_ns);
  bool overlap = inner_ns[""] > duration_ns;
  Json rows = Json::array();
  for (const auto& [path, ns] : total_ns) {
    const int64_t self_ns = path.empty() ? ns : ns - inner_ns[path];
    overlap = overlap || self_ns < 0;
    rows.push_back(
        {{"path", path}, {"count", 1}, {"total_ns", ns}, {"self_ns", self_ns}, {"min_ns", ns}, {"max_ns", ns}});
  }
  if (!overlap) return rows;
  ++told->overlapping_timings;
  return Json::array();
}

Json MemorySections(const Json& record, bool has_section_paths) {
  Json rows = Json::array();
  for (const auto& [name, mebibytes] : Field(record, "memory").items()) {
    if (!mebibytes.is_number()) continue;
    const Json bytes = Integer(mebibytes.get<double>() * kMebibyte);
    if (bytes.is_null()) continue;
    rows.push_back({{"path", PathOf(name, has_section_paths)},
                    {"count", 1},
                    {"delta_bytes", bytes},
                    {"min_bytes", bytes},
                    {"max_bytes", bytes}});
  }
  return rows;
}

std::optional<Json> ChunkLine(const Json& record, bool has_section_paths, RoastcoffeaRecords* told) {
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
  line["sections"] = Sections(record, *duration_ns, has_section_paths, told);
  line["memory_sections"] = MemorySections(record, has_section_paths);
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
          {"bytes", has_bytes ? Integer(compressed.get<double>() / *ratio) : Json()},
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
    const std::optional<Json> line = ChunkLine(record, measurement.has_section_paths, &told);
    if (!line.has_value()) {
      ++told.malformed;
      continue;
    }
    last_ns = std::max(last_ns, line->at("stop_ns").get<int64_t>());
    add(*line);
    ++told.chunks;
  }
  constexpr int64_t kSomeTime = 1'000'000'000;  // without chunks nothing tells when it was
  if (told.chunks == 0 && !NumberField(measurement.metrics, "num_chunks").has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: holds neither chunk records (raw_chunk_metrics) nor totals", measurement.name));
  }
  if (told.chunks == 0) last_ns = Nanoseconds(measurement.elapsed_seconds).value_or(0) + kSomeTime;
  for (const auto& [name, metadata] : Field(measurement.metrics, "file_metadata").items())
    add(FileLine(name, metadata));
  add({{"type", "end"}, {"time_ns", last_ns}, {"realtime_offset_ns", 0}, {"chunks", told.chunks}});

  const int64_t start_ns = last_ns - Nanoseconds(measurement.elapsed_seconds).value_or(last_ns);
  const std::optional<double> cores = NumberField(measurement.metrics, "total_cores");
  const Json process = {{"type", "process"},
                        {"schema", "crema.records/1"},
                        {"schema_minor", 0},
                        {"run_id", "roastcoffea-" + measurement.name},
                        {"host", "unknown"},
                        {"pid", 0},
                        {"start_ns", std::max<int64_t>(0, start_ns)},
                        {"recorder", 0},
                        {"threads", cores.has_value() && *cores >= 1 && *cores < 1e9 ? Integer(*cores) : Json()}};
  const std::string path = fmt::format("{}/unknown-0-{}-0.jsonl", directory, std::max<int64_t>(0, start_ns));
  std::ofstream log(path, std::ios::binary);
  log << process.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n" << lines;
  log.close();
  if (!log) return absl::UnavailableError(fmt::format("{}: cannot be written", path));
  return told;
}

}  // namespace crema
