#include "kernel/clock.h"

#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "crema/internal/platform.h"
#include "crema/internal/section_node.h"
#include "kernel/proc_file.h"

namespace crema {
namespace internal {
namespace {

constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kMillisecond = 1000000;
/// An interval must be this long before two clock reads (some 50 ns apart) give its rate to better than 1e-4.
constexpr std::int64_t kShortestRateInterval = 1000000;
/// Largest disagreement of counter and clock over one interval: NTP slews at 500 ppm at most (adjtimex(2)).
constexpr std::int64_t kToleratedPartsPerMillion = 1000;
constexpr std::int64_t kToleratedNanoseconds = 2000;

std::int64_t Read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kSecond + now.tv_nsec;
}

/// `clock` - MONOTONIC, from the tightest of three pairs of reads.
std::int64_t AheadOfMonotonic(clockid_t clock) {
  std::int64_t offset = 0;
  std::int64_t tightest = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t before = Read(CLOCK_MONOTONIC);
    const std::int64_t other = Read(clock);
    const std::int64_t after = Read(CLOCK_MONOTONIC);
    if (after - before < tightest) {
      tightest = after - before;
      offset = other - (before + (after - before) / 2);
    }
  }
  return offset;
}

/// The kernel uses the counter as its own clock only if it is invariant and the same on all cores.
bool KernelTrustsCounter() {
#if defined(__x86_64__)
  char text[32];
  const long size =
      ReadWholeFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof text);
  return size >= 3 && std::memcmp(text, "tsc", 3) == 0;
#elif defined(__aarch64__)
  return true;  // the architecture's generic timer has a constant rate by definition
#else
  return false;
#endif
}

}  // namespace

TickRate::TickRate(std::uint64_t ticks, std::int64_t nanoseconds) noexcept {
  if (ticks == 0 || nanoseconds <= 0) return;
  __extension__ using Wide = unsigned __int128;
  multiplier_ = static_cast<std::uint64_t>((static_cast<Wide>(nanoseconds) << kShift) / ticks);
}

void Clock::Start() noexcept {
  counter_is_clock_ = KernelTrustsCounter();
  realtime_offset_ns_ = AheadOfMonotonic(CLOCK_REALTIME);
  anchor_ = Now();
}

Instant Clock::Now() const noexcept {
  Instant now;
  now.monotonic_ns = MonotonicNanoseconds();
  now.ticks = counter_is_clock_ ? CounterTicks() : static_cast<std::uint64_t>(now.monotonic_ns);
  return now;
}

std::int64_t Clock::RealtimeStep() const noexcept {
  const std::int64_t step = AheadOfMonotonic(CLOCK_REALTIME) - realtime_offset_ns_;
  return step > -1000 && step < 1000 ? 0 : step;  // two readings differ by some ns on their own
}

TickRate Clock::Rate(const Instant& start, const Instant& stop) const noexcept {
  if (!counter_is_clock_) return TickRate();
  const std::int64_t elapsed = stop.monotonic_ns - start.monotonic_ns;
  if (stop.monotonic_ns - anchor_.monotonic_ns >= kShortestRateInterval) {
    const TickRate rate(stop.ticks - anchor_.ticks, stop.monotonic_ns - anchor_.monotonic_ns);
    const std::int64_t difference = std::llabs(rate.Nanoseconds(stop.ticks - start.ticks) - elapsed);
    if (difference <= kToleratedNanoseconds + elapsed / 1000000 * kToleratedPartsPerMillion) return rate;
  }
  return TickRate(stop.ticks - start.ticks, elapsed);
}

TickRate Clock::Rate() const noexcept { return Rate(anchor_, Now()); }

std::int64_t ProcessStartUnixNanoseconds(const Clock& clock, std::int64_t otherwise) noexcept {
  char text[1024];
  const long size = ReadWholeFile("/proc/self/stat", text, sizeof text);
  if (size <= 0) return otherwise;
  // The name in brackets may hold blanks and brackets: count fields from the last one (proc(5)).
  std::string_view fields(text, static_cast<std::size_t>(size));
  const std::size_t bracket = fields.rfind(')');
  if (bracket == std::string_view::npos) return otherwise;
  fields.remove_prefix(bracket + 1);
  constexpr int kStartTimeAfterName = 20;  // field 22, of which two are before and in the brackets
  for (int i = 0; i < kStartTimeAfterName; ++i) {
    const std::size_t blank = fields.find(' ');
    if (blank == std::string_view::npos) return otherwise;
    fields.remove_prefix(blank + 1);
  }
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  const std::int64_t ticks = std::atoll(fields.data());
  if (ticks <= 0 || ticks_per_second <= 0) return otherwise;
  // The machine's start in whole milliseconds: two recorders of one process, who read the clocks at different moments,
  // have to come to the same number.
  const std::int64_t boot = clock.UnixNanoseconds(-AheadOfMonotonic(CLOCK_BOOTTIME)) / kMillisecond * kMillisecond;
  const std::int64_t start = boot + ticks * (kSecond / ticks_per_second);
  return start > clock.UnixNanoseconds(MonotonicNanoseconds()) ? otherwise : start;
}

}  // namespace internal
}  // namespace crema
