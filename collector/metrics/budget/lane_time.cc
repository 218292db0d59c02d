#include "collector/metrics/budget/lane_time.h"

namespace crema {
namespace {

__extension__ typedef __int128 Int128;  // times of days in ns, times 2^40, pass 64 bits

/// The part of an attempt that is in the run, as a fraction.
struct Share {
  int64_t inside_ns = 0;
  int64_t whole_ns = 0;

  int64_t Of(int64_t nanoseconds) const {
    if (inside_ns == whole_ns) return nanoseconds;
    return static_cast<int64_t>(Int128{nanoseconds} * inside_ns / whole_ns);
  }
};

/// An ended attempt's own lane and its helpers', less the time in which it waited for them.
void SetLanes(const AttemptRow& attempt, const HelperTimes& helper, const std::optional<OwnerTime>& owner,
              const Share& share, LaneTime& lane) {
  const Int128 lane_ns = WholeLaneTime(attempt, helper.scope_ns, owner);
  lane.lanes = lane_ns == share.whole_ns  // as of all that have no helpers: a division takes longer than the rest
                   ? kOneLane
                   : static_cast<int64_t>((lane_ns * kOneLane + share.whole_ns / 2) / share.whole_ns);
  lane.joined_ns = share.Of(owner.has_value() ? owner->joined_ns : 0);
  lane.has_owner = HasOwner(attempt, owner);
}

/// What an owner, or helpers, did in a time of so many nanoseconds, of which it may not be known.
void AddTime(int64_t whole_ns, const std::optional<OwnerTime>& time, int64_t joined_ns, const Share& share,
             LaneTime& lane) {
  const int64_t inside_ns = share.Of(whole_ns);
  if (!time.has_value()) {
    lane.unmeasured_ns += inside_ns;
    return;
  }
  lane.wait_known = lane.wait_known && time->wait_known;
  const int64_t compute_ns = share.Of(time->cpu_ns);
  const int64_t cpu_wait_ns = share.Of(time->cpu_wait_ns);
  lane.compute_ns += compute_ns;
  lane.cpu_wait_ns += cpu_wait_ns;
  lane.blocked_ns += inside_ns - compute_ns - cpu_wait_ns - joined_ns;
}

void AddEnded(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers, const Share& share, LaneTime& lane) {
  HelperTimes helper;
  if (attempt.helpers != AttemptRow::kNone) helper = helpers[attempt.helpers];
  helper.scope_ns = std::max<int64_t>(helper.scope_ns, 0);
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
  SetLanes(attempt, helper, owner, share, lane);
  if (!attempt.is_result) {
    lane.failed_ns = share.Of(attempt.duration_ns) + share.Of(helper.scope_ns) - lane.joined_ns;
    if (!owner.has_value() || helper.cpu_ns < 0) return;
    const int64_t cpu_ns = share.Of(owner->cpu_ns) + share.Of(std::min(helper.cpu_ns, helper.scope_ns));
    lane.failed_wait_ns = std::max<int64_t>(0, lane.failed_ns - cpu_ns);
    return;
  }
  AddTime(attempt.duration_ns, owner, lane.joined_ns, share, lane);
  if (helper.scope_ns == 0) return;
  AttemptRow scopes;  // split as the duration of an owner without helpers is
  scopes.duration_ns = helper.scope_ns;
  scopes.cpu_ns = helper.cpu_ns;
  scopes.cpu_wait_ns = helper.cpu_wait_ns;
  AddTime(helper.scope_ns, SplitOwnerTime(scopes, 0), 0, share, lane);
}

}  // namespace

LaneTime SplitAnyLaneTime(const AttemptRow& attempt, const RunWindow& interval, const std::vector<HelperTimes>& helpers,
                          const RunWindow& run) {
  LaneTime lane;
  lane.inside = {run.Clip(interval.start_ns), run.Clip(interval.stop_ns)};
  const Share share = {lane.inside.stop_ns - lane.inside.start_ns, interval.stop_ns - interval.start_ns};
  if (share.inside_ns == 0) return lane;
  if (!HasEnded(attempt)) {
    lane.lanes = kOneLane;
    (attempt.status == AttemptState::kLost ? lane.failed_ns : lane.unmeasured_ns) = share.inside_ns;
    return lane;
  }
  AddEnded(attempt, helpers, share, lane);
  return lane;
}

LaneTime SplitLaneTime(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers, const RunWindow& run) {
  return SplitAnyLaneTime(summed.row, {summed.row.start_ns, summed.stop_ns}, helpers, run);
}

void HeldCores::Add(const TaskCores& task, const RunWindow& window) {
  const int64_t start_ns = window.Clip(task.start_ns);
  const int64_t stop_ns = window.Clip(task.stop_ns);
  if (start_ns >= stop_ns) return;
  steps_.emplace_back(start_ns, task.cores);
  steps_.emplace_back(stop_ns, -task.cores);
}

void HeldCores::AddBoundaries(Changes& changes) {
  std::sort(steps_.begin(), steps_.end());
  for (const auto& [time_ns, cores] : steps_) changes.others.push_back({time_ns});
}

int64_t HeldCores::At(int64_t time_ns) {
  for (; at_ < steps_.size() && steps_[at_].first <= time_ns; ++at_) cores_ += steps_[at_].second;
  return cores_ * kOneLane;
}

std::vector<LaneSegment> FillFreeLanes(Changes changes, const RunWindow& window, LaneTimeSum lane_time) {
  std::vector<LaneSegment> segments;
  if (window.start_ns >= window.stop_ns || lane_time <= 0) return segments;
  changes.others.push_back({window.start_ns});
  changes.others.push_back({window.stop_ns});
  LaneTimeSum free_time = 0;
  Sweep(changes, [&](int64_t from_ns, int64_t to_ns, int64_t lanes, int64_t cores) {
    if (from_ns < window.start_ns || to_ns > window.stop_ns) return;
    const int64_t free = std::max<int64_t>(0, cores - lanes);
    segments.push_back({from_ns, to_ns, free, free});
    free_time += LaneTimeSum{free} * (to_ns - from_ns);
  });
  const LaneTimeSum beyond = std::max(LaneTimeSum{0}, lane_time - free_time);
  const auto on_top = static_cast<int64_t>(beyond / (window.stop_ns - window.start_ns));
  int shift = 0;  // so that 128 bits hold the products
  while ((free_time >> shift) >= LaneTimeSum{1} << 70) ++shift;
  for (LaneSegment& segment : segments) {
    if (beyond == 0) segment.lanes = static_cast<int64_t>(segment.lanes * (lane_time >> shift) / (free_time >> shift));
    segment.lanes += on_top;
  }
  return segments;
}

}  // namespace crema
