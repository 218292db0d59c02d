#include "collector/sources/process_tree/anchored_clock.h"

#include <unistd.h>

namespace crema {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace

int64_t TickNs() { return kSecondNs / sysconf(_SC_CLK_TCK); }

int64_t ReadClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

AnchoredClock::AnchoredClock()
    : anchor_ns_(ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_MONOTONIC)),
      boot_ns_(ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_BOOTTIME)) {}

int64_t AnchoredClock::UnixNs() const { return anchor_ns_ + ReadClockNs(CLOCK_MONOTONIC); }

}  // namespace crema
