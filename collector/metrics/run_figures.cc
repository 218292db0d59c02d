#include "collector/metrics/run_figures.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "collector/metrics/attempts/chunk_distributions.h"
#include "collector/metrics/attempts/rss_slope.h"
#include "collector/metrics/attempts/spell_reasons.h"
#include "collector/metrics/catalog/catalog.h"
#include "collector/metrics/engine/cluster_timelines.h"
#include "collector/metrics/engine/engine_metrics.h"
#include "collector/metrics/engine/gil_contention.h"
#include "collector/metrics/engine/missing_logs.h"
#include "collector/metrics/engine/task_cores.h"
#include "collector/metrics/engine/task_phases.h"
#include "collector/metrics/engine/task_processes.h"
#include "collector/metrics/run_metrics.h"
#include "collector/metrics/tree/oom_kills.h"
#include "collector/metrics/tree/tree_timelines.h"
#include "collector/metrics/workers/lanes.h"
#include "collector/metrics/workers/worker_steps.h"

namespace crema {
namespace {

constexpr size_t kMostSampledSpells = 10;  // a look into the logs for each

constexpr std::string_view kNoName = "(none)";  // of a dataset or file that the chunk did not name

// Under `crema run` processes do not sample themselves: the parent's samples stand in.
void TakeSamplesOfTree(const TreeAccumulator& trees, const std::optional<TreeFigures>& tree,
                       std::vector<ProcessRow>& processes) {
  for (ProcessRow& process : processes) {
    if (process.samples.empty()) process.samples = trees.SamplesOf(process.host, process.pid, process.start_ns);
    if (!process.memory_limit_bytes.has_value() && tree.has_value()) {
      process.memory_limit_bytes = tree->memory_limit_bytes;
    }
  }
}

/// Where no chunk has a line of its own, that is why there is nothing to describe.
void SayAllSummed(std::string_view key, MetricSet& metrics) {
  for (const char* suffix : {"_mean", "_min", "_max", "_std", "_p50", "_p90", "_p95", "_p99"}) {
    metrics.SetNull(std::string(key) + suffix, "all chunks were summed: single ones are not known");
  }
}

void SetDistributions(RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  for (const ChunkDistribution& described : DescribeChunks(attempts.rows, attempts.helpers)) {
    const Distribution& distribution = described.distribution;
    const auto set = [&](const char* suffix, const std::optional<double>& value) {
      if (value.has_value()) figures.metrics.Set(std::string(described.key) + suffix, *value);
    };
    set("_mean", distribution.mean);
    set("_min", distribution.min);
    set("_max", distribution.max);
    set("_std", distribution.std);
    set("_p50", distribution.p50);
    set("_p90", distribution.p90);
    set("_p95", distribution.p95);
    set("_p99", distribution.p99);
    if (distribution.count == 0 && !attempts.summed.empty()) {
      SayAllSummed(described.key, figures.metrics);
    }
    if (described.unknown > 0) figures.missing_values.push_back({described.key, described.unknown});
  }
}

std::vector<std::string> WithStandIns(std::vector<std::string> names) {
  for (std::string& name : names) {
    if (name.empty()) name = std::string(kNoName);
  }
  return names;
}

/// A worker that was lost stands in the table, with whatever it did before.
void AddLostWorkers(RunFigures& figures) {
  absl::flat_hash_set<uint32_t> with_row;
  for (const BreakdownRow& row : figures.by_worker) with_row.insert(row.group);
  for (const WorkerLife& worker : figures.workers) {
    const ProcessRow& process = figures.findings.processes.processes[worker.process];
    if (!process.is_engine_worker || process.state != ProcessState::kLost) continue;
    if (!with_row.insert(figures.worker_rows.group_of_process[worker.process]).second) continue;
    BreakdownRow& row = figures.by_worker.emplace_back();
    row.name = process.worker();
    row.group = worker.process;
    row.chunks = row.attempts = row.failed = row.lost = 0;
  }
}

struct Hosts {
  std::vector<std::string> names;  // sorted
  std::vector<uint32_t> of_process;
};

Hosts IndexHosts(const std::vector<ProcessRow>& processes) {
  Hosts hosts;
  for (const ProcessRow& process : processes) hosts.names.push_back(process.host);
  std::sort(hosts.names.begin(), hosts.names.end());
  hosts.names.erase(std::unique(hosts.names.begin(), hosts.names.end()), hosts.names.end());
  for (const ProcessRow& process : processes) {
    const auto name = std::lower_bound(hosts.names.begin(), hosts.names.end(), process.host);
    hosts.of_process.push_back(static_cast<uint32_t>(name - hosts.names.begin()));
  }
  return hosts;
}

// Where no chunk names its file there is nothing to tell apart.
bool IsNameless(const std::vector<std::string>& names) { return names.size() == 1 && names[0].empty(); }

void BreakDownAttempts(RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  figures.worker_rows = ChooseWorkerRows(processes, attempts.rows, attempts.summed, attempts.bytes_of_process);
  const WorkerRows& workers = figures.worker_rows;
  const Hosts hosts = IndexHosts(processes);
  std::vector<ByteSums> bytes_of_host(hosts.names.size());
  for (size_t i = 0; i < processes.size(); ++i) {
    bytes_of_host[hosts.of_process[i]].Add(attempts.bytes_of_process[i]);
  }
  const std::vector<std::string> datasets = WithStandIns(attempts.datasets);
  const std::vector<std::string> files = WithStandIns(attempts.files);
  std::vector<std::vector<BreakdownRow>> tables =
      BreakDown(attempts.rows, attempts.summed, attempts.helpers,
                {{&AttemptRow::input, &attempts.dataset_of_input, &datasets, &attempts.bytes_of_dataset},
                 {&AttemptRow::input, &attempts.file_of_input, &files, &attempts.bytes_of_file},
                 {&AttemptRow::process, &workers.group_of_process, &workers.names, &workers.bytes},
                 {&AttemptRow::process, &hosts.of_process, &hosts.names, &bytes_of_host},
                 {&AttemptRow::thread, nullptr, &attempts.threads, &attempts.bytes_of_thread}});
  if (!IsNameless(attempts.datasets)) figures.by_dataset = std::move(tables[0]);
  figures.datasets_source = FillDatasets(figures.coffea, &figures.by_dataset);
  if (!IsNameless(attempts.files)) figures.by_file = std::move(tables[1]);
  figures.by_worker = std::move(tables[2]);
  AddLostWorkers(figures);
  figures.by_host = std::move(tables[3]);
  figures.by_thread = std::move(tables[4]);
}

std::vector<NamedSpell> FindNamedSpells(const RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const Hosts hosts = IndexHosts(processes);
  const auto name_of = [&](const SlowSpell& spell) -> std::string {
    switch (spell.of) {
      case SpellOf::kFile:
        return attempts.files[spell.group];
      case SpellOf::kWorker:
        return processes[spell.group].worker();
      case SpellOf::kHost:
        return hosts.names[spell.group];
      case SpellOf::kDataset:
        return attempts.datasets[spell.group];
      case SpellOf::kRun:
        break;
    }
    return "";
  };
  std::vector<NamedSpell> named;
  const SpellGroups groups = {attempts.dataset_of_input, attempts.file_of_input, hosts.of_process,
                              !IsNameless(attempts.files), !IsNameless(attempts.datasets)};
  std::vector<SlowSpell> spells = FindSlowSpells(attempts.rows, groups, figures.stragglers.datasets);
  ExplainSpells(attempts.rows, attempts.helpers, groups, figures.stragglers.datasets, &spells);
  for (const SlowSpell& spell : spells) {
    named.push_back({spell, name_of(spell), "", {}});
    if (named.size() > kMostSampledSpells) continue;
    named.back().sample = SampleSpell(attempts.rows, spell, groups, figures.stragglers.datasets);
  }
  return named;
}

void SetAnalyses(RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  MetricSet& metrics = figures.metrics;
  figures.stragglers = FindStragglers(attempts.rows, attempts.helpers, attempts.dataset_of_input);
  figures.expected_by_worker =
      ExpectedTimeByProcess(attempts.rows, attempts.dataset_of_input, figures.stragglers.datasets);
  figures.expected_by_file =
      ExpectedTimeByFile(attempts.rows, attempts.dataset_of_input, attempts.file_of_input, figures.stragglers.datasets);
  figures.slow_spells = FindNamedSpells(figures);
  figures.contention = FindContention(attempts.rows, attempts.helpers, attempts.dataset_of_input);
  if (figures.stragglers.straggler_chunks.has_value()) {
    metrics.Set("straggler_chunks", *figures.stragglers.straggler_chunks);
  }
  if (figures.stragglers.oversized_chunks.has_value()) {
    metrics.Set("oversized_chunks", *figures.stragglers.oversized_chunks);
  }
  if (const std::optional<RssSlope> slope = LargestRssSlope(attempts.rows)) {
    metrics.Set("rss_slope", slope->slope);
    metrics.Set("rss_slope_low", slope->low);
    metrics.Set("rss_slope_high", slope->high);
  }
  if (!attempts.summed.empty()) {
    for (std::string_view key :
         {"straggler_chunks", "oversized_chunks", "rss_slope", "rss_slope_low", "rss_slope_high"}) {
      if (metrics.Number(key).has_value()) continue;
      metrics.SetNull(key, "too few chunks have a line of their own, the others were summed, or they told too little");
    }
    constexpr std::string_view kReason = "chunks were summed: when each of them was open is not known";
    metrics.SetNull("load_imbalance", kReason);
    metrics.SetNull("max_open_chunks", kReason);
    return;
  }
  if (const std::optional<double> imbalance = LoadImbalance(attempts.rows)) {
    metrics.Set("load_imbalance", *imbalance);
  }
  const std::vector<int64_t> open = MaxOpenChunks(attempts.rows, figures.findings.processes.processes);
  if (!attempts.rows.empty()) metrics.Set("max_open_chunks", *std::max_element(open.begin(), open.end()));
}

// Puts every time of a process on its scheduler's clock, as far as that is known.
void AlignClocks(RecordFindings& findings) {
  std::vector<ProcessRow>& processes = findings.processes.processes;
  const auto offset_of = [&](uint32_t process) { return processes[process].clock_offset_ns.value_or(0); };
  for (AttemptRow& attempt : findings.attempts.rows) attempt.start_ns += offset_of(attempt.process);
  for (SummedAttempts& summed : findings.attempts.summed) {
    summed.row.start_ns += offset_of(summed.row.process);
    summed.stop_ns += offset_of(summed.row.process);
  }
  for (TaskRow& task : findings.tasks.rows) {
    task.start_ns += offset_of(task.process);
    task.stop_ns += offset_of(task.process);
  }
  for (uint32_t i = 0; i < processes.size(); ++i) {
    processes[i].last_ns += offset_of(i);
    for (ProcessSample& sample : processes[i].samples) sample.time_ns += offset_of(i);
    for (CpuReading& reading : processes[i].cpu_readings) reading.time_ns += offset_of(i);
  }
}

std::vector<ClusterWorker> TakeClusters(const ClusterTable& clusters, const TaskOfProcess& task_of_process,
                                        RunFigures& figures) {
  const size_t recorded = figures.findings.processes.processes.size();
  std::vector<ClusterWorker> workers = MatchWorkers(clusters, figures.findings.processes);
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    figures.engine.has_scheduler = figures.engine.has_scheduler || !cluster.is_bare;
    figures.engine.tells_tasks = figures.engine.tells_tasks || !cluster.tasks.empty();
  }
  figures.engine.name = clusters.EngineText();
  if (const Engine* engine = clusters.engine()) figures.engine.traits = engine->traits;
  const std::optional<ClusterSession> session = clusters.Session();
  figures.engine.ended = session.has_value() && session->ended;
  figures.findings.attempts.bytes_of_process.resize(figures.findings.processes.processes.size());
  const std::set<uint32_t> with_tasks = MoveToWorkers(clusters, workers, task_of_process, &figures.findings);
  for (const ClusterWorker& worker : workers) {
    if (worker.process < recorded || with_tasks.count(worker.process) > 0) continue;
    ++figures.engine.workers_unseen;
    if (!worker.fact->failure.empty()) {
      figures.engine.complaints.push_back(
          fmt::format("{} records nothing: {}", worker.fact->address, worker.fact->failure));
    }
  }
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    for (const auto& [log, bytes] : cluster.lost_bytes) figures.engine.lost_bytes += bytes;
    for (const std::string& complaint : cluster.complaints) figures.engine.complaints.push_back(complaint);
    for (const auto& [worker, why] : cluster.silent) {
      figures.engine.complaints.push_back(fmt::format("{} did not send its last records: {}", worker, why));
    }
  }
  const std::map<uint32_t, RunWindow> lives = LivesOfTasks(task_of_process, figures.findings.processes.processes);
  if (const int64_t left_out = AddClusterTasks(clusters, workers, lives, &figures.findings.tasks); left_out > 0) {
    figures.engine.complaints.push_back(fmt::format("{} {}s ran on workers of which nobody told; they were left out",
                                                    left_out, figures.engine.traits.task));
  }
  return workers;
}

