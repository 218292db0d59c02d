// Whether chunks wait for longer while more of them are open: a resource that all of them share.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/measurement/findings.h"
#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {

/// The lanes must have varied by so much between the twentieth and the nineteenth twentieth of the chunks.
inline constexpr double kLeastLaneSpread = 1.5;

/// A resource that serves R events a second blocks each of k open chunks for k / R an event, so the slope is 1 / R;
/// what a chunk waits for by itself has a slope of 0. The slope is Theil-Sen's (Sen, JASA 63, 1968) on the medians of
/// at most 24 groups of a dataset's `ok` attempts by their mean open lanes, from pairs within datasets. The interval
/// comes from 300 draws of 40 stretches of time: chunks at one time have much in common. Blocked: docs/metrics.md,
/// "Chunks and attempts"; attempts without events, CPU time or run delay take no part. `points` are by lanes; what
/// datasets differ by is taken out.
ContentionRow FindContention(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers,
                             const std::vector<uint32_t>& dataset_of_input);

}  // namespace crema
