// Records of an engine's tasks without the engine's own log.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_MISSING_LOGS_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_MISSING_LOGS_H_

#include <string>
#include <vector>

#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/engine/cluster_table.h"

namespace crema {

/// A line for each engine that started some of `processes` for its tasks, and of which `clusters` has no log: workers,
/// and what is around chunks, stand in there.
std::vector<std::string> NameMissingLogs(const ClusterTable& clusters, const std::vector<ProcessRow>& processes);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_MISSING_LOGS_H_
