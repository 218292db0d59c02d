// What is shown of schedulers whose workers tell nothing.
#ifndef CREMA_COLLECTOR_SERVER_SCHEDULER_ROWS_H_
#define CREMA_COLLECTOR_SERVER_SCHEDULER_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "collector/measurement/column.h"
#include "collector/measurement/metric_set.h"
#include "collector/server/live_model.h"

namespace crema {

/// Tasks of one prefix.
struct PrefixRow {
  Text prefix;
  Number finished;
  Number compute_seconds;
  Number compute_seconds_in_all;
  static absl::Span<const Column> Columns();
};

/// Tasks that a worker finished.
struct FinishedRow {
  Text worker;
  Number finished;
  static absl::Span<const Column> Columns();
};

/// A scheduler (docs/live_api.md); what is not known is null.
struct SchedulerRow {
  Text address;
  Number workers;
  Number cores;
  Number tasks;
  Number processing;
  Number waiting;
  Number erred;
  Number unrunnable;
  Number finished;
  Number finished_rate_now;
  Number followed_seconds;
  std::vector<PrefixRow> prefixes;
  std::vector<FinishedRow> finished_by_worker;
  std::vector<std::pair<std::string, std::string>> not_measured;  ///< why a value is null, by key
  static absl::Span<const Column> Columns();
};

std::vector<SchedulerRow> SchedulerRows(const LiveModel& model);

/// Adds the sums over them, and why some are null.
void AddSchedulerMetrics(const LiveModel& model, MetricSet* metrics);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_SCHEDULER_ROWS_H_
