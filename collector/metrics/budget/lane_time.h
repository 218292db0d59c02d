// What lanes were doing: an attempt's share of each part of the budget, and all lanes and cores over time.
#pragma once

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/storage/row_memory.h"

namespace crema {

/// Lanes in binary fixed point, so that sums are exact and equal in any order. An attempt's helpers are a fraction of a
/// lane as a rule, since their scopes are spread evenly over the chunk.
constexpr int64_t kOneLane = int64_t{1} << 40;
/// A quota of a fraction of a core lets so much of a lane compute.
inline int64_t LanesOfCores(double cores) { return std::llround(cores * static_cast<double>(kOneLane)); }

/// Lane nanoseconds of one attempt inside the run. The parts add up to the lane time, exactly; an owner that waits for
/// its helpers holds no lane.
struct LaneTime {
  RunWindow inside;   ///< the part of the attempt's interval that is in the run
  int64_t lanes = 0;  ///< occupied all along it, in units of 1 / `kOneLane`
  int64_t compute_ns = 0;
  int64_t cpu_wait_ns = 0;  ///< 0 where not known: then it is in `blocked_ns`
  int64_t blocked_ns = 0;
  int64_t failed_ns = 0;
  int64_t failed_wait_ns = 0;  ///< of it, without CPU; 0 where not known
  int64_t unmeasured_ns = 0;   ///< of an attempt still open, or of a result whose CPU time is not known
  bool wait_known = true;      ///< false: a result's run delay (its owner's or its helpers') is not known
  int64_t joined_ns = 0;       ///< beside the parts: the owner waited for its helpers
  bool has_owner = true;       ///< false: an event that no thread holds, so that nobody waited in `joined_ns`
};

/// Whether a thread held the ended attempt: it computes at least what begins and ends it.
inline bool HasOwner(const AttemptRow& attempt, const std::optional<OwnerTime>& owner) {
  return attempt.cpu_ns != 0 || !owner.has_value() || owner->joined_ns != attempt.duration_ns;
}

/// As the next function, for any attempt.
LaneTime SplitAnyLaneTime(const AttemptRow& attempt, const RunWindow& interval, const std::vector<HelperTimes>& helpers,
                          const RunWindow& run);

/// `helpers` is the table that `attempt.helpers` points into. Figures that contradict each other
/// are clipped: CPU to the time there was, run delay to what CPU leaves, joined to what both leave.
inline LaneTime SplitLaneTime(const AttemptRow& attempt, const RunWindow& interval,
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

// The lanes that are occupied over time, and the cores that there are: as steps, and as one sweep over them.

__extension__ typedef __int128 LaneTimeSum;  ///< lane nanoseconds x `kOneLane`

inline double LaneSeconds(LaneTimeSum lane_nanoseconds) {
  return static_cast<double>(lane_nanoseconds) / static_cast<double>(kOneLane) / 1e9;
}

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// A step of a sum of lanes (occupied) or of cores (live); one of nothing only marks the time.
struct Change {
  int64_t time_ns = 0;
  int64_t lanes = 0;
  int64_t cores = 0;  ///< as lanes: in units of 1 / `kOneLane`
};

/// The steps of one sum, by kind: attempts begin and stop nearly in order, so each kind is nearly sorted as it comes,
/// and takes far less room than if they were in one list.
struct Changes {
  LargeList<int64_t> begins_ns;  ///< one lane more
  LargeList<int64_t> stops_ns;   ///< one lane less
  std::vector<Change> others;
};

/// Calls `visit(from_ns, to_ns, lanes, cores)` for each stretch of time without a change.
template <class Visit>
void Sweep(Changes& changes, Visit visit) {
  SortNearlySorted(changes.begins_ns, std::less<>());
  SortNearlySorted(changes.stops_ns, std::less<>());
  SortNearlySorted(changes.others, [](const Change& a, const Change& b) { return a.time_ns < b.time_ns; });
  size_t begin = 0;
  size_t stop = 0;
  size_t other = 0;
  const auto next_ns = [&] {
    int64_t next = kNever;
    if (begin < changes.begins_ns.size()) next = std::min(next, changes.begins_ns[begin]);
    if (stop < changes.stops_ns.size()) next = std::min(next, changes.stops_ns[stop]);
    if (other < changes.others.size()) next = std::min(next, changes.others[other].time_ns);
    return next;
  };
  int64_t lanes = 0;
  int64_t cores = 0;
  const auto has_next = [&] {
    return begin < changes.begins_ns.size() || stop < changes.stops_ns.size() || other < changes.others.size();
  };
  while (has_next()) {
    const int64_t now_ns = next_ns();
    for (; begin < changes.begins_ns.size() && changes.begins_ns[begin] == now_ns; ++begin) lanes += kOneLane;
    for (; stop < changes.stops_ns.size() && changes.stops_ns[stop] == now_ns; ++stop) lanes -= kOneLane;
    for (; other < changes.others.size() && changes.others[other].time_ns == now_ns; ++other) {
      lanes += changes.others[other].lanes;
      cores += changes.others[other].cores;
    }
    if (has_next()) visit(now_ns, next_ns(), lanes, cores);
  }
}

inline void AddLanes(int64_t from_ns, int64_t to_ns, int64_t lanes, Changes& changes) {
  if (from_ns >= to_ns) return;
  changes.begins_ns.push_back(from_ns);
  changes.stops_ns.push_back(to_ns);
  if (lanes == kOneLane) return;  // no helpers
  changes.others.push_back({from_ns, lanes - kOneLane, 0});
  changes.others.push_back({to_ns, kOneLane - lanes, 0});
}

inline void AddCores(int64_t from_ns, int64_t to_ns, double whole_or_part, Changes& changes) {
  if (from_ns >= to_ns) return;
  const int64_t cores = LanesOfCores(whole_or_part);
  changes.others.push_back({from_ns, 0, cores});
  changes.others.push_back({to_ns, 0, -cores});
}

/// The cores that an engine's tasks hold over time, where it gives a task more than one: those beyond their lanes are
/// free, and no other task can have them.
/// A task, and the cores of its worker that it was given.
struct TaskCores {
  uint32_t process = 0;
  int64_t start_ns = 0;  ///< Unix time
  int64_t stop_ns = 0;
  int64_t cores = 1;
};

/// The sum over tasks that are there at a time.
class HeldCores {
 public:
  void Add(const TaskCores& task, const RunWindow& window);
  /// To be called once, after the last `Add`: so that no step of the sweep has two sums.
  void AddBoundaries(Changes& changes);
  /// In lanes. Moments come in order.
  int64_t At(int64_t time_ns);

 private:
  std::vector<std::pair<int64_t, int64_t>> steps_;  // time, and cores more or fewer
  size_t at_ = 0;
  int64_t cores_ = 0;
};

/// Where summed attempts are put among a worker's lanes: when each of them was open is not known.
/// So many lanes, in units of 1 / `kOneLane`, are occupied from `start_ns` to `stop_ns`.
struct LaneSegment {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  int64_t lanes = 0;
  int64_t free = 0;  ///< that were free without them: so many may have been occupied at some moment
};

struct SummedLanes {
  RunWindow window;  ///< from the first begin to the last end
  std::vector<LaneSegment> segments;
  int64_t task_share = kOneLane;  ///< inside the window, what tasks occupied without their summed chunks
};

/// Puts `lane_time` into a worker's free lanes inside the window: the same share of them at each moment, so that they
/// are never more than there are. What finds no free lane is spread evenly on top of them. `changes`: its other lanes,
/// and its cores.
std::vector<LaneSegment> FillFreeLanes(Changes changes, const RunWindow& window, LaneTimeSum lane_time);

}  // namespace crema
