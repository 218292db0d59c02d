#include "collector/metrics/budget/summed_lanes.h"

#include <algorithm>

namespace crema {

std::vector<LaneSegment> FillFreeLanes(Changes changes, const RunWindow& window, LaneTimeSum lane_time) {
  std::vector<LaneSegment> segments;
  if (window.start_ns >= window.stop_ns || lane_time <= 0) return segments;
  changes.others.push_back({window.start_ns});
  changes.others.push_back({window.stop_ns});
  LaneTimeSum free_time = 0;
  Sweep(changes, [&](int64_t from_ns, int64_t to_ns, int64_t lanes, int64_t cores) {
    if (from_ns < window.start_ns || to_ns > window.stop_ns) return;
    const int64_t free = std::max<int64_t>(0, cores - lanes);
    segments.push_back({from_ns, to_ns, free, free});
    free_time += LaneTimeSum{free} * (to_ns - from_ns);
  });
  const LaneTimeSum beyond = std::max(LaneTimeSum{0}, lane_time - free_time);
  const auto on_top = static_cast<int64_t>(beyond / (window.stop_ns - window.start_ns));
  int shift = 0;  // so that 128 bits hold the products
  while ((free_time >> shift) >= LaneTimeSum{1} << 70) ++shift;
  for (LaneSegment& segment : segments) {
    if (beyond == 0) segment.lanes = static_cast<int64_t>(segment.lanes * (lane_time >> shift) / (free_time >> shift));
    segment.lanes += on_top;
  }
  return segments;
}

}  // namespace crema
