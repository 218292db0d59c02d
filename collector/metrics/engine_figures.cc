#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "collector/metrics/engine/task_processes.h"
#include "collector/metrics/run_figures.h"

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

/// Keeps one of the lines that differ only in names and numbers, with their count.
void FoldAlike(std::vector<std::string>* lines) {
  constexpr int64_t kMostAlike = 3;
  std::map<std::string, int64_t> seen;
  const auto kind_of = [](const std::string& line) {
    std::string kind;
    for (const absl::string_view word : absl::StrSplit(line, ' ')) {
      const bool has_digit = std::any_of(word.begin(), word.end(), [](char c) { return absl::ascii_isdigit(c); });
      kind += has_digit ? "#" : std::string(word);
      kind += ' ';
    }
    return kind;
  };
  for (const std::string& line : *lines) ++seen[kind_of(line)];
  std::set<std::string> folded;
  std::vector<std::string> kept;
  for (std::string& line : *lines) {
    if (const std::string kind = kind_of(line); seen[kind] <= kMostAlike) {
      kept.push_back(std::move(line));
    } else if (folded.insert(kind).second) {
      kept.push_back(fmt::format("{} (and {} more like this)", line, seen[kind] - 1));
    }
  }
  *lines = std::move(kept);
}

/// What a batch system counted where crema did not.
void SetCountedByBatchSystem(RunFigures& figures) {
  double cpu_seconds = 0, core_seconds = 0;
  std::optional<int64_t> peak_bytes;
  for (const WorkerLife& life : figures.workers) {
    const ProcessRow& process = figures.findings.processes.processes[life.process];
    peak_bytes = std::max(peak_bytes, process.engine_peak_memory_bytes);
    if (!process.is_job || !process.engine_cpu_ns.has_value() || life.stop_ns <= life.start_ns) continue;
    if (!process.declared_threads.has_value()) continue;  // of how many core-seconds?
    cpu_seconds += static_cast<double>(*process.engine_cpu_ns) / 1e9;
    core_seconds += static_cast<double>(life.cores) * static_cast<double>(life.stop_ns - life.start_ns) / 1e9;
  }
  MetricSet& metrics = figures.metrics;
  if (!figures.tree.has_value() && core_seconds > 0) {
    metrics.Set("job_cpu_efficiency", cpu_seconds / core_seconds);
  } else if (!figures.tree.has_value()) {
    metrics.SetNull("job_cpu_efficiency", "the batch system's log has no CPU time of jobs whose cores it gives");
  }
  // Samples are rare, and one that is early misses what came later.
  const auto is_above = [&](const std::optional<double>& bytes) { return static_cast<double>(*peak_bytes) > bytes; };
  if (!peak_bytes.has_value()) return;
  if (is_above(metrics.Number("peak_memory_bytes"))) metrics.Set("peak_memory_bytes", *peak_bytes);
  const std::optional<double> all_bytes = metrics.Number("peak_total_memory_bytes");
  if (all_bytes.has_value() && is_above(all_bytes)) metrics.Set("peak_total_memory_bytes", *peak_bytes);
}

/// Those of the processor's tasks; of all, where nobody said which those are.
std::optional<double> ShareOfTasksBlocked(const MetricSet& metrics) {
  const auto share = [&metrics](std::string_view cpu_key, std::string_view blocked_key) {
    const std::optional<double> cpu = metrics.Number(cpu_key), blocked = metrics.Number(blocked_key);
    return cpu.has_value() && blocked.has_value() ? Ratio(blocked, *cpu + *blocked) : std::nullopt;
  };
  const std::optional<double> of_processor = share("processor_cpu_time_seconds", "processor_noncpu_time_seconds");
  return of_processor.has_value() ? of_processor : share("cpu_time_seconds", "io_time_seconds");
}

std::string_view WhyChunksOfTasksAreUnknown(const RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  if (!figures.findings.processes.has_records()) return "there are no records";
  if (!attempts.summed.empty()) return "chunks were summed: of which tasks they were is not known";
  if (attempts.counts.num_unrecorded_attempts > 0) return "records of ended chunks are missing";
  return figures.engine.join.chunks_unjoined > 0 ? "of some chunks it is not known in which task they were" : "";
}

}  // namespace

void ForgetUnknownCores(RunFigures& figures) {
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  if (std::none_of(processes.begin(), processes.end(), HasUnknownCores)) return;
  for (std::string_view key : {"core_seconds", "total_cores", "peak_cores", "cores_per_worker"}) {
    figures.metrics.SetNull(key, "the batch system's log does not say how many cores its jobs had");
  }
  figures.budget = Budget();
}

