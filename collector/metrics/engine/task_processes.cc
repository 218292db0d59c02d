#include "collector/metrics/engine/task_processes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_split.h"
#include "collector/engines/engines.h"
#include "collector/metrics/engine/batch_clocks.h"

namespace crema {
namespace {

/// The kernel tells the start of a process to 10 ms, and the engine notes its own a little before or after.
constexpr int64_t kTolerance = 1'000'000'000;

struct ToldTask {
  uint32_t number = 0;
  const ClusterTaskFact* fact = nullptr;
  int64_t offset_ns = 0;     ///< what the scheduler's clock is ahead of its worker's
  std::string_view host;     ///< of its worker, as the scheduler calls it
  bool is_numbered = false;  ///< its job's number is that of no other
};

/// All attempts at tasks, by what their processes may say of them.
struct ToldTasks {
  std::vector<ToldTask> all;
  std::vector<size_t> by_start;  ///< on the clock of their workers
  int64_t longest_ns = 0;
  std::multimap<std::string_view, size_t> by_job;
  std::multimap<std::string_view, size_t> by_directory;
};

int64_t LocalStart(const ToldTask& task) { return task.fact->start_ns - task.offset_ns; }

ToldTasks ListTasks(const ClusterTable& clusters) {
  ToldTasks tasks;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    std::map<std::string_view, int64_t> offsets;
    std::map<std::string_view, std::string_view> hosts;
    for (const ClusterWorkerFact& worker : cluster.workers) {
      hosts[worker.address] = worker.host;
      if (worker.clock_offset_ns.has_value()) offsets[worker.address] = *worker.clock_offset_ns;
    }
    for (const ClusterTaskFact& task : cluster.tasks) {
      const auto offset = offsets.find(task.worker);
      const size_t at = tasks.all.size();
      tasks.all.push_back({static_cast<uint32_t>(at), &task, offset == offsets.end() ? 0 : offset->second,
                           hosts[task.worker], clusters.TraitsOf(epoch).numbers_jobs});
      if (!task.job.empty()) tasks.by_job.emplace(task.job, at);
      if (!task.directory.empty()) tasks.by_directory.emplace(task.directory, at);
    }
  }
  for (const ToldTask& task : tasks.all) {
    tasks.by_start.push_back(task.number);
    tasks.longest_ns = std::max(tasks.longest_ns, task.fact->stop_ns - task.fact->start_ns);
  }
  std::sort(tasks.by_start.begin(), tasks.by_start.end(),
            [&](size_t a, size_t b) { return LocalStart(tasks.all[a]) < LocalStart(tasks.all[b]); });
  return tasks;
}

int64_t StartOn(const ToldTask& task, const ProcessRow& process) { return process.start_ns + task.offset_ns; }

/// Of the attempts from `first` to `last` the one that ran when the process began. Where several did, it is one on the
/// process's host, and the nearest of these. If none did, it is the nearest that a number names.
template <class It>
std::optional<size_t> Choose(const ToldTasks& tasks, std::pair<It, It> found, const ProcessRow& process) {
  std::optional<size_t> chosen;
  std::tuple<bool, bool, int64_t> nearest;
  for (It entry = found.first; entry != found.second; ++entry) {
    const ToldTask& task = tasks.all[entry->second];
    const int64_t after_ns = StartOn(task, process) - task.fact->start_ns;
    const bool is_inside = after_ns >= -kTolerance && StartOn(task, process) <= task.fact->stop_ns + kTolerance;
    const std::tuple distance(!is_inside, task.host != process.host, std::abs(after_ns));
    if ((!is_inside && !task.is_numbered) || (chosen.has_value() && distance >= nearest)) continue;
    chosen = entry->second;
    nearest = distance;
  }
  return chosen;
}

std::optional<size_t> FindTold(const ToldTasks& tasks, const ProcessRow& process) {
  const std::string_view job = process.job;
  if (!job.empty()) {
    if (auto task = Choose(tasks, tasks.by_job.equal_range(job), process)) return task;
    // Of a step whose engine tells of its job alone, the job is the task. The job's script is not: it has steps beside.
    const auto task = Choose(tasks, tasks.by_job.equal_range(JobOfStep(job)), process);
    if (task.has_value() && !tasks.all[*task].fact->is_script) return task;
  }
  const std::vector<std::string> names = absl::StrSplit(process.working_directory, '/', absl::SkipEmpty());
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (auto task = Choose(tasks, tasks.by_directory.equal_range(*name), process)) return task;
  }
  return std::nullopt;
}

