#include "collector/metrics/engine/task_join.h"

#include <set>

namespace crema {
namespace {

TaskOutcome OutcomeOf(std::string_view outcome) {
  if (outcome == "memory" || outcome == "exec_done") return TaskOutcome::kDone;
  return outcome == "error" || outcome == "failed" ? TaskOutcome::kFailed : TaskOutcome::kOther;
}

/// A task may have been recorded while it ran: its last line counts.
void Sort(std::vector<TaskRow>* rows) {
  const auto key = [](const TaskRow& task) {
    return std::make_tuple(task.process, task.thread, task.start_ns, !task.is_open, task.stop_ns, task.prefix,
                           task.outcome, task.queue_ns);
  };
  absl::c_sort(*rows, [&](const TaskRow& a, const TaskRow& b) { return key(a) < key(b); });
  const auto last = std::unique(rows->rbegin(), rows->rend(), [](const TaskRow& later, const TaskRow& task) {
    return task.is_open && task.process == later.process && task.thread == later.thread &&
           task.start_ns == later.start_ns;
  });
  rows->erase(rows->begin(), last.base());
}

int64_t CoresOf(const TaskRow& task) { return std::max<int64_t>(1, task.cores); }

using Interval = std::pair<int64_t, int64_t>;

/// The first task of this thread of the attempt's process, or beyond, that begins after the attempt.
std::vector<TaskRow>::const_iterator FirstAfter(const AttemptRow& attempt, uint64_t thread,
                                                const std::vector<TaskRow>& tasks) {
  const auto key = std::tuple(attempt.process, thread, attempt.start_ns);
  return absl::c_upper_bound(tasks, key, [](const auto& wanted, const TaskRow& row) {
    return wanted < std::tuple(row.process, row.thread, row.start_ns);
  });
}

// Tasks of one thread follow one another, so the one that overlaps most is among those around the attempt's start.
uint32_t FindTask(const AttemptRow& attempt, uint64_t thread, const std::vector<TaskRow>& tasks) {
  auto task = FirstAfter(attempt, thread, tasks);
  const auto is_same_thread = [&](const TaskRow& row) {
    return row.process == attempt.process && row.thread == thread;
  };
  uint32_t best = TaskJoin::kNone;
  int64_t best_overlap = -1;  // an attempt of no length overlaps by 0
  const auto look_at = [&](std::vector<TaskRow>::const_iterator row) {
    const int64_t overlap = std::min(attempt.stop_ns(), row->stop_ns) - std::max(attempt.start_ns, row->start_ns);
    if (overlap <= best_overlap) return;
    best_overlap = overlap;
    best = static_cast<uint32_t>(row - tasks.begin());
  };
  constexpr int kLookBack = 8;  // clocks that were stepped may put tasks on top of one another
  auto before = task;
  for (int i = 0; i < kLookBack && before != tasks.begin() && is_same_thread(*(before - 1)); ++i) look_at(--before);
  for (; task != tasks.end() && is_same_thread(*task) && task->start_ns < attempt.stop_ns(); ++task) look_at(task);
  return best;
}

// Among tasks of which only the process is known: the one that was there all the time that the attempt was, if no other
// was.
uint32_t FindTaskOfProcess(const AttemptRow& attempt, int64_t longest_ns, const std::vector<TaskRow>& tasks) {
  auto task = FirstAfter(attempt, TaskRow::kAnyThread, tasks);
  uint32_t found = TaskJoin::kNone;
  while (task != tasks.begin() && (--task)->process == attempt.process && task->thread == TaskRow::kAnyThread &&
         task->start_ns + longest_ns >= attempt.stop_ns()) {
    if (task->stop_ns < attempt.stop_ns()) continue;
    if (found != TaskJoin::kNone) return TaskJoin::kNone;
    found = static_cast<uint32_t>(task - tasks.begin());
  }
  return found;
}

/// The tasks of each process by their start: for attempts on threads, or in processes, that a task began.
class TasksAround {
 public:
  explicit TasksAround(const std::vector<TaskRow>& tasks) : tasks_(tasks) {
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].thread < TaskRow::kNoLane) by_process_[tasks[i].process].push_back(i);
      threads_.emplace(tasks[i].process, tasks[i].thread);
    }
    for (auto& [process, rows] : by_process_) {
      absl::c_sort(rows, [&](uint32_t a, uint32_t b) { return tasks[a].start_ns < tasks[b].start_ns; });
    }
    for (const TaskRow& task : tasks) longest_ns_ = std::max(longest_ns_, task.stop_ns - task.start_ns);
  }

  /// The task with the fewest chunks so far among those that ran when the attempt began: which of several began it is
  /// not known.
  uint32_t Find(const AttemptRow& attempt, uint64_t thread, const std::vector<uint32_t>& chunks_of_task) const {
    const auto found = by_process_.find(attempt.process);
    const bool is_elsewhere = attempt.recording_process() != attempt.process;
    const bool is_own_thread = thread != 0 && threads_.count({attempt.process, thread}) == 0;
    if (found == by_process_.end() || !(is_elsewhere || is_own_thread)) return TaskJoin::kNone;
    const std::vector<uint32_t>& rows = found->second;
    auto at = absl::c_upper_bound(rows, attempt.start_ns,
                                  [&](int64_t time_ns, uint32_t row) { return time_ns < tasks_[row].start_ns; });
    uint32_t best = TaskJoin::kNone;
    while (at != rows.begin() && tasks_[*--at].start_ns + longest_ns_ >= attempt.start_ns) {
      if (tasks_[*at].stop_ns < attempt.start_ns) continue;
      if (best == TaskJoin::kNone || chunks_of_task[*at] < chunks_of_task[best]) best = *at;
    }
    return best;
  }

 private:
  const std::vector<TaskRow>& tasks_;
  std::map<uint32_t, std::vector<uint32_t>> by_process_;
  std::set<std::pair<uint32_t, uint64_t>> threads_;  ///< of tasks, by process
  int64_t longest_ns_ = 0;
};