std::vector<ClusterWorker> TakeClusters(const ClusterTable& clusters, const TaskOfProcess& task_of_process,
                                        RunFigures& figures) {
  std::vector<std::string>& complaints = figures.engine.complaints;
  const size_t recorded = figures.findings.processes.processes.size();
  const bool has_records = figures.findings.processes.has_records();
  std::vector<ClusterWorker> workers = MatchWorkers(clusters, figures.findings.processes);
  figures.engine.has_scheduler = !clusters.empty();
  figures.engine.reports_tasks =
      absl::c_any_of(clusters.by_epoch(), [](const auto& cluster) { return !cluster.second.tasks.empty(); });
  figures.engine.name = clusters.EngineText();
  if (const Engine* engine = clusters.engine()) figures.engine.traits = engine->traits;
  const std::optional<ClusterSession> session = clusters.Session();
  figures.engine.ended = session.has_value() && session->ended;
  figures.findings.attempts.bytes_of_process.resize(figures.findings.processes.processes.size());
  const std::set<uint32_t> with_tasks = MoveToWorkers(clusters, workers, task_of_process, &figures.findings);
  for (const ClusterWorker& worker : workers) {
    ProcessRow& process = figures.findings.processes.processes[worker.process];
    if (worker.process < recorded || with_tasks.count(worker.process) > 0) continue;
    ++figures.engine.workers_unseen;
    process.is_unrecorded = process.is_job || (figures.engine.reports_tasks && !has_records);
    const ClusterWorkerFact& fact = *worker.fact;
    if (!fact.failure.empty()) complaints.push_back(fmt::format("{} records nothing: {}", fact.address, fact.failure));
  }
  constexpr int64_t kLongAgo = int64_t{86'400} * 1'000'000'000;
  struct Heard {
    bool has_end = true;
    int64_t last_ns = 0;
  };
  std::map<std::string_view, Heard> logs;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    const EngineTraits& traits = clusters.TraitsOf(epoch);
    const bool has_begun = cluster.never_began.empty();
    if (!has_begun) figures.engine.never_began[cluster.never_began] += cluster.never_began_jobs;
    figures.engine.jobs_removed += cluster.is_removed && has_begun;
    if (traits.numbers_jobs) {
      figures.engine.jobs = figures.engine.jobs.value_or(0) + (has_begun ? 1 : cluster.never_began_jobs);
    }
    Heard& heard = logs[cluster.log];
    heard.last_ns = std::max({heard.last_ns, cluster.last_ns, cluster.seen_ns});
    heard.has_end &= cluster.closed || !(traits.numbers_jobs || !traits.task_processes.empty());
    for (const auto& [log, bytes] : cluster.lost_bytes) figures.engine.lost_bytes += bytes;
    complaints.insert(complaints.end(), cluster.complaints.begin(), cluster.complaints.end());
    for (const auto& [worker, why] : cluster.silent) {
      complaints.push_back(fmt::format("{} did not send its last records: {}", worker, why));
    }
  }
  for (const auto& [log, heard] : logs) {
    if (heard.has_end) continue;
    const bool is_silent = absl::GetCurrentTimeNanos() - heard.last_ns > kLongAgo;
    (is_silent ? figures.engine.went_silent : figures.engine.goes_on) = true;
  }
  const std::map<uint32_t, RunWindow> lives = LivesOfTasks(task_of_process, figures.findings.processes.processes);
  if (const int64_t left_out = AddClusterTasks(clusters, workers, lives, &figures.findings.tasks); left_out > 0) {
    complaints.push_back(fmt::format("{} {}s ran on workers that no log mentions; they were left out", left_out,
                                     figures.engine.traits.task));
  }
  for (const auto& [why, jobs] : figures.engine.never_began) {
    complaints.push_back(fmt::format("{} never began: {}", jobs == 1 ? "1 job" : fmt::format("{} jobs", jobs), why));
  }
  FoldAlike(&complaints);
  return workers;
}

void SetEngine(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers, RunFigures& figures) {
  const RunWindow& window = figures.bounds.window;
  EngineFacts facts = {figures.findings.fine, figures.findings.tasks, figures.engine.join};
  facts.processors = clusters.Processors();
  facts.task_slot_utilization = TaskSlotUtilization(figures);
  facts.gil_contention = GilContention(workers, window);
  facts.chunks_unknown = WhyChunksOfTasksAreUnknown(figures);
  const std::optional<ClusterSession> session = clusters.Session();
  const int64_t last_ns = session.has_value() ? session->flushed_ns : std::numeric_limits<int64_t>::max();
  const int64_t reported_ns = clusters.FlushedAfter(window.stop_ns).value_or(last_ns);
  facts.compute_seconds = clusters.ComputeSeconds(session.has_value() ? window.start_ns : 0, reported_ns);
  if (const std::vector<RunWindow> active = clusters.ActiveSpans(window); !active.empty()) {
    facts.active_core_seconds = CoreSeconds(figures.workers, active);
  }
  figures.engine.fine_coverage = CoverageOf(facts);
  SetEngineMetrics(facts, &figures.metrics);
  if (!figures.engine.jobs.has_value()) return;
  SetCountedByBatchSystem(figures);
  const auto never_began = SumOf<int64_t>(figures.engine.never_began, [](const auto& why) { return why.second; });
  figures.metrics.Set("num_jobs", *figures.engine.jobs);
  figures.metrics.Set("num_tasks_never_begun", never_began);
  figures.metrics.Set("num_tasks_removed", figures.engine.jobs_removed);
}

void UseTimesOfTasks(RunFigures& figures) {
  RunFacts& run = figures.findings.tables.run;
  if (figures.totals.cpu_ns.count > 0) run.cpu_time_source = "records";
  if (figures.totals.blocked_ns.count > 0) run.io_overhead_source = "records";
  if (figures.findings.attempts.counts.num_attempts > 0) return;
  if (const std::optional<double> cpu = figures.metrics.Number("processor_cpu_time_seconds")) {
    figures.metrics.Set("chunk_cpu_time", *cpu);
    run.cpu_time_source = "processor's tasks, with what Coffea does around it";
  }
  if (const std::optional<double> blocked = ShareOfTasksBlocked(figures.metrics)) {
    figures.metrics.Set("io_overhead_pct", *blocked * 100);
    figures.metrics.Set("io_overhead", *blocked);
    run.io_overhead_source = "tasks";
  }
}

}  // namespace crema
