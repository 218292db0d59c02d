#include "collector/sources/roastcoffea/roastcoffea_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/measurement/catalog.h"
#include "collector/records/loose_json.h"
#include "collector/sources/roastcoffea/roastcoffea_timelines.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Sets metrics together with their aliases and reasons.
class Patch {
 public:
  explicit Patch(Measurement* measured) : measured_(*measured) {}

  void Set(std::string_view key, const std::optional<double>& value, std::string_view reason_if_null) {
    const MetricDefinition* definition = FindMetric(key);
    if (definition == nullptr) return;  // not a key of this version
    measured_.metrics.SetOptional(definition->key, value, reason_if_null);
    if (!definition->alias.empty()) measured_.metrics.SetOptional(definition->alias, value, reason_if_null);
  }
  std::optional<double> Get(std::string_view key) const { return measured_.Metric(key); }
  void Warn(std::string sentence) { measured_.quality.warnings.push_back(std::move(sentence)); }

 private:
  Measurement& measured_;
};

std::optional<double> Ratio(const std::optional<double>& numerator, const std::optional<double>& denominator) {
  if (!numerator.has_value() || !denominator.has_value() || *denominator <= 0) return std::nullopt;
  return *numerator / *denominator;
}

constexpr char kNotTracked[] = "the roastcoffea measurement holds no worker samples (tracking_data)";

double SumOfIntegrals(const RoastcoffeaTimelines& timelines, const std::string& series) {
  double sum = 0;
  const auto found = timelines.by_worker.find(series);
  if (found == timelines.by_worker.end()) return sum;
  for (const auto& [worker, steps] : found->second) sum += StepIntegral(steps, timelines.stop);
  return sum;
}

/// Time averages over the samples; `core_seconds` is their mean core count over the whole run.
void AddWorkers(const RoastcoffeaTimelines& timelines, Patch* patch) {
  const bool tracked = !timelines.worker_counts.empty() && timelines.stop > 0;
  const auto measured = [tracked](double value) { return tracked ? std::optional<double>(value) : std::nullopt; };
  double peak_count = 0, count_sum = 0, peak_memory = 0;
  for (const auto& [seconds, count] : timelines.worker_counts) {
    peak_count = std::max(peak_count, count);
    count_sum += count;
  }
  const auto memory = timelines.by_worker.find("worker_memory");
  const bool has_memory = tracked && memory != timelines.by_worker.end() && !memory->second.empty();
  double memory_seconds = 0;
  if (has_memory) {
    for (const auto& [worker, steps] : memory->second) {
      if (!steps.empty()) memory_seconds += timelines.stop - steps.front().first;
      for (const auto& [seconds, bytes] : steps) peak_memory = std::max(peak_memory, bytes);
    }
  }
  const double worker_seconds = StepIntegral(timelines.worker_counts, timelines.stop);
  const double core_integral = SumOfIntegrals(timelines, "worker_cores");
  const std::optional<double> wall_time = patch->Get("wall_time");
  const std::optional<double> cores =
      tracked && core_integral > 0 ? std::optional<double>(core_integral / timelines.stop) : std::nullopt;
  const std::optional<double> core_seconds =
      cores.has_value() && wall_time.has_value() ? std::optional<double>(*cores * *wall_time) : std::nullopt;
  patch->Set("avg_workers", measured(worker_seconds / timelines.stop), kNotTracked);
  patch->Set("peak_workers", measured(peak_count), kNotTracked);
  patch->Set("mean_sampled_workers", measured(count_sum / static_cast<double>(timelines.worker_counts.size())),
             kNotTracked);
  patch->Set("total_cores", cores, kNotTracked);
  patch->Set("peak_cores", std::nullopt, "roastcoffea samples the cores of each worker at other times");
  patch->Set("cores_per_worker", Ratio(measured(core_integral), measured(worker_seconds)), kNotTracked);
  patch->Set("core_seconds", core_seconds, kNotTracked);
  patch->Set("peak_memory_bytes", has_memory ? std::optional<double>(peak_memory) : std::nullopt, kNotTracked);
  patch->Set("peak_total_memory_bytes", std::nullopt, "roastcoffea's samples of workers were not added up by instant");
  patch->Set("avg_memory_per_worker_bytes",
             has_memory ? Ratio(SumOfIntegrals(timelines, "worker_memory"), memory_seconds) : std::nullopt,
             kNotTracked);
  patch->Set("memory_utilization_avg",
             Ratio(has_memory ? std::optional<double>(SumOfIntegrals(timelines, "worker_memory")) : std::nullopt,
                   SumOfIntegrals(timelines, "worker_memory_limit")),
             "the roastcoffea measurement holds no memory limit of workers");
  for (const char* key : {"memory_utilization_min", "memory_utilization_max"}) {
    patch->Set(key, std::nullopt, "not taken from roastcoffea's samples");
  }
  patch->Set("task_slot_utilization_avg",
             Ratio(measured(SumOfIntegrals(timelines, "worker_executing")), measured(core_integral)), kNotTracked);
  patch->Set("worker_cpu_utilization_avg",
             Ratio(measured(SumOfIntegrals(timelines, "worker_cpu") / 100), measured(core_integral)), kNotTracked);
  patch->Set("core_efficiency", Ratio(patch->Get("busy_time"), core_seconds), kNotTracked);
  patch->Set("ideal_wall_time", Ratio(patch->Get("busy_time"), cores), kNotTracked);
  const std::optional<double> rate = Ratio(patch->Get("total_events"), core_seconds);
  patch->Set("event_rate_core_hz", rate, kNotTracked);
  patch->Set("event_rate_core_khz", Ratio(rate, 1000), kNotTracked);
  constexpr char kWhichWorker[] = "roastcoffea's chunk records do not say on which worker they ran";
  for (const char* key : {"load_imbalance", "balance", "max_open_chunks", "rss_slope", "rss_slope_low",
                          "rss_slope_high", "oversubscribed_core_seconds", "tail_time"}) {
    patch->Set(key, std::nullopt, kWhichWorker);
  }
}