// The parts of a task that none of its chunks covers; `ended`: one of these did.
void AddStretches(const TaskRow& task, bool ended, std::vector<Interval>& chunks, TaskJoin& join) {
  absl::c_sort(chunks);
  int64_t at_ns = task.start_ns;
  const auto add = [&](int64_t stop_ns) {
    if (stop_ns <= at_ns) return;
    join.stretches.push_back({task.process, !chunks.empty(), at_ns, stop_ns});
    if (ended) join.outside_ns += stop_ns - at_ns;
  };
  const int64_t lane_stop_ns = task.lane_stop_ns();
  for (const auto& [start_ns, stop_ns] : chunks) {
    add(std::min(start_ns, lane_stop_ns));
    at_ns = std::max(at_ns, stop_ns);
  }
  add(lane_stop_ns);
}

}  // namespace

void AddTasks(std::vector<NamedTask> tasks, TaskFindings* findings) {
  if (tasks.empty()) return;
  for (const TaskRow& row : findings->rows) tasks.push_back({findings->prefixes[row.prefix], row});
  std::set<std::string> names;
  for (const NamedTask& task : tasks) names.insert(task.prefix);
  names.erase(std::string(kOtherName));
  while (names.size() > TaskTable::kMaxPrefixes) names.erase(std::prev(names.end()));
  findings->prefixes.assign(names.begin(), names.end());
  findings->rows.clear();
  bool any_other = false;
  for (NamedTask& task : tasks) {
    const auto& prefixes = findings->prefixes;
    const bool is_other = names.count(task.prefix) == 0;
    any_other = any_other || is_other;
    const auto name = is_other ? prefixes.end() : absl::c_lower_bound(prefixes, task.prefix);
    task.row.prefix = static_cast<uint32_t>(name - prefixes.begin());
    findings->rows.push_back(task.row);
  }
  if (any_other) findings->prefixes.emplace_back(kOtherName);
  Sort(&findings->rows);
}

