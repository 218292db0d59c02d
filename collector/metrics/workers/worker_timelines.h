// The timelines of docs/metrics.md, "timelines", that record logs can give.
#pragma once

#include "collector/measurement/run_facts.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/process_tree/tree_accumulator.h"
#include "collector/metrics/workers/worker_life.h"

namespace crema {

struct TimelinesByWorker {
  std::string_view key;  ///< `worker_memory` and so on
  /// By worker name (`<host>:<pid>`); nullopt: not measured.
  std::optional<std::map<std::string, Timeline>> by_worker;
};

struct WorkerTimelines {
  Timeline worker_counts;
  std::vector<TimelinesByWorker> series;  ///< every other key, in docs/metrics.md's order
};

/// Points are given on change and clipped to the run. `worker_cpu` is in cores (CPU seconds per second since the sample
/// before); `worker_last_seen` in seconds since the run's start. `worker_open_chunks` comes from the chunks' intervals;
/// a worker with more than 1,000 chunks gets the means over 2,000 equal slices of its life instead, which keeps the
/// integral. Summed chunks are spread evenly from their first begin to their last end. The workers' lives must cover
/// their attempts, as `FindWorkerLives` sees to.
WorkerTimelines DrawWorkerTimelines(const std::vector<WorkerLife>& workers, const AttemptRows& attempts,
                                    const std::vector<ProcessRow>& processes, const RunWindow& run,
                                    const std::vector<SummedAttempts>& summed = {});

/// Fills in the series that the workers' own records do not give. Points are on change, and clipped to the run.
void AddClusterTimelines(const std::vector<ClusterWorker>& workers, const RunWindow& run, WorkerTimelines* timelines);

/// Appends the series `tree_*`, one line for each `crema run` (`<host>:<pid>`), and `process_*`, one for each process
/// (`<name>:<pid>`) of those 24 that used most CPU time and those 8 that held most memory. CPU and I/O are rates since
/// the reading before.
void AddTreeTimelines(const TreeAccumulator& trees, const RunWindow& run, WorkerTimelines* timelines);

}  // namespace crema
