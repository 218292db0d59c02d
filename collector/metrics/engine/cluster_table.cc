#include "collector/metrics/engine/cluster_table.h"

namespace crema {
namespace {

bool IsProcessOf(const ClusterWorkerFact& worker, const ProcessRow& process) {
  if (worker.pid.has_value() && *worker.pid != process.pid) return false;
  if (worker.process_start_ns.has_value()) {
    return worker.hostname == process.host && *worker.process_start_ns == process.start_ns;
  }
  return process.engine_worker == worker.address;
}

uint32_t AddClusterProcess(const ClusterWorkerFact& worker, int64_t last_ns, ProcessFindings& findings) {
  ProcessRow row;
  row.host = worker.hostname.empty() ? worker.host : worker.hostname;
  row.pid = worker.pid.value_or(0);
  row.start_ns = worker.process_start_ns.value_or(worker.joined_ns);
  row.last_ns = worker.left_ns.value_or(last_ns);
  const bool has_left = worker.is_lost || worker.left_ns.has_value();
  row.state = has_left ? ProcessState::kUnreported : ProcessState::kRunning;
  findings.processes.push_back(std::move(row));
  findings.serves_engine.push_back(true);
  ++findings.without_records;
  return static_cast<uint32_t>(findings.processes.size() - 1);
}

void FillIn(const ClusterWorkerFact& worker, ProcessRow& process) {
  process.is_engine_worker = true;
  process.engine_worker = worker.address;
  process.joined_ns = std::min(process.joined_ns.value_or(worker.joined_ns), worker.joined_ns);
  process.left_ns = worker.left_ns;
  process.left_reason = worker.left_reason;
  process.disk_bytes = worker.disk_bytes;
  process.engine_cpu_ns = worker.cpu_ns;
  process.engine_peak_memory_bytes = worker.peak_memory_bytes;
  process.time_limit_ns = worker.time_limit_ns;
  if (worker.threads > 0) process.declared_threads = worker.threads;
  if (!process.memory_limit_bytes.has_value()) process.memory_limit_bytes = worker.memory_limit_bytes;
}

void TakeSamples(const ClusterWorkerFact& worker, ProcessRow& process) {
  for (const ClusterSampleFact& sample : worker.samples) {
    ProcessSample taken;
    taken.time_ns = sample.time_ns;
    taken.rss_bytes = sample.memory_bytes;
    taken.memory_limit_bytes = sample.memory_limit_bytes;
    process.samples.push_back(taken);
  }
}

}  // namespace

void ClusterTable::Add(const Engine& engine, ClusterFact cluster) {
  const std::string key = fmt::format("{} {}", engine.traits.name, cluster.epoch);
  engines_.emplace(key, &engine);
  const auto [known, is_new] = clusters_.try_emplace(key);
  if (is_new || known->second.last_ns < cluster.last_ns) known->second = std::move(cluster);
}

bool ClusterTable::Has(const Engine& engine) const {
  return std::any_of(engines_.begin(), engines_.end(), [&](const auto& entry) { return entry.second == &engine; });
}

std::vector<ClusterFact*> ClusterTable::WithNumberedJobs() {
  std::vector<ClusterFact*> found;
  for (auto& [epoch, cluster] : clusters_) {
    if (TraitsOf(epoch).numbers_jobs) found.push_back(&cluster);
  }
  return found;
}

std::string ClusterTable::EngineText() const {
  std::set<std::string> texts;
  for (const auto& [epoch, cluster] : clusters_) {
    const std::string_view name = engines_.at(epoch)->traits.name;
    texts.insert(cluster.version.empty() ? std::string(name) : fmt::format("{} {}", name, cluster.version));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::optional<ClusterSession> ClusterTable::Session() const {
  std::optional<ClusterSession> session;
  for (const auto& [epoch, cluster] : clusters_) {
    for (const ClusterSessionFact& fact : cluster.sessions) {
      if (!fact.begin_ns.has_value()) continue;
      const int64_t stop_ns = fact.end_ns.value_or(cluster.last_ns);
      if (!session.has_value()) session = {{*fact.begin_ns, stop_ns}, stop_ns, true};
      session->window.start_ns = std::min(session->window.start_ns, *fact.begin_ns);
      session->window.stop_ns = std::max(session->window.stop_ns, stop_ns);
      session->flushed_ns = std::max(session->flushed_ns, fact.flushed_ns.value_or(cluster.last_ns));
      session->ended = session->ended && fact.end_ns.has_value();
    }
  }
  return session;
}

std::optional<int64_t> ClusterTable::FlushedAfter(int64_t stop_ns) const {
  constexpr int64_t kTolerance = 1'000'000;  // bounds come through decimal seconds
  std::optional<int64_t> flushed_ns;
  for (const auto& [epoch, cluster] : clusters_) {
    for (const ClusterSessionFact& fact : cluster.sessions) {
      if (!fact.flushed_ns.has_value() || fact.end_ns.value_or(0) < stop_ns - kTolerance) continue;
      flushed_ns = std::min(flushed_ns.value_or(*fact.flushed_ns), *fact.flushed_ns);
    }
  }
  return flushed_ns;
}

std::set<std::string> ClusterTable::Processors() const {
  std::set<std::string> processors;
  for (const auto& [epoch, cluster] : clusters_) {
    for (const ClusterSessionFact& fact : cluster.sessions) {
      if (!fact.processor.empty()) processors.insert(fact.processor);
    }
  }
  return processors;
}

bool ClusterTable::ClocksDiffer() const {
  return absl::c_any_of(clusters_, [](const auto& cluster) {
    return absl::c_any_of(cluster.second.workers,
                          [](const ClusterWorkerFact& worker) { return worker.clock_offset_ns.has_value(); });
  });
}

std::map<std::string, double> ClusterTable::ComputeSeconds(int64_t start_ns, int64_t stop_ns) const {
  std::map<std::string, double> seconds;
  for (const auto& [epoch, cluster] : clusters_) {
    for (const ClusterWorkerFact& worker : cluster.workers) {
      const int64_t left_ns = worker.left_ns.value_or(0);
      if (worker.left_reason == "restarted" && left_ns > start_ns && left_ns <= stop_ns) return {};
    }
    std::map<std::string, double> counted;
    for (const ClusterAccountFact& account : cluster.accounts) {
      const auto compute = account.seconds.find("compute");
      if (compute == account.seconds.end() || account.time_ns > stop_ns) continue;
      double& before = counted[account.prefix];
      if (compute->second < before) before = 0;  // begun anew
      if (account.time_ns > start_ns) seconds[account.prefix] += compute->second - before;
      before = compute->second;
    }
  }
  return seconds;
}

std::vector<RunWindow> ClusterTable::ActiveSpans(const RunWindow& run) const {
  std::vector<RunWindow> spans;
  for (const auto& [epoch, cluster] : clusters_) {
    for (const ClusterSpanFact& span : cluster.spans) {
      const int64_t stop_ns = span.done ? span.stop_ns : run.stop_ns;
      const RunWindow inside = {run.Clip(span.enqueued_ns), run.Clip(stop_ns)};
      if (inside.start_ns < inside.stop_ns) spans.push_back(inside);
    }
  }
  std::sort(spans.begin(), spans.end(), [](const RunWindow& a, const RunWindow& b) { return a.start_ns < b.start_ns; });
  std::vector<RunWindow> merged;
  for (const RunWindow& span : spans) {
    if (merged.empty() || merged.back().stop_ns < span.start_ns) {
      merged.push_back(span);
    } else {
      merged.back().stop_ns = std::max(merged.back().stop_ns, span.stop_ns);
    }
  }
  return merged;
}

std::vector<ClusterWorker> MatchWorkers(const ClusterTable& clusters, ProcessFindings& findings) {
  std::vector<ClusterWorker> workers;
  const auto recorded = static_cast<uint32_t>(findings.processes.size());
  const auto sampled = Mapped<bool>(findings.processes, [](const ProcessRow& row) { return !row.samples.empty(); });
  std::map<std::string, std::set<uint32_t>> named;  // rows, by what workers call them, or did
  const auto name = [&](uint32_t index) {
    const ProcessRow& process = findings.processes[index];
    named[process.engine_worker].insert(index);
    named[fmt::format("{} {}", process.host, process.start_ns)].insert(index);
  };
  for (uint32_t i = 0; i < recorded; ++i) name(i);
  std::map<std::string_view, int64_t> ends_ns;  // of logs that hold many jobs
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    int64_t& end_ns = ends_ns[cluster.log];
    end_ns = std::max(end_ns, cluster.last_ns);
  }
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    const bool is_job = clusters.TraitsOf(epoch).numbers_jobs;
    const int64_t last_ns = is_job ? ends_ns[cluster.log] : cluster.last_ns;
    for (const ClusterWorkerFact& worker : cluster.workers) {
      // Rows beyond those recorded are of other workers, or of this one before it came again, unless it says which
      // process it is.
      const bool is_reported = worker.pid.has_value() || worker.process_start_ns.has_value();
      const auto& start_ns = worker.process_start_ns;
      auto& rows = named[start_ns.has_value() ? fmt::format("{} {}", worker.hostname, *start_ns) : worker.address];
      const auto row = absl::c_find_if(rows, [&](uint32_t i) { return IsProcessOf(worker, findings.processes[i]); });
      const bool is_known = row != rows.end() && (is_reported || *row < recorded);
      const uint32_t index = is_known ? *row : AddClusterProcess(worker, last_ns, findings);
      FillIn(worker, findings.processes[index]);
      name(index);
      findings.processes[index].is_job = is_job;
      if (index >= recorded || !sampled[index]) TakeSamples(worker, findings.processes[index]);
      workers.push_back({index, &worker});
    }
  }
  return workers;
}

ClusterWorkerIndex::ClusterWorkerIndex(const std::vector<ClusterWorker>& workers) {
  for (const ClusterWorker& worker : workers) {
    process_of_[{worker.fact->address, worker.fact->joined_ns}] = worker.process;
  }
}

std::optional<uint32_t> ClusterWorkerIndex::Find(const ClusterTaskFact& task) const {
  auto worker = process_of_.upper_bound({task.worker, task.start_ns});
  if (worker == process_of_.begin() || (--worker)->first.first != task.worker) return std::nullopt;
  return worker->second;
}

int64_t AddClusterTasks(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers,
                        const std::map<uint32_t, RunWindow>& lives, TaskFindings* tasks) {
  constexpr int64_t kMostCores = std::numeric_limits<uint16_t>::max();
  const ClusterWorkerIndex index(workers);
  const std::optional<ClusterSession> session = clusters.Session();
  int64_t left_out = 0;
  uint32_t number = 0;
  uint32_t num_jobs = 0;
  std::vector<NamedTask> reported;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    std::map<std::string_view, uint32_t> jobs;
    for (const ClusterTaskFact& task : cluster.tasks) {
      TaskRow row;
      row.reported = number++;
      const bool is_inside = !session.has_value() || session->window.Clip(task.start_ns) == task.start_ns;
      const auto life = lives.find(row.reported);
      if (!is_inside || (task.is_script && life == lives.end())) continue;
      const std::optional<uint32_t> process = index.Find(task);
      if (!process.has_value()) {
        ++left_out;
        continue;
      }
      row.start_ns = task.start_ns;
      row.stop_ns = std::max(task.start_ns, task.stop_ns);
      row.queue_ns = task.queue_ns.value_or(TaskRow::kUnknown);
      row.dispatch_ns = task.dispatch_ns.value_or(TaskRow::kUnknown);
      row.retrieval_ns = task.retrieval_ns.value_or(TaskRow::kUnknown);
      row.thread = TaskRow::kAnyThread;
      row.cores = static_cast<uint16_t>(std::clamp<int64_t>(task.cores, 0, kMostCores));
      if (task.is_script) {
        row.thread = TaskRow::kNoLane;
        const RunWindow whole = {row.start_ns, row.stop_ns};
        row.start_ns = whole.Clip(life->second.start_ns);
        row.stop_ns = whole.Clip(life->second.stop_ns);
      }
      row.process = *process;
      row.outcome = task.failed ? TaskOutcome::kFailed : TaskOutcome::kDone;
      row.is_repeat = task.is_repeat;
      row.is_last = task.is_last;
      if (!task.job.empty()) {
        const auto [job, is_new] = jobs.try_emplace(task.job, num_jobs);
        num_jobs += is_new;
        row.job = job->second;
      }
      reported.push_back({task.prefix, row});
    }
  }
  AddTasks(std::move(reported), tasks);
  return left_out;
}

std::vector<std::string> NameMissingLogs(const ClusterTable& clusters, const std::vector<ProcessRow>& processes) {
  std::vector<std::string> missing;
  for (const Engine* engine : Engines()) {
    if (engine->traits.task_processes.empty() || clusters.Has(*engine)) continue;
    const std::string beginning = fmt::format("{} ", engine->traits.task_processes);
    const auto of_tasks = std::count_if(processes.begin(), processes.end(), [&](const ProcessRow& process) {
      return process.job.compare(0, beginning.size(), beginning) == 0;
    });
    if (of_tasks == 0) continue;
    missing.push_back(
        fmt::format("{} of {}, and the {}'s log was not given: workers, and the time around chunks, are not known; "
                    "crema collect reads {}",
                    of_tasks == 1 ? "one process was a task" : fmt::format("{} processes were tasks", of_tasks),
                    engine->traits.name, engine->traits.scheduler, engine->traits.logs));
  }
  return missing;
}

}  // namespace crema
