// The lanes that are occupied over time, and the cores that there are: as steps, and as one sweep over them.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_LANE_SWEEP_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_LANE_SWEEP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "collector/metrics/budget/lane_time.h"

namespace crema {

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
/// and takes far less room than if they stood in one list.
struct Changes {
  std::vector<int64_t> begins_ns;  ///< one lane more
  std::vector<int64_t> stops_ns;   ///< one lane less
  std::vector<Change> others;
};

inline int64_t TimeOf(int64_t time_ns) { return time_ns; }
inline int64_t TimeOf(const Change& change) { return change.time_ns; }

template <class T>
void SortByTime(std::vector<T>& changes) {
  const auto earlier = [](const T& a, const T& b) { return TimeOf(a) < TimeOf(b); };
  if (!std::is_sorted(changes.begin(), changes.end(), earlier)) std::sort(changes.begin(), changes.end(), earlier);
}

/// Calls `visit(from_ns, to_ns, lanes, cores)` for each stretch of time without a change.
template <class Visit>
void Sweep(Changes& changes, Visit visit) {
  SortByTime(changes.begins_ns);
  SortByTime(changes.stops_ns);
  SortByTime(changes.others);
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
    for (; begin < changes.begins_ns.size() && changes.begins_ns[begin] == now_ns; ++begin) {
      lanes += kOneLane;
    }
    for (; stop < changes.stops_ns.size() && changes.stops_ns[stop] == now_ns; ++stop) {
      lanes -= kOneLane;
    }
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_LANE_SWEEP_H_
