// Which task each chunk ran in.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_TASK_JOIN_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_TASK_JOIN_H_

#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/engine/task_table.h"

namespace crema {

/// A stretch of a worker's lane that a task occupied while none of its chunks was open.
struct TaskStretch {
  uint32_t process = 0;
  bool around_chunk = false;  ///< of a task with chunks; false: of any other task
  int64_t start_ns = 0;       ///< Unix time
  int64_t stop_ns = 0;
};

struct TaskJoin {
  static constexpr uint32_t kNone = 0xffffffff;

  std::vector<uint32_t> task_of_attempt;  ///< by attempt: index into the tasks, or `kNone`
  std::vector<uint32_t> chunks_of_task;   ///< by task: ended attempts joined to it
  std::vector<uint32_t> lost_of_task;     ///< by task: lost ones; they are in no other count
  int64_t chunks_joined = 0;              ///< ended attempts, as the next
  int64_t chunks_unjoined = 0;
  int64_t tasks_without_chunk = 0;
  int64_t chunk_task_ns = 0;    ///< sum of the durations of tasks with chunks
  int64_t outside_ns = 0;       ///< the part of it in which none of their chunks was open
  int64_t before_ns = 0;        ///< of this, the part before the first chunk
  int64_t first_before_ns = 0;  ///< of this, that of the first task with chunks of each lane
  std::vector<TaskStretch> stretches;
};

/// Where engines start a process for each task: by process, the number (`TaskRow::told`) of its task, or `kNone`.
using TaskOfProcess = std::vector<uint32_t>;

/// Joins each ended attempt to the task of its process and thread with which it overlaps most; where only processes of
/// tasks are known, to the one that was there all the time, if no other was. `threads` are pthread ids by
/// `AttemptRow::thread`; 0 is not known, and joins no task of a thread. A process that was started for one task
/// joins all its attempts to it. What then has no task was done by a thread or a process that some task began: it
/// joins a task of its process that ran when it began.
TaskJoin JoinTasks(const AttemptRows& attempts, const std::vector<uint64_t>& threads, const std::vector<TaskRow>& tasks,
                   const TaskOfProcess& task_of_process = {});

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_TASK_JOIN_H_