/// The only task in whose time the process lived; nullopt: there is none, or there are several.
std::optional<size_t> FindByLife(const ToldTasks& tasks, const std::vector<bool>& taken, const ProcessRow& process) {
  std::optional<size_t> found;
  auto at = std::upper_bound(tasks.by_start.begin(), tasks.by_start.end(), process.start_ns + kTolerance,
                             [&](int64_t start_ns, size_t task) { return start_ns < LocalStart(tasks.all[task]); });
  while (at != tasks.by_start.begin()) {
    const ToldTask& task = tasks.all[*--at];
    if (LocalStart(task) + tasks.longest_ns + kTolerance < process.last_ns) break;
    if (taken[task.number] || task.fact->is_script) continue;
    if (process.last_ns + task.offset_ns > task.fact->stop_ns + kTolerance) continue;
    if (found.has_value()) return std::nullopt;
    found = task.number;
  }
  return found;
}

/// A worker's memory is that of the processes which live at a time.
void AddUpMemory(const std::vector<const ProcessRow*>& parts, ProcessRow* worker) {
  for (const ProcessRow* part : parts) worker->counts.Raise(part->counts);
  struct Step {
    int64_t time_ns;
    size_t part;
    int64_t rss_bytes;
  };
  std::vector<Step> steps;
  for (size_t i = 0; i < parts.size(); ++i) {
    bool any = false;
    for (const ProcessSample& sample : parts[i]->samples) {
      if (sample.rss_bytes.has_value()) steps.push_back({sample.time_ns, i, *sample.rss_bytes});
      any = any || sample.rss_bytes.has_value();
    }
    if (any) steps.push_back({parts[i]->last_ns + 1, i, 0});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.time_ns < b.time_ns; });
  std::vector<int64_t> now(parts.size());
  int64_t sum = 0;
  for (const Step& step : steps) {
    sum += step.rss_bytes - now[step.part];
    now[step.part] = step.rss_bytes;
    ProcessSample sample;
    sample.time_ns = step.time_ns;
    sample.rss_bytes = sum;
    worker->samples.push_back(sample);
  }
}

/// Finds the engine's worker below which a process runs: a task started it, or a pool that its tasks use.
class WorkerAbove {
 public:
  explicit WorkerAbove(const std::vector<ProcessRow>& processes) : processes_(processes) {
    for (uint32_t i = 0; i < processes.size(); ++i) of_pid_.emplace(std::pair(processes[i].host, processes[i].pid), i);
  }

  /// nullopt: there is none, or a process in between recorded nothing.
  std::optional<uint32_t> Find(const ProcessRow& process) const {
    constexpr int kMostGenerations = 100;
    const ProcessRow* at = &process;
    for (int i = 0; i < kMostGenerations && !at->is_engine_worker && at->parent_pid > 0; ++i) {
      const ProcessRow* parent = nullptr;
      const auto [first, last] = of_pid_.equal_range(std::pair(at->host, at->parent_pid));
      for (auto row = first; row != last; ++row) {  // a number may have been another process's before
        const ProcessRow& candidate = processes_[row->second];
        const bool is_near = !candidate.pid_namespace.has_value() || !at->pid_namespace.has_value() ||
                             candidate.pid_namespace == at->pid_namespace;
        const bool is_older = candidate.start_ns <= at->start_ns && is_near;
        if (is_older && (parent == nullptr || parent->start_ns < candidate.start_ns)) parent = &candidate;
      }
      if (parent == nullptr) return std::nullopt;
      at = parent;
    }
    if (at == &process || !at->is_engine_worker) return std::nullopt;
    return static_cast<uint32_t>(at - processes_.data());
  }

 private:
  const std::vector<ProcessRow>& processes_;
  std::multimap<std::pair<std::string, int64_t>, uint32_t> of_pid_;
};

}  // namespace

TaskOfProcess MatchTaskProcesses(const ClusterTable& clusters, std::vector<ProcessRow>* processes) {
  TaskOfProcess task_of_process(processes->size(), TaskRow::kNone);
  const ToldTasks tasks = ListTasks(clusters);
  if (tasks.by_job.empty() && tasks.by_directory.empty()) return task_of_process;
  std::vector<bool> taken(tasks.all.size());
  const auto take = [&](size_t process, size_t task) {
    task_of_process[process] = tasks.all[task].number;
    taken[task] = true;
    if (tasks.all[task].offset_ns != 0) (*processes)[process].clock_offset_ns = tasks.all[task].offset_ns;
  };
  for (size_t i = 0; i < processes->size(); ++i) {
    if (const auto task = FindTold(tasks, (*processes)[i])) take(i, *task);
  }
  for (size_t i = 0; i < processes->size(); ++i) {
    const ProcessRow& process = (*processes)[i];
    const bool says_nothing = process.job.empty() && process.working_directory.empty() && process.start_ns > 0;
    if (task_of_process[i] != TaskRow::kNone || !says_nothing) continue;
    if (const auto task = FindByLife(tasks, taken, process)) take(i, *task);
  }
  return task_of_process;
}

