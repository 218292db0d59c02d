#include "collector/metrics/engine/task_processes.h"

#include <time.h>

#include <cstdlib>

#include "absl/strings/str_split.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/units.h"

namespace crema {
namespace {

constexpr int64_t kMinute = 60 * kSecondNs;
constexpr int64_t kQuarter = 15 * kMinute;
constexpr int64_t kHour = 60 * kMinute;
/// Batch systems round times down to whole seconds, and the kernel has the start of a process to 10 ms.
constexpr int64_t kRounding = 2 * kSecondNs;
/// So long a job that is ended may take to go (Slurm's KillWait is 30 s).
constexpr int64_t kKillWait = kMinute;

/// What may be added to the times of a job.
struct Bounds {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  bool Contains(int64_t offset_ns) const { return least <= offset_ns && offset_ns <= most; }
};

/// When an attempt began and ended, whether its worker is still there, and whether it was killed.
using AttemptAtJob = std::tuple<int64_t, int64_t, bool, bool>;
/// With which a process fits one of its job's attempts.
Bounds BoundsOf(const ProcessRow& process, const std::set<AttemptAtJob>& attempts) {
  Bounds bounds = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const auto& [start_ns, stop_ns, goes_on, is_killed] : attempts) {
    const int64_t from_ns = process.start_ns - stop_ns - kRounding;
    const int64_t to_ns = process.start_ns - start_ns + kRounding;
    int64_t until_ns = process.last_ns - stop_ns - (is_killed ? kKillWait : kRounding);
    if (until_ns > to_ns) until_ns = from_ns;  // it outlived its job
    bounds.least = goes_on ? std::numeric_limits<int64_t>::min() : std::min(bounds.least, std::max(from_ns, until_ns));
    bounds.most = std::max(bounds.most, to_ns);
  }
  return bounds;
}

/// The offset that makes all processes fit; of these the nearest to none, but whole hours or quarters of one, as time
/// zones have them, where they explain it. nullopt: there is none.
std::optional<int64_t> OffsetOf(const std::vector<Bounds>& processes) {
  Bounds all;
  for (const Bounds& process : processes) {
    all = {std::max(all.least, process.least), std::min(all.most, process.most)};
  }
  if (all.least > all.most) return std::nullopt;
  if (all.Contains(0)) return 0;
  const int64_t least = all.least > 0 ? all.least : -all.most;
  const int64_t sign = all.least > 0 ? 1 : -1;
  const auto rounded_up = [&](int64_t unit) { return (least + unit - 1) / unit * unit; };
  for (const auto& [unit, near] : {std::pair(kQuarter, 2 * kMinute), std::pair(kHour, kHour / 2)}) {
    if (const int64_t up = rounded_up(unit); up - least <= near && all.Contains(sign * up)) return sign * up;
  }
  // What rounding may hide is no reason to stop short.
  return all.Contains(sign * (least + kRounding)) ? sign * (least + kRounding) : sign * least;
}

void Shift(int64_t offset_ns, ClusterFact* cluster) {
  const auto shift = [offset_ns](int64_t* time_ns) {
    if (*time_ns != 0) *time_ns += offset_ns;
  };
  const auto shift_known = [&shift](std::optional<int64_t>* time_ns) {
    if (time_ns->has_value()) shift(&**time_ns);
  };
  shift(&cluster->first_ns);
  shift(&cluster->last_ns);
  for (ClusterWorkerFact& worker : cluster->workers) {
    shift(&worker.joined_ns);
    shift_known(&worker.left_ns);
    for (ClusterSampleFact& sample : worker.samples) shift(&sample.time_ns);
  }
  for (ClusterTaskFact& task : cluster->tasks) {
    shift(&task.start_ns);
    shift(&task.stop_ns);
  }
  for (ClusterSessionFact& session : cluster->sessions) {
    shift_known(&session.begin_ns);
    shift_known(&session.end_ns);
    shift_known(&session.flushed_ns);
  }
}

/// `UTC-2`, with which this machine reads times that are off by so much as they are meant; empty: no zone explains it.
std::string ZoneFor(int64_t offset_ns, int64_t time_ns) {
  constexpr int64_t kMostZone = 14 * kHour;
  const auto seconds = static_cast<time_t>(time_ns / kSecondNs);
  tm local = {};
  localtime_r(&seconds, &local);
  const int64_t east_ns = int64_t{local.tm_gmtoff} * kSecondNs - offset_ns;
  if (offset_ns % kQuarter != 0 || std::abs(east_ns) > kMostZone) return "";
  const int64_t minutes = std::abs(east_ns) / kMinute;
  return fmt::format("UTC{}{}{}", east_ns > 0 ? '-' : '+', minutes / 60,
                     minutes % 60 == 0 ? "" : fmt::format(":{:02}", minutes % 60));
}

/// Jobs of a log, with what their processes allow to add to its times.
using JobsToAlign = std::map<ClusterFact*, std::vector<Bounds>>;

std::string NamesOf(const std::vector<ClusterFact*>& jobs) {
  return jobs.size() == 1 ? jobs.front()->address : fmt::format("{} jobs", jobs.size());
}

/// Moves the times of the log so that all processes fit, else those of each job. Returns what was done, and what was
/// not.
std::vector<std::string> AlignLog(const std::string& log, const JobsToAlign& jobs) {
  constexpr std::string_view kClocks = "compare the clocks of the hosts";
  std::vector<Bounds> all;
  std::vector<ClusterFact*> outside, moved, left;
  for (const auto& [job, processes] : jobs) {
    all.insert(all.end(), processes.begin(), processes.end());
    const auto fits = [](const Bounds& process) { return process.Contains(0); };
    if (!std::all_of(processes.begin(), processes.end(), fits)) outside.push_back(job);
  }
  if (outside.empty()) return {};
  if (const std::optional<int64_t> offset_ns = OffsetOf(all)) {
    const std::string zone = ZoneFor(*offset_ns, outside.front()->first_ns);
    std::string what = zone.empty() ? std::string(kClocks)
                                    : fmt::format("if it is in another time zone, set TZ={}, else {}", zone, kClocks);
    constexpr int64_t kMostOfZones = 26 * kHour;
    if (std::abs(*offset_ns) > kMostOfZones) what = "check that it is the log of these records";
    for (const auto& [job, processes] : jobs) Shift(*offset_ns, job);
    return {fmt::format("{}: the records of {} lie {} {} than the log says, so crema moved the log's times; {}", log,
                        NamesOf(outside), HumanDuration(static_cast<double>(std::abs(*offset_ns)) / 1e9),
                        *offset_ns > 0 ? "later" : "earlier", what)};
  }
  for (ClusterFact* job : outside) {
    const std::optional<int64_t> offset_ns = OffsetOf(jobs.at(job));
    if (offset_ns.has_value()) Shift(*offset_ns, job);
    (offset_ns.has_value() ? moved : left).push_back(job);
  }
  std::vector<std::string> done;
  const std::string begin = fmt::format("{} is not aligned with the records: no offset fits all", log);
  if (!moved.empty()) {
    done.push_back(fmt::format("{} jobs, so crema moved the times of {} alone; {}", begin, NamesOf(moved), kClocks));
  }
  if (!left.empty()) {
    done.push_back(
        fmt::format("{} processes of {}, so crema left its times as they are; {}", begin, NamesOf(left), kClocks));
  }
  return done;
}

/// The kernel reports the start of a process to 10 ms, and the engine notes its own a little before or after.
constexpr int64_t kTolerance = 1'000'000'000;

struct ReportedTask {
  const ClusterTaskFact* fact = nullptr;
  int64_t offset_ns = 0;     ///< what the scheduler's clock is ahead of its worker's
  std::string_view host;     ///< of its worker, as the scheduler calls it
  bool is_numbered = false;  ///< its job's number is that of no other
};

/// All attempts at tasks, by what their processes may say of them.
struct ReportedTasks {
  std::vector<ReportedTask> all;  ///< by number
  std::vector<size_t> by_start;   ///< on the clock of their workers
  int64_t longest_ns = 0;
  std::multimap<std::string_view, size_t> by_job;
  std::multimap<std::string_view, size_t> by_directory;
};

int64_t LocalStart(const ReportedTask& task) { return task.fact->start_ns - task.offset_ns; }

ReportedTasks ListTasks(const ClusterTable& clusters) {
  ReportedTasks tasks;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    std::map<std::string_view, int64_t> offsets;
    std::map<std::string_view, std::string_view> hosts;
    for (const ClusterWorkerFact& worker : cluster.workers) {
      hosts[worker.address] = worker.host;
      if (worker.clock_offset_ns.has_value()) offsets[worker.address] = *worker.clock_offset_ns;
    }
    for (const ClusterTaskFact& task : cluster.tasks) {
      const size_t at = tasks.all.size();
      tasks.all.push_back(
          {&task, ValueOr(offsets, task.worker, 0), hosts[task.worker], clusters.TraitsOf(epoch).numbers_jobs});
      tasks.longest_ns = std::max(tasks.longest_ns, task.stop_ns - task.start_ns);
      if (!task.job.empty()) tasks.by_job.emplace(task.job, at);
      if (!task.directory.empty()) tasks.by_directory.emplace(task.directory, at);
    }
  }
  tasks.by_start = Indices<size_t>(tasks.all.size());
  absl::c_sort(tasks.by_start, [&](size_t a, size_t b) { return LocalStart(tasks.all[a]) < LocalStart(tasks.all[b]); });
  return tasks;
}

