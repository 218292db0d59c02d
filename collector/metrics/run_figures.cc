#include "collector/metrics/run_figures.h"

#include <algorithm>
#include <utility>

#include "collector/measurement/catalog.h"
#include "collector/metrics/attempt_analyses.h"
#include "collector/metrics/contents/wait_table.h"
#include "collector/metrics/engine/cluster_timelines.h"
#include "collector/metrics/engine/engine_metrics.h"
#include "collector/metrics/engine/missing_logs.h"
#include "collector/metrics/engine/task_cores.h"
#include "collector/metrics/engine/task_phases.h"
#include "collector/metrics/engine/task_processes.h"
#include "collector/metrics/engine_figures.h"
#include "collector/metrics/plausibility.h"
#include "collector/metrics/run_metrics.h"
#include "collector/metrics/tree/tree_timelines.h"
#include "collector/metrics/workers/process_ends.h"
#include "collector/metrics/workers/worker_steps.h"

namespace crema {
namespace {

// Under `crema run` processes do not sample themselves: the parent's samples stand in.
void TakeSamplesOfTree(const TreeAccumulator& trees, const std::optional<TreeFigures>& tree,
                       std::vector<ProcessRow>& processes) {
  for (ProcessRow& process : processes) {
    process.counts.Raise(trees.CountsOf(process.host, process.pid, process.start_ns));
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
  std::vector<int64_t> offsets;
  for (uint32_t i = 0; i < processes.size(); ++i) offsets.push_back(offset_of(i));
  findings.attempts.rows.ShiftStarts(offsets);
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
  const EngineTime engine_time = {figures.engine.join.stretches, std::move(outside_tasks_ns),
                                  CoresOfTasks(figures.findings.tasks.rows)};
  figures.budget =
      ComputeBudget(attempts.rows, processes, attempts.helpers, figures.workers, window, engine_time, attempts.summed);
  const std::optional<GpuSums>& gpu = figures.findings.gpu.of_results;
  if (gpu.has_value() && gpu->wait_cpu_ns.has_value()) {
    const auto spun_ns = static_cast<double>(*gpu->wait_cpu_ns);
    SetGpuWait(spun_ns / 1e9, (static_cast<double>(gpu->wait_ns) - spun_ns) / 1e9, &figures.budget);
  }
  return steps;
}

/// Workers that share pages count them in each of them; the tree that they are all in counts them once.
void CapByTree(const TreeAccumulator& trees, RunFigures& figures) {
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const bool all_are_in_it = std::all_of(figures.workers.begin(), figures.workers.end(), [&](const WorkerLife& worker) {
    const ProcessRow& process = processes[worker.process];
    return trees.CountsOf(process.host, process.pid, process.start_ns).rss_peak_bytes.has_value();
  });
  const std::optional<double> sum = figures.metrics.Number("peak_total_memory_bytes");
  // One worker's own peak counts pages that it shares, so all of them never have less.
  const std::optional<double> tree =
      std::max(figures.metrics.Number("tree_peak_memory_bytes"), figures.metrics.Number("peak_memory_bytes"));
  if (!all_are_in_it || !sum.has_value() || !tree.has_value() || *sum <= *tree) return;
  figures.metrics.Set("peak_total_memory_bytes", static_cast<int64_t>(*tree));
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

  JudgeEnds(cluster_workers, task_of_process, trees, &figures.findings);
  figures.processes = LargestProcesses(trees);
  figures.phases = FindPhases(figures.findings.spans);

  WorkerSteps steps;
  const Observed observed = {trees, clusters, cluster_workers, task_of_process, start_ns, stop_ns};
  const AttemptAnalyses analyses = AnalyseAttempts(
      limits, [&] { steps = MeasureTime(observed, figures); }, &figures);
  AddWorkersWithoutChunks(&figures);

  const std::optional<double> wall_time =
      figures.bounds.boundary.empty() ? std::nullopt : std::optional<double>(figures.bounds.window.seconds());
  MetricSet& metrics = figures.metrics;
  SetAllNull(&metrics);
  SetWorkerMetrics(steps, &metrics);
  figures.waits = DivideBlocked(figures.findings.waits, figures.findings.attempts);
  ForgetUnknownCores(figures);
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
  CapByTree(observed.trees, figures);
  SetEngine(clusters, cluster_workers, figures);
  UseTimesOfTasks(figures);
  if (figures.phases.empty()) figures.phases = FindTaskPhases(figures.findings.tasks, figures.engine.join);
  SetDistributions(analyses, &figures);
  SetChunkMetrics(figures.findings, figures.totals, &metrics);
  SetReadMetrics(figures.findings.custom_metrics, &metrics);
  SetAnalyses(analyses, &figures);
  SetEfficiencyMetrics(processes, figures.totals, figures.budget, &metrics);
  RefuseImpossible(&metrics);
  SetAliases(&metrics);
  return figures;
}

}  // namespace crema
