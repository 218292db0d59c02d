#include "collector/metrics/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "collector/metrics/attempt_analyses.h"
#include "collector/metrics/catalog/catalog.h"
#include "collector/metrics/engine/cluster_timelines.h"
#include "collector/metrics/engine/engine_metrics.h"
#include "collector/metrics/engine/gil_contention.h"
#include "collector/metrics/engine/missing_logs.h"
#include "collector/metrics/engine/task_phases.h"
#include "collector/metrics/engine/task_processes.h"
#include "collector/metrics/run_metrics.h"
#include "collector/metrics/tree/oom_kills.h"
#include "collector/metrics/tree/tree_timelines.h"
#include "collector/metrics/workers/worker_steps.h"

namespace crema {
namespace {

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

// Puts every time of a process on its scheduler's clock, as far as that is known.
void AlignClocks(RecordFindings& findings) {
  std::vector<ProcessRow>& processes = findings.processes.processes;
  const auto is_aligned = [](const ProcessRow& process) { return process.clock_offset_ns.value_or(0) == 0; };
  if (std::all_of(processes.begin(), processes.end(), is_aligned)) return;
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
  if (const int64_t left_out = AddClusterTasks(clusters, workers, &figures.findings.tasks); left_out > 0) {
    figures.engine.complaints.push_back(fmt::format("{} {}s ran on workers of which nobody told; they were left out",
                                                    left_out, figures.engine.traits.task));
  }
  return workers;
}

// A core that waits for its next task's input, or for the last one's output to be fetched, serves the engine.
void AddHeldByScheduler(const std::vector<TaskRow>& tasks, std::vector<int64_t>* outside_tasks_ns) {
  for (const TaskRow& task : tasks) {
    (*outside_tasks_ns)[task.process] +=
        std::max<int64_t>(0, task.dispatch_ns) + std::max<int64_t>(0, task.retrieval_ns);
  }
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
  double task_ns = 0;
  for (const TaskRow& task : figures.findings.tasks.rows) {
    task_ns += static_cast<double>(window.Clip(task.stop_ns) - window.Clip(task.start_ns));
  }
  return task_ns / 1e9 / core_seconds;
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

/// The run as its scheduler and `crema run` saw it, beside the records.
struct Observed {
  const TreeAccumulator& trees;
  const ClusterTable& clusters;
  const std::vector<ClusterWorker>& workers;  ///< of the clusters
  const TaskOfProcess& task_of_process;
  std::optional<int64_t> start_ns;  ///< of the run, where somebody said so
  std::optional<int64_t> stop_ns;
};

/// Sums over all attempts, the run's bounds, and all that is clipped to them.
WorkerSteps MeasureTime(const Observed& observed, RunFigures& figures) {
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const AttemptFindings& attempts = figures.findings.attempts;
  figures.totals = SumAttempts(attempts.rows, attempts.summed, attempts.helpers, attempts.counts);
  figures.bounds =
      FindBounds(figures.tree, figures.findings.processes, figures.totals, observed.start_ns, observed.stop_ns);
  const std::optional<ClusterSession> session = observed.clusters.Session();
  if (session.has_value() && !session->ended && observed.stop_ns == session->window.stop_ns) {
    figures.bounds.stop_was_told = false;  // the session goes on: that is what was known last
  }
  const RunWindow& window = figures.bounds.window;
  figures.workers = FindWorkerLives(attempts.rows, processes, attempts.helpers, window, attempts.summed);
  const WorkerSteps steps =
      figures.workers.empty() ? WorkerSteps() : MeasureWorkers(figures.workers, processes, window);
  figures.timelines = DrawWorkerTimelines(figures.workers, attempts.rows, processes, window, attempts.summed);
  AddClusterTimelines(observed.workers, window, &figures.timelines);
  AddTreeTimelines(observed.trees, window, &figures.timelines);
  figures.engine.join =
      JoinTasks(attempts.rows, attempts.thread_ids, figures.findings.tasks.rows, observed.task_of_process);
  std::vector<int64_t> outside_tasks_ns = OutsideTasks(figures.findings.fine, processes.size());
  AddHeldByScheduler(figures.findings.tasks.rows, &outside_tasks_ns);
  const EngineTime engine_time = {figures.engine.join.stretches, std::move(outside_tasks_ns)};
  figures.budget =
      ComputeBudget(attempts.rows, processes, attempts.helpers, figures.workers, window, engine_time, attempts.summed);
  return steps;
}

}  // namespace

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
  for (std::string& complaint : NameMissingLogs(clusters, processes)) {
    figures.engine.complaints.push_back(std::move(complaint));
  }

  NameOomKills(trees, &processes);
  figures.processes = LargestProcesses(trees);
  figures.phases = FindPhases(figures.findings.spans);

  WorkerSteps steps;
  const Observed observed = {trees, clusters, cluster_workers, task_of_process, start_ns, stop_ns};
  const AttemptAnalyses analyses = AnalyseAttempts(
      limits, [&] { steps = MeasureTime(observed, figures); }, &figures);
  AddLostWorkers(&figures);

  const std::optional<double> wall_time =
      figures.bounds.boundary.empty() ? std::nullopt : std::optional<double>(figures.bounds.window.seconds());
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
  SetDistributions(analyses, &figures);
  SetChunkMetrics(figures.findings, figures.totals, &metrics);
  SetReadMetrics(figures.findings.custom_metrics, &metrics);
  SetAnalyses(analyses, &figures);
  SetEfficiencyMetrics(processes, figures.totals, figures.budget, &metrics);
  SetAliases(&metrics);
  return figures;
}

}  // namespace crema
