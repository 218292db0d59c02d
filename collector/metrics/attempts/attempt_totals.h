// Sums over all attempts of the run (docs/metrics.md, "The run").
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_TOTALS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_TOTALS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_results.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {

struct AttemptTotals {
  AttemptCounts counts;
  int64_t ended = 0;
  KnownSum busy_ns;        ///< of ended attempts, as all but `events`
  KnownSum lane_ns;        ///< of owners and helpers, but for owners that waited for their helpers
  KnownSum cpu_ns;         ///< owners and helpers
  KnownSum helper_cpu_ns;  ///< of attempts whose `cpu_ns` is known, as the next two
  KnownSum unannounced_cpu_ns;
  KnownSum children_cpu_ns;
  KnownSum cpu_wait_ns;
  KnownSum joined_ns;
  KnownSum blocked_ns;
  KnownSum lane_cpu_wait_ns;  ///< of owners and helpers, as the next
  KnownSum lane_blocked_ns;
  KnownSum system_cpu_ns;  ///< of owners, as the next two
  KnownSum minor_faults;
  KnownSum major_faults;
  KnownSum rss_delta_bytes;
  KnownSum events;                        ///< of results
  std::optional<int64_t> first_start_ns;  ///< of any attempt, Unix time
  std::optional<int64_t> last_stop_ns;    ///< of an ended attempt
};

/// `counts`: of these attempts.
AttemptTotals SumAttempts(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                          const std::vector<HelperTimes>& helpers, const AttemptCounts& counts);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_TOTALS_H_
