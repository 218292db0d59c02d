#include "collector/metrics/run_metrics.h"

#include <string_view>

#include "collector/metrics/known_sum.h"

namespace crema {
namespace {

template <class T>
void SetIfKnown(std::string_view key, const std::optional<T>& value, MetricSet* metrics) {
  if (value.has_value()) metrics->Set(key, MetricValue(*value));
}

void SetRatio(std::string_view key, const std::optional<double>& part, const std::optional<double>& whole,
              double factor, MetricSet* metrics) {
  const std::optional<double> ratio = Ratio(part, whole);
  if (ratio.has_value()) {
    metrics->Set(key, MetricValue(*ratio * factor));
  } else if (part.has_value() && whole.has_value()) {
    metrics->SetNull(key, "its denominator is zero");
  }
}

void SetRatio(std::string_view key, const std::optional<double>& part, const std::optional<double>& whole,
              MetricSet* metrics) {
  SetRatio(key, part, whole, 1, metrics);
}

std::optional<double> CoreSeconds(const WorkerSteps& steps) {
  return steps.avg_workers.has_value() ? std::optional<double>(steps.core_seconds) : std::nullopt;
}

void SetCounts(const AttemptCounts& counts, MetricSet* metrics) {
  metrics->Set("num_chunks", counts.num_chunks);
  metrics->Set("num_attempts", counts.num_attempts);
  metrics->Set("num_failed_attempts", counts.num_failed_attempts);
  metrics->Set("num_lost_attempts", counts.num_lost_attempts);
  metrics->Set("num_retried_chunks", counts.num_retried_chunks);
  metrics->Set("num_recomputed_chunks", counts.num_recomputed_chunks);
  metrics->Set("num_unfinished_chunks", counts.num_unfinished_chunks);
}

void SetColumns(const FileFindings& files, MetricSet* metrics) {
  if (files.columns_known) {
    metrics->Set("columns", files.columns);
    metrics->Set("num_columns_read", static_cast<int64_t>(files.columns.size()));
  }
  SetIfKnown("branches_read_share", files.branches_read_share, metrics);
  SetIfKnown("bytes_read_share", files.bytes_read_share, metrics);
}

}  // namespace

void SetRunMetrics(const RecordFindings& findings, const AttemptTotals& totals, std::optional<double> wall_time,
                   const WorkerSteps& steps, MetricSet* metrics) {
  SetIfKnown("wall_time", wall_time, metrics);
  if (findings.processes.processes.empty()) return;

  // With records, no chunk is a measured zero.
  const double busy_time = totals.busy_ns.Seconds().value_or(0);
  const std::optional<double> cpu_time = totals.cpu_ns.Seconds();
  const std::optional<double> events = totals.events.In(1);
  metrics->Set("busy_time", busy_time);
  SetIfKnown("chunk_cpu_time", cpu_time, metrics);
  SetIfKnown("helper_cpu_time", totals.helper_cpu_ns.Seconds(), metrics);
  SetCounts(totals.counts, metrics);
  if (totals.counts.num_chunks > 0) {
    SetRatio("busy_time_per_chunk", busy_time, static_cast<double>(totals.counts.num_chunks), metrics);
  }
  if (totals.ended > 0) SetRatio("busy_time_per_attempt", busy_time, static_cast<double>(totals.ended), metrics);
  SetIfKnown("total_events", totals.events.Integer(), metrics);

  const ByteSums& bytes = findings.attempts.bytes;
  const KnownSum read{bytes.read, bytes.with_read};
  SetIfKnown("bytes_read_chunks", read.Integer(), metrics);
  SetIfKnown("bytes_read_compressed", read.Integer(), metrics);
  SetIfKnown("bytes_read_uncompressed", KnownSum{bytes.uncompressed, bytes.with_uncompressed}.Integer(), metrics);
  SetRatio("compression_ratio", static_cast<double>(bytes.uncompressed_of_both),
           static_cast<double>(bytes.read_of_both), metrics);
  if (bytes.with_read == 0 || bytes.with_uncompressed == 0) {
    metrics->SetNull("compression_ratio", "no attempt carries both sizes (AddBytesRead)");
  }
  SetRatio("overall_rate_gbps", read.In(1), wall_time, 8 / 1e9, metrics);
  SetRatio("overall_rate_mbs", read.In(1), wall_time, 1 / 1e6, metrics);

  SetRatio("event_rate_wall_khz", events, wall_time, 1 / 1e3, metrics);
  SetRatio("event_rate_agg_khz", events, busy_time, 1 / 1e3, metrics);
  SetRatio("event_rate_cpu_khz", events, cpu_time, 1 / 1e3, metrics);
  SetRatio("event_rate_core_hz", events, CoreSeconds(steps), metrics);
  SetRatio("event_rate_core_khz", events, CoreSeconds(steps), 1 / 1e3, metrics);
  SetRatio("ideal_wall_time", totals.busy_ns.Seconds(), steps.total_cores, metrics);
  SetColumns(findings.files, metrics);
}

void SetWorkerMetrics(const WorkerSteps& steps, MetricSet* metrics) {
  if (!steps.avg_workers.has_value()) return;
  SetIfKnown("avg_workers", steps.avg_workers, metrics);
  metrics->Set("peak_workers", steps.peak_workers);
  SetIfKnown("mean_sampled_workers", steps.mean_sampled_workers, metrics);
  metrics->Set("core_seconds", steps.core_seconds);
  SetIfKnown("total_cores", steps.total_cores, metrics);
  metrics->Set("peak_cores", steps.peak_cores);
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
  SetIfKnown("chunk_joined", totals.joined_ns.Seconds(), metrics);
  SetIfKnown("chunk_blocked", totals.blocked_ns.Seconds(), metrics);
  if (totals.busy_ns.sum > 0) {
    metrics->Set("section_coverage",
                 1 - static_cast<double>(findings.sections.other_self_ns) / static_cast<double>(totals.busy_ns.sum));
  }
}

void SetEfficiencyMetrics(const std::vector<ProcessRow>& processes, const AttemptTotals& totals,
                          std::optional<double> wall_time, const WorkerSteps& steps, const Budget& budget,
                          MetricSet* metrics) {
  const std::optional<double> busy_time = totals.busy_ns.Seconds();
  const std::optional<double> cpu_time = totals.cpu_ns.Seconds();
  SetRatio("cpu_efficiency", cpu_time, CoreSeconds(steps), metrics);
  SetRatio("core_efficiency", busy_time, CoreSeconds(steps), metrics);
  SetRatio("speedup_factor", busy_time, wall_time, metrics);
  SetRatio("cpu_speedup", cpu_time, wall_time, metrics);
  SetRatio("io_overhead_pct", totals.blocked_ns.Seconds(), busy_time, 100, metrics);
  SetRatio("io_overhead", totals.blocked_ns.Seconds(), busy_time, metrics);
  KnownSum overhead_ns;
  for (const ProcessRow& process : processes) overhead_ns.Add(process.overhead_ns);
  SetRatio("instrumentation_overhead", overhead_ns.Seconds(), busy_time, metrics);
  if (!steps.avg_workers.has_value()) return;
  SetIfKnown("balance", budget.balance, metrics);
  SetIfKnown("tail_time", budget.tail_time, metrics);
  metrics->Set("oversubscribed_core_seconds", budget.oversubscribed_core_seconds);
}

void SetReadMetrics(const std::vector<CustomMetricRow>& custom_metrics, const AttemptTotals& totals,
                    MetricSet* metrics) {
  const auto sum_of = [&](std::string_view name) -> std::optional<double> {
    std::optional<double> sum;
    for (const CustomMetricRow& row : custom_metrics) {
      if (row.name == name && row.figures.sum.has_value()) sum = sum.value_or(0) + *row.figures.sum;
    }
    return sum;
  };
  const std::optional<double> bytes_read = sum_of("bytes_read");
  const std::optional<double> unzip_wall = sum_of("unzip_wall");
  SetRatio("read_rate_mbs", bytes_read, sum_of("read_wall"), 1 / 1e6, metrics);
  SetRatio("bytes_per_read", bytes_read, sum_of("read_calls"), metrics);
  SetRatio("read_overhead_share", sum_of("read_overhead_bytes"), bytes_read, metrics);
  SetRatio("decompression_rate_mbs", sum_of("unzip_bytes"), unzip_wall, 1 / 1e6, metrics);
  SetRatio("decompression_share", unzip_wall, totals.busy_ns.Seconds(), metrics);
}

}  // namespace crema
