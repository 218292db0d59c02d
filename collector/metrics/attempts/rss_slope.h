// Whether memory grows from chunk to chunk.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {

/// Bytes per 1,000 events.
struct RssSlope {
  double slope = 0;
  double low = 0;  ///< 95 % interval
  double high = 0;
  uint32_t process = 0;  ///< index of the process whose slope it is
};

/// docs/metrics.md, `rss_slope`: per process the Theil-Sen slope of the RSS at the end of its ended attempts over chunk
/// number, after the first tenth of them, on medians of at most 200 bins of equal count; made B per 1,000 events with
/// the mean of those chunks' events that are known. The interval is Sen's (JASA 63, 1968), from the variance of
/// Kendall's tau. Of all processes the largest; nullopt where no process has 20 chunks with RSS, and some events known.
/// Where a process's samples have its anonymous memory, pages of files and shared memory do not count: read off between
/// two samples, they come off the RSS. `attempts` are by recording process and number, as `AttemptFindings` has them.
std::optional<RssSlope> LargestRssSlope(const AttemptRows& attempts, const std::vector<ProcessRow>& processes = {});

}  // namespace crema