void TaskTable::Add(const LogRef& log, const TaskFact& fact) {
  TaskRow row;
  row.start_ns = fact.start_ns;
  row.stop_ns = fact.stop_ns;
  const int64_t lane_stop_ns =
      std::clamp(fact.lane_stop_ns.value_or(fact.stop_ns), fact.start_ns, std::max(fact.start_ns, fact.stop_ns));
  row.without_lane_ns = std::max<int64_t>(0, fact.stop_ns - lane_stop_ns);
  row.queue_ns = fact.queue_ns.value_or(TaskRow::kUnknown);
  row.thread = fact.thread.value_or(0);
  row.process = log.index;
  row.prefix = prefixes_.Intern(fact.prefix, HashOf(fact.prefix));
  row.outcome = OutcomeOf(fact.outcome);
  row.is_open = fact.outcome == "executing";  // docs/record_log.md, "task"
  row.is_repeat = fact.attempt > 0;
  rows_.push_back(row);
  if (prefixes_.full()) RenumberPrefixes(prefixes_.Prune());
}

void TaskTable::Merge(const TaskTable& other, const std::vector<uint32_t>& logs) {
  const std::vector<uint32_t> prefixes = prefixes_.Take(other.prefixes_);
  for (TaskRow row : other.rows_) {
    row.process = logs[row.process];
    if (row.prefix != BoundedNames::kRefused) row.prefix = prefixes[row.prefix];
    rows_.push_back(row);
  }
  if (prefixes_.full()) RenumberPrefixes(prefixes_.Prune());
}

TaskFindings TaskTable::Finalize(const ProcessFindings& processes) const {
  TaskTable table = *this;
  table.RenumberPrefixes(table.prefixes_.PruneAndSort());
  TaskFindings findings;
  for (uint32_t i = 0; i < table.prefixes_.size(); ++i) findings.prefixes.push_back(table.prefixes_.name(i));
  const auto other = static_cast<uint32_t>(findings.prefixes.size());
  bool any_other = false;
  for (TaskRow& row : table.rows_) {
    row.process = processes.process_of_log[row.process];
    if (row.prefix != BoundedNames::kRefused) continue;
    row.prefix = other;
    any_other = true;
  }
  if (any_other) findings.prefixes.emplace_back(kOtherName);
  Sort(&table.rows_);
  findings.rows = std::move(table.rows_);
  return findings;
}

std::vector<TaskCores> CoresOfTasks(const std::vector<TaskRow>& tasks) {
  std::vector<TaskCores> cores;
  if (absl::c_none_of(tasks, [](const TaskRow& task) { return task.cores > 1; })) return cores;
  for (const TaskRow& task : tasks) {
    if (task.thread == TaskRow::kNoLane) continue;
    cores.push_back({task.process, task.start_ns, task.lane_stop_ns(), CoresOf(task)});
  }
  return cores;
}

void AddHeldByScheduler(const std::vector<TaskRow>& tasks, std::vector<int64_t>* outside_tasks_ns) {
  for (const TaskRow& task : tasks) {
    const int64_t held_ns = std::max<int64_t>(0, task.dispatch_ns) + std::max<int64_t>(0, task.retrieval_ns);
    (*outside_tasks_ns)[task.process] += held_ns * CoresOf(task);
  }
}

double CoreTimeOfTasks(const std::vector<TaskRow>& tasks, const RunWindow& run) {
  double core_ns = 0;
  for (const TaskRow& task : tasks) {
    if (task.thread == TaskRow::kNoLane) continue;
    const int64_t inside_ns = run.Clip(task.lane_stop_ns()) - run.Clip(task.start_ns);
    core_ns += static_cast<double>(inside_ns) * static_cast<double>(CoresOf(task));
  }
  return core_ns;
}

std::optional<double> MeanCoresOfTasks(const std::vector<TaskRow>& tasks) {
  double core_ns = 0, task_ns = 0;
  for (const TaskRow& task : tasks) {
    if (task.cores == 0) continue;
    const auto duration_ns = static_cast<double>(task.lane_stop_ns() - task.start_ns);
    core_ns += duration_ns * task.cores;
    task_ns += duration_ns;
  }
  return task_ns > 0 ? std::optional<double>(core_ns / task_ns) : std::nullopt;
}

