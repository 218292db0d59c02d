#include "collector/metrics/run_figures.h"

#include "collector/measurement/catalog.h"
#include "collector/metrics/engine/task_processes.h"

namespace crema {
namespace {

// The keys of docs/metrics.md, "The run" and "Efficiency", and those that come from well-known metrics.

// Each sets what is measured and leaves the other keys as they are: null with their usual reasons (`SetAllNull`).

/// Sets part / whole x factor. A part that is not known leaves the key as it is, null with its usual reason; a whole
/// that is not known, or not positive, is the reason itself. `whole_key` names it in the reason.
void SetRatio(std::string_view key, const std::optional<double>& part, std::string_view whole_key,
              const std::optional<double>& whole, double factor, MetricSet* metrics) {
  if (const std::optional<double> ratio = Ratio(part, whole); ratio.has_value()) {
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
  metrics->SetIfKnown("branches_read_share", files.branches_read_share);
  metrics->SetIfKnown("bytes_read_share", files.bytes_read_share);
}

/// A sum that no integer holds is said to be one.
void SetSum(std::string_view key, const OptionalSum& sum, MetricSet* metrics) {
  metrics->SetIfKnown(key, sum.Integer());
  if (sum.IsTooLarge()) metrics->SetNull(key, "the sum is beyond 64 bits");
}

void SetAllocations(const AllocationFindings& found, MetricSet* metrics) {
  for (const std::string_view key : {"allocations", "allocated_bytes", "live_bytes", "peak_live_bytes"}) {
    if (!found.reason.empty()) metrics->SetNull(key, found.reason);
  }
  if (!found.all.has_value()) return;
  metrics->Set("allocations", found.all->allocations);
  metrics->Set("allocated_bytes", found.all->allocated_bytes);
  metrics->SetIfKnown("live_bytes", found.all->live_bytes);
  metrics->SetIfKnown("peak_live_bytes", found.all->peak_live_bytes);
}

void SetGpuMetrics(const GpuFindings& found, MetricSet* metrics) {
  if (!found.all.has_value()) {
    for (const std::string_view key :
         {"gpu_seconds", "gpu_launches", "gpu_copy_seconds", "gpu_to_device_bytes", "gpu_from_device_bytes",
          "gpu_busy_seconds", "gpu_wait_seconds", "gpu_wait_cpu_seconds"}) {
      if (!found.reason.empty()) metrics->SetNull(key, found.reason);
    }
    return;
  }
  metrics->Set("gpu_seconds", SecondsOf(found.all->kernel_ns));
  metrics->Set("gpu_launches", found.all->launches);
  metrics->Set("gpu_copy_seconds", SecondsOf(found.all->copy_ns));
  metrics->Set("gpu_to_device_bytes", found.all->to_device_bytes);
  metrics->Set("gpu_from_device_bytes", found.all->from_device_bytes);
  metrics->Set("gpu_busy_seconds", SecondsOf(*found.busy_ns));
  metrics->Set("gpu_wait_seconds", SecondsOf(found.of_results->wait_ns));
  if (found.of_results->wait_cpu_ns.has_value()) {
    metrics->Set("gpu_wait_cpu_seconds", SecondsOf(*found.of_results->wait_cpu_ns));
  } else {
    metrics->SetNull("gpu_wait_cpu_seconds", "CUPTI reads the clock on other threads than those that wait");
  }
}

void SetBytes(const ByteSums& bytes, const RunTotals& chosen, const CoffeaFigures& coffea, MetricSet* metrics) {
  const OptionalSum read{bytes.read, bytes.with_read};
  SetSum("bytes_read_chunks", read, metrics);
  metrics->SetIfKnown("total_bytes_read_coffea", coffea.report.bytes);
  if (!chosen.bytes_read.value.has_value()) SetSum("bytes_read_compressed", read, metrics);
  metrics->SetIfKnown("bytes_read_compressed", chosen.bytes_read.value);
  SetSum("bytes_read_uncompressed", {bytes.uncompressed, bytes.with_uncompressed}, metrics);
  if (bytes.with_both > 0) {
    SetRatio("compression_ratio", static_cast<double>(bytes.uncompressed_of_both), "the sum of their compressed bytes",
             static_cast<double>(bytes.read_of_both), 1, metrics);
  }
  SetRatioOfKeys("overall_rate_gbps", "bytes_read_compressed", "wall_time", 8 / 1e9, metrics);
  SetRatioOfKeys("overall_rate_mbs", "bytes_read_compressed", "wall_time", 1 / 1e6, metrics);
}

/// "The run", after the workers. `wall_time` in seconds; nullopt where the run has no bounds.
void SetRunMetrics(const RecordFindings& findings, const AttemptTotals& totals, const RunTotals& chosen,
                   const CoffeaFigures& coffea, std::optional<double> wall_time, MetricSet* metrics) {
  metrics->SetIfKnown("wall_time", wall_time);
  if (!wall_time.has_value() && coffea.reports > 0) {
    metrics->SetNull("wall_time", "a Coffea report holds no times; give the run's bounds with --start and --stop");
  }
  metrics->SetIfKnown("busy_time", chosen.busy_time.value);
  const bool has_lanes = totals.counts.num_attempts > 0;
  metrics->SetIfKnown("lane_time", has_lanes ? totals.lane_ns.Seconds() : chosen.busy_time.value);
  metrics->SetIfKnown("num_chunks", chosen.num_chunks.value);
  if (!chosen.total_events.value.has_value()) SetSum("total_events", totals.events, metrics);
  metrics->SetIfKnown("total_events", chosen.total_events.value);
  metrics->SetIfKnown("chunk_cpu_time", totals.cpu_ns.Seconds());
  metrics->SetIfKnown("helper_cpu_time", totals.helper_cpu_ns.Seconds());
  metrics->SetIfKnown("system_cpu_time", totals.system_cpu_ns.Seconds());
  SetSum("minor_faults", totals.minor_faults, metrics);
  SetSum("chunk_major_faults", totals.major_faults, metrics);
  metrics->SetIfKnown("unannounced_cpu_time", totals.unannounced_cpu_ns.Seconds());
  metrics->SetIfKnown("children_cpu_time", totals.children_cpu_ns.Seconds());
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
  SetGpuMetrics(findings.gpu, metrics);
}

/// "Chunks, sections and reading", without the rates of reading.
void SetChunkMetrics(const RecordFindings& findings, const AttemptTotals& totals, MetricSet* metrics) {
  metrics->SetIfKnown("chunk_cpu_wait", totals.cpu_wait_ns.Seconds());
  metrics->SetIfKnown("lane_cpu_wait", totals.lane_cpu_wait_ns.Seconds());
  metrics->SetIfKnown("chunk_joined", totals.joined_ns.Seconds());
  metrics->SetIfKnown("chunk_blocked", totals.blocked_ns.Seconds());
  if (totals.busy_ns.sum > 0) {
    metrics->Set("section_coverage",
                 1 - static_cast<double>(findings.sections.other_self_ns) / static_cast<double>(totals.busy_ns.sum));
  }
}

/// For how long at least one worker lived, in seconds: before, and between, there were no cores for chunks.
double SecondsWithWorkers(const std::vector<WorkerLife>& workers) {
  std::vector<RunWindow> lives;
  for (const WorkerLife& worker : workers) lives.push_back({worker.start_ns, worker.stop_ns});
  SortBy(&lives, &RunWindow::start_ns);
  int64_t sum_ns = 0, until_ns = std::numeric_limits<int64_t>::min();
  for (const RunWindow& life : lives) {
    sum_ns += std::max<int64_t>(0, life.stop_ns - std::max(life.start_ns, until_ns));
    until_ns = std::max(until_ns, life.stop_ns);
  }
  return static_cast<double>(sum_ns) / 1e9;
}

/// "Efficiency", after the others.
void SetEfficiencyMetrics(const std::vector<ProcessRow>& processes, const std::vector<WorkerLife>& workers,
                          const AttemptTotals& totals, const Budget& budget, MetricSet* metrics) {
  SetRatioOfKeys("event_rate_cpu_khz", "total_events", "chunk_cpu_time", 1 / 1e3, metrics);
  SetRatioOfKeys("cpu_efficiency", "chunk_cpu_time", "core_seconds", 1, metrics);
  // Without records, nobody knows when a core was occupied.
  const bool has_lanes = totals.counts.num_attempts > 0;
  const std::optional<double> occupied = has_lanes ? budget.occupied_core_seconds : metrics->Number("busy_time");
  SetRatio("core_efficiency", occupied, "core_seconds", metrics->Number("core_seconds"), 1, metrics);
  const double scale = workers.empty() ? metrics->Number("wall_time").value_or(0) : SecondsWithWorkers(workers);
  SetRatio("ideal_wall_time", occupied, "core_seconds", metrics->Number("core_seconds"), scale, metrics);
  SetRatioOfKeys("speedup_factor", "lane_time", "wall_time", 1, metrics);
  SetRatioOfKeys("cpu_speedup", "chunk_cpu_time", "wall_time", 1, metrics);
  if (has_lanes) {
    SetRatio("io_overhead_pct", totals.lane_blocked_ns.Seconds(), "lane_time", totals.lane_ns.Seconds(), 100, metrics);
    SetRatio("io_overhead", totals.lane_blocked_ns.Seconds(), "lane_time", totals.lane_ns.Seconds(), 1, metrics);
  }
  OptionalSum overhead_ns, read_calls, read_call_bytes, shared_cpu_ns;
  std::map<std::string_view, std::optional<int64_t>> throttled_ns;  // by host: processes of one cgroup say the same
  for (const ProcessRow& process : processes) {
    overhead_ns.Add(process.overhead_ns);
    read_calls.Add(process.counts.read_calls);
    read_call_bytes.Add(process.counts.read_call_bytes);
    shared_cpu_ns.Add(process.counts.shared_cpu_ns);
    throttled_ns[process.host] = std::max(throttled_ns[process.host], process.counts.throttled_ns);
  }
  SetSum("process_read_calls", read_calls, metrics);
  SetSum("process_read_call_bytes", read_call_bytes, metrics);
  metrics->SetIfKnown("shared_cpu_time", shared_cpu_ns.Seconds());
  OptionalSum throttled;
  for (const auto& [host, of_host_ns] : throttled_ns) throttled.Add(of_host_ns);
  metrics->SetIfKnown("throttled_time", throttled.Seconds());
  SetRatio("instrumentation_overhead", overhead_ns.Seconds(), "lane_time", totals.lane_ns.Seconds(), 1, metrics);
  if (!metrics->Number("core_seconds").has_value()) return;
  metrics->SetIfKnown("balance", budget.balance);
  metrics->SetIfKnown("tail_time", budget.tail_time);
  if (!budget.tail_time.has_value() && totals.counts.num_summed_attempts > 0) {
    metrics->SetNull("tail_time", "chunks were summed: when each of them was open is not known");
  }
  metrics->Set("oversubscribed_core_seconds", budget.oversubscribed_core_seconds);
}

/// The unit in which `TrackIo` and those who record these metrics themselves give them.
std::string_view UnitOfReadMetric(std::string_view name) {
  if (name == "read_calls") return "count";
  const bool is_time = name == "read_wall" || name == "unzip_wall";
  return is_time ? "s" : "B";
}

/// Rates and shares from the well-known read metrics (`crema::metric`), after the run.
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

/// What single metrics are made from: the analyses that go through all attempts. On many chunks they take longer than
/// anything but reading.
struct AttemptAnalyses {
  std::array<std::vector<ChunkDistribution>, kDistributionPasses> distributions;
  std::optional<RssSlope> rss_slope;
  std::optional<double> load_imbalance;
  std::optional<int64_t> max_open_chunks;
};

constexpr size_t kMostSampledPeriods = 10;  // a look into the logs for each

// Memory that the analyses take beside the attempts, in bytes an attempt.
constexpr size_t kPointBytes = 16;         // events and seconds
constexpr size_t kStragglerBytes = 24;     // what a fit leaves, and durations of like sizes
constexpr size_t kShareBytes = 32;         // four parts of its duration, where all have nearly the same shares
constexpr size_t kTimeBytes = 20;          // begin and stop, and its task
constexpr size_t kOrderBytes = 16;         // a start and an index, where rows are not in order of start
constexpr size_t kDistributionBytes = 24;  // three values
constexpr size_t kBreakdownBytes = 24;     // a duration for inputs, processes and threads

constexpr std::pair<const char*, std::optional<double> Distribution::*> kStatistics[] = {
    {"_mean", &Distribution::mean}, {"_min", &Distribution::min}, {"_max", &Distribution::max},
    {"_std", &Distribution::std},   {"_p50", &Distribution::p50}, {"_p90", &Distribution::p90},
    {"_p95", &Distribution::p95},   {"_p99", &Distribution::p99}};

std::vector<std::string> WithStandIns(const std::vector<std::string>& names) {
  return Mapped<std::string>(names, [](std::string_view name) { return name.empty() ? kNoName : name; });
}

struct Hosts {
  std::vector<std::string> names;  // sorted
  std::vector<uint32_t> of_process;
};

Hosts IndexHosts(const std::vector<ProcessRow>& processes) {
  Hosts hosts = {Mapped<std::string>(processes, &ProcessRow::host), {}};
  hosts.of_process = SortAndNumber(&hosts.names);
  return hosts;
}

// Where no chunk names its file there is nothing to distinguish.
bool IsNameless(const std::vector<std::string>& names) { return names.size() == 1 && names[0].empty(); }
bool IsNameless(const std::vector<BreakdownRow>& rows) { return rows.size() == 1 && rows[0].name == kNoName; }

void BreakDownAttempts(RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  figures.worker_rows = ChooseWorkerRows(processes, attempts.rows, attempts.summed, attempts.bytes_of_process);
  const WorkerRows& workers = figures.worker_rows;
  const Hosts hosts = IndexHosts(processes);
  std::vector<ByteSums> bytes_of_host(hosts.names.size());
  for (size_t i = 0; i < processes.size(); ++i) bytes_of_host[hosts.of_process[i]].Add(attempts.bytes_of_process[i]);
  const std::vector<std::string> datasets = WithStandIns(attempts.datasets);
  const std::vector<std::string> files = WithStandIns(attempts.files);
  std::vector<std::vector<BreakdownRow>> tables =
      BreakDown(attempts.rows, attempts.summed, attempts.helpers,
                {{&AttemptRow::input, &attempts.dataset_of_input, &datasets, &attempts.bytes_of_dataset},
                 {&AttemptRow::input, &attempts.file_of_input, &files, &attempts.bytes_of_file},
                 {&AttemptRow::process, &workers.group_of_process, &workers.names, &workers.bytes},
                 {&AttemptRow::process, &hosts.of_process, &hosts.names, &bytes_of_host},
                 {&AttemptRow::thread, nullptr, &attempts.threads, &attempts.bytes_of_thread}});
  Measurement& to = figures.findings.tables;
  if (!IsNameless(tables[0])) to.datasets = std::move(tables[0]);
  to.run.datasets_source = Text::OrNull(FillDatasets(figures.coffea, &to.datasets));
  if (!IsNameless(tables[1])) to.files = std::move(tables[1]);
  figures.by_worker = std::move(tables[2]);
  to.hosts = std::move(tables[3]);
  to.threads = std::move(tables[4]);
}

std::vector<NamedPeriod> FindNamedPeriods(const RunFigures& figures, const StartOrder& order,
                                          const std::vector<DatasetFit>& fits) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const Hosts hosts = IndexHosts(processes);
  const auto name_of = [&](const SlowPeriod& period) -> std::string {
    switch (period.of) {
      case PeriodOf::kFile:
        return attempts.files[period.group];
      case PeriodOf::kWorker:
        return processes[period.group].worker();
      case PeriodOf::kHost:
        return hosts.names[period.group];
      case PeriodOf::kDataset:
        return attempts.datasets[attempts.kinds[period.group].first];
      case PeriodOf::kRun:
        break;
    }
    return "";
  };
  std::vector<NamedPeriod> named;
  const PeriodGroups groups = {attempts.kind_of_input, attempts.file_of_input, hosts.of_process,
                               !IsNameless(attempts.files), !IsNameless(attempts.datasets)};
  std::vector<SlowPeriod> periods = FindSlowPeriods(attempts.rows, order, groups, fits);
  ExplainPeriods(attempts.rows, attempts.helpers, groups, fits, &periods);
  for (const SlowPeriod& period : periods) {
    named.push_back({period, name_of(period), "", {}});
    if (named.size() > kMostSampledPeriods) continue;
    named.back().sample = SamplePeriod(attempts.rows, period, groups, fits);
  }
  return named;
}

void SetDistributions(const AttemptAnalyses& analyses, RunFigures* figures) {
  const bool were_summed = !figures->findings.attempts.summed.empty();
  for (const std::vector<ChunkDistribution>& pass : analyses.distributions) {
    for (const auto& [quantity, distribution, unknown] : pass) {
      for (const auto& [suffix, statistic] : kStatistics) {
        const std::string key = std::string(quantity) + suffix;
        figures->metrics.SetIfKnown(key, distribution.*statistic);
        if (were_summed && distribution.count == 0) {
          figures->metrics.SetNull(key, "all chunks were summed: single ones are not known");
        }
      }
      if (unknown > 0) figures->findings.tables.quality.missing_values.push_back({std::string(quantity), unknown});
    }
  }
}

/// Stragglers, growth of memory, imbalance, open chunks.
void SetAnalyses(const AttemptAnalyses& analyses, RunFigures* figures) {
  MetricSet& metrics = figures->metrics;
  metrics.SetIfKnown("straggler_chunks", figures->stragglers.straggler_chunks);
  metrics.SetIfKnown("oversized_chunks", figures->stragglers.oversized_chunks);
  if (analyses.rss_slope.has_value()) {
    metrics.Set("rss_slope", analyses.rss_slope->slope);
    metrics.Set("rss_slope_low", analyses.rss_slope->low);
    metrics.Set("rss_slope_high", analyses.rss_slope->high);
  }
  metrics.SetIfKnown("load_imbalance", analyses.load_imbalance);
  metrics.SetIfKnown("max_open_chunks", analyses.max_open_chunks);
  if (figures->findings.attempts.summed.empty()) return;
  for (std::string_view key :
       {"straggler_chunks", "oversized_chunks", "rss_slope", "rss_slope_low", "rss_slope_high"}) {
    if (metrics.Number(key).has_value()) continue;
    metrics.SetNull(key,
                    "too few chunks have a line of their own, the others were summed, or they recorded too little");
  }
  constexpr std::string_view kReason = "chunks were summed: when each of them was open is not known";
  metrics.SetNull("load_imbalance", kReason);
  metrics.SetNull("max_open_chunks", kReason);
}

/// Each of an engine's workers is in the table, whether it had chunks or not.
void AddWorkersWithoutChunks(RunFigures* figures) {
  absl::flat_hash_set<uint32_t> with_row;
  for (const BreakdownRow& row : figures->by_worker) with_row.insert(row.group);
  for (const WorkerLife& worker : figures->workers) {
    const ProcessRow& process = figures->findings.processes.processes[worker.process];
    if (!process.is_engine_worker) continue;
    const uint32_t group = figures->worker_rows.group_of_process[worker.process];
    if (!with_row.insert(group).second) continue;
    BreakdownRow& row = figures->by_worker.emplace_back();
    row.name = figures->worker_rows.names[group];
    row.group = group;
    if (!process.is_unrecorded) row.chunks = row.attempts = row.failed = row.lost = 0;
  }
}

// An engine's workers live longer than the run that used them, so they bound nothing. `but`: nor do processes of these.
bool BoundByProcesses(const ProcessFindings& findings, RunBounds& bounds, const std::vector<std::string>& but = {}) {
  bool any = false;
  for (size_t i = 0; i < findings.processes.size(); ++i) {
    const ProcessRow& process = findings.processes[i];
    if (findings.serves_engine[i] || absl::c_linear_search(but, process.run_id)) continue;
    any = true;
    if (bounds.boundary.empty()) bounds = {{process.start_ns, process.last_ns}, "processes"};
    bounds.window.start_ns = std::min(bounds.window.start_ns, process.start_ns);
    bounds.window.stop_ns = std::max(bounds.window.stop_ns, process.last_ns);
  }
  return any;
}

// Under `crema run` processes do not sample themselves: the parent's samples stand in.
void TakeSamplesOfTree(const TreeAccumulator& trees, const std::optional<TreeFigures>& tree,
                       std::vector<ProcessRow>& processes) {
  const TreeProcesses tree_processes(trees);
  for (ProcessRow& process : processes) {
    const TreeProcesses::Seen seen = tree_processes.Find(process.host, process.pid, process.start_ns);
    process.counts.Raise(seen.counts());
    if (process.samples.empty() && seen.process != nullptr) process.samples = seen.process->second;
    // A worker in a long chunk writes no line, and one that is killed there writes none any more.
    if (process.state != ProcessState::kEnded && !process.samples.empty()) {
      process.last_ns = std::max(process.last_ns, process.samples.back().time_ns);
    }
    if (!process.memory_limit_bytes.has_value() && tree.has_value()) {
      process.memory_limit_bytes = tree->memory_limit_bytes;
    }
  }
}

// Puts every time of a process on its scheduler's clock, as far as that is known.
void AlignClocks(RecordFindings& findings) {
  std::vector<ProcessRow>& processes = findings.processes.processes;
  const std::vector<int64_t> offsets_ns =
      Mapped<int64_t>(processes, [](const ProcessRow& process) { return process.clock_offset_ns.value_or(0); });
  if (absl::c_all_of(offsets_ns, [](int64_t offset_ns) { return offset_ns == 0; })) return;
  findings.attempts.rows.ShiftStarts(offsets_ns);
  for (SummedAttempts& summed : findings.attempts.summed) {
    summed.row.start_ns += offsets_ns[summed.row.process];
    summed.stop_ns += offsets_ns[summed.row.process];
  }
  for (TaskRow& task : findings.tasks.rows) {
    task.start_ns += offsets_ns[task.process];
    task.stop_ns += offsets_ns[task.process];
  }
  for (uint32_t i = 0; i < processes.size(); ++i) {
    processes[i].last_ns += offsets_ns[i];
    for (ProcessSample& sample : processes[i].samples) sample.time_ns += offsets_ns[i];
    for (CpuReading& reading : processes[i].cpu_readings) reading.time_ns += offsets_ns[i];
  }
}

/// The run as its scheduler and `crema run` saw it, beside the records.
struct Observed {
  const TreeAccumulator& trees;
  const ClusterTable& clusters;
  const std::vector<ClusterWorker>& workers;  ///< of the clusters
  const TaskOfProcess& task_of_process;
  std::optional<int64_t> start_ns;  ///< of the run, where somebody said so
  std::optional<int64_t> stop_ns;
};

/// The first that exists of: the command's bounds (`crema run`), widened by processes of other runs; the processes',
/// the chunks'. A start and a stop that somebody said override a side each, and make the boundary `context`. A stop
/// before the start is moved to the start.
RunBounds FindBounds(const Observed& observed, const RunFigures& figures) {
  const auto& [start_ns, stop_ns] = std::tie(observed.start_ns, observed.stop_ns);
  const RecordFindings& findings = figures.findings;
  RunBounds bounds;
  const bool is_given = start_ns.has_value() && stop_ns.has_value();
  if (figures.tree.has_value()) {
    bounds = {{figures.tree->start_ns, figures.tree->stop_ns.value_or(figures.tree->last_ns)}, "command"};
    RunBounds all;  // where only `crema run` was killed, its records go on after the tree's last line
    if (!figures.tree->stop_ns.has_value() && BoundByProcesses(findings.processes, all)) {
      bounds.window.stop_ns = std::max(bounds.window.stop_ns, all.window.stop_ns);
    }
    const std::vector<std::string> ids = observed.trees.run_ids();
    bounds.has_other_runs = !absl::c_linear_search(ids, "") && BoundByProcesses(findings.processes, bounds, ids);
    if (bounds.has_other_runs) bounds.boundary = "processes";
  } else if (!BoundByProcesses(findings.processes, bounds) && !is_given) {
    const AttemptFindings& attempts = findings.attempts;
    const AttemptTotals totals = SumAttempts(attempts.rows, attempts.summed, attempts.helpers, attempts.counts);
    if (totals.first_start_ns.has_value()) {
      bounds = {{*totals.first_start_ns, totals.last_stop_ns.value_or(*totals.first_start_ns)}, "chunks"};
    }
  }
  if (start_ns.has_value() || stop_ns.has_value()) {
    bounds.boundary = "context";
    bounds.stop_was_reported = stop_ns.has_value();
    bounds.window.start_ns = start_ns.value_or(bounds.window.start_ns);
    bounds.window.stop_ns = stop_ns.value_or(bounds.window.stop_ns);
  }
  bounds.window.stop_ns = std::max(bounds.window.stop_ns, bounds.window.start_ns);
  return bounds;
}

/// The run's bounds, and the workers' lives, which are clipped to them.
void MeasureWorkerLives(const Observed& observed, RunFigures& figures) {
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const AttemptFindings& attempts = figures.findings.attempts;
  figures.bounds = FindBounds(observed, figures);
  const std::optional<ClusterSession> session = observed.clusters.Session();
  if (session.has_value() && !session->ended && observed.stop_ns == session->window.stop_ns) {
    figures.bounds.stop_was_reported = false;  // the session goes on: that is what was known last
  }
  const RunWindow& window = figures.bounds.window;
  figures.workers = FindWorkerLives(attempts.rows, processes, attempts.helpers, window, attempts.summed);
  if (!figures.workers.empty()) MeasureWorkers(figures.workers, processes, window, &figures.metrics);
}

/// After the lives.
void DrawTimelines(const Observed& observed, RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const RunWindow& window = figures.bounds.window;
  figures.timelines = DrawWorkerTimelines(figures.workers, attempts.rows, figures.findings.processes.processes, window,
                                          attempts.summed);
  AddClusterTimelines(observed.workers, window, &figures.timelines);
  AddTreeTimelines(observed.trees, window, &figures.timelines);
}

/// After the lives.
void DivideTime(const Observed& observed, RunFigures& figures) {
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const AttemptFindings& attempts = figures.findings.attempts;
  figures.engine.join =
      JoinTasks(attempts.rows, attempts.thread_ids, figures.findings.tasks.rows, observed.task_of_process);
  std::vector<int64_t> outside_tasks_ns = OutsideTasks(figures.findings.fine, processes.size());
  AddHeldByScheduler(figures.findings.tasks.rows, &outside_tasks_ns);
  const EngineTime engine_time = {figures.engine.join.stretches, std::move(outside_tasks_ns),
                                  CoresOfTasks(figures.findings.tasks.rows)};
  figures.budget = ComputeBudget(attempts.rows, processes, attempts.helpers, figures.workers, figures.bounds.window,
                                 engine_time, attempts.summed);
  const std::optional<GpuWork>& gpu = figures.findings.gpu.of_results;
  if (gpu.has_value() && gpu->wait_cpu_ns.has_value()) {
    const auto spun_ns = static_cast<double>(*gpu->wait_cpu_ns);
    SetGpuWait(spun_ns / 1e9, (static_cast<double>(gpu->wait_ns) - spun_ns) / 1e9, &figures.budget);
  }
}

/// Runs the analyses side by side: each needs the attempts, their processes and nothing of another but of those that it
/// comes after. Fills stragglers, expected times, slow periods, contention, the breakdowns, and what is known of the
/// run's time.
AttemptAnalyses AnalyseAttempts(const WorkLimits& limits, const Observed& observed, RunFigures* figures) {
  const AttemptFindings& attempts = figures->findings.attempts;
  const size_t count = attempts.rows.size();
  AttemptAnalyses analyses;
  StragglerSearch stragglers(attempts.rows, attempts.helpers, attempts.kind_of_input);
  {
    const SpilledLists lists(limits.spill, kPointBytes * count > limits.bytes);
    stragglers.Gather(limits);
  }
  std::vector<DatasetFit> fits;
  StartOrder order;
  std::vector<ParallelTask> pieces;
  const auto add = [&pieces, count](const char* name, size_t bytes_each, std::function<void()> run,
                                    std::vector<size_t> after = {}) {
    pieces.push_back({bytes_each * count, std::move(run), std::move(after), name});
    return pieces.size() - 1;
  };
  // The longest chains are first, so that no thread is left alone with one at the end.
  const size_t fitted = add("fits", kStragglerBytes, [&] {
    stragglers.Fit();
    fits = stragglers.fits();
  });
  const size_t lives = add("lives", kOrderBytes, [&] { MeasureWorkerLives(observed, *figures); });
  add("budget", kTimeBytes, [&] { DivideTime(observed, *figures); }, {lives});
  const size_t ordered = add("order of starts", kOrderBytes, [&] { order = OrderByStart(attempts.rows); });
  pieces.back().leaves_lists = true;
  const size_t shares = add("usual shares", kShareBytes, [&] { stragglers.FindUsualShares(); });
  add("slow spells", 0, [&] { figures->slow_spells = FindNamedPeriods(*figures, order, fits); }, {fitted, ordered});
  add("stragglers", kShareBytes, [&] { stragglers.Judge(); }, {fitted, shares});
  add("errors of fits", kShareBytes, [&] { stragglers.FindErrors(); }, {fitted});
  add("breakdowns", kBreakdownBytes, [&] { BreakDownAttempts(*figures); });
  add("contention", kOrderBytes,
      [&] {
        if (count == 0) return;
        figures->findings.tables.contention = {
            FindContention(attempts.rows, order, attempts.helpers, attempts.kind_of_input)};
      },
      {ordered});
  add("totals", 0,
      [&] { figures->totals = SumAttempts(attempts.rows, attempts.summed, attempts.helpers, attempts.counts); });
  const std::vector<ProcessRow>& processes = figures->findings.processes.processes;
  if (attempts.summed.empty()) {
    add("load imbalance", kOrderBytes, [&] { analyses.load_imbalance = LoadImbalance(attempts.rows); });
    add("open chunks", kOrderBytes, [&] {
      const std::vector<int64_t> open = MaxOpenChunks(attempts.rows, processes);
      if (!attempts.rows.empty()) analyses.max_open_chunks = *std::max_element(open.begin(), open.end());
    });
  }
  for (size_t pass = 0; pass < kDistributionPasses; ++pass) {
    add("distributions", kDistributionBytes,
        [&, pass] { analyses.distributions[pass] = DescribeChunks(pass, attempts.rows, attempts.helpers); });
  }
  add("timelines", 0, [&] { DrawTimelines(observed, *figures); }, {lives});
  add("growth of memory", 0, [&] { analyses.rss_slope = LargestRssSlope(attempts.rows, processes); });
  add("expected times", 0,
      [&] {
        ExpectedTimes expected = FindExpectedTimes(attempts.rows, attempts.kind_of_input, attempts.file_of_input, fits);
        figures->expected_by_worker = std::move(expected.by_process);
        figures->expected_by_file = std::move(expected.by_file);
      },
      {fitted});
  RunParallel(pieces, limits);
  figures->stragglers = std::move(stragglers).Take();
  return analyses;
}

/// Workers that share pages count them in each of them; the tree that they are all in counts them once.
void CapByTree(const TreeAccumulator& trees, RunFigures& figures) {
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const TreeProcesses tree_processes(trees);
  const bool all_are_in_it = std::all_of(figures.workers.begin(), figures.workers.end(), [&](const WorkerLife& worker) {
    const ProcessRow& process = processes[worker.process];
    return tree_processes.Find(process.host, process.pid, process.start_ns).counts().rss_peak_bytes.has_value();
  });
  const std::optional<double> sum = figures.metrics.Number("peak_total_memory_bytes");
  // One worker's own peak counts pages that it shares, so all of them never have less.
  const std::optional<double> tree =
      std::max(figures.metrics.Number("tree_peak_memory_bytes"), figures.metrics.Number("peak_memory_bytes"));
  if (!all_are_in_it || !sum.has_value() || !tree.has_value() || *sum <= *tree) return;
  figures.metrics.Set("peak_total_memory_bytes", static_cast<int64_t>(*tree));
}

}  // namespace

void SetSumsSoFar(const AttemptTotals& totals, const ByteSums& bytes, double wall_time, MetricSet* metrics) {
  RecordFindings findings;
  findings.attempts.bytes = bytes;
  const RunTotals chosen = ChooseTotals(/*has_processes=*/true, totals, std::nullopt, {});
  SetRunMetrics(findings, totals, chosen, {}, wall_time, metrics);
  SetCounts(totals.counts, metrics);
  Budget budget;  // when each core was occupied is not known: no more than all of its threads
  budget.occupied_core_seconds = totals.lane_ns.Seconds().value_or(0);
  SetEfficiencyMetrics({}, {}, totals, budget, metrics);
  RefuseImpossible(metrics);
}

RunFigures ComputeFigures(RecordFindings findings, const TreeAccumulator& trees, std::optional<int64_t> start_ns,
                          std::optional<int64_t> stop_ns, CoffeaFigures coffea, const ClusterTable& clusters,
                          const WorkLimits& limits) {
  RunFigures figures;
  figures.coffea = std::move(coffea);
  figures.findings = std::move(findings);
  figures.tree = trees.Finalize();
  std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  TakeSamplesOfTree(trees, figures.tree, processes);
  const TaskOfProcess task_of_process = MatchTaskProcesses(clusters, &processes);
  AlignClocks(figures.findings);
  const std::vector<ClusterWorker> cluster_workers = TakeClusters(clusters, task_of_process, figures);
  Append(&figures.engine.complaints, NameMissingLogs(clusters, processes));

  JudgeEnds(cluster_workers, task_of_process, trees, &figures.findings);
  Measurement& tables = figures.findings.tables;
  tables.phases = FindPhases(figures.findings.spans);

  const Observed observed = {trees, clusters, cluster_workers, task_of_process, start_ns, stop_ns};
  MetricSet& metrics = figures.metrics;
  SetAllNull(&metrics);
  const AttemptAnalyses analyses = AnalyseAttempts(limits, observed, &figures);
  AddWorkersWithoutChunks(&figures);
  tables.processes = LargestProcesses(trees, figures.bounds.window.start_ns);

  const std::optional<double> wall_time =
      figures.bounds.boundary.empty() ? std::nullopt : std::optional<double>(figures.bounds.window.seconds());
  tables.waits = DivideBlocked(figures.findings.waits, figures.findings.attempts);
  ForgetUnknownCores(figures);
  figures.chosen = ChooseTotals(figures.findings.processes.has_records(), figures.totals, figures.bytes_read_chunks(),
                                figures.coffea);
  SetRunMetrics(figures.findings, figures.totals, figures.chosen, figures.coffea, wall_time, &metrics);
  if (figures.findings.processes.has_records()) SetCounts(figures.totals.counts, &metrics);
  if (const std::optional<double> cores = AllowedCores(processes)) {
    metrics.Set("allocated_cores", *cores);
    tables.run.allocated_cores_source = "affinity";
  } else if (!processes.empty()) {
    metrics.SetNull("allocated_cores", "the processes of one host or more did not say how many CPUs they were granted");
  }
  if (figures.tree.has_value() && figures.tree->allocated_cores.has_value()) {
    tables.run.allocated_cores_source = Text::OrNull(figures.tree->allocated_cores_source);
  }
  SetTreeMetrics(figures.tree, wall_time, figures.totals.cpu_ns.Seconds(), &metrics);
  for (const char* key : {"job_cpu_efficiency", "cpu_outside_chunks_share"}) {
    if (figures.bounds.has_other_runs) metrics.SetNull(key, "processes of other runs are not in the process tree");
  }
  CapByTree(observed.trees, figures);
  SetEngine(clusters, cluster_workers, figures);
  UseTimesOfTasks(figures);
  if (tables.phases.empty()) tables.phases = FindTaskPhases(figures.findings.tasks, figures.engine.join);
  SetDistributions(analyses, &figures);
  SetChunkMetrics(figures.findings, figures.totals, &metrics);
  SetReadMetrics(tables.custom_metrics, &metrics);
  SetAnalyses(analyses, &figures);
  SetEfficiencyMetrics(processes, figures.workers, figures.totals, figures.budget, &metrics);
  RefuseImpossible(&metrics);
  SetAliases(&metrics);
  return figures;
}

}  // namespace crema
