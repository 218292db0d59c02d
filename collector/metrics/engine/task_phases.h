// Phases of a run, from its tasks (docs/metrics.md, "Runs and workers").
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_TASK_PHASES_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_TASK_PHASES_H_

#include <vector>

#include "collector/metrics/contents/span_table.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/engine/task_table.h"

namespace crema {

/// `process` are the prefixes in whose tasks chunks ran; `preprocess` and `reduce` are told by what Coffea calls its
/// tasks. In this order; phases without a task are left out.
std::vector<PhaseRow> FindTaskPhases(const TaskFindings& tasks, const TaskJoin& join);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_TASK_PHASES_H_
