// Which task each chunk ran in.
#pragma once

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/budget/lane_time.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// What became of a task, in the worker's eyes.
enum class TaskOutcome : uint8_t {
  kDone,    // its result is kept
  kFailed,  // it raised
  kOther,   // it was cancelled, rescheduled or no longer wanted
};

struct TaskRow {
  static constexpr int64_t kUnknown = -1;
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint64_t kAnyThread = ~uint64_t{0};  ///< one of its process: which, nobody reported
  /// None: it starts other tasks, and holds a core only while a chunk of its own processes is open.
  static constexpr uint64_t kNoLane = kAnyThread - 1;

  int64_t start_ns = 0;  ///< Unix time, on its process's clock
  int64_t stop_ns = 0;
  int64_t without_lane_ns = 0;      ///< at its end: it had given its lane back, and waited for other tasks
  int64_t queue_ns = kUnknown;      ///< between the engine's order and the start
  int64_t dispatch_ns = kUnknown;   ///< before the start, in which its core was held for it already
  int64_t retrieval_ns = kUnknown;  ///< after the stop, in which its core was held for it still
  uint64_t thread = 0;              ///< pthread_self(3), `kAnyThread` or `kNoLane`; 0: not known
  uint32_t process = 0;             ///< index of the finished process (of the log while it is collected)
  uint32_t prefix = 0;              ///< index into `TaskFindings::prefixes`
  uint32_t reported = kNone;        ///< its number among the tasks in schedulers' own logs
  uint32_t job = kNone;             ///< the same of all tries of one task, on all its nodes; none: not known
  TaskOutcome outcome = TaskOutcome::kDone;
  bool is_repeat = false;  ///< it was tried before, in the same process
  bool is_last = false;    ///< as in ClusterTaskFact
  bool is_open = false;    ///< it still ran as it was recorded
  uint16_t cores = 0;      ///< of its worker, that it was given; 0: not known, and taken for one

  /// When it gave its lane back, or ended.
  int64_t lane_stop_ns() const { return stop_ns - without_lane_ns; }
};

struct TaskFindings {
  std::vector<TaskRow> rows;          ///< by (process, thread, start, stop)
  std::vector<std::string> prefixes;  ///< sorted; `(other)` stands for those beyond the limit
  bool empty() const { return rows.empty(); }
};

/// A row before its prefix has an index.
struct NamedTask {
  std::string prefix;
  TaskRow row;
};

/// Adds finished rows, and keeps what `TaskFindings` promises.
void AddTasks(std::vector<NamedTask> tasks, TaskFindings* findings);

/// Accumulator of task lines.
class TaskTable {
 public:
  static constexpr size_t kMaxPrefixes = 1000;

  void Add(const LogRef& log, const TaskFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const TaskTable& other, const std::vector<uint32_t>& logs);
  TaskFindings Finalize(const ProcessFindings& processes) const;

 private:
  void RenumberPrefixes(const Renumbering& renumbering) {
    for (TaskRow& row : rows_) row.prefix = renumbering[row.prefix];
  }

  std::vector<TaskRow> rows_;
  BoundedNames prefixes_{kMaxPrefixes};
};

/// Each task with its cores; empty where none has more than one.
std::vector<TaskCores> CoresOfTasks(const std::vector<TaskRow>& tasks);

/// Cores that wait for their next task's input, or for the last one's output to be fetched, serve the engine: adds
/// their time, by process.
void AddHeldByScheduler(const std::vector<TaskRow>& tasks, std::vector<int64_t>* outside_tasks_ns);

/// Core nanoseconds that tasks held in the run.
double CoreTimeOfTasks(const std::vector<TaskRow>& tasks, const RunWindow& run);

/// Mean over the time of the tasks whose cores are reported; nullopt: there are none.
std::optional<double> MeanCoresOfTasks(const std::vector<TaskRow>& tasks);

/// A stretch of a worker's lane that a task occupied while none of its chunks was open.
struct TaskStretch {
  uint32_t process = 0;
  bool around_chunk = false;  ///< of a task with chunks; false: of any other task
  int64_t start_ns = 0;       ///< Unix time
  int64_t stop_ns = 0;
};

struct TaskJoin {
  static constexpr uint32_t kNone = 0xffffffff;

  LargeList<uint32_t> task_of_attempt;   ///< by attempt: index into the tasks, or `kNone`
  std::vector<uint32_t> chunks_of_task;  ///< by task: ended attempts joined to it
  std::vector<uint32_t> lost_of_task;    ///< by task: lost ones; they are in no other count
  int64_t chunks_joined = 0;             ///< ended attempts, as the next
  int64_t chunks_unjoined = 0;
  int64_t tasks_without_chunk = 0;
  int64_t chunk_task_ns = 0;    ///< sum of the durations of tasks with chunks
  int64_t outside_ns = 0;       ///< the part of it in which none of their chunks was open
  int64_t before_ns = 0;        ///< of this, the part before the first chunk
  int64_t first_before_ns = 0;  ///< of this, that of the first task with chunks of each lane
  std::vector<TaskStretch> stretches;
};

/// Where engines start a process for each task: by process, the number (`TaskRow::reported`) of its task, or `kNone`.
using TaskOfProcess = std::vector<uint32_t>;

/// Joins each ended attempt to the task of its process and thread with which it overlaps most; where only processes of
/// tasks are known, to the one that was there all the time, if no other was. `threads` are pthread ids by
/// `AttemptRow::thread`; 0 is not known, and joins no task of a thread. A process that was started for one task
/// joins all its attempts to it. What then has no task was done by a thread or a process that some task began: it
/// joins a task of its process that ran when it began.
TaskJoin JoinTasks(const AttemptRows& attempts, const std::vector<uint64_t>& threads, const std::vector<TaskRow>& tasks,
                   const TaskOfProcess& task_of_process = {});

}  // namespace crema
