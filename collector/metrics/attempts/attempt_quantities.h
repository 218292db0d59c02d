// The quantities of one attempt that docs/metrics.md describes.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_QUANTITIES_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_QUANTITIES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/owner_time.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {

inline std::optional<int64_t> Known(int64_t value) {
  return value == AttemptRow::kUnknown ? std::nullopt : std::optional<int64_t>(value);
}

/// The helpers' CPU time; 0 without helpers, nullopt where theirs was not measured.
inline std::optional<int64_t> HelperCpu(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  return attempt.helpers == AttemptRow::kNone ? std::optional<int64_t>(0) : Known(helpers[attempt.helpers].cpu_ns);
}

/// CPU time of owner and helpers, ns.
inline std::optional<int64_t> ChunkCpu(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<int64_t> helper_cpu_ns = HelperCpu(attempt, helpers);
  if (attempt.cpu_ns == AttemptRow::kUnknown || !helper_cpu_ns.has_value()) return std::nullopt;
  return AddCounts(attempt.cpu_ns, *helper_cpu_ns);
}

/// The owner's time without CPU that is neither contention nor waiting for its helpers, ns; nullopt where the kernel
/// did not tell the run delay.
inline std::optional<int64_t> ChunkBlocked(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
  if (!owner.has_value() || !owner->wait_known) return std::nullopt;
  return owner->blocked_ns;
}

/// The helpers' run delay; 0 where none had a scope, nullopt where theirs was not measured.
inline std::optional<int64_t> HelperCpuWait(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  if (attempt.helpers == AttemptRow::kNone || helpers[attempt.helpers].scope_ns <= 0) return 0;
  return Known(helpers[attempt.helpers].cpu_wait_ns);
}

/// What CPU and run delay leave of the helpers' scopes, as the last.
inline std::optional<int64_t> HelperBlocked(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<int64_t> cpu_ns = HelperCpu(attempt, helpers), wait_ns = HelperCpuWait(attempt, helpers);
  if (!cpu_ns.has_value() || !wait_ns.has_value()) return std::nullopt;
  const int64_t scope_ns = attempt.helpers == AttemptRow::kNone ? 0 : helpers[attempt.helpers].scope_ns;
  return std::max<int64_t>(0, std::max<int64_t>(0, scope_ns - *cpu_ns) - *wait_ns);
}

/// RSS at the end less RSS at the start, bytes.
inline std::optional<int64_t> RssDelta(const AttemptRow& attempt) {
  if (attempt.rss_start_bytes == AttemptRow::kUnknown || attempt.rss_stop_bytes == AttemptRow::kUnknown) {
    return std::nullopt;
  }
  return attempt.rss_stop_bytes - attempt.rss_start_bytes;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_QUANTITIES_H_
