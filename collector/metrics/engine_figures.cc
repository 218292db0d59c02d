#include "collector/metrics/engine_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "collector/metrics/engine/engine_metrics.h"
#include "collector/metrics/engine/gil_contention.h"
#include "collector/metrics/engine/task_cores.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

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

/// Of the processor's tasks; of all, where nobody said which those are.
std::optional<double> ShareOfTasksBlocked(const MetricSet& metrics) {
  const auto share = [&metrics](std::string_view cpu_key, std::string_view blocked_key) {
    const std::optional<double> cpu = metrics.Number(cpu_key), blocked = metrics.Number(blocked_key);
    return cpu.has_value() && blocked.has_value() ? Ratio(blocked, *cpu + *blocked) : std::nullopt;
  };
  const std::optional<double> of_processor = share("processor_cpu_time_seconds", "processor_noncpu_time_seconds");
  return of_processor.has_value() ? of_processor : share("cpu_time_seconds", "io_time_seconds");
}

}  // namespace

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

namespace {

std::string_view WhyChunksOfTasksAreUnknown(const RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  if (!figures.findings.processes.has_records()) return "there are no records";
  if (!attempts.summed.empty()) return "chunks were summed: of which tasks they were is not known";
  if (attempts.counts.num_unrecorded_attempts > 0) return "records of ended chunks are missing";
  return figures.engine.join.chunks_unjoined > 0 ? "of some chunks it is not known in which task they were" : "";
}

}  // namespace

void SetEngine(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers, RunFigures& figures) {
  const RunWindow& window = figures.bounds.window;
  EngineFacts facts = {figures.findings.fine, figures.findings.tasks, figures.engine.join};
  facts.processors = clusters.Processors();
  facts.task_slot_utilization = TaskSlotUtilization(figures);
  facts.gil_contention = GilContention(workers, window);
  facts.chunks_unknown = WhyChunksOfTasksAreUnknown(figures);
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

}  // namespace crema
