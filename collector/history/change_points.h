// Where the level of a series changed for good: PELT (R. Killick, P. Fearnhead, I. A. Eckley, "Optimal Detection of
// Changepoints With a Linear Computational Cost", JASA 107 (2012) 1590), which finds the exact minimum of its cost.
#ifndef CREMA_COLLECTOR_HISTORY_CHANGE_POINTS_H_
#define CREMA_COLLECTOR_HISTORY_CHANGE_POINTS_H_

#include <cstddef>
#include <vector>

namespace crema {

/// Fewer values tell no change from their noise.
inline constexpr size_t kLeastValues = 8;
/// A level that lasts for fewer values is taken for outliers.
inline constexpr size_t kLeastSegment = 3;

/// Values of one level: [begin, end).
struct Segment {
  size_t begin = 0, end = 0;
  /// The values in which it may have begun, as far as the noise allows (90 %); of the first segment all three are 0.
  size_t earliest = 0, latest = 0;
  double level = 0;

  size_t size() const { return end - begin; }
};

/// A difference of two levels with its range of 90 %.
struct LevelChange {
  double change = 0, low = 0, high = 0;
};

struct ChangePoints {
  std::vector<Segment> segments;  ///< at least one; one: nothing changed
  double noise = 0;               ///< standard deviation around the levels
  double seen = 0;                ///< a change of this size that lasts `kSeenFor` values at the end is found in 9 of 10
};
inline constexpr size_t kSeenFor = 10;

/// The cost is the sum of squares around the levels over the variance of the noise, and 5 log n for each change. The
/// noise is taken from the differences of neighbours, by their median, so that neither changes nor outliers widen it.
/// A value further than three standard deviations from the median of the five around it counts as if it were there: a
/// run on a bad day is no change. `values`: finite, at least `kLeastValues`, in order of time. Pure.
ChangePoints FindChangePoints(const std::vector<double>& values);

/// `after` less `before`. By Student's t with the noise of all segments, as if the places of the changes were known.
LevelChange ChangeBetween(const ChangePoints& found, const Segment& before, const Segment& after);

}  // namespace crema

#endif  // CREMA_COLLECTOR_HISTORY_CHANGE_POINTS_H_