// Cores of live workers, integrated over stretches of time.
double CoreSeconds(const std::vector<WorkerLife>& workers, const std::vector<RunWindow>& stretches) {
  double core_ns = 0;
  for (const WorkerLife& worker : workers) {
    for (const RunWindow& stretch : stretches) {
      core_ns += static_cast<double>(worker.cores) *
                 static_cast<double>(stretch.Clip(worker.stop_ns) - stretch.Clip(worker.start_ns));
    }
  }
  return core_ns / 1e9;
}

std::optional<double> TaskSlotUtilization(const RunFigures& figures) {
  const RunWindow& window = figures.bounds.window;
  const double core_seconds = CoreSeconds(figures.workers, {window});
  if (figures.findings.tasks.empty() || core_seconds <= 0) return std::nullopt;
  return CoreTimeOfTasks(figures.findings.tasks.rows, window) / 1e9 / core_seconds;
}

void SetEngine(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers, RunFigures& figures) {
  const RunWindow& window = figures.bounds.window;
  EngineFacts facts = {figures.findings.fine, figures.findings.tasks, figures.engine.join};
  facts.processors = clusters.Processors();
  facts.task_slot_utilization = TaskSlotUtilization(figures);
  facts.gil_contention = GilContention(workers, window);
  const std::optional<ClusterSession> session = clusters.Session();
  const int64_t last_ns = session.has_value() ? session->flushed_ns : std::numeric_limits<int64_t>::max();
  const int64_t told_ns = clusters.FlushedAfter(window.stop_ns).value_or(last_ns);
  facts.compute_seconds = clusters.ComputeSeconds(session.has_value() ? window.start_ns : 0, told_ns);
  if (const std::vector<RunWindow> active = clusters.ActiveSpans(window); !active.empty()) {
    facts.active_core_seconds = CoreSeconds(figures.workers, active);
  }
  figures.engine.fine_coverage = FineCoverage(facts);
  SetEngineMetrics(facts, &figures.metrics);
}

