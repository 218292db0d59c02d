// Tasks of an engine on the rows of the timeline.
#ifndef CREMA_COLLECTOR_DETAIL_TASK_BARS_H_
#define CREMA_COLLECTOR_DETAIL_TASK_BARS_H_

#include <cstddef>

#include "collector/detail/attempt_list.h"
#include "collector/detail/run_detail.h"
#include "collector/detail/timeline_rows.h"

namespace crema {

/// Fills `tasks` and what belongs to it, where rows are threads. A task stands on the row of its thread; those of
/// threads that ran no chunk have none, and are counted.
void PlaceTasks(const TaskReader& for_each_task, const AttemptList& list, const TimelinePlaces& places, size_t most,
                RunDetail* detail);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_TASK_BARS_H_
