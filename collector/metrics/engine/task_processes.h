// Engines that start a process for each task: which recorded process was which task, and what that makes of its worker.
#pragma once

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/process_tree/tree_accumulator.h"
#include "collector/metrics/record_accumulator.h"

namespace crema {

/// A process of a step says `slurm 14.0`, its job is `slurm 14`.
inline std::string_view JobOfStep(std::string_view job) { return job.substr(0, job.rfind('.')); }

/// What processes of these clusters' jobs say of their job, where its number is unique.
std::set<std::string> NumberedJobs(const ClusterTable& clusters);

/// Where the processes of jobs lived outside of their jobs' time, moves the times of their log by the least that makes
/// all of them fit, or by whole hours where its zone explains it. If no offset fits all, each job is moved alone; one
/// whose own processes contradict each other stays. Returns what was done, and what was not, one line each.
std::vector<std::string> AlignWithRecords(const std::vector<ProcessRow>& processes, ClusterTable* clusters);

/// By process: the number of its task among those of `clusters`, in order; `TaskRow::kNone`: no task is known to be
/// its. A process is known by the task that its engine gave it, or by the directory it works in; of several attempts at
/// this task, it is the one that ran when the process began. One that says nothing is known by its life, where it lies
/// in the time of a single task. Puts the processes' clocks on those of their schedulers.
TaskOfProcess MatchTaskProcesses(const ClusterTable& clusters, std::vector<ProcessRow>* processes);

/// By the number of a task: from the first begin to the last end of its processes, whose times are aligned.
std::map<uint32_t, RunWindow> LivesOfTasks(const TaskOfProcess& task_of_process,
                                           const std::vector<ProcessRow>& processes);

/// The address of the worker in one of whose tasks a process ran; empty: none is known. `process` need not be whole:
/// what it says of its task, and its start.
class WorkerOfTask {
 public:
  /// `clusters` outlives it.
  explicit WorkerOfTask(const ClusterTable& clusters);
  std::string_view Find(const ProcessRow& process) const { return find_(process); }

 private:
  std::function<std::string_view(const ProcessRow&)> find_;
};

/// What these processes did, their workers did: moves their attempts, bytes and memory there. Times are aligned.
/// `workers`: those that `MatchWorkers` found. Returns the workers with such processes.
std::set<uint32_t> MoveToWorkers(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers,
                                 const TaskOfProcess& task_of_process, RecordFindings* findings);

/// Judges each process that is `kUnreported`. Only evidence makes a loss: a chunk that was open, a failure that the
/// engine reports of the worker or of its task, an exit status that `crema run` saw, a kill for memory that the kernel
/// counted (`run_end.oom_kills`). An orderly end that one of them reports makes it `kEnded`. Without evidence it stays
/// as it is. `left_reason` becomes what was reported, unless the engine gave one.
void JudgeEnds(const std::vector<ClusterWorker>& workers, const TaskOfProcess& task_of_process,
               const TreeAccumulator& trees, RecordFindings* findings);

}  // namespace crema
