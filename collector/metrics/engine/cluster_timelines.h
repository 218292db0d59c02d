// The timelines of docs/metrics.md, "timelines", that only an engine's scheduler can give.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_CLUSTER_TIMELINES_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_CLUSTER_TIMELINES_H_

#include <vector>

#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/run_window.h"
#include "collector/metrics/workers/worker_timelines.h"

namespace crema {

/// Fills in the series that the workers' own records do not give. Points are on change, and clipped to the run.
void AddClusterTimelines(const std::vector<ClusterWorker>& workers, const RunWindow& run, WorkerTimelines* timelines);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_CLUSTER_TIMELINES_H_
