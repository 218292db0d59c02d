// The lines of the timeline: threads, or what has to share a line where there are too many; and what is drawn on them
// where single attempts would be too many.
#ifndef CREMA_COLLECTOR_DETAIL_TIMELINE_ROWS_H_
#define CREMA_COLLECTOR_DETAIL_TIMELINE_ROWS_H_

#include <cstdint>
#include <vector>

#include "collector/detail/attempt_list.h"
#include "collector/detail/run_detail.h"

namespace crema {

/// Which worker (`RunDetail::workers`) each process is, and which row each attempt stands on.
struct TimelinePlaces {
  std::vector<uint32_t> worker_of_process;
  std::vector<uint32_t> row_of_attempt;
};

/// Fills the detail's `workers`, `rows` and `row_kind`.
TimelinePlaces PlaceRows(const AttemptList& list, const DetailOptions& options, RunDetail* detail);

/// Fills `bins`, `bin_seconds` and `runs`, from the rows and the window that are there.
void DrawRuns(const AttemptList& list, const TimelinePlaces& places, const DetailOptions& options, RunDetail* detail);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_TIMELINE_ROWS_H_
