// Whether chunks wait for longer while more of them are open: a resource that all of them share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {

/// The lanes must have varied by so much between the twentieth and the nineteenth twentieth of the chunks.
inline constexpr double kLeastLaneSpread = 1.5;

struct Contention {
  std::string why_not;  ///< not empty: there is no slope, for this reason
  int64_t attempts = 0;
  double lanes_low = 0;  ///< mean open lanes during a chunk: 5 % of the chunks had fewer
  double lanes_high = 0;
  double slope = 0;      ///< seconds that an event is blocked for longer with each lane more
  double slope_low = 0;  ///< 90 % interval
  double slope_high = 0;
  double excess_seconds = 0;      ///< of the blocked time, what the slope gives for the lanes beyond one
  double excess_low_seconds = 0;  ///< the same with `slope_low`
  /// (mean open lanes, median blocked seconds an event), by lanes; what datasets differ by is taken out.
  std::vector<std::pair<double, double>> points;
};

/// A resource that serves R events a second blocks each of k open chunks for k / R an event, so the slope is 1 / R;
/// what a chunk waits for by itself has a slope of 0. The slope is Theil-Sen's (Sen, JASA 63, 1968) on the medians of
/// at most 24 groups of a dataset's `ok` attempts by their mean open lanes, from pairs within datasets. The interval
/// comes from 300 draws of 40 stretches of time: chunks at one time have much in common. Blocked: docs/metrics.md,
/// "Chunks and attempts"; attempts without events, CPU time or run delay take no part.
Contention FindContention(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers,
                          const std::vector<uint32_t>& dataset_of_input);

}  // namespace crema
