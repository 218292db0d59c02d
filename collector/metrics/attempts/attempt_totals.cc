#include "collector/metrics/attempts/attempt_totals.h"

#include <algorithm>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_quantities.h"

namespace crema {

AttemptTotals SumAttempts(const std::vector<AttemptRow>& attempts, const std::vector<HelperTimes>& helpers,
                          const AttemptCounts& counts) {
  AttemptTotals totals;
  totals.counts = counts;
  for (const AttemptRow& attempt : attempts) {
    totals.first_start_ns = std::min(attempt.start_ns, totals.first_start_ns.value_or(attempt.start_ns));
    if (attempt.is_result) totals.events.Add(Known(attempt.events));
    if (!HasEnded(attempt)) continue;
    ++totals.ended;
    totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(attempt.stop_ns()));
    totals.busy_ns.Add(attempt.duration_ns);
    const std::optional<int64_t> cpu_ns = ChunkCpu(attempt, helpers);
    totals.cpu_ns.Add(cpu_ns);
    if (cpu_ns.has_value()) totals.helper_cpu_ns.Add(HelperCpu(attempt, helpers));
    totals.cpu_wait_ns.Add(Known(attempt.cpu_wait_ns));
    totals.blocked_ns.Add(ChunkBlocked(attempt, helpers));
    if (const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers)) totals.joined_ns.Add(owner->joined_ns);
    totals.rss_delta_bytes.Add(RssDelta(attempt));
  }
  return totals;
}

}  // namespace crema
