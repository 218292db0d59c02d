// `crema export --to roastcoffea`.
#include <set>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collector/exports/export_format.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/units.h"
#include "collector/records/json_fields.h"
#include "collector/records/sums_so_far.h"
#include "collector/sources/roastcoffea/roastcoffea.h"

namespace crema {
namespace {

// The keys of roastcoffea's metrics.json that a measurement fills, under roastcoffea's names and in its units.

/// roastcoffea's chunk records count every attempt that ended, not the chunks with a result.
struct RoastcoffeaChunkCounts {
  int64_t ended = 0;
  int64_t ok = 0;
  int64_t events = 0;  ///< of ok attempts
};

Json MetricOrNull(const Measurement& measurement, std::string_view key) {
  return measurement.Metric(key).has_value() ? JsonOf(*measurement.metrics.Find(key)) : Json();
}

Json OrZero(const Measurement& measurement, std::string_view key) {
  return measurement.Metric(key).has_value() ? MetricOrNull(measurement, key) : Json(0);
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
/// All of them, 0 where unseen, or none: the package's table recognizes a run without Dask's spans by their absence.
void AddFine(const Measurement& measurement, Json* metrics) {
  const auto is_known = [&](const auto& names) { return measurement.Metric(names.second).has_value(); };
  if (absl::c_none_of(kRoastcoffeaFine, is_known)) return;
  for (const auto& [theirs, ours] : kRoastcoffeaFine) (*metrics)[theirs] = OrZero(measurement, ours);
}

void AddChunks(const Measurement& measurement, const RoastcoffeaChunkCounts& chunks, Json* metrics) {
  (*metrics)["num_successful_chunks"] = chunks.ok;
  (*metrics)["num_failed_chunks"] = chunks.ended - chunks.ok;
  if (chunks.ok == 0) return;
  const auto copy = [&](const std::string& key) { (*metrics)[key] = OrZero(measurement, key); };
  for (const char* statistic : {"mean", "min", "max", "std"}) copy(fmt::format("chunk_duration_{}", statistic));
  if (!MetricOrNull(measurement, "chunk_rss_delta_mean").is_null()) {
    for (const char* statistic : {"mean", "min", "max", "std"}) {
      const Json delta = OrZero(measurement, fmt::format("chunk_rss_delta_{}", statistic));
      (*metrics)[fmt::format("chunk_mem_delta_{}_mb", statistic)] = delta.get<double>() / kMebibyte;
    }
  }
  if (MetricOrNull(measurement, "chunk_events_mean").is_null()) return;
  (*metrics)["total_events_from_chunks"] = chunks.events;
  for (const char* statistic : {"mean", "min", "max"}) copy(fmt::format("chunk_events_{}", statistic));
}

/// Seconds since the run's start as a naive local time, which the package reads with `datetime.fromisoformat`.
std::string NaiveLocal(double seconds, int64_t start_ns) {
  const absl::Time time = absl::FromUnixNanos(start_ns) + absl::Seconds(seconds);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6S", time, absl::LocalTimeZone());
}

Json PointsOf(const Timeline& points, int64_t start_ns) {
  Json result = Json::array();
  for (const auto& [seconds, value] : points) result.push_back({NaiveLocal(seconds, start_ns), value});
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

/// Throughput, workers, efficiency, fine metrics and statistics of chunks. What was not measured is 0 where the package
/// expects a number, null where it knows "not available", and left out where it does.
Json RoastcoffeaFigures(const Measurement& measurement, const RoastcoffeaChunkCounts& chunks) {
  Json metrics = Json::object();
  for (const auto& [theirs, ours] : kWorkflow) metrics[theirs] = OrZero(measurement, ours);
  metrics["num_chunks"] = chunks.ended;
  metrics["avg_cpu_time_per_chunk"] = OrZero(measurement, "busy_time_per_attempt");
  for (const char* key : kWorkers) metrics[key] = MetricOrNull(measurement, key);
  metrics["core_efficiency"] = MetricOrNull(measurement, "core_efficiency");
  metrics["speedup_factor"] = OrZero(measurement, "speedup_factor");
  metrics["event_rate_core_khz"] = MetricOrNull(measurement, "event_rate_core_khz");
  AddFine(measurement, &metrics);
  AddChunks(measurement, chunks, &metrics);
  return metrics;
}

/// `sections`: name, calls, seconds. Those of memory guards carry their mean difference in MiB.
Json RoastcoffeaSections(const Measurement& measurement) {
  Json sections = Json::object();
  for (const SectionRow& row : measurement.sections) {
    sections[row.Label()] = {{"count", JsonOf(row.count)},
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

/// `tracking_data`: null unless the memory of a worker was sampled. Times are naive local ones, as the package's own.
Json RoastcoffeaTrackingData(const Measurement& measurement) {
  const Timelines& timelines = measurement.timelines;
  const auto* memory = timelines.Find("worker_memory");
  if (memory == nullptr || memory->empty() || !measurement.run.start_ns.is_integer()) return {};
  const int64_t start_ns = measurement.run.start_ns.integer();
  const std::map<std::string, Timeline> memory_of(memory->begin(), memory->end());
  std::map<std::string, double> worker_counts;
  for (const auto& [seconds, value] : AsCorners(timelines.worker_counts)) {
    worker_counts[NaiveLocal(seconds, start_ns)] = value;
  }
  Json tracking = {{"worker_counts", worker_counts}};
  for (const std::string_view series : kRoastcoffeaSeries) {
    Json& lines = tracking[std::string(series)] = Json::object();
    const auto* by_worker = timelines.Find(series);
    if (by_worker == nullptr) continue;
    for (const auto& [worker, points] : *by_worker) {
      lines.get_ref<Json::object_t&>().emplace_back(
          worker, PointsOf(series == "worker_memory_limit" ? AtTimesOf(ValueOr(memory_of, worker, {}), points)
                           : series == "worker_cores"      ? AsCorners(points)
                                                           : points,
                           start_ns));
    }
  }
  return tracking;
}

/// A text as Python's `repr` writes it.
std::string PythonRepr(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  const std::string quoted(1, quote);
  return quoted + absl::StrReplaceAll(text, {{"\\", "\\\\"}, {quoted, "\\" + quoted}, {"\n", "\\n"}, {"\t", "\\t"}}) +
         quoted;
}

/// `raw_span_metrics`: keys are the text of Python tuples.
Json RoastcoffeaSpanMetrics(const Measurement& measurement) {
  std::map<std::string, double> sums;  // of spans and workers
  for (const FineRow& row : measurement.fine) {
    if (!row.value.has_value() || row.context == "native") continue;
    sums[fmt::format("({}, {}, {}, {})", PythonRepr(row.context), PythonRepr(row.function), PythonRepr(row.activity),
                     PythonRepr(row.unit))] += *row.value;
  }
  return sums;
}

/// What the chunks of one file read of it.
struct FileReads {
  std::optional<int64_t> branches;
  std::optional<int64_t> bytes;
  std::optional<int64_t> compressed_bytes;
  std::set<std::string, std::less<>> columns;
  int64_t bytes_read = 0;
};

struct DatasetSums {
  int64_t chunks = 0;
  double duration = 0;
  std::optional<int64_t> events;
};

struct Sums {
  RoastcoffeaChunkCounts counts;
  std::map<std::string, DatasetSums, std::less<>> datasets;
  std::map<std::string, FileReads, std::less<>> files;
};

double Share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0.0; }

/// The chunk record of roastcoffea 0.1.2 (`decorator.py`), field by field; `error` as its aggregator looks for it.
Json ChunkRecord(const Attempt& attempt, const FileReads& file) {
  const ChunkFact& chunk = attempt.chunk;
  Json record;
  record["t_start"] = chunk.start_ns / 1e9;
  record["t_end"] = chunk.stop_ns / 1e9;
  record["duration"] = chunk.duration_ns() / 1e9;
  if (chunk.rss_start_bytes.has_value() && chunk.rss_stop_bytes.has_value()) {
    record["mem_before_mb"] = static_cast<double>(*chunk.rss_start_bytes) / kMebibyte;
    record["mem_after_mb"] = static_cast<double>(*chunk.rss_stop_bytes) / kMebibyte;
    record["mem_delta_mb"] = static_cast<double>(*chunk.rss_stop_bytes - *chunk.rss_start_bytes) / kMebibyte;
  }
  record["bytes_read"] = chunk.bytes_read.value_or(0);
  record["timestamp"] = chunk.stop_ns / 1e9;
  if (chunk.events.has_value()) record["num_events"] = *chunk.events;
  record["dataset"] = TextOrNull(chunk.input.dataset);
  record["file"] = TextOrNull(chunk.input.file);
  record["uuid"] = nullptr;
  record["entry_start"] = JsonOf(chunk.input.entry_start);
  record["entry_stop"] = JsonOf(chunk.input.entry_stop);
  record["accessed_branches"] = chunk.columns;
  record["num_branches_accessed"] = chunk.columns.size();
  record["accessed_bytes"] = chunk.bytes_read.value_or(0);
  record["accessed_uncompressed_bytes"] = chunk.bytes_uncompressed.value_or(0);
  record["branches_read_percent"] =
      Share(static_cast<double>(chunk.columns.size()), static_cast<double>(file.branches.value_or(0)));
  record["bytes_read_percent"] =
      Share(static_cast<double>(chunk.bytes_read.value_or(0)), static_cast<double>(file.compressed_bytes.value_or(0)));
  record["timing"] = Json::object();
  for (const SectionFact& section : chunk.sections) {
    if (!section.helper) record["timing"][std::string(section.path)] = section.total_ns / 1e9;
  }
  record["memory"] = Json::object();
  for (const MemorySectionFact& section : chunk.memory_sections) {
    record["memory"][std::string(section.path)] = static_cast<double>(section.delta_bytes) / kMebibyte;
  }
  record["bytes"] = Json::object();
  if (attempt.state == AttemptState::kFailed) record["error"] = chunk.error.empty() ? "failed" : chunk.error;
  return record;
}

/// Attempts that ended; `fact` is the record of one, or what was recorded of several.
template <class Fact>
void AddUp(const Fact& fact, int64_t attempts, int64_t duration_ns, bool is_ok, Sums* sums, FileReads* file) {
  sums->counts.ended += attempts;
  file->bytes_read += fact.bytes_read.value_or(0);
  if (!is_ok) return;
  sums->counts.ok += attempts;
  sums->counts.events += fact.events.value_or(0);
  const std::string_view name = fact.input.dataset.empty() ? "unknown" : fact.input.dataset;
  DatasetSums& dataset = sums->datasets[std::string(name)];
  dataset.chunks += attempts;
  dataset.duration += duration_ns / 1e9;
  if (fact.events.has_value()) dataset.events = dataset.events.value_or(0) + *fact.events;
}

/// What the records hold beside attempts.
absl::Status ReadFilesAndSums(const ExportSource& source, Sums* sums) {
  if (!source.find_logs) return absl::OkStatus();
  const absl::StatusOr<RecordLogs> logs = source.find_logs();
  if (!logs.ok()) return logs.status();
  for (const RecordLog& log : logs->logs) {
    SumsSoFar reported;
    ReadLogOfRun(log, true, logs->all_runs, [&](const Record& record) {
      if (record.type == RecordType::kProcess) reported = SumsSoFar();
      if (record.type == RecordType::kSums) {
        // chunks without a line have no chunk record, and are in every sum
        if (const std::optional<SumsFact> added = reported.Increment(record.sums)) {
          AddUp(*added, added->chunks, added->duration_ns, !added->failed, sums,
                &sums->files[std::string(added->input.file)]);
        }
      }
      if (record.type != RecordType::kFile) return;
      FileReads& file = sums->files[std::string(record.file.file)];
      if (record.file.branches.has_value()) file.branches = record.file.branches;
      if (record.file.bytes.has_value()) file.bytes = record.file.bytes;
      if (record.file.compressed_bytes.has_value()) file.compressed_bytes = record.file.compressed_bytes;
    });
  }
  return absl::OkStatus();
}

/// Data access, as the package calls it: all seven keys, where there are chunk records.
void AddDataAccess(const Sums& sums, Json* metrics) {
  std::map<std::string, Json> metadata, reads;
  Json ratios = Json::array(), percents = Json::array();
  std::set<std::string, std::less<>> columns;
  double branches_sum = 0, bytes_sum = 0;
  for (const auto& [name, file] : sums.files) {
    columns.insert(file.columns.begin(), file.columns.end());
    if (!file.branches.has_value() && !file.compressed_bytes.has_value()) continue;
    const auto compressed = static_cast<double>(file.compressed_bytes.value_or(0));
    const auto uncompressed = static_cast<double>(file.bytes.value_or(0));
    const double ratio = uncompressed > 0 ? compressed / uncompressed : 0;  // theirs is the inverse of crema's
    const double branches_percent =
        Share(static_cast<double>(file.columns.size()), static_cast<double>(file.branches.value_or(0)));
    const double bytes_percent = Share(static_cast<double>(file.bytes_read), compressed);
    metadata[name] = {{"filename", name},
                      {"compression_ratio", ratio},
                      {"total_branches", file.branches.value_or(0)},
                      {"total_tree_bytes", file.compressed_bytes.value_or(0)}};
    reads[name] = {{"total_branches", file.branches.value_or(0)},
                   {"branches_read_percent", branches_percent},
                   {"total_tree_bytes", file.compressed_bytes.value_or(0)},
                   {"bytes_read", file.bytes_read},
                   {"bytes_read_percent", bytes_percent}};
    if (ratio > 0) ratios.push_back(ratio);
    if (bytes_percent > 0) percents.push_back(bytes_percent);
    branches_sum += branches_percent;
    bytes_sum += bytes_percent;
  }
  const auto files = static_cast<double>(reads.size());
  (*metrics)["file_metadata"] = metadata;
  (*metrics)["compression_ratios"] = std::move(ratios);
  (*metrics)["file_read_metrics"] = reads;
  (*metrics)["avg_branches_read_percent"] = files > 0 ? branches_sum / files : 0.0;
  (*metrics)["avg_bytes_read_percent"] = files > 0 ? bytes_sum / files : 0.0;
  (*metrics)["bytes_read_percent_per_file"] = std::move(percents);
  (*metrics)["total_branches_read"] = columns.size();
}

Json PerDataset(const Sums& sums) {
  std::map<std::string, Json> rows;
  for (const auto& [name, dataset] : sums.datasets) {
    const auto chunks = static_cast<double>(dataset.chunks);
    Json row = {{"num_chunks", dataset.chunks},
                {"total_duration", dataset.duration},
                {"total_events", dataset.events.value_or(0)},
                {"mean_duration", dataset.duration / chunks}};
    if (dataset.events.value_or(0) > 0) row["mean_events_per_chunk"] = static_cast<double>(*dataset.events) / chunks;
    rows[name] = std::move(row);
  }
  return rows;
}

/// The records go straight to the file; what they add up to is written after them.
absl::Status WriteMetrics(const ExportSource& source, TextSink* sink) {
  Sums sums;
  if (absl::Status read = ReadFilesAndSums(source, &sums); !read.ok()) return read;
  sink->Write("{\n\"raw_chunk_metrics\": [");
  bool is_first = true;
  absl::Status read = source.for_each_attempt([&](const Attempt& attempt) {
    if (!attempt.has_ended()) return;
    FileReads& file = sums.files[std::string(attempt.chunk.input.file)];
    for (std::string_view column : attempt.chunk.columns) file.columns.emplace(column);
    AddUp(attempt.chunk, 1, attempt.chunk.duration_ns(), attempt.state == AttemptState::kOk, &sums, &file);
    sink->Write((is_first ? "\n" : ",\n") + JsonText(ChunkRecord(attempt, file)));
    is_first = false;
  });
  if (!read.ok()) return read;
  sink->Write("\n],\n\"chunk_info\": {");
  is_first = true;
  read = source.for_each_attempt([&](const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    const ChunkInput& input = chunk.input;
    if (attempt.state != AttemptState::kOk || input.file.empty()) return;
    if (!input.entry_start.has_value() || !input.entry_stop.has_value()) return;
    const std::string key =
        fmt::format("({}, {}, {})", PythonRepr(std::string(input.file)), *input.entry_start, *input.entry_stop);
    const Json value = {chunk.start_ns / 1e9, chunk.stop_ns / 1e9, chunk.bytes_read.value_or(0)};
    sink->Write((is_first ? "\n" : ",\n") + JsonText(Json(key)) + ": " + JsonText(value));
    is_first = false;
  });
  if (!read.ok()) return read;
  sink->Write("\n}");
  Json rest = RoastcoffeaFigures(source.measurement, sums.counts);
  if (sums.counts.ended > 0) {
    rest["per_dataset"] = PerDataset(sums);
    if (Json sections = RoastcoffeaSections(source.measurement); !sections.empty())
      rest["sections"] = std::move(sections);
    AddDataAccess(sums, &rest);
  }
  rest["tracking_data"] = RoastcoffeaTrackingData(source.measurement);
  rest["raw_section_metrics"] = Json::array();
  rest["raw_span_metrics"] = RoastcoffeaSpanMetrics(source.measurement);
  for (const auto& [key, value] : rest.items()) sink->Write(",\n" + JsonText(Json(key)) + ": " + JsonText(value));
  sink->Write("\n}\n");
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteRoastcoffea(const ExportSource& source, const std::string& directory) {
  absl::Status status =
      WriteTextFile(directory + "/metrics.json", [&source](TextSink* sink) { return WriteMetrics(source, sink); });
  if (!status.ok()) return status;
  const double wall_time = source.measurement.Metric("wall_time").value_or(0);
  // the package's own are readings of a clock without a zero: only their difference means something
  status = WriteTextFile(directory + "/start_end_time.txt", fmt::format("0.0,{}\n", wall_time));
  if (!status.ok()) return status;
  const Json metadata = {{"timestamp", absl::FormatTime("%Y-%m-%dT%H:%M:%E6S", absl::Now(), absl::LocalTimeZone())},
                         {"elapsed_time_seconds", wall_time},
                         {"format", "roastcoffea_measurement_v1"},
                         {"written_by", "crema " CREMA_VERSION_STRING}};
  return WriteTextFile(directory + "/metadata.json", JsonText(metadata, 2) + "\n");
}

}  // namespace crema
