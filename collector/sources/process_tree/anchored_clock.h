// Unix time that no step of the clock disturbs.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_ANCHORED_CLOCK_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_ANCHORED_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace crema {

/// The clock's time in nanoseconds (clock_gettime(2)).
int64_t ReadClockNs(clockid_t clock);

/// Nanoseconds of one of the ticks in which /proc counts (sysconf(3), _SC_CLK_TCK).
int64_t TickNs();

/// Unix time from one anchor, so that a step of the clock is not felt: REALTIME - MONOTONIC is read once.
class AnchoredClock {
 public:
  AnchoredClock();
  int64_t UnixNs() const;
  /// Unix time of the machine's boot, from which the kernel counts the starts of processes.
  int64_t boot_ns() const { return boot_ns_; }

 private:
  int64_t anchor_ns_;
  int64_t boot_ns_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_ANCHORED_CLOCK_H_
