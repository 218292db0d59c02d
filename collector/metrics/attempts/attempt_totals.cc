#include "collector/metrics/attempts/attempt_totals.h"

#include <algorithm>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_quantities.h"

namespace crema {

namespace {

std::optional<int64_t> Sum(const std::optional<int64_t>& one, const std::optional<int64_t>& other) {
  if (!one.has_value() || !other.has_value()) return std::nullopt;
  return AddCounts(*one, *other);
}

/// The times of an ended attempt, or of so many together.
void AddTimes(const AttemptRow& row, int64_t chunks, const std::vector<HelperTimes>& helpers, AttemptTotals& totals) {
  totals.ended += chunks;
  totals.busy_ns.Add(row.duration_ns, chunks);
  const std::optional<int64_t> cpu_ns = ChunkCpu(row, helpers);
  totals.cpu_ns.Add(cpu_ns, chunks);
  if (cpu_ns.has_value()) {
    const HelperTimes other = row.helpers == AttemptRow::kNone ? HelperTimes() : helpers[row.helpers];
    totals.helper_cpu_ns.Add(*HelperCpu(row, helpers) - other.unannounced_ns - other.children_ns, chunks);
    totals.unannounced_cpu_ns.Add(other.unannounced_ns, chunks);
    totals.children_cpu_ns.Add(other.children_ns, chunks);
  }
  const std::optional<int64_t> blocked_ns = ChunkBlocked(row, helpers);
  totals.cpu_wait_ns.Add(Known(row.cpu_wait_ns), chunks);
  totals.blocked_ns.Add(blocked_ns, chunks);
  totals.lane_cpu_wait_ns.Add(Sum(Known(row.cpu_wait_ns), HelperCpuWait(row, helpers)), chunks);
  totals.lane_blocked_ns.Add(Sum(blocked_ns, HelperBlocked(row, helpers)), chunks);
  totals.system_cpu_ns.Add(Known(row.system_cpu_ns), chunks);
  totals.minor_faults.Add(Known(row.minor_faults), chunks);
  totals.major_faults.Add(Known(row.major_faults), chunks);
  const std::optional<OwnerTime> owner = SplitOwnerTime(row, helpers);
  if (owner.has_value()) totals.joined_ns.Add(owner->joined_ns, chunks);
  const int64_t scope_ns = row.helpers == AttemptRow::kNone ? 0 : helpers[row.helpers].scope_ns;
  totals.lane_ns.Add(WholeLaneTime(row, scope_ns, owner), chunks);
}

void Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers, AttemptTotals& totals) {
  const AttemptRow& row = summed.row;
  totals.first_start_ns = std::min(row.start_ns, totals.first_start_ns.value_or(row.start_ns));
  totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(summed.stop_ns));
  if (row.is_result) totals.events.Add(Known(row.events), summed.chunks_with_events);
  AddTimes(row, summed.chunks, helpers, totals);
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
    totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(attempt.stop_ns()));
    AddTimes(attempt, 1, helpers, totals);
    totals.rss_delta_bytes.Add(RssDelta(attempt));
  }
  return totals;
}

}  // namespace crema