/// Dask's figures under their own keys; roastcoffea's chunk records have no CPU time of their own.
void AddFine(const Json& theirs, Patch* patch) {
  constexpr std::pair<const char*, const char*> kKeys[] = {
      {"processor_cpu_time_seconds", "processor_cpu_time_seconds"},
      {"processor_noncpu_time_seconds", "processor_io_wait_time_seconds"},
      {"processor_cpu_percentage", "processor_cpu_percent"},
      {"processor_noncpu_percentage", "processor_io_wait_percent"},
      {"overhead_cpu_time_seconds", "overhead_cpu_time_seconds"},
      {"overhead_noncpu_time_seconds", "overhead_io_wait_time_seconds"},
      {"total_bytes_memory_read_dask", "total_bytes_memory_read"},
      {"disk_read_bytes", "disk_read_bytes"},
      {"disk_write_bytes", "disk_write_bytes"},
      {"decompression_time_seconds", "decompression_time_seconds"},
      {"compression_time_seconds", "compression_time_seconds"},
      {"total_compression_overhead_seconds", "total_compression_overhead_seconds"},
      {"deserialization_time_seconds", "deserialization_time_seconds"},
      {"serialization_time_seconds", "serialization_time_seconds"},
      {"total_serialization_overhead_seconds", "total_serialization_overhead_seconds"}};
  constexpr char kNoSpans[] = "the roastcoffea measurement holds no fine metrics of Dask";
  for (const auto& [ours, key] : kKeys) patch->Set(ours, NumberField(theirs, key), kNoSpans);
}

/// The four texts of a Python tuple's `repr`, as roastcoffea writes the keys of `raw_span_metrics`.
std::optional<std::vector<std::string>> PythonTuple(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size(); ++at) {
    const char quote = text[at];
    if (quote != '\'' && quote != '"') continue;
    std::string part;
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      part += text[at];
    }
    if (at == text.size()) return std::nullopt;
    parts.push_back(std::move(part));
  }
  return parts.size() == 4 ? std::optional(parts) : std::nullopt;
}

/// `left_out`: how many have no name or no number.
std::vector<FineRow> FineRows(const Json& span_metrics, int64_t* left_out) {
  std::vector<FineRow> rows;
  for (const auto& [key, value] : span_metrics.items()) {
    const std::optional<std::vector<std::string>> parts = PythonTuple(key);
    if (!parts.has_value() || !value.is_number()) {
      ++*left_out;
      continue;
    }
    FineRow& row = rows.emplace_back();
    row.context = parts->at(0);
    row.function = parts->at(1);
    row.activity = parts->at(2);
    row.unit = parts->at(3);
    ReadValue(value, &row.value);
  }
  return rows;
}

