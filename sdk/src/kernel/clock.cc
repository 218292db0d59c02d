#include "kernel/clock.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstring>

#include "crema/internal/platform.h"
#include "kernel/proc_file.h"

namespace crema::internal {
namespace {

constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kMillisecond = 1000000;
/// An interval must be this long before two clock reads (some 50 ns apart) give its rate to better than 1e-4.
constexpr std::int64_t kShortestRateInterval = 1000000;
/// Largest disagreement of counter and clock over one interval: NTP slews at 500 ppm at most (adjtimex(2)).
constexpr std::int64_t kToleratedPartsPerMillion = 1000;
constexpr std::int64_t kToleratedNanoseconds = 2000;

/// `clock` - MONOTONIC, from the tightest of three pairs of reads.
std::int64_t AheadOfMonotonic(clockid_t clock) {
  std::int64_t offset = 0;
  std::int64_t tightest = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t before = MonotonicNanoseconds();
    const std::int64_t other = ClockNanoseconds(clock);
    if (const std::int64_t after = MonotonicNanoseconds(); after - before < tightest) {
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

struct Counter {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr Counter kCounterTable[PerfCounters::kCounters] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

}  // namespace

TickRate::TickRate(std::uint64_t ticks, std::int64_t nanoseconds) noexcept {
  if (ticks == 0 || nanoseconds <= 0) return;
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

std::int64_t ProcessStartUnixNanoseconds(const Clock& clock, std::int64_t otherwise) noexcept {
  constexpr int kStartTime = 22;
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  const std::int64_t ticks = FieldOfStat(kStartTime).value_or(0);
  if (ticks <= 0 || ticks_per_second <= 0) return otherwise;
  // The machine's start in whole milliseconds: two recorders of one process, who read the clocks at different moments,
  // have to come to the same number.
  const std::int64_t boot = clock.UnixNanoseconds(-AheadOfMonotonic(CLOCK_BOOTTIME)) / kMillisecond * kMillisecond;
  const std::int64_t start = boot + ticks * (kSecond / ticks_per_second);
  return start > clock.UnixNanoseconds(MonotonicNanoseconds()) ? otherwise : start;
}

std::optional<std::uint64_t> PerfEventId(int fd) noexcept {
  std::uint64_t id = 0;
  if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) return std::nullopt;
  return id;
}

int OpenPerfEvent(perf_event_attr* attributes) noexcept {
  return MoveUp(static_cast<int>(syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)),
                [](int fd) { return PerfEventId(fd).has_value(); });
}

const char* PerfCounters::Name(int counter) noexcept { return kCounterTable[counter].name; }

void PerfCounters::Open(DescriptorBudget* budget) noexcept {
  for (int counter = 0; counter < kCounters; ++counter) {
    if (descriptors_[counter] == kNotOpen && MayOpen()) OpenOne(counter, budget);
  }
}

void PerfCounters::OpenOne(int counter, DescriptorBudget* budget) noexcept {
  descriptors_[counter] = kRefused;
  int error = EMFILE;
  if (budget->Take()) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = kCounterTable[counter].type;
    attributes.config = kCounterTable[counter].config;
    // Context switches happen in the kernel: excluding it would count none.
    attributes.exclude_kernel = attributes.type == PERF_TYPE_HARDWARE ? 1 : 0;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    int fd = OpenPerfEvent(&attributes);
    if (fd < 0 && attributes.exclude_kernel == 0 && (errno == EACCES || errno == EPERM)) {
      attributes.exclude_kernel = 1;  // perf_event_paranoid 2: what happens in user space is still allowed
      fd = OpenPerfEvent(&attributes);
    }
    if (const auto id = fd >= 0 ? PerfEventId(fd) : std::nullopt; id.has_value()) {
      descriptors_[counter] = fd;
      ids_[counter] = *id;
      return;
    }
    error = errno;  // where the number was the program's by then, nothing of ours is open
    budget->GiveBack();
  }
  if (refusal_ == 0) {
    refusal_ = error;
    refused_counter_ = counter;
  }
}

bool PerfCounters::Read(int counter, DescriptorBudget* budget, TrackPerfCounters::Reading* reading) noexcept {
  if (descriptors_[counter] < 0) return false;
  if (!IsOurs(counter)) {  // the program closed it: not ours to read from, nor to close
    NoteLostDescriptor();
    descriptors_[counter] = kNotOpen;
    budget->GiveBack();
    return false;
  }
  std::uint64_t values[3] = {};
  if (read(descriptors_[counter], values, sizeof values) != static_cast<ssize_t>(sizeof values)) return false;
  *reading = {values[0], values[1], values[2], ids_[counter]};
  return true;
}

void PerfCounters::Close(DescriptorBudget* budget) noexcept {
  for (int counter = 0; counter < kCounters; ++counter) {
    if (descriptors_[counter] >= 0) {
      if (IsOurs(counter)) close(descriptors_[counter]);
      budget->GiveBack();
    }
    descriptors_[counter] = kNotOpen;
  }
  refusal_ = 0;
}

}  // namespace crema::internal
