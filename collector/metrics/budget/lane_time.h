// What one attempt's lanes were doing: its share of each part of the budget.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_LANE_TIME_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_LANE_TIME_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/owner_time.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/run_window.h"

namespace crema {

/// Lanes in binary fixed point, so that sums are exact and equal in any order. An attempt's helpers are a fraction of a
/// lane as a rule, since their scopes are spread evenly over the chunk.
constexpr int kLaneFractionBits = 40;
constexpr int64_t kOneLane = int64_t{1} << kLaneFractionBits;
/// A quota of a fraction of a core lets so much of a lane compute.
inline int64_t LanesOfCores(double cores) { return std::llround(cores * static_cast<double>(kOneLane)); }

/// Lane nanoseconds of one attempt inside the run. The parts add up to the lane time, exactly; an owner that waits for
/// its helpers holds no lane.
struct LaneTime {
  AttemptInterval inside;  ///< the part of the attempt's interval that lies in the run
  int64_t lanes = 0;       ///< occupied all along it, in units of 1 / `kOneLane`
  int64_t compute_ns = 0;
  int64_t cpu_wait_ns = 0;  ///< 0 where not known: then it is in `blocked_ns`
  int64_t blocked_ns = 0;
  int64_t failed_ns = 0;
  int64_t unmeasured_ns = 0;  ///< of an attempt still open, or of a result whose CPU time is not known
  bool wait_known = true;     ///< false: a result's run delay (its owner's or its helpers') is not known
  int64_t joined_ns = 0;      ///< beside the parts: the owner waited for its helpers
  bool has_owner = true;      ///< false: an event that no thread holds, so that nobody waited in `joined_ns`
};

/// As the next function, for any attempt.
LaneTime SplitAnyLaneTime(const AttemptRow& attempt, const AttemptInterval& interval,
                          const std::vector<HelperTimes>& helpers, const RunWindow& run);

/// `helpers` is the table that `attempt.helpers` points into. Figures that contradict each other
/// are clipped: CPU to the time there was, run delay to what CPU leaves, joined to what both leave.
inline LaneTime SplitLaneTime(const AttemptRow& attempt, const AttemptInterval& interval,
                              const std::vector<HelperTimes>& helpers, const RunWindow& run) {
  const bool is_plain =
      attempt.is_result && attempt.helpers == AttemptRow::kNone && interval.stop_ns > interval.start_ns &&
      interval.stop_ns - interval.start_ns == attempt.duration_ns && run.Clip(interval.start_ns) == interval.start_ns &&
      run.Clip(interval.stop_ns) == interval.stop_ns;
  if (!is_plain) {
    const AttemptRow whole = attempt;  // a copy: of plain ones only a few fields are unpacked
    return SplitAnyLaneTime(whole, interval, helpers, run);
  }
  // One lane all along, as nearly all have.
  LaneTime lane;
  lane.inside = interval;
  lane.lanes = kOneLane;
  if (const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, 0)) {
    lane.wait_known = owner->wait_known;
    lane.compute_ns = owner->cpu_ns;
    lane.cpu_wait_ns = owner->cpu_wait_ns;
    lane.blocked_ns = owner->blocked_ns;
  } else {
    lane.unmeasured_ns = attempt.duration_ns;
  }
  return lane;
}

/// The same of all summed attempts of one row. When which of them was open is not known, so `lanes` are their mean.
LaneTime SplitLaneTime(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers, const RunWindow& run);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_LANE_TIME_H_
