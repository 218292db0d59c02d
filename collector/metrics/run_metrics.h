// The keys of METRICS.md sections 2 and 7, and those of section 5 that come from well-known metrics.
#ifndef CREMA_COLLECTOR_METRICS_RUN_METRICS_H_
#define CREMA_COLLECTOR_METRICS_RUN_METRICS_H_

#include <optional>
#include <vector>

#include "collector/metrics/attempt_totals.h"
#include "collector/metrics/budget.h"
#include "collector/metrics/custom_metric_table.h"
#include "collector/metrics/metric_set.h"
#include "collector/metrics/process_row.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/worker_steps.h"

namespace crema {

// Each sets what is measured and leaves the other keys as they are: null with their usual reasons (`SetAllNull`).

/// Section 2. `wall_time` in seconds; nullopt where the run has no bounds.
void SetRunMetrics(const RecordFindings& findings, const AttemptTotals& totals, std::optional<double> wall_time,
                   const WorkerSteps& steps, MetricSet* metrics);

/// Section 3, without the process tree.
void SetWorkerMetrics(const WorkerSteps& steps, MetricSet* metrics);

/// Sections 4 and 5, without the distributions.
void SetChunkMetrics(const RecordFindings& findings, const AttemptTotals& totals, MetricSet* metrics);

/// Section 7.
void SetEfficiencyMetrics(const std::vector<ProcessRow>& processes, const AttemptTotals& totals,
                          std::optional<double> wall_time, const WorkerSteps& steps, const Budget& budget,
                          MetricSet* metrics);

/// Rates and shares from the well-known read metrics (`crema::metric`).
void SetReadMetrics(const std::vector<CustomMetricRow>& custom_metrics, const AttemptTotals& totals,
                    MetricSet* metrics);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_RUN_METRICS_H_
