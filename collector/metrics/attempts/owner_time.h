// What an attempt's owner thread did with its duration (docs/metrics.md, "Chunks and attempts").
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_OWNER_TIME_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_OWNER_TIME_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"

namespace crema {

/// Nanoseconds; the four parts add up to the duration, exactly.
struct OwnerTime {
  int64_t cpu_ns = 0;       ///< clipped to the duration
  int64_t cpu_wait_ns = 0;  ///< clipped to what CPU leaves
  int64_t joined_ns = 0;    ///< waiting for its own helpers: the union of their scopes, clipped to what both leave
  int64_t blocked_ns = 0;   ///< the rest
  bool wait_known = true;   ///< false: `cpu_wait_ns` is 0 and the run delay is part of `blocked_ns`
};

/// nullopt for an attempt that did not end or whose CPU time is not known. `helpers_union_ns`: of its helpers.
inline std::optional<OwnerTime> SplitOwnerTime(const AttemptRow& attempt, int64_t helpers_union_ns) {
  if (attempt.duration_ns < 0 || attempt.cpu_ns < 0) return std::nullopt;
  OwnerTime time;
  time.wait_known = attempt.cpu_wait_ns >= 0;
  time.cpu_ns = std::min(attempt.cpu_ns, attempt.duration_ns);
  int64_t rest_ns = attempt.duration_ns - time.cpu_ns;
  time.cpu_wait_ns = std::clamp<int64_t>(attempt.cpu_wait_ns, 0, rest_ns);
  rest_ns -= time.cpu_wait_ns;
  time.joined_ns = std::clamp<int64_t>(helpers_union_ns, 0, rest_ns);
  time.blocked_ns = rest_ns - time.joined_ns;
  return time;
}

/// `helpers` is the table that `attempt.helpers` points into.
inline std::optional<OwnerTime> SplitOwnerTime(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  return SplitOwnerTime(attempt, attempt.helpers == AttemptRow::kNone ? 0 : helpers[attempt.helpers].union_ns);
}

/// Threads of an ended attempt at work for it: its own duration and its helpers' scopes, less the time in which the
/// owner waited for them. The largest integer stands for times beyond it.
inline int64_t WholeLaneTime(const AttemptRow& attempt, int64_t scope_ns, const std::optional<OwnerTime>& owner) {
  const int64_t own_ns = attempt.duration_ns - (owner.has_value() ? owner->joined_ns : 0);
  scope_ns = std::max<int64_t>(scope_ns, 0);
  return own_ns > std::numeric_limits<int64_t>::max() - scope_ns ? std::numeric_limits<int64_t>::max()
                                                                 : own_ns + scope_ns;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_OWNER_TIME_H_
