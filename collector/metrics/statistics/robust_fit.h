// A straight line through chunks that outliers do not bend: duration = fixed + slope x events.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_ROBUST_FIT_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_ROBUST_FIT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace crema {

struct ChunkPoint {
  double events = 0;
  double seconds = 0;
};

struct RobustFit {
  double fixed_seconds = 0;
  double seconds_per_event = 0;
  /// False where fewer than two different numbers of events were seen: then the slope is 0 and `fixed_seconds` is the
  /// median duration, which predicts chunks of that size and says nothing of others.
  bool slope_known = false;
  int64_t points = 0;
  /// Half the width of the 95 % intervals of the two, from the scale of the residuals (1.4826 of their median distance
  /// from their median), which outliers do not widen; 0 where the slope is not known.
  double fixed_error = 0;
  double slope_error = 0;

  /// The line, what residuals are measured from; through noisy points it may run below 0.
  double At(double events) const { return fixed_seconds + seconds_per_event * events; }
  /// No chunk takes less than nothing.
  double Predict(double events) const { return std::max(0.0, At(events)); }
};

/// Theil-Sen line (Sen, JASA 63, 1968): the median of the slopes between pairs of points, then the median of what is
/// left. The pairs are those of at most 256 groups: chunks of equal events form a group at its median duration, and
/// where there are more sizes than 256, neighbouring sizes share one; a pair weighs the product of its groups' sizes.
/// So up to 256 points with events all different it is the exact Theil-Sen line; the cost is O(n log n) plus 32,640
/// pairs; the answer depends on the set of points only, never on their order. No points: all zero.
RobustFit FitDuration(std::vector<ChunkPoint> points);

/// The same without a copy: the points stay, in order of events.
RobustFit FitDurationOf(absl::Span<ChunkPoint> points);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_ROBUST_FIT_H_
