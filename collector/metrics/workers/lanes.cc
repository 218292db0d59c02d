#include "collector/metrics/workers/lanes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "absl/types/span.h"
#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/memory/grouped_lists.h"
#include "collector/metrics/memory/large_pages.h"

namespace crema {
namespace {

struct Begin {
  int64_t start_ns = 0;
  size_t attempt = 0;
};

/// The ended attempts of each process by start; ties in an order that is of the attempts themselves.
GroupedLists<Begin> EndedByProcess(const AttemptRows& attempts) {
  GroupedLists<Begin> by_process(attempts.CountByProcess());
  size_t i = 0;
  for (const AttemptRow& attempt : attempts) {
    if (HasEnded(attempt)) by_process.Add(attempt.process, {attempt.start_ns, i});
    ++i;
  }
  const auto earlier = [&](const Begin& a, const Begin& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    const AttemptRow& left = attempts[a.attempt];
    const AttemptRow& right = attempts[b.attempt];
    return left.duration_ns != right.duration_ns ? left.duration_ns < right.duration_ns : left.number < right.number;
  };
  for (size_t process = 0; process < by_process.groups(); ++process) {
    const absl::Span<Begin> begins = by_process.Of(process);
    if (!std::is_sorted(begins.begin(), begins.end(), earlier)) std::sort(begins.begin(), begins.end(), earlier);
  }
  return by_process;
}

}  // namespace

std::vector<uint32_t> AssignLanes(const AttemptRows& attempts) {
  using Busy = std::pair<int64_t, uint32_t>;  // until when, lane
  std::vector<uint32_t> lanes;
  ReserveLargePages(lanes, attempts.size());
  lanes.assign(attempts.size(), AttemptRow::kNone);
  const GroupedLists<Begin> by_process = EndedByProcess(attempts);
  for (size_t process = 0; process < by_process.groups(); ++process) {
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;
    uint32_t lane_count = 0;
    for (const Begin& begin : by_process.Of(process)) {
      while (!busy.empty() && busy.top().first <= begin.start_ns) {
        free.push(busy.top().second);
        busy.pop();
      }
      if (free.empty()) free.push(lane_count++);
      lanes[begin.attempt] = free.top();
      busy.emplace(attempts[begin.attempt].stop_ns(), free.top());
      free.pop();
    }
  }
  return lanes;
}

std::optional<double> LoadImbalance(const AttemptRows& attempts) {
  const std::vector<uint32_t> lanes = AssignLanes(attempts);
  std::vector<std::vector<int64_t>> busy;  // by process, by lane
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (lanes[i] == AttemptRow::kNone) continue;
    const AttemptRow& attempt = attempts[i];
    if (attempt.suspended_ns > 0) return std::nullopt;
    if (attempt.process >= busy.size()) busy.resize(attempt.process + size_t{1});
    std::vector<int64_t>& of_process = busy[attempt.process];
    if (lanes[i] >= of_process.size()) of_process.resize(lanes[i] + size_t{1});
    of_process[lanes[i]] += attempt.stop_ns() - attempt.start_ns;
  }
  int64_t total = 0;
  int64_t most = 0;
  int64_t count = 0;
  for (const std::vector<int64_t>& of_process : busy) {
    for (int64_t nanoseconds : of_process) {
      total += nanoseconds;
      most = std::max(most, nanoseconds);
      ++count;
    }
  }
  if (total <= 0) return std::nullopt;
  return static_cast<double>(most) * static_cast<double>(count) / static_cast<double>(total) - 1;
}

std::vector<int64_t> MaxOpenChunks(const AttemptRows& attempts, const std::vector<ProcessRow>& processes) {
  const std::vector<size_t> counts = attempts.CountByProcess(processes.size());
  GroupedLists<int64_t> begins(counts), stops(counts);
  std::vector<int64_t> most(processes.size(), 0);
  for (const AttemptRow& attempt : attempts) {
    most[attempt.process] = 1;  // an attempt of no length was open too
    const AttemptInterval interval = IntervalOf(attempt, processes);
    if (interval.start_ns == interval.stop_ns) continue;
    begins.Add(attempt.process, interval.start_ns);
    stops.Add(attempt.process, interval.stop_ns);
  }
  for (size_t process = 0; process < processes.size(); ++process) {
    const absl::Span<int64_t> begun_ns = begins.Of(process), stopped_ns = stops.Of(process);
    for (const absl::Span<int64_t> instants : {begun_ns, stopped_ns}) {
      if (!std::is_sorted(instants.begin(), instants.end())) std::sort(instants.begin(), instants.end());
    }
    size_t stopped = 0;
    for (size_t begun = 1; begun <= begun_ns.size(); ++begun) {
      while (stopped_ns[stopped] <= begun_ns[begun - 1]) ++stopped;
      most[process] = std::max(most[process], static_cast<int64_t>(begun - stopped));
    }
  }
  return most;
}

}  // namespace crema
