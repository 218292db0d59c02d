// How hard Python's global interpreter lock was to get while a worker executed several tasks.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_GIL_CONTENTION_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_GIL_CONTENTION_H_

#include <optional>
#include <vector>

#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/run_window.h"

namespace crema {

/// The metric `gil_contention`: mean of the workers' readings, each weighted by its time since the reading before and
/// by the tasks that the worker executed, where those were at least two. One task alone waits for nobody. nullopt: no
/// worker told it while it executed two tasks.
std::optional<double> GilContention(const std::vector<ClusterWorker>& workers, const RunWindow& run);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_GIL_CONTENTION_H_
