// The keys of docs/metrics.md, "The run" and "Efficiency", and those that come from well-known metrics.
#ifndef CREMA_COLLECTOR_METRICS_RUN_METRICS_H_
#define CREMA_COLLECTOR_METRICS_RUN_METRICS_H_

#include <optional>
#include <vector>

#include "collector/measurement/metric_set.h"
#include "collector/metrics/attempts/attempt_totals.h"
#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/budget/budget.h"
#include "collector/metrics/coffea/coffea_accumulator.h"
#include "collector/metrics/coffea/run_totals.h"
#include "collector/metrics/contents/custom_metric_table.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/workers/worker_steps.h"

namespace crema {

// Each sets what is measured and leaves the other keys as they are: null with their usual reasons (`SetAllNull`).

/// "Workers and the process tree" of docs/metrics.md, without the process tree.
void SetWorkerMetrics(const WorkerSteps& steps, MetricSet* metrics);

/// "The run", after the workers. `wall_time` in seconds; nullopt where the run has no bounds.
void SetRunMetrics(const RecordFindings& findings, const AttemptTotals& totals, const RunTotals& chosen,
                   const CoffeaFigures& coffea, std::optional<double> wall_time, MetricSet* metrics);

/// "Chunks, sections and reading", without the rates of reading.
void SetChunkMetrics(const RecordFindings& findings, const AttemptTotals& totals, MetricSet* metrics);

/// "Efficiency", after the others.
void SetEfficiencyMetrics(const std::vector<ProcessRow>& processes, const AttemptTotals& totals, const Budget& budget,
                          MetricSet* metrics);

/// Rates and shares from the well-known read metrics (`crema::metric`), after the run.
void SetReadMetrics(const std::vector<CustomMetricRow>& custom_metrics, MetricSet* metrics);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_RUN_METRICS_H_
