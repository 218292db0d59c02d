// Tasks of a distributed engine, as its workers' logs tell them.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_TASK_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_TASK_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

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
  static constexpr uint64_t kAnyThread = ~uint64_t{0};  ///< one of its process: which, nobody told
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
  uint32_t told = kNone;            ///< its number among the tasks that schedulers' own logs tell
  uint32_t job = kNone;             ///< the same of all tries of one task, on all its nodes; none: not told
  TaskOutcome outcome = TaskOutcome::kDone;
  bool is_repeat = false;  ///< it was tried before, in the same process
  bool is_last = false;    ///< as in ClusterTaskFact
  bool is_open = false;    ///< it still ran as it was recorded
  uint16_t cores = 0;      ///< of its worker, that it was given; 0: not told, and taken for one

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
  void RenumberPrefixes(const Renumbering& renumbering);

  std::vector<TaskRow> rows_;
  BoundedNames prefixes_{kMaxPrefixes};
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_TASK_TABLE_H_
