// Which attempts are listed one by one, and all that is known of them.
#ifndef CREMA_COLLECTOR_DETAIL_KEPT_ATTEMPTS_H_
#define CREMA_COLLECTOR_DETAIL_KEPT_ATTEMPTS_H_

#include "collector/detail/attempt_list.h"
#include "collector/detail/run_detail.h"
#include "collector/detail/timeline_rows.h"

namespace crema {

/// Fills `attempts`, `sections`, `errors`, `fits` and `failed_left_out`; `dataset_of`: the detail's number of each of
/// the list's datasets. Reads the records again for what the list has no room for.
void KeepAttempts(const AttemptList& list, const TimelinePlaces& places, const std::vector<uint32_t>& dataset_of,
                  const AttemptReader& for_each_attempt, const DetailOptions& options, RunDetail* detail);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_KEPT_ATTEMPTS_H_