TaskJoin JoinTasks(const AttemptRows& attempts, const std::vector<uint64_t>& threads, const std::vector<TaskRow>& tasks,
                   const TaskOfProcess& task_of_process) {
  std::map<uint32_t, uint32_t> row_of_reported;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].reported != TaskRow::kNone) row_of_reported[tasks[i].reported] = i;
  }
  const auto task_of_recorder = [&](const AttemptRow& attempt) {
    const uint32_t process = attempt.recording_process();
    const uint32_t reported = process < task_of_process.size() ? task_of_process[process] : TaskRow::kNone;
    return ValueOr(row_of_reported, reported, TaskJoin::kNone);
  };
  TaskJoin join;
  join.task_of_attempt.assign(attempts.size(), TaskJoin::kNone);
  join.chunks_of_task.assign(tasks.size(), 0);
  join.lost_of_task.assign(tasks.size(), 0);
  if (tasks.empty()) {
    join.chunks_unjoined = absl::c_count_if(attempts, [](const AttemptRow& attempt) { return HasEnded(attempt); });
    return join;
  }
  int64_t longest_ns = 0;
  for (const TaskRow& task : tasks) {
    if (task.thread == TaskRow::kAnyThread) longest_ns = std::max(longest_ns, task.stop_ns - task.start_ns);
  }
  std::optional<TasksAround> around;               // most runs need none
  LargeList<std::pair<uint32_t, uint32_t>> pairs;  // task, attempt
  pairs.reserve(attempts.size());
  for (uint32_t i = 0; i < attempts.size(); ++i) {
    const AttemptRow& attempt = attempts[i];
    const bool is_lost = attempt.status == AttemptState::kLost;
    if (!HasEnded(attempt) && !is_lost) continue;
    const uint64_t thread = threads[attempt.thread];
    uint32_t task = task_of_recorder(attempt);
    if (task == TaskJoin::kNone && thread != 0) task = FindTask(attempt, thread, tasks);
    if (task == TaskJoin::kNone) task = FindTaskOfProcess(attempt, longest_ns, tasks);
    if (task == TaskJoin::kNone) {
      if (!around.has_value()) around.emplace(tasks);
      task = around->Find(attempt, thread, join.chunks_of_task);
    }
    if (!is_lost) {  // else the task around it is not a lane of its own
      join.task_of_attempt[i] = task;
      ++(task == TaskJoin::kNone ? join.chunks_unjoined : join.chunks_joined);
    }
    if (task == TaskJoin::kNone) continue;
    ++(is_lost ? join.lost_of_task : join.chunks_of_task)[task];
    pairs.emplace_back(task, i);
  }
  absl::c_sort(pairs);
  size_t pair = 0;
  std::vector<Interval> chunks;
  std::set<std::pair<uint32_t, uint64_t>> begun;  // lanes; the tasks of each come by their start
  for (uint32_t task = 0; task < tasks.size(); ++task) {
    chunks.clear();
    const bool ended = join.chunks_of_task[task] > 0;
    for (; pair < pairs.size() && pairs[pair].first == task; ++pair) {
      const AttemptRow& attempt = attempts[pairs[pair].second];
      // what was lost was open until its process died, and so was its task
      const bool is_lost = attempt.status == AttemptState::kLost;
      chunks.emplace_back(attempt.start_ns, is_lost ? tasks[task].stop_ns : attempt.stop_ns());
    }
    if (tasks[task].thread == TaskRow::kNoLane) continue;
    join.tasks_without_chunk += !ended;
    if (ended) join.chunk_task_ns += tasks[task].lane_stop_ns() - tasks[task].start_ns;
    AddStretches(tasks[task], ended, chunks, join);
    if (ended) {
      const int64_t first_ns = std::min(chunks.front().first, tasks[task].stop_ns);  // sorted by now
      const int64_t before_ns = std::max<int64_t>(0, first_ns - tasks[task].start_ns);
      join.before_ns += before_ns;
      if (begun.emplace(tasks[task].process, tasks[task].thread).second) join.first_before_ns += before_ns;
    }
  }
  return join;
}

}  // namespace crema
