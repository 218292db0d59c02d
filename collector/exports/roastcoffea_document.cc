#include "collector/exports/roastcoffea_document.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "collector/document/document_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMebibyte = 1024.0 * 1024.0;

Json OrZero(const Json& document, std::string_view key) {
  const Json& value = Field(Field(document, "metrics"), key);
  return value.is_number() ? value : Json(0);
}

Json OrNull(const Json& document, std::string_view key) {
  const Json& value = Field(Field(document, "metrics"), key);
  return value.is_number() ? value : Json();
}

/// roastcoffea's name, ours.
constexpr std::pair<const char*, const char*> kWorkflow[] = {
    {"data_rate_gbps", "overall_rate_gbps"},
    {"total_events", "total_events"},
    {"event_rate_elapsed_khz", "event_rate_wall_khz"},
    {"event_rate_cpu_total_khz", "event_rate_agg_khz"},
    {"elapsed_time_seconds", "wall_time"},
    {"total_cpu_time", "busy_time"},
    {"total_bytes_read", "bytes_read_compressed"},
};
constexpr const char* kWorkers[] = {"avg_workers",      "peak_workers",      "total_cores",
                                    "cores_per_worker", "peak_memory_bytes", "avg_memory_per_worker_bytes"};
constexpr std::pair<const char*, const char*> kFine[] = {
    {"processor_cpu_time_seconds", "processor_cpu_time_seconds"},
    {"processor_io_wait_time_seconds", "processor_noncpu_time_seconds"},
    {"processor_cpu_percent", "processor_cpu_percentage"},
    {"processor_io_wait_percent", "processor_noncpu_percentage"},
    {"overhead_cpu_time_seconds", "overhead_cpu_time_seconds"},
    {"overhead_io_wait_time_seconds", "overhead_noncpu_time_seconds"},
    {"total_bytes_memory_read", "total_bytes_memory_read_dask"},
    {"disk_read_bytes", "disk_read_bytes"},
    {"disk_write_bytes", "disk_write_bytes"},
    {"decompression_time_seconds", "decompression_time_seconds"},
    {"compression_time_seconds", "compression_time_seconds"},
    {"total_compression_overhead_seconds", "total_compression_overhead_seconds"},
    {"deserialization_time_seconds", "deserialization_time_seconds"},
    {"serialization_time_seconds", "serialization_time_seconds"},
    {"total_serialization_overhead_seconds", "total_serialization_overhead_seconds"},
};

/// All of them, 0 where unseen, or none: the package's table tells a run without Dask's spans by their absence.
void AddFine(const Json& document, Json* metrics) {
  bool any = false;
  for (const auto& [theirs, ours] : kFine) any = any || !OrNull(document, ours).is_null();
  if (!any) return;
  for (const auto& [theirs, ours] : kFine) (*metrics)[theirs] = OrZero(document, ours);
}

void AddChunks(const Json& document, const RoastcoffeaChunkCounts& chunks, Json* metrics) {
  (*metrics)["num_successful_chunks"] = chunks.ok;
  (*metrics)["num_failed_chunks"] = chunks.ended - chunks.ok;
  if (chunks.ok == 0) return;
  for (const char* statistic : {"mean", "min", "max", "std"}) {
    (*metrics)[fmt::format("chunk_duration_{}", statistic)] =
        OrZero(document, fmt::format("chunk_duration_{}", statistic));
  }
  if (!OrNull(document, "chunk_rss_delta_mean").is_null()) {
    for (const char* statistic : {"mean", "min", "max", "std"}) {
      const Json delta = OrZero(document, fmt::format("chunk_rss_delta_{}", statistic));
      (*metrics)[fmt::format("chunk_mem_delta_{}_mb", statistic)] = delta.get<double>() / kMebibyte;
    }
  }
  if (OrNull(document, "chunk_events_mean").is_null()) return;
  (*metrics)["total_events_from_chunks"] = chunks.events;
  for (const char* statistic : {"mean", "min", "max"}) {
    (*metrics)[fmt::format("chunk_events_{}", statistic)] = OrZero(document, fmt::format("chunk_events_{}", statistic));
  }
}

/// Seconds since the run's start as a naive local time, which the package reads with `datetime.fromisoformat`.
std::string NaiveLocal(const Json& seconds, int64_t start_ns) {
  const absl::Time time = absl::FromUnixNanos(start_ns) + absl::Seconds(seconds.get<double>());
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6S", time, absl::LocalTimeZone());
}

bool IsPoint(const Json& point) { return point.is_array() && point.size() == 2 && point[0].is_number(); }

Json PointsOf(const Json& points, int64_t start_ns) {
  Json result = Json::array();
  if (!points.is_array()) return result;
  for (const Json& point : points) {
    if (IsPoint(point)) result.push_back({NaiveLocal(point[0], start_ns), point[1]});
  }
  return result;
}

/// The package joins points by lines: the value before each change is repeated just before it.
Json AsCorners(const Json& steps) {
  constexpr double kJustBefore = 1e-6;
  Json corners = Json::array();
  if (!steps.is_array()) return corners;
  for (const Json& point : steps) {
    if (!IsPoint(point)) continue;
    const double before = point[0].get<double>() - kJustBefore;
    if (!corners.empty() && corners.back()[0].get<double>() < before) corners.push_back({before, corners.back()[1]});
    corners.push_back(point);
  }
  return corners;
}