/// Of the processor's tasks; of all, where nobody said which those are.
std::optional<double> ShareOfTasksBlocked(const MetricSet& metrics) {
  const auto share = [&metrics](std::string_view cpu_key, std::string_view blocked_key) {
    const std::optional<double> cpu = metrics.Number(cpu_key), blocked = metrics.Number(blocked_key);
    return cpu.has_value() && blocked.has_value() ? Ratio(blocked, *cpu + *blocked) : std::nullopt;
  };
  const std::optional<double> of_processor = share("processor_cpu_time_seconds", "processor_noncpu_time_seconds");
  return of_processor.has_value() ? of_processor : share("cpu_time_seconds", "io_time_seconds");
}

/// Without chunk records, what the processor's tasks did is what is known of that of chunks.
void UseTimesOfTasks(RunFigures& figures) {
  if (figures.totals.cpu_ns.count > 0) figures.cpu_time_source = "records";
  if (figures.totals.blocked_ns.count > 0) figures.io_overhead_source = "records";
  if (figures.findings.attempts.counts.num_attempts > 0) return;
  if (const std::optional<double> cpu = figures.metrics.Number("processor_cpu_time_seconds")) {
    figures.metrics.Set("chunk_cpu_time", *cpu);
    figures.cpu_time_source = "processor's tasks, with what Coffea does around it";
  }
  if (const std::optional<double> blocked = ShareOfTasksBlocked(figures.metrics)) {
    figures.metrics.Set("io_overhead_pct", *blocked * 100);
    figures.metrics.Set("io_overhead", *blocked);
    figures.io_overhead_source = "tasks";
  }
}

}  // namespace

