#include "collector/metrics/attempts/attempt_totals.h"

#include <algorithm>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_quantities.h"

namespace crema {

namespace {

void Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers, AttemptTotals& totals) {
  const AttemptRow& row = summed.row;
  totals.first_start_ns = std::min(row.start_ns, totals.first_start_ns.value_or(row.start_ns));
  totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(summed.stop_ns));
  if (row.is_result) totals.events.Add(Known(row.events), summed.chunks_with_events);
  totals.ended += summed.chunks;
  totals.busy_ns.Add(row.duration_ns, summed.chunks);
  const std::optional<int64_t> cpu_ns = ChunkCpu(row, helpers);
  totals.cpu_ns.Add(cpu_ns, summed.chunks);
  if (cpu_ns.has_value()) totals.helper_cpu_ns.Add(HelperCpu(row, helpers), summed.chunks);
  totals.cpu_wait_ns.Add(Known(row.cpu_wait_ns), summed.chunks);
  totals.blocked_ns.Add(ChunkBlocked(row, helpers), summed.chunks);
  if (const std::optional<OwnerTime> owner = SplitOwnerTime(row, helpers)) {
    totals.joined_ns.Add(owner->joined_ns, summed.chunks);
  }
}

}  // namespace

AttemptTotals SumAttempts(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                          const std::vector<HelperTimes>& helpers, const AttemptCounts& counts) {
  AttemptTotals totals;
  totals.counts = counts;
  for (const SummedAttempts& sums : summed) Add(sums, helpers, totals);
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
