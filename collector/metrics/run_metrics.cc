#include "collector/metrics/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

template <class T>
void SetIfKnown(std::string_view key, const std::optional<T>& value, MetricSet* metrics) {
  if (value.has_value()) metrics->Set(key, MetricValue(*value));
}

/// Sets part / whole x factor. A part that is not known leaves the key as it is, null with its usual reason; a whole
/// that is not known, or not positive, is the reason itself. `whole_key` names it in the reason.
void SetRatio(std::string_view key, const std::optional<double>& part, std::string_view whole_key,
              const std::optional<double>& whole, double factor, MetricSet* metrics) {
  const std::optional<double> ratio = Ratio(part, whole);
  if (ratio.has_value()) {
    metrics->Set(key, MetricValue(*ratio * factor));
  } else if (part.has_value() && whole.has_value()) {
    metrics->SetNull(key, fmt::format("{} is zero", whole_key));
  } else if (part.has_value()) {
    const std::string_view reason = metrics->Reason(whole_key);
    metrics->SetNull(key, reason.empty() ? fmt::format("{} is not known", whole_key)
                                         : fmt::format("{} is not known: {}", whole_key, reason));
  }
}

/// The same of two keys that are set.
void SetRatioOfKeys(std::string_view key, std::string_view part_key, std::string_view whole_key, double factor,
                    MetricSet* metrics) {
  SetRatio(key, metrics->Number(part_key), whole_key, metrics->Number(whole_key), factor, metrics);
}

void SetCounts(const AttemptCounts& counts, MetricSet* metrics) {
  metrics->Set("num_attempts", counts.num_attempts);
  metrics->Set("num_failed_attempts", counts.num_failed_attempts);
  metrics->Set("num_lost_attempts", counts.num_lost_attempts);
  // A summed attempt may be at the same chunk as another.
  const auto set_of_chunks = [&](std::string_view key, int64_t count, bool is_known) {
    metrics->Set(key, count);
    if (counts.num_summed_attempts > 0 && !is_known) {
      metrics->SetNull(key, "chunks were summed: which of them were attempted more than once is not known");
    }
  };
  const bool none_in_vain = counts.num_failed_attempts + counts.num_lost_attempts + counts.num_open_attempts +
                                counts.num_unrecorded_attempts ==
                            0;
  set_of_chunks("num_retried_chunks", counts.num_retried_chunks, none_in_vain);
  set_of_chunks("num_recomputed_chunks", counts.num_recomputed_chunks, false);
  set_of_chunks("num_unfinished_chunks", counts.num_unfinished_chunks, none_in_vain);
}

void SetColumns(const FileFindings& files, const CoffeaFigures& coffea, MetricSet* metrics) {
  if (coffea.has_columns || files.columns_known) {
    const std::vector<std::string>& columns = coffea.has_columns ? coffea.columns : files.columns;
    metrics->Set("columns", columns);
    metrics->Set("num_columns_read", static_cast<int64_t>(columns.size()));
  }
  SetIfKnown("branches_read_share", files.branches_read_share, metrics);
  SetIfKnown("bytes_read_share", files.bytes_read_share, metrics);
}

/// A sum that no integer holds is said to be one.
void SetSum(std::string_view key, const KnownSum& sum, MetricSet* metrics) {
  SetIfKnown(key, sum.Integer(), metrics);
  if (sum.IsTooLarge()) metrics->SetNull(key, "the sum is beyond 64 bits");
}

void SetAllocations(const AllocationFindings& found, MetricSet* metrics) {
  for (const std::string_view key : {"allocations", "allocated_bytes", "live_bytes", "peak_live_bytes"}) {
    if (!found.reason.empty()) metrics->SetNull(key, found.reason);
  }
  if (!found.all.has_value()) return;
  metrics->Set("allocations", found.all->allocations);
  metrics->Set("allocated_bytes", found.all->allocated_bytes);
  SetIfKnown("live_bytes", found.all->live_bytes, metrics);
  SetIfKnown("peak_live_bytes", found.all->peak_live_bytes, metrics);
}

