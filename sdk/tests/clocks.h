// The kernel's clocks and loads that are measured by them, so that tests wait for time itself.
#pragma once

#include <time.h>

#include <cstdint>

namespace crema {
namespace testing {

inline std::int64_t ClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}
inline std::int64_t WallNs() { return ClockNs(CLOCK_MONOTONIC); }
inline std::int64_t ThreadCpuNs() { return ClockNs(CLOCK_THREAD_CPUTIME_ID); }
inline std::int64_t UnixNs() { return ClockNs(CLOCK_REALTIME); }

/// Computes until so much wall time is over.
inline void SpinWall(std::int64_t ns) {
  const std::int64_t until = WallNs() + ns;
  while (WallNs() < until) {
  }
}

/// Computes until this thread used so much CPU time.
inline void SpinCpu(std::int64_t ns) {
  const std::int64_t until = ThreadCpuNs() + ns;
  while (ThreadCpuNs() < until) {
  }
}

inline void Sleep(std::int64_t ns) {
  timespec left{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
  while (nanosleep(&left, &left) != 0) {
  }
}

/// How far a duration by the time-stamp counter may be from one by CLOCK_MONOTONIC: both are read one after the other
/// (up to 2 us on a virtual machine), and NTP slews the clock, not the counter, by up to 500 ppm (adjtimex(2)).
inline std::int64_t CounterToleranceNs(std::int64_t duration_ns) { return 2000 + duration_ns / 1000; }

}  // namespace testing
}  // namespace crema