/// The totals that roastcoffea has of Coffea's report, where its decorator recorded no chunks.
void AddTotals(const RoastcoffeaMeasurement& measurement, Patch* patch) {
  constexpr char kNotThere[] = "the roastcoffea measurement does not have it";
  for (const auto& [ours, key] :
       {std::pair("num_chunks", "num_chunks"), {"total_events", "total_events"}, {"busy_time", "total_cpu_time"}}) {
    patch->Set(ours, NumberField(measurement.metrics, key), kNotThere);
  }
  const std::optional<double> events = patch->Get("total_events");
  const auto kilo = [&](const std::optional<double>& seconds) { return Ratio(Ratio(events, seconds), 1000); };
  patch->Set("event_rate_wall_khz", kilo(measurement.elapsed_seconds), kNotThere);
  patch->Set("event_rate_agg_khz", kilo(patch->Get("busy_time")), kNotThere);
  patch->Warn(
      "roastcoffea recorded no chunks, so only totals are known; its decorator @track_metrics on the processor records "
      "them");
}

Timeline PointsOf(const SampledSteps& steps) {
  Timeline timeline;
  for (const auto& [seconds, value] : steps) timeline.push_back({seconds, value});
  return timeline;
}

void AddTimelines(const RoastcoffeaTimelines& timelines, Timelines* to) {
  to->worker_counts = PointsOf(timelines.worker_counts);
  for (NamedTimelines& series : to->series) {
    series.by_worker.reset();
    if (series.key == "worker_last_seen") continue;  // Unix times of the scheduler: no second since the run's start
    const auto workers = timelines.by_worker.find(series.key);
    if (workers == timelines.by_worker.end()) continue;
    series.by_worker.emplace();
    for (const auto& [worker, steps] : workers->second) series.by_worker->emplace_back(worker, PointsOf(steps));
  }
}

}  // namespace

void AddRoastcoffeaFigures(const RoastcoffeaMeasurement& measurement, const RoastcoffeaRecords& records,
                           Measurement* measured) {
  const Json& theirs = measurement.metrics;
  const RoastcoffeaTimelines timelines = ReadRoastcoffeaTimelines(Field(theirs, "tracking_data"));
  Patch patch(measured);
  const std::optional<double> bytes = NumberField(theirs, "total_bytes_read");
  if (bytes.has_value() && *bytes > 0) {
    const std::optional<double> rate = Ratio(bytes, measurement.elapsed_seconds);
    patch.Set("total_bytes_read_coffea", bytes, "");
    patch.Set("bytes_read_compressed", bytes, "");
    patch.Set("overall_rate_gbps", Ratio(rate, 1e9 / 8), "the run took no time");
    patch.Set("overall_rate_mbs", Ratio(rate, 1e6), "the run took no time");
    measured->run.bytes_source = "coffea";
  }
  // bytes that chunks read may exceed the file's: baskets at the edges are read twice; roastcoffea has the share itself
  for (const auto& [key, percent] : {std::pair("branches_read_share", "avg_branches_read_percent"),
                                     {"bytes_read_share", "avg_bytes_read_percent"}}) {
    const std::optional<double> share = Ratio(NumberField(theirs, percent), 100);
    patch.Set(key, share.has_value() && *share > 0 ? share : std::nullopt, "roastcoffea saw no branch of any file");
  }
  if (records.chunks == 0) AddTotals(measurement, &patch);
  AddWorkers(timelines, &patch);
  AddFine(theirs, &patch);
  int64_t fine_left_out = 0;
  measured->fine = FineRows(Field(theirs, "raw_span_metrics"), &fine_left_out);
  AddTimelines(timelines, &measured->timelines);
  measured->workers.clear();
  measured->hosts.clear();
  measured->threads.clear();
  measured->budget.clear();
  RunFacts& run = measured->run;
  run.name = measurement.name;
  run.boundary = "context";
  run.cores_source = Text::OrNull(patch.Get("total_cores").has_value() ? "nthreads" : "");
  run.start_ns = run.stop_ns = Number();
  run.start = Text();
  patch.Warn(
      "read from a roastcoffea measurement, which does not keep its start time: crema takes the end of the last chunk "
      "as the end of the run");
  if (fine_left_out > 0) {
    patch.Warn(fmt::format("{} of raw_span_metrics have no number, or no name of four texts; they were left out",
                           fine_left_out));
  }
  if (records.malformed > 0) patch.Warn(fmt::format("{} chunk records have no start or duration", records.malformed));
  if (records.overlapping_timings > 0) {
    patch.Warn(
        fmt::format("in {} chunks the sections take longer than the chunk, because they were nested, and roastcoffea "
                    "does not record this; these sections were left out",
                    records.overlapping_timings));
  }
}

}  // namespace crema
