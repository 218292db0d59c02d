// Sums over equal parts of the run's time, of all attempts together and by worker.
#ifndef CREMA_COLLECTOR_DETAIL_SUMS_OVER_TIME_H_
#define CREMA_COLLECTOR_DETAIL_SUMS_OVER_TIME_H_

#include "collector/detail/attempt_list.h"
#include "collector/detail/run_detail.h"
#include "collector/detail/timeline_rows.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Fills `over_time`; the lanes that were available come from the measurement.
void SumOverTime(const AttemptList& list, const Measurement& measurement, int bins, RunDetail* detail);

/// Fills `by_worker`.
void SumByWorker(const AttemptList& list, const TimelinePlaces& places, int bins, size_t most_rows, RunDetail* detail);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_SUMS_OVER_TIME_H_
