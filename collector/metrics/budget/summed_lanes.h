// Where summed attempts are put among a worker's lanes: when each of them was open is not known.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_SUMMED_LANES_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_SUMMED_LANES_H_

#include <cstdint>
#include <vector>

#include "collector/metrics/budget/lane_sweep.h"
#include "collector/metrics/run_window.h"

namespace crema {

/// So many lanes, in units of 1 / `kOneLane`, are occupied from `start_ns` to `stop_ns`.
struct LaneSegment {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  int64_t lanes = 0;
  int64_t free = 0;  ///< that were free without them: so many may have been occupied at some moment
};

struct SummedLanes {
  RunWindow window;  ///< from the first begin to the last end
  std::vector<LaneSegment> segments;
  int64_t task_share = kOneLane;  ///< inside the window, what tasks occupied without their summed chunks
};

/// Puts `lane_time` into a worker's free lanes inside the window: the same share of them at each moment, so that they
/// are never more than there are. What finds no free lane is spread evenly on top of them. `changes`: its other lanes,
/// and its cores.
std::vector<LaneSegment> FillFreeLanes(Changes changes, const RunWindow& window, LaneTimeSum lane_time);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_SUMMED_LANES_H_
