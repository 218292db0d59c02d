// Processes that vanished while the kernel killed some of their control group.
#ifndef CREMA_COLLECTOR_METRICS_TREE_OOM_KILLS_H_
#define CREMA_COLLECTOR_METRICS_TREE_OOM_KILLS_H_

#include <vector>

#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/tree/tree_accumulator.h"

namespace crema {

/// Says so where `crema run` counted such kills (`run_end.oom_kills`), as the reason why a lost process left. No
/// reason that an engine gave is changed.
void NameOomKills(const TreeAccumulator& trees, std::vector<ProcessRow>* processes);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_TREE_OOM_KILLS_H_
