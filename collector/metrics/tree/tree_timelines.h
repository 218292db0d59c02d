// What a command's processes used over time: docs/metrics.md, "timelines".
#ifndef CREMA_COLLECTOR_METRICS_TREE_TREE_TIMELINES_H_
#define CREMA_COLLECTOR_METRICS_TREE_TREE_TIMELINES_H_

#include "collector/metrics/run_window.h"
#include "collector/metrics/tree/tree_accumulator.h"
#include "collector/metrics/workers/worker_timelines.h"

namespace crema {

/// Appends the series `tree_*`, one line for each `crema run` (`<host>:<pid>`), and `process_*`, one for each process
/// (`<name>:<pid>`) of those 24 that used most CPU time and those 8 that held most memory. CPU and I/O are rates since
/// the reading before.
void AddTreeTimelines(const TreeAccumulator& trees, const RunWindow& run, WorkerTimelines* timelines);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_TREE_TREE_TIMELINES_H_