void SetGpu(const GpuFindings& found, MetricSet* metrics) {
  if (!found.all.has_value()) {
    for (const std::string_view key :
         {"gpu_seconds", "gpu_launches", "gpu_copy_seconds", "gpu_to_device_bytes", "gpu_from_device_bytes",
          "gpu_busy_seconds", "gpu_wait_seconds", "gpu_wait_cpu_seconds"}) {
      if (!found.reason.empty()) metrics->SetNull(key, found.reason);
    }
    return;
  }
  const auto seconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; };
  metrics->Set("gpu_seconds", seconds(found.all->kernel_ns));
  metrics->Set("gpu_launches", found.all->launches);
  metrics->Set("gpu_copy_seconds", seconds(found.all->copy_ns));
  metrics->Set("gpu_to_device_bytes", found.all->to_device_bytes);
  metrics->Set("gpu_from_device_bytes", found.all->from_device_bytes);
  metrics->Set("gpu_busy_seconds", seconds(*found.busy_ns));
  metrics->Set("gpu_wait_seconds", seconds(found.of_results->wait_ns));
  if (found.of_results->wait_cpu_ns.has_value()) {
    metrics->Set("gpu_wait_cpu_seconds", seconds(*found.of_results->wait_cpu_ns));
  } else {
    metrics->SetNull("gpu_wait_cpu_seconds", "CUPTI reads the clock on other threads than those that wait");
  }
}

void SetBytes(const ByteSums& bytes, const RunTotals& chosen, const CoffeaFigures& coffea, MetricSet* metrics) {
  const KnownSum read{bytes.read, bytes.with_read};
  SetSum("bytes_read_chunks", read, metrics);
  SetIfKnown("total_bytes_read_coffea", coffea.report.bytes, metrics);
  if (!chosen.bytes_read.value.has_value()) SetSum("bytes_read_compressed", read, metrics);
  SetIfKnown("bytes_read_compressed", chosen.bytes_read.value, metrics);
  SetSum("bytes_read_uncompressed", {bytes.uncompressed, bytes.with_uncompressed}, metrics);
  if (bytes.with_both > 0) {
    SetRatio("compression_ratio", static_cast<double>(bytes.uncompressed_of_both), "the sum of their compressed bytes",
             static_cast<double>(bytes.read_of_both), 1, metrics);
  }
  SetRatioOfKeys("overall_rate_gbps", "bytes_read_compressed", "wall_time", 8 / 1e9, metrics);
  SetRatioOfKeys("overall_rate_mbs", "bytes_read_compressed", "wall_time", 1 / 1e6, metrics);
}

}  // namespace

void SetRunMetrics(const RecordFindings& findings, const AttemptTotals& totals, const RunTotals& chosen,
                   const CoffeaFigures& coffea, std::optional<double> wall_time, MetricSet* metrics) {
  SetIfKnown("wall_time", wall_time, metrics);
  if (!wall_time.has_value() && coffea.reports > 0) {
    metrics->SetNull("wall_time", "a Coffea report holds no times; give the run's bounds with --start and --stop");
  }
  SetIfKnown("busy_time", chosen.busy_time.value, metrics);
  const bool has_lanes = totals.counts.num_attempts > 0;
  SetIfKnown("lane_time", has_lanes ? totals.lane_ns.Seconds() : chosen.busy_time.value, metrics);
  SetIfKnown("num_chunks", chosen.num_chunks.value, metrics);
  if (!chosen.total_events.value.has_value()) SetSum("total_events", totals.events, metrics);
  SetIfKnown("total_events", chosen.total_events.value, metrics);
  if (findings.processes.has_records()) SetCounts(totals.counts, metrics);
  SetIfKnown("chunk_cpu_time", totals.cpu_ns.Seconds(), metrics);
  SetIfKnown("helper_cpu_time", totals.helper_cpu_ns.Seconds(), metrics);
  SetIfKnown("system_cpu_time", totals.system_cpu_ns.Seconds(), metrics);
  SetSum("minor_faults", totals.minor_faults, metrics);
  SetSum("chunk_major_faults", totals.major_faults, metrics);
  SetIfKnown("unannounced_cpu_time", totals.unannounced_cpu_ns.Seconds(), metrics);
  SetIfKnown("children_cpu_time", totals.children_cpu_ns.Seconds(), metrics);
  if (chosen.num_chunks.value.value_or(0) > 0) {
    SetRatioOfKeys("busy_time_per_chunk", "busy_time", "num_chunks", 1, metrics);
  }
  if (totals.ended > 0) {
    SetRatio("busy_time_per_attempt", totals.busy_ns.Seconds(), "num_attempts", static_cast<double>(totals.ended), 1,
             metrics);
  }
  SetBytes(findings.attempts.bytes, chosen, coffea, metrics);
  SetRatioOfKeys("event_rate_wall_khz", "total_events", "wall_time", 1 / 1e3, metrics);
  SetRatioOfKeys("event_rate_agg_khz", "total_events", "busy_time", 1 / 1e3, metrics);
  SetRatioOfKeys("event_rate_core_hz", "total_events", "core_seconds", 1, metrics);
  SetRatioOfKeys("event_rate_core_khz", "total_events", "core_seconds", 1 / 1e3, metrics);
  SetColumns(findings.files, coffea, metrics);
  SetAllocations(findings.allocations, metrics);
  SetGpu(findings.gpu, metrics);
}

