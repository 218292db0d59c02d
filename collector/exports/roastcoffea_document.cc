#include "collector/exports/roastcoffea_document.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "collector/measurement/measurement_json.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMebibyte = 1024.0 * 1024.0;

Json OrNull(const Measurement& measurement, std::string_view key) {
  return measurement.Metric(key).has_value() ? JsonOf(*measurement.metrics.Find(key)) : Json();
}

Json OrZero(const Measurement& measurement, std::string_view key) {
  return measurement.Metric(key).has_value() ? OrNull(measurement, key) : Json(0);
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
void AddFine(const Measurement& measurement, Json* metrics) {
  bool any = false;
  for (const auto& [theirs, ours] : kFine) any = any || !OrNull(measurement, ours).is_null();
  if (!any) return;
  for (const auto& [theirs, ours] : kFine) (*metrics)[theirs] = OrZero(measurement, ours);
}

void AddChunks(const Measurement& measurement, const RoastcoffeaChunkCounts& chunks, Json* metrics) {
  (*metrics)["num_successful_chunks"] = chunks.ok;
  (*metrics)["num_failed_chunks"] = chunks.ended - chunks.ok;
  if (chunks.ok == 0) return;
  for (const char* statistic : {"mean", "min", "max", "std"}) {
    (*metrics)[fmt::format("chunk_duration_{}", statistic)] =
        OrZero(measurement, fmt::format("chunk_duration_{}", statistic));
  }
  if (!OrNull(measurement, "chunk_rss_delta_mean").is_null()) {
    for (const char* statistic : {"mean", "min", "max", "std"}) {
      const Json delta = OrZero(measurement, fmt::format("chunk_rss_delta_{}", statistic));
      (*metrics)[fmt::format("chunk_mem_delta_{}_mb", statistic)] = delta.get<double>() / kMebibyte;
    }
  }
  if (OrNull(measurement, "chunk_events_mean").is_null()) return;
  (*metrics)["total_events_from_chunks"] = chunks.events;
  for (const char* statistic : {"mean", "min", "max"}) {
    (*metrics)[fmt::format("chunk_events_{}", statistic)] =
        OrZero(measurement, fmt::format("chunk_events_{}", statistic));
  }
}

/// Seconds since the run's start as a naive local time, which the package reads with `datetime.fromisoformat`.
std::string NaiveLocal(double seconds, int64_t start_ns) {
  const absl::Time time = absl::FromUnixNanos(start_ns) + absl::Seconds(seconds);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6S", time, absl::LocalTimeZone());
}

Json JsonOfValue(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json PointsOf(const Timeline& points, int64_t start_ns) {
  Json result = Json::array();
  for (const auto& [seconds, value] : points) result.push_back({NaiveLocal(seconds, start_ns), JsonOfValue(value)});
  return result;
}

/// The package joins points by lines: the value before each change is repeated just before it.
Timeline AsCorners(const Timeline& steps) {
  constexpr double kJustBefore = 1e-6;
  Timeline corners;
  for (const TimelinePoint& point : steps) {
    const double before = point.seconds - kJustBefore;
    if (!corners.empty() && corners.back().seconds < before) corners.push_back({before, corners.back().value});
    corners.push_back(point);
  }
  return corners;
}

/// A step function read at the times of another: the package looks memory and limit up at equal times.
Timeline AtTimesOf(const Timeline& times, const Timeline& steps) {
  Timeline result;
  size_t next = 0;
  double value = std::numeric_limits<double>::quiet_NaN();
  for (const TimelinePoint& point : times) {
    while (next < steps.size() && steps[next].seconds <= point.seconds) value = steps[next++].value;
    if (!std::isnan(value)) result.push_back({point.seconds, value});
  }
  return result;
}

}  // namespace

Json RoastcoffeaFigures(const Measurement& measurement, const RoastcoffeaChunkCounts& chunks) {
  Json metrics = Json::object();
  for (const auto& [theirs, ours] : kWorkflow) metrics[theirs] = OrZero(measurement, ours);
  metrics["num_chunks"] = chunks.ended;
  metrics["avg_cpu_time_per_chunk"] = OrZero(measurement, "busy_time_per_attempt");
  for (const char* key : kWorkers) metrics[key] = OrNull(measurement, key);
  metrics["core_efficiency"] = OrNull(measurement, "core_efficiency");
  metrics["speedup_factor"] = OrZero(measurement, "speedup_factor");
  metrics["event_rate_core_khz"] = OrNull(measurement, "event_rate_core_khz");
  AddFine(measurement, &metrics);
  AddChunks(measurement, chunks, &metrics);
  return metrics;
}

Json RoastcoffeaSections(const Measurement& measurement) {
  Json sections = Json::object();
  for (const SectionRow& row : measurement.sections) {
    const std::string name = row.path.str() + (row.helper.value_or(false) ? " (helper)" : "");
    sections[name] = {{"count", JsonOf(row.count)},
                      {"total_duration", row.total.value_or(0)},
                      {"type", "time"},
                      {"mean_duration", row.mean.value_or(0)}};
  }
  for (const MemorySectionRow& row : measurement.memory_sections) {
    const double count = row.count.value_or(0);
    const auto mebibytes = [](const Number& bytes) { return bytes.value_or(0) / kMebibyte; };
    sections[row.path.str() + " (memory)"] = {{"count", JsonOf(row.count)},
                                              {"total_duration", 0.0},
                                              {"type", "memory"},
                                              {"mean_duration", 0.0},
                                              {"mean_mem_delta_mb", count > 0 ? mebibytes(row.delta_bytes) / count : 0},
                                              {"max_mem_delta_mb", mebibytes(row.max_bytes)},
                                              {"min_mem_delta_mb", mebibytes(row.min_bytes)}};
  }
  return sections;
}

Json RoastcoffeaTrackingData(const Measurement& measurement) {
  const Timelines& timelines = measurement.timelines;
  const auto* memory = timelines.Find("worker_memory");
  if (memory == nullptr || memory->empty() || !measurement.run.start_ns.is_integer()) return {};
  const int64_t start_ns = measurement.run.start_ns.integer();
  const auto memory_of = [memory](const std::string& worker) {
    const auto found =
        std::find_if(memory->begin(), memory->end(), [&](const auto& one) { return one.first == worker; });
    return found == memory->end() ? Timeline() : found->second;
  };
  Json tracking = {{"worker_counts", Json::object()}};
  for (const auto& [seconds, value] : AsCorners(timelines.worker_counts)) {
    tracking["worker_counts"][NaiveLocal(seconds, start_ns)] = JsonOfValue(value);
  }
  for (const std::string_view series :
       {"worker_memory", "worker_memory_limit", "worker_active_tasks", "worker_cores", "worker_nbytes",
        "worker_occupancy", "worker_executing", "worker_last_seen", "worker_cpu"}) {
    Json& lines = tracking[std::string(series)] = Json::object();
    const auto* by_worker = timelines.Find(series);
    if (by_worker == nullptr) continue;
    for (const auto& [worker, points] : *by_worker) {
      lines[worker] = PointsOf(series == "worker_memory_limit" ? AtTimesOf(memory_of(worker), points)
                               : series == "worker_cores"      ? AsCorners(points)
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

Json RoastcoffeaSpanMetrics(const Measurement& measurement) {
  std::map<std::string, double> sums;  // of spans and workers
  for (const FineRow& row : measurement.fine) {
    if (!row.value.has_value() || row.context == "native") continue;
    sums[fmt::format("({}, {}, {}, {})", PythonRepr(row.context), PythonRepr(row.function), PythonRepr(row.activity),
                     PythonRepr(row.unit))] += *row.value;
  }
  Json metrics = Json::object();
  for (const auto& [key, value] : sums) metrics[key] = value;
  return metrics;
}

}  // namespace crema