int64_t StartOn(const ReportedTask& task, const ProcessRow& process) { return process.start_ns + task.offset_ns; }

/// The one of the attempts from `first` to `last` that ran when the process began. Where several did, it is one on the
/// process's host, and the nearest of these. If none did, it is the nearest that a number names.
template <class It>
std::optional<size_t> Choose(const ReportedTasks& tasks, std::pair<It, It> found, const ProcessRow& process) {
  std::optional<size_t> chosen;
  std::tuple<bool, bool, int64_t> nearest;
  for (It entry = found.first; entry != found.second; ++entry) {
    const ReportedTask& task = tasks.all[entry->second];
    const int64_t after_ns = StartOn(task, process) - task.fact->start_ns;
    const bool is_inside = after_ns >= -kTolerance && StartOn(task, process) <= task.fact->stop_ns + kTolerance;
    const std::tuple distance(!is_inside, task.host != process.host, std::abs(after_ns));
    if ((!is_inside && !task.is_numbered) || (chosen.has_value() && distance >= nearest)) continue;
    chosen = entry->second;
    nearest = distance;
  }
  return chosen;
}

std::optional<size_t> FindReported(const ReportedTasks& tasks, const ProcessRow& process) {
  if (const std::string_view job = process.job; !job.empty()) {
    if (auto task = Choose(tasks, tasks.by_job.equal_range(job), process)) return task;
    // If the engine of a step reports its job alone, the job is the task. The job's script is not: it has steps beside.
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
std::optional<size_t> FindByLife(const ReportedTasks& tasks, const std::vector<bool>& taken,
                                 const ProcessRow& process) {
  std::optional<size_t> found;
  auto at = std::upper_bound(tasks.by_start.begin(), tasks.by_start.end(), process.start_ns + kTolerance,
                             [&](int64_t start_ns, size_t task) { return start_ns < LocalStart(tasks.all[task]); });
  while (at != tasks.by_start.begin()) {
    const ReportedTask& task = tasks.all[*--at];
    if (LocalStart(task) + tasks.longest_ns + kTolerance < process.last_ns) break;
    if (taken[*at] || task.fact->is_script) continue;
    if (process.last_ns + task.offset_ns > task.fact->stop_ns + kTolerance) continue;
    if (found.has_value()) return std::nullopt;
    found = *at;
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

constexpr int kSigkill = 9;  // which the kernel sends when memory runs out

void Judge(bool is_failure, ProcessRow& process) {
  if (process.state == ProcessState::kUnreported) {
    process.state = is_failure ? ProcessState::kLost : ProcessState::kEnded;
  }
}

void NameReason(std::string reason, ProcessRow& process) {
  if (process.state == ProcessState::kLost && process.left_reason.empty()) process.left_reason = std::move(reason);
}

void JudgeByTasks(const TaskOfProcess& task_of_process, RecordFindings& findings) {
  std::map<uint32_t, TaskOutcome> outcomes;
  for (const TaskRow& task : findings.tasks.rows) {
    if (task.reported != TaskRow::kNone) outcomes[task.reported] = task.outcome;
  }
  for (uint32_t i = 0; i < task_of_process.size(); ++i) {
    const auto outcome = outcomes.find(task_of_process[i]);
    if (outcome == outcomes.end() || outcome->second == TaskOutcome::kOther) continue;
    Judge(outcome->second == TaskOutcome::kFailed, findings.processes.processes[i]);
  }
}

using ByPid = std::multimap<std::tuple<std::string_view, int64_t, int64_t>, ProcessRow*>;  // host, pid, start

void JudgeByTree(const TreeRun& tree, const ByPid& by_pid) {
  const int64_t first_ns = tree.run.start_ns - kTolerance;
  int64_t kills = tree.totals.oom_kills.value_or(0);
  std::set<ProcessRow*> processes;  // in the order of the table
  const auto take = [&](int64_t least_pid, int64_t most_pid) {
    const ByPid::key_type first(tree.run.host, least_pid, first_ns), last(tree.run.host, most_pid, tree.last_ns);
    for (auto row = by_pid.lower_bound(first); row != by_pid.end() && row->first <= last; ++row) {
      if (row->second->start_ns >= first_ns && row->second->start_ns <= tree.last_ns) processes.insert(row->second);
    }
  };
  for (const auto& [pid, reaped] : tree.reaped) take(pid, pid);
  if (kills > 0) take(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  std::vector<ProcessRow*> unreported;
  const std::string reason = fmt::format("the kernel killed {} of its control group, out of memory",
                                         kills == 1 ? "a process" : fmt::format("{} processes", kills));
  for (ProcessRow* const process : processes) {
    const auto reaped = tree.reaped.find(process->pid);
    bool may_be_killed_for_memory = tree.totals.oom_kills.value_or(0) > 0;
    if (reaped != tree.reaped.end() && reaped->second.time_ns >= process->last_ns) {
      const int status = reaped->second.exit_status;
      Judge(status != 0, *process);
      may_be_killed_for_memory &= SignalOfExit(status) == kSigkill;
      if (kills == 0 || !may_be_killed_for_memory) NameReason(WhyOfExit(status), *process);
    }
    if (process->state == ProcessState::kUnreported && !process->is_damaged) unreported.push_back(process);
    if (process->state != ProcessState::kLost || !may_be_killed_for_memory) continue;
    NameReason(reason, *process);
    --kills;
  }
  // Which of several the kernel killed is not known.
  if (unreported.empty() || kills < static_cast<int64_t>(unreported.size())) return;
  for (ProcessRow* process : unreported) {
    Judge(/*is_failure=*/true, *process);
    NameReason(reason, *process);
  }
}

}  // namespace

std::set<std::string> NumberedJobs(const ClusterTable& clusters) {
  std::set<std::string> jobs;
  for (const auto& [epoch, cluster] : clusters.by_epoch()) {
    if (!clusters.TraitsOf(epoch).numbers_jobs) continue;
    for (const ClusterTaskFact& task : cluster.tasks) jobs.insert(task.job);
  }
  jobs.erase("");
  return jobs;
}

std::vector<std::string> AlignWithRecords(const std::vector<ProcessRow>& processes, ClusterTable* clusters) {
  struct Named {
    JobsToAlign* log;
    ClusterFact* cluster;
    std::set<AttemptAtJob> attempts;
  };
  std::map<std::string, JobsToAlign> logs;
  std::map<std::string_view, Named> by_job;
  std::map<const ClusterFact*, std::map<std::string_view, const ClusterWorkerFact*>> workers_of;
  for (ClusterFact* cluster : clusters->WithNumberedJobs()) {
    JobsToAlign& log = logs[cluster->log];
    log[cluster];
    for (const ClusterWorkerFact& worker : cluster->workers) workers_of[cluster][worker.address] = &worker;
    for (const ClusterTaskFact& task : cluster->tasks) {
      if (task.job.empty()) continue;
      Named& named = by_job.try_emplace(task.job, Named{&log, cluster, {}}).first->second;
      const ClusterWorkerFact* const worker = ValueOr(workers_of[named.cluster], task.worker, nullptr);
      named.attempts.emplace(task.start_ns, task.stop_ns, worker != nullptr && !worker->left_ns.has_value(),
                             task.failed || (worker != nullptr && worker->is_lost));
    }
  }
  for (const ProcessRow& process : processes) {
    if (process.job.empty() || process.start_ns <= 0) continue;
    auto named = by_job.find(process.job);
    if (named == by_job.end()) named = by_job.find(JobOfStep(process.job));
    if (named == by_job.end()) continue;
    const auto& [log, cluster, attempts] = named->second;
    (*log)[cluster].push_back(BoundsOf(process, attempts));
  }
  std::vector<std::string> done;
  for (const auto& [name, jobs] : logs) Append(&done, AlignLog(name, jobs));
  return done;
}

TaskOfProcess MatchTaskProcesses(const ClusterTable& clusters, std::vector<ProcessRow>* processes) {
  TaskOfProcess task_of_process(processes->size(), TaskRow::kNone);
  const ReportedTasks tasks = ListTasks(clusters);
  if (tasks.by_job.empty() && tasks.by_directory.empty()) return task_of_process;
  std::vector<bool> taken(tasks.all.size());
  const auto take = [&](size_t process, size_t task) {
    task_of_process[process] = static_cast<uint32_t>(task);
    taken[task] = true;
    if (tasks.all[task].offset_ns != 0) (*processes)[process].clock_offset_ns = tasks.all[task].offset_ns;
  };
  for (size_t i = 0; i < processes->size(); ++i) {
    if (const auto task = FindReported(tasks, (*processes)[i])) take(i, *task);
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
    RunWindow& life = lives.try_emplace(task_of_process[i], RunWindow{start_ns, process.last_ns}).first->second;
    life.start_ns = std::min(life.start_ns, start_ns);
    life.stop_ns = std::max(life.stop_ns, process.last_ns);
  }
  return lives;
}

WorkerOfTask::WorkerOfTask(const ClusterTable& clusters) {
  find_ = [tasks = ListTasks(clusters)](const ProcessRow& process) {
    const std::optional<size_t> task = FindReported(tasks, process);
    return task.has_value() ? std::string_view(tasks.all[*task].fact->worker) : std::string_view();
  };
}

std::set<uint32_t> MoveToWorkers(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers,
                                 const TaskOfProcess& task_of_process, RecordFindings* findings) {
  std::vector<ProcessRow>& processes = findings->processes.processes;
  const ClusterWorkerIndex index(workers);
  std::vector<uint32_t> worker_of = Indices<uint32_t>(processes.size());
  const auto move = [&](uint32_t process, uint32_t worker) {
    worker_of[process] = worker;
    findings->processes.serves_engine[process] = true;  // it bounds no run
    ByteSums& bytes = findings->attempts.bytes_of_process[process];
    findings->attempts.bytes_of_process[worker].Add(std::exchange(bytes, ByteSums()));
  };
  std::map<uint32_t, std::vector<const ProcessRow*>> parts;
  const ReportedTasks tasks = ListTasks(clusters);
  for (uint32_t i = 0; i < task_of_process.size(); ++i) {
    if (task_of_process[i] == TaskRow::kNone) continue;
    const ClusterTaskFact& task = *tasks.all[task_of_process[i]].fact;
    // One that vanished was there until its task ended: its records end with the last chunk that did.
    if (processes[i].state == ProcessState::kUnreported)
      processes[i].last_ns = std::max(processes[i].last_ns, task.stop_ns);
    const std::optional<uint32_t> found = index.Find(task);
    if (!found.has_value() || *found == i) continue;
    const uint32_t worker = *found;
    move(i, worker);
    parts[worker].push_back(&processes[i]);
    processes[worker].host = processes[i].host;  // the scheduler knows an address only
    processes[worker].boot_id = processes[i].boot_id;
    processes[worker].pid_namespace = processes[i].pid_namespace;
    processes[worker].pid = PidOfEngineWorker(processes[i].working_directory).value_or(processes[worker].pid);
    processes[worker].allowed_cores = std::max(processes[worker].allowed_cores, processes[i].allowed_cores);
  }
  const WorkerAbove worker_above(processes);
  for (uint32_t i = 0; i < processes.size(); ++i) {
    if (worker_of[i] != i) continue;
    if (const std::optional<uint32_t> worker = worker_above.Find(processes[i])) move(i, *worker);
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

void JudgeEnds(const std::vector<ClusterWorker>& workers, const TaskOfProcess& task_of_process,
               const TreeAccumulator& trees, RecordFindings* findings) {
  std::vector<ProcessRow>& processes = findings->processes.processes;
  for (const uint32_t process : findings->attempts.vanished_in_chunk) {
    // A damaged log may lack the end of the chunk.
    if (!processes[process].is_damaged) Judge(/*is_failure=*/true, processes[process]);
  }
  for (const ClusterWorker& worker : workers) {
    const ClusterWorkerFact& fact = *worker.fact;
    if (!fact.is_lost && (!fact.left_ns.has_value() || fact.left_unreported)) continue;
    ProcessRow& process = processes[worker.process];
    if (process.state == ProcessState::kRunning) process.state = ProcessState::kUnreported;  // a worker no longer
    Judge(fact.is_lost, process);
  }
  JudgeByTasks(task_of_process, *findings);
  ByPid by_pid;
  for (ProcessRow& process : processes) by_pid.insert({{process.host, process.pid, process.start_ns}, &process});
  for (const TreeRun* tree : trees.Runs()) JudgeByTree(*tree, by_pid);
}

}  // namespace crema