void SetWorkerMetrics(const WorkerSteps& steps, MetricSet* metrics) {
  if (!steps.avg_workers.has_value()) return;
  SetIfKnown("avg_workers", steps.avg_workers, metrics);
  metrics->Set("peak_workers", steps.peak_workers);
  SetIfKnown("mean_sampled_workers", steps.mean_sampled_workers, metrics);
  metrics->Set("core_seconds", steps.core_seconds);
  SetIfKnown("total_cores", steps.total_cores, metrics);
  const Number peak_cores = Number::Whole(steps.peak_cores);
  metrics->Set("peak_cores", peak_cores.is_integer() ? MetricValue(peak_cores.integer()) : MetricValue(*peak_cores));
  SetIfKnown("cores_per_worker", steps.cores_per_worker, metrics);
  SetIfKnown("peak_memory_bytes", steps.peak_memory_bytes, metrics);
  SetIfKnown("peak_total_memory_bytes", steps.peak_total_memory_bytes, metrics);
  SetIfKnown("avg_memory_per_worker_bytes", steps.avg_memory_per_worker_bytes, metrics);
  SetIfKnown("memory_utilization_avg", steps.memory_utilization_avg, metrics);
  SetIfKnown("memory_utilization_min", steps.memory_utilization_min, metrics);
  SetIfKnown("memory_utilization_max", steps.memory_utilization_max, metrics);
  SetIfKnown("worker_cpu_utilization_avg", steps.worker_cpu_utilization_avg, metrics);
}

void SetChunkMetrics(const RecordFindings& findings, const AttemptTotals& totals, MetricSet* metrics) {
  SetIfKnown("chunk_cpu_wait", totals.cpu_wait_ns.Seconds(), metrics);
  SetIfKnown("lane_cpu_wait", totals.lane_cpu_wait_ns.Seconds(), metrics);
  SetIfKnown("chunk_joined", totals.joined_ns.Seconds(), metrics);
  SetIfKnown("chunk_blocked", totals.blocked_ns.Seconds(), metrics);
  if (totals.busy_ns.sum > 0) {
    metrics->Set("section_coverage",
                 1 - static_cast<double>(findings.sections.other_self_ns) / static_cast<double>(totals.busy_ns.sum));
  }
}