RunFigures ComputeFigures(RecordFindings findings, const TreeAccumulator& trees, std::optional<int64_t> start_ns,
                          std::optional<int64_t> stop_ns, CoffeaFigures coffea, const ClusterTable& clusters) {
  RunFigures figures;
  figures.coffea = std::move(coffea);
  figures.findings = std::move(findings);
  figures.tree = trees.Finalize();
  std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const AttemptFindings& attempts = figures.findings.attempts;
  TakeSamplesOfTree(trees, figures.tree, processes);
  const TaskOfProcess task_of_process = MatchTaskProcesses(clusters, &processes);
  AlignClocks(figures.findings);
  const std::vector<ClusterWorker> cluster_workers = TakeClusters(clusters, task_of_process, figures);
  for (std::string& complaint : NameMissingLogs(clusters, processes)) {
    figures.engine.complaints.push_back(std::move(complaint));
  }

  NameOomKills(trees, &processes);

  figures.totals = SumAttempts(attempts.rows, attempts.summed, attempts.helpers, attempts.counts);
  figures.bounds = FindBounds(figures.tree, figures.findings.processes, figures.totals, start_ns, stop_ns);
  const std::optional<ClusterSession> session = clusters.Session();
  if (session.has_value() && !session->ended && stop_ns == session->window.stop_ns) {
    figures.bounds.stop_was_told = false;  // the session goes on: that is what was known last
  }
  const RunWindow& window = figures.bounds.window;
  const std::optional<double> wall_time =
      figures.bounds.boundary.empty() ? std::nullopt : std::optional<double>(window.seconds());

  figures.workers = FindWorkerLives(attempts.rows, processes, attempts.helpers, window, attempts.summed);
  const WorkerSteps steps =
      figures.workers.empty() ? WorkerSteps() : MeasureWorkers(figures.workers, processes, window);
  figures.timelines = DrawWorkerTimelines(figures.workers, attempts.rows, processes, window, attempts.summed);
  AddClusterTimelines(cluster_workers, window, &figures.timelines);
  AddTreeTimelines(trees, window, &figures.timelines);
  figures.processes = LargestProcesses(trees);
  figures.engine.join = JoinTasks(attempts.rows, attempts.thread_ids, figures.findings.tasks.rows, task_of_process);
  std::vector<int64_t> outside_tasks_ns = OutsideTasks(figures.findings.fine, processes.size());
  AddHeldByScheduler(figures.findings.tasks.rows, &outside_tasks_ns);
  const EngineTime engine_time = {figures.engine.join.stretches, std::move(outside_tasks_ns),
                                  CoresOfTasks(figures.findings.tasks.rows)};
  figures.budget =
      ComputeBudget(attempts.rows, processes, attempts.helpers, figures.workers, window, engine_time, attempts.summed);
  figures.phases = FindPhases(figures.findings.spans);

  MetricSet& metrics = figures.metrics;
  SetAllNull(&metrics);
  SetWorkerMetrics(steps, &metrics);
  figures.chosen = ChooseTotals(figures.findings.processes.has_records(), figures.totals, figures.bytes_read_chunks(),
                                figures.coffea);
  SetRunMetrics(figures.findings, figures.totals, figures.chosen, figures.coffea, wall_time, &metrics);
  if (const std::optional<double> cores = AllowedCores(processes)) {
    metrics.Set("allocated_cores", *cores);
    figures.allocated_cores_source = "affinity";
  } else if (!processes.empty()) {
    metrics.SetNull("allocated_cores", "the processes of one host or more did not say how many CPUs they were granted");
  }
  if (figures.tree.has_value() && figures.tree->allocated_cores.has_value()) {
    figures.allocated_cores_source = figures.tree->allocated_cores_source;
  }
  SetTreeMetrics(figures.tree, wall_time, figures.totals.cpu_ns.Seconds(), &metrics);
  SetEngine(clusters, cluster_workers, figures);
  UseTimesOfTasks(figures);
  if (figures.phases.empty()) figures.phases = FindTaskPhases(figures.findings.tasks, figures.engine.join);
  SetDistributions(figures);
  SetChunkMetrics(figures.findings, figures.totals, &metrics);
  SetReadMetrics(figures.findings.custom_metrics, &metrics);
  SetAnalyses(figures);
  SetEfficiencyMetrics(processes, figures.totals, figures.budget, &metrics);
  SetAliases(&metrics);

  BreakDownAttempts(figures);
  return figures;
}

}  // namespace crema
