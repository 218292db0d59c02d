// What cores did that no lane took: idle time by its place in the run, and what is known to have filled it.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_FREE_TIME_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_FREE_TIME_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "collector/metrics/budget/lane_sweep.h"
#include "collector/metrics/budget/process_cpu.h"
#include "collector/metrics/run_window.h"

namespace crema {

/// Lane nanoseconds x `kOneLane`.
struct FreeTime {
  LaneTimeSum startup = 0;
  LaneTimeSum idle = 0;
  LaneTimeSum tail = 0;
  LaneTimeSum shutdown = 0;

  static constexpr LaneTimeSum FreeTime::*kParts[] = {&FreeTime::startup, &FreeTime::idle, &FreeTime::tail,
                                                      &FreeTime::shutdown};
  LaneTimeSum sum() const { return startup + idle + tail + shutdown; }
  FreeTime& operator+=(const FreeTime& other) {
    for (const auto part : kParts) this->*part += other.*part;
    return *this;
  }
};

/// Lane nanoseconds x `kOneLane`; all but `oversubscribed` add up to what no lane took.
struct FreeParts {
  FreeTime free;
  FreeTime process_cpu;      ///< by the free time that it took
  LaneTimeSum cpu_wait = 0;  ///< threads outside chunks were ready to run
  LaneTimeSum joined = 0;
  LaneTimeSum framework = 0;
  LaneTimeSum oversubscribed = 0;
  bool process_cpu_known = false;

  FreeParts& operator+=(const FreeParts& other);
  /// Attempts of which it is not known when they occupied a lane (helpers, suspension, other chunks inside) are spread
  /// evenly: up to `spread` of what is beyond the cores was in time that seems free, in `idle` first. Returns what that
  /// gave.
  LaneTimeSum FillWithSpread(LaneTimeSum spread);
  /// Cores were free while owners waited for their helpers, which had others: so much of `idle`, then of `tail`.
  void MoveToJoined(LaneTimeSum joined_ns);
  /// Execution outside tasks has no time stamps: it took place in idle time, as far as that goes, and some of it was
  /// CPU.
  void MoveToFramework(int64_t outside_tasks_ns);
};

/// The free time of one worker, in each stretch of CPU or run delay outside its chunks and between them.
class FreeByStretch {
 public:
  FreeByStretch(std::vector<OutsideCpu> cpu, std::vector<OutsideCpu> wait, const RunWindow& life);

  /// So that no step of the sweep is in two stretches.
  void AddBoundaries(Changes& changes) const;
  /// Where free time from this moment on is added. Moments come in order.
  FreeTime& At(int64_t time_ns);
  /// All free time: the CPU of each stretch takes the same share of all that was free in it, at most all; so does the
  /// run delay of what that leaves.
  FreeParts Split();

 private:
  /// What the stretches took, by the free time that it was.
  FreeTime Take(const std::vector<OutsideCpu>& stretches);

  std::vector<OutsideCpu> cpu_;  // by time
  std::vector<OutsideCpu> wait_;
  RunWindow life_;
  std::vector<int64_t> boundaries_ns_;  // where a stretch begins or ends
  std::vector<FreeTime> free_;          // before the first of them, between two, and after the last
  size_t at_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_FREE_TIME_H_
