// What is shown of schedulers whose workers tell nothing.
#ifndef CREMA_COLLECTOR_SERVER_SCHEDULER_ROWS_H_
#define CREMA_COLLECTOR_SERVER_SCHEDULER_ROWS_H_

#include "collector/server/live_model.h"
#include "nlohmann/json.hpp"

namespace crema {

/// A row for each of them (docs/live.md); what is not known is null, and `not_measured` of the row says why.
nlohmann::ordered_json SchedulerRows(const LiveModel& model);

/// Adds the sums over them to `metrics`, and to `not_measured` why some are null.
void AddSchedulerMetrics(const LiveModel& model, nlohmann::ordered_json* metrics, nlohmann::ordered_json* not_measured);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_SCHEDULER_ROWS_H_
