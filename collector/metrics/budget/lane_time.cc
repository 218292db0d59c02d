#include "collector/metrics/budget/lane_time.h"

#include <algorithm>
#include <optional>

#include "collector/metrics/attempts/owner_time.h"

namespace crema {
namespace {

__extension__ typedef __int128 Int128;  // times of days in ns, times 2^40, pass 64 bits

/// The part of an attempt that lies in the run, as a fraction.
struct Share {
  int64_t inside_ns = 0;
  int64_t whole_ns = 0;

  int64_t Of(int64_t nanoseconds) const {
    if (inside_ns == whole_ns) return nanoseconds;
    return static_cast<int64_t>(Int128{nanoseconds} * inside_ns / whole_ns);
  }
};

void AddOwner(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers, const Share& share, LaneTime& lane) {
  const int64_t inside_ns = share.Of(attempt.duration_ns);
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
  if (!owner.has_value()) {
    lane.unmeasured_ns += inside_ns;
    return;
  }
  lane.wait_known = lane.wait_known && owner->wait_known;
  const int64_t compute_ns = share.Of(owner->cpu_ns);
  const int64_t cpu_wait_ns = share.Of(owner->cpu_wait_ns);
  const int64_t joined_ns = share.Of(owner->joined_ns);
  lane.compute_ns += compute_ns;
  lane.cpu_wait_ns += cpu_wait_ns;
  lane.joined_ns += joined_ns;
  lane.blocked_ns += inside_ns - compute_ns - cpu_wait_ns - joined_ns;
}

void AddHelpers(const HelperTimes& helper, const Share& share, LaneTime& lane) {
  const int64_t inside_ns = share.Of(helper.scope_ns);
  if (helper.cpu_ns < 0) {
    lane.unmeasured_ns += inside_ns;
    return;
  }
  lane.wait_known = lane.wait_known && helper.cpu_wait_ns >= 0;
  const int64_t cpu_ns = std::min(helper.cpu_ns, helper.scope_ns);
  const int64_t compute_ns = share.Of(cpu_ns);
  const int64_t cpu_wait_ns = share.Of(std::clamp<int64_t>(helper.cpu_wait_ns, 0, helper.scope_ns - cpu_ns));
  lane.compute_ns += compute_ns;
  lane.cpu_wait_ns += cpu_wait_ns;
  lane.blocked_ns += inside_ns - compute_ns - cpu_wait_ns;
}

}  // namespace

LaneTime SplitLaneTime(const AttemptRow& attempt, const AttemptInterval& interval,
                       const std::vector<HelperTimes>& helpers, const RunWindow& run) {
  LaneTime lane;
  lane.inside = {run.Clip(interval.start_ns), run.Clip(interval.stop_ns)};
  const Share share = {lane.inside.stop_ns - lane.inside.start_ns, interval.stop_ns - interval.start_ns};
  if (share.inside_ns == 0) return lane;
  if (!HasEnded(attempt)) {
    lane.lanes = kOneLane;
    (attempt.status == AttemptState::kLost ? lane.failed_ns : lane.unmeasured_ns) = share.inside_ns;
    return lane;
  }
  HelperTimes helper;
  if (attempt.helpers != AttemptRow::kNone) helper = helpers[attempt.helpers];
  helper.scope_ns = std::max<int64_t>(helper.scope_ns, 0);
  const Int128 lane_ns = Int128{attempt.duration_ns} + helper.scope_ns;
  lane.lanes = static_cast<int64_t>((lane_ns * kOneLane + share.whole_ns / 2) / share.whole_ns);
  if (!attempt.is_result) {
    lane.failed_ns = share.Of(attempt.duration_ns) + share.Of(helper.scope_ns);
    return lane;
  }
  AddOwner(attempt, helpers, share, lane);
  if (helper.scope_ns > 0) AddHelpers(helper, share, lane);
  return lane;
}

LaneTime SplitLaneTime(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers, const RunWindow& run) {
  const AttemptRow& row = summed.row;
  LaneTime lane;
  lane.inside = {run.Clip(row.start_ns), run.Clip(summed.stop_ns)};
  const Share share = {lane.inside.stop_ns - lane.inside.start_ns, summed.stop_ns - row.start_ns};
  if (share.inside_ns == 0) return lane;
  HelperTimes helper;
  if (row.helpers != AttemptRow::kNone) helper = helpers[row.helpers];
  const Int128 lane_ns = Int128{row.duration_ns} + helper.scope_ns;
  lane.lanes = static_cast<int64_t>((lane_ns * kOneLane + share.whole_ns / 2) / share.whole_ns);
  if (!row.is_result) {
    lane.failed_ns = share.Of(row.duration_ns) + share.Of(helper.scope_ns);
    return lane;
  }
  AddOwner(row, helpers, share, lane);
  if (helper.scope_ns > 0) AddHelpers(helper, share, lane);
  return lane;
}

}  // namespace crema