std::map<uint32_t, RunWindow> LivesOfTasks(const TaskOfProcess& task_of_process,
                                           const std::vector<ProcessRow>& processes) {
  std::map<uint32_t, RunWindow> lives;
  for (uint32_t i = 0; i < task_of_process.size(); ++i) {
    if (task_of_process[i] == TaskRow::kNone) continue;
    const ProcessRow& process = processes[i];
    const int64_t start_ns = process.start_ns + process.clock_offset_ns.value_or(0);  // its end is aligned already
    const auto [life, is_new] = lives.try_emplace(task_of_process[i], RunWindow{start_ns, process.last_ns});
    if (is_new) continue;
    life->second.start_ns = std::min(life->second.start_ns, start_ns);
    life->second.stop_ns = std::max(life->second.stop_ns, process.last_ns);
  }
  return lives;
}

struct WorkerOfTask::Tasks {
  ToldTasks told;
};

WorkerOfTask::WorkerOfTask(const ClusterTable& clusters)
    : tasks_(std::make_unique<const Tasks>(Tasks{ListTasks(clusters)})) {}

WorkerOfTask::~WorkerOfTask() = default;

std::string_view WorkerOfTask::Find(const ProcessRow& process) const {
  const std::optional<size_t> task = FindTold(tasks_->told, process);
  return task.has_value() ? std::string_view(tasks_->told.all[*task].fact->worker) : std::string_view();
}

std::set<uint32_t> MoveToWorkers(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers,
                                 const TaskOfProcess& task_of_process, RecordFindings* findings) {
  std::vector<ProcessRow>& processes = findings->processes.processes;
  const ClusterWorkerIndex index(workers);
  std::vector<uint32_t> worker_of(processes.size());
  for (uint32_t i = 0; i < processes.size(); ++i) worker_of[i] = i;
  std::map<uint32_t, std::vector<const ProcessRow*>> parts;
  const ToldTasks tasks = ListTasks(clusters);
  for (uint32_t i = 0; i < task_of_process.size(); ++i) {
    if (task_of_process[i] == TaskRow::kNone) continue;
    const ClusterTaskFact& task = *tasks.all[task_of_process[i]].fact;
    // One that vanished was there until its task ended: its records end with the last chunk that did.
    if (processes[i].state == ProcessState::kUnreported)
      processes[i].last_ns = std::max(processes[i].last_ns, task.stop_ns);
    const std::optional<uint32_t> found = index.Find(task);
    if (!found.has_value() || *found == i) continue;
    const uint32_t worker = *found;
    worker_of[i] = worker;
    findings->processes.serves_engine[i] = true;  // it bounds no run
    parts[worker].push_back(&processes[i]);
    processes[worker].host = processes[i].host;  // the scheduler knows an address only
    processes[worker].boot_id = processes[i].boot_id;
    processes[worker].pid_namespace = processes[i].pid_namespace;
    processes[worker].pid = PidOfEngineWorker(processes[i].working_directory).value_or(processes[worker].pid);
    if (processes[i].allowed_cores.has_value()) {
      processes[worker].allowed_cores =
          std::max(processes[worker].allowed_cores.value_or(0), *processes[i].allowed_cores);
    }
    ByteSums& bytes = findings->attempts.bytes_of_process[i];
    findings->attempts.bytes_of_process[worker].Add(bytes);
    bytes = ByteSums();
  }
  const WorkerAbove worker_above(processes);
  for (uint32_t i = 0; i < processes.size(); ++i) {
    const std::optional<uint32_t> worker = worker_of[i] == i ? worker_above.Find(processes[i]) : std::nullopt;
    if (!worker.has_value()) continue;
    worker_of[i] = *worker;
    findings->processes.serves_engine[i] = true;
    ByteSums& bytes = findings->attempts.bytes_of_process[i];
    findings->attempts.bytes_of_process[*worker].Add(bytes);
    bytes = ByteSums();
  }
  std::set<uint32_t> with_tasks;
  for (const auto& [worker, rows] : parts) {
    AddUpMemory(rows, &processes[worker]);
    with_tasks.insert(worker);
  }
  findings->attempts.rows.MoveToWorkers(worker_of);
  for (SummedAttempts& sums : findings->attempts.summed) {
    AttemptRow& row = sums.row;
    if (worker_of[row.process] == row.process) continue;
    row.recorder = row.process;
    row.process = worker_of[row.process];
  }
  return with_tasks;
}

}  // namespace crema