/// A step function read at the times of another: the package looks memory and limit up at equal times.
Json AtTimesOf(const Json& times, const Json& steps) {
  Json result = Json::array();
  if (!times.is_array() || !steps.is_array()) return result;
  size_t next = 0;
  Json value;
  for (const Json& point : times) {
    if (!IsPoint(point)) continue;
    while (next < steps.size() && IsPoint(steps[next]) && steps[next][0].get<double>() <= point[0].get<double>()) {
      value = steps[next++][1];
    }
    if (!value.is_null()) result.push_back({point[0], value});
  }
  return result;
}

}  // namespace

Json RoastcoffeaFigures(const Json& document, const RoastcoffeaChunkCounts& chunks) {
  Json metrics = Json::object();
  for (const auto& [theirs, ours] : kWorkflow) metrics[theirs] = OrZero(document, ours);
  metrics["num_chunks"] = chunks.ended;
  metrics["avg_cpu_time_per_chunk"] = OrZero(document, "busy_time_per_attempt");
  for (const char* key : kWorkers) metrics[key] = OrNull(document, key);
  metrics["core_efficiency"] = OrNull(document, "core_efficiency");
  metrics["speedup_factor"] = OrZero(document, "speedup_factor");
  metrics["event_rate_core_khz"] = OrNull(document, "event_rate_core_khz");
  AddFine(document, &metrics);
  AddChunks(document, chunks, &metrics);
  return metrics;
}

Json RoastcoffeaSections(const Json& document) {
  Json sections = Json::object();
  for (const Json& row : ListField(document, "sections")) {
    const Json& helper = Field(row, "helper");
    std::string name = TextField(row, "path");
    if (helper.is_boolean() && helper.get<bool>()) name += " (helper)";
    sections[name] = {{"count", Field(row, "count")},
                      {"total_duration", NumberField(row, "total").value_or(0)},
                      {"type", "time"},
                      {"mean_duration", NumberField(row, "mean").value_or(0)}};
  }
  for (const Json& row : ListField(document, "memory_sections")) {
    const double count = NumberField(row, "count").value_or(0);
    const auto mebibytes = [&row](const char* field) { return NumberField(row, field).value_or(0) / kMebibyte; };
    sections[TextField(row, "path") + " (memory)"] = {
        {"count", Field(row, "count")},
        {"total_duration", 0.0},
        {"type", "memory"},
        {"mean_duration", 0.0},
        {"mean_mem_delta_mb", count > 0 ? mebibytes("delta_bytes") / count : 0},
        {"max_mem_delta_mb", mebibytes("max_bytes")},
        {"min_mem_delta_mb", mebibytes("min_bytes")}};
  }
  return sections;
}

Json RoastcoffeaTrackingData(const Json& document) {
  const Json& timelines = Field(document, "timelines");
  const Json& memory = Field(timelines, "worker_memory");
  const Json& start = Field(Field(document, "run"), "start_ns");
  if (!memory.is_object() || memory.empty() || !start.is_number_integer()) return {};
  const auto start_ns = start.get<int64_t>();
  Json tracking = {{"worker_counts", Json::object()}};
  for (const Json& point : AsCorners(ListField(timelines, "worker_counts"))) {
    tracking["worker_counts"][NaiveLocal(point[0], start_ns)] = point[1];
  }
  for (const char* series :
       {"worker_memory", "worker_memory_limit", "worker_active_tasks", "worker_cores", "worker_nbytes",
        "worker_occupancy", "worker_executing", "worker_last_seen", "worker_cpu"}) {
    tracking[series] = Json::object();
    const Json& by_worker = Field(timelines, series);
    if (!by_worker.is_object()) continue;
    for (const auto& [worker, points] : by_worker.items()) {
      const std::string_view name = series;
      tracking[series][worker] = PointsOf(name == "worker_memory_limit" ? AtTimesOf(Field(memory, worker), points)
                                          : name == "worker_cores"      ? AsCorners(points)
                                                                        : points,
                                          start_ns);
    }
  }
  return tracking;
}

std::string PythonRepr(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string repr(1, quote);
  for (const char character : text) {
    if (character == '\\' || character == quote) repr += '\\';
    if (character == '\n') {
      repr += "\\n";
    } else if (character == '\t') {
      repr += "\\t";
    } else {
      repr += character;
    }
  }
  return repr + quote;
}

Json RoastcoffeaSpanMetrics(const Json& document) {
  std::map<std::string, double> sums;  // of spans and workers
  for (const Json& row : ListField(document, "fine")) {
    const std::optional<double> value = NumberField(row, "value");
    if (!value.has_value() || TextField(row, "context") == "native") continue;
    sums[fmt::format("({}, {}, {}, {})", PythonRepr(TextField(row, "context")), PythonRepr(TextField(row, "function")),
                     PythonRepr(TextField(row, "activity")), PythonRepr(TextField(row, "unit")))] += *value;
  }
  Json metrics = Json::object();
  for (const auto& [key, value] : sums) metrics[key] = value;
  return metrics;
}

}  // namespace crema
