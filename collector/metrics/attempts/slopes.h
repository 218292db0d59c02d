// Two slopes over chunks: whether memory grows, and whether chunks wait for longer while more of them are open.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/measurement/findings.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {

/// Bytes per 1,000 events.
struct RssSlope {
  double slope = 0;
  double low = 0;  ///< 95 % interval
  double high = 0;
};

/// docs/metrics.md, `rss_slope`: of all processes the largest Theil-Sen slope, with Sen's interval (JASA 63, 1968), on
/// medians of at most 200 bins of equal count after the first tenth. nullopt where no process has 20 chunks with RSS,
/// and some events known. Where a process's samples have its anonymous memory, pages of files and shared memory come
/// off the RSS. `attempts` are by recording process and number, as `AttemptFindings` has them.
std::optional<RssSlope> LargestRssSlope(const AttemptRows& attempts, const std::vector<ProcessRow>& processes = {});

/// A resource that serves R events a second blocks each of k open chunks for k / R an event, so the slope is 1 / R:
/// that of Theil-Sen (Sen, JASA 63, 1968) on medians of at most 24 groups of a dataset's `ok` attempts by their mean
/// open lanes. The interval comes from 300 draws of 40 stretches of time: chunks at one time have much in common.
/// Attempts without events, CPU time or run delay take no part. `points` are by lanes; what datasets differ by is taken
/// out.
ContentionRow FindContention(const AttemptRows& attempts, const StartOrder& order,
                             const std::vector<HelperTimes>& helpers, const std::vector<uint32_t>& dataset_of_input);

}  // namespace crema