void SetEfficiencyMetrics(const std::vector<ProcessRow>& processes, const AttemptTotals& totals, const Budget& budget,
                          MetricSet* metrics) {
  SetRatioOfKeys("event_rate_cpu_khz", "total_events", "chunk_cpu_time", 1 / 1e3, metrics);
  SetRatioOfKeys("cpu_efficiency", "chunk_cpu_time", "core_seconds", 1, metrics);
  // Without records, nobody knows when a core was occupied.
  const bool has_lanes = totals.counts.num_attempts > 0;
  const std::optional<double> occupied = has_lanes ? budget.occupied_core_seconds : metrics->Number("busy_time");
  SetRatio("core_efficiency", occupied, "core_seconds", metrics->Number("core_seconds"), 1, metrics);
  SetRatio("ideal_wall_time", occupied, "total_cores", metrics->Number("total_cores"), 1, metrics);
  SetRatioOfKeys("speedup_factor", "lane_time", "wall_time", 1, metrics);
  SetRatioOfKeys("cpu_speedup", "chunk_cpu_time", "wall_time", 1, metrics);
  if (has_lanes) {
    SetRatio("io_overhead_pct", totals.lane_blocked_ns.Seconds(), "lane_time", totals.lane_ns.Seconds(), 100, metrics);
    SetRatio("io_overhead", totals.lane_blocked_ns.Seconds(), "lane_time", totals.lane_ns.Seconds(), 1, metrics);
  }
  KnownSum overhead_ns, read_calls, read_call_bytes;
  std::map<std::string_view, std::optional<int64_t>> throttled_ns;  // by host: processes of one cgroup say the same
  for (const ProcessRow& process : processes) {
    overhead_ns.Add(process.overhead_ns);
    read_calls.Add(process.counts.read_calls);
    read_call_bytes.Add(process.counts.read_call_bytes);
    throttled_ns[process.host] = std::max(throttled_ns[process.host], process.counts.throttled_ns);
  }
  SetSum("process_read_calls", read_calls, metrics);
  SetSum("process_read_call_bytes", read_call_bytes, metrics);
  KnownSum throttled;
  for (const auto& [host, of_host_ns] : throttled_ns) throttled.Add(of_host_ns);
  SetIfKnown("throttled_time", throttled.Seconds(), metrics);
  SetRatio("instrumentation_overhead", overhead_ns.Seconds(), "lane_time", totals.lane_ns.Seconds(), 1, metrics);
  if (!metrics->Number("core_seconds").has_value()) return;
  SetIfKnown("balance", budget.balance, metrics);
  SetIfKnown("tail_time", budget.tail_time, metrics);
  if (!budget.tail_time.has_value() && totals.counts.num_summed_attempts > 0) {
    metrics->SetNull("tail_time", "chunks were summed: when each of them was open is not known");
  }
  metrics->Set("oversubscribed_core_seconds", budget.oversubscribed_core_seconds);
}

namespace {

/// The unit in which `TrackIo` and those who record these metrics themselves give them.
std::string_view UnitOfReadMetric(std::string_view name) {
  if (name == "read_calls") return "count";
  const bool is_time = name == "read_wall" || name == "unzip_wall";
  return is_time ? "s" : "B";
}

}  // namespace

void SetReadMetrics(const std::vector<CustomMetricRow>& custom_metrics, MetricSet* metrics) {
  const auto sum_of = [&](std::string_view name) -> std::optional<double> {
    for (const CustomMetricRow& row : custom_metrics) {  // a user's metric of the same name may be in another unit
      if (row.name != name || row.unit != UnitOfReadMetric(name)) continue;
      const Number& failed = row.failed_sum;  // reading costs, whatever came of it
      return failed.has_value() ? row.sum.value_or(0) + *failed : row.sum;
    }
    return std::nullopt;
  };
  const auto set = [&](std::string_view key, std::string_view part, std::string_view whole, double factor) {
    SetRatio(key, sum_of(part), fmt::format("the metric {} ({})", whole, UnitOfReadMetric(whole)), sum_of(whole),
             factor, metrics);
  };
  set("read_rate_mbs", "bytes_read", "read_wall", 1 / 1e6);
  set("bytes_per_read", "bytes_read", "read_calls", 1);
  set("read_overhead_share", "read_overhead_bytes", "bytes_read", 1);
  set("decompression_rate_mbs", "unzip_bytes", "unzip_wall", 1 / 1e6);
  SetRatio("decompression_share", sum_of("unzip_wall"), "lane_time", metrics->Number("lane_time"), 1, metrics);
}

}  // namespace crema
