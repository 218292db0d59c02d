// How processes ended that did not say so themselves.
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_ENDS_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_ENDS_H_

#include <vector>

#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/tree/tree_accumulator.h"

namespace crema {

/// Judges each process that is `kUnreported`. Only evidence makes a loss: a chunk that was open, a failure that the
/// engine reports of the worker or of its task, an exit status that `crema run` saw, a kill for memory that the kernel
/// counted (`run_end.oom_kills`). An orderly end that one of them reports makes it `kEnded`. Without evidence it stays
/// as it is. `left_reason` becomes what was reported, unless the engine gave one.
void JudgeEnds(const std::vector<ClusterWorker>& workers, const TaskOfProcess& task_of_process,
               const TreeAccumulator& trees, RecordFindings* findings);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_ENDS_H_
