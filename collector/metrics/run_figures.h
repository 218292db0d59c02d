// Everything a measurement says, finished, before it becomes a document.
#ifndef CREMA_COLLECTOR_METRICS_RUN_FIGURES_H_
#define CREMA_COLLECTOR_METRICS_RUN_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/attempt_totals.h"
#include "collector/metrics/breakdown.h"
#include "collector/metrics/budget.h"
#include "collector/metrics/metric_set.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/run_bounds.h"
#include "collector/metrics/stragglers.h"
#include "collector/metrics/tree_accumulator.h"
#include "collector/metrics/worker_life.h"
#include "collector/metrics/worker_timelines.h"

namespace crema {

struct MissingValues {
  std::string_view quantity;  ///< `chunk_cpu` and so on
  int64_t attempts = 0;       ///< `ok` attempts without it
};

struct RunFigures {
  RecordFindings findings;
  AttemptTotals totals;
  std::optional<TreeFigures> tree;
  RunBounds bounds;
  MetricSet metrics;  ///< every key of the catalog, aliases too
  std::string allocated_cores_source;

  std::vector<WorkerLife> workers;
  Budget budget;
  WorkerTimelines timelines;
  StragglerFindings stragglers;
  std::vector<PhaseRow> phases;

  std::vector<BreakdownRow> by_dataset;
  std::vector<BreakdownRow> by_file;
  std::vector<BreakdownRow> by_worker;  ///< `group` is the process
  std::vector<BreakdownRow> by_host;
  std::vector<BreakdownRow> by_thread;

  std::vector<MissingValues> missing_values;
};

/// Computes the metric set from what records and process trees say. `start_ns` and `stop_ns` override the run's bounds.
RunFigures ComputeFigures(RecordFindings findings, const TreeAccumulator& trees, std::optional<int64_t> start_ns,
                          std::optional<int64_t> stop_ns);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_RUN_FIGURES_H_
