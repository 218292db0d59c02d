// The process's clock, with one anchor to Unix time and the rate of the tick counter. PerfCounters of a thread.
#pragma once

#include <linux/perf_event.h>

#include "crema/track_perf_counters.h"
#include "process/own_descriptor.h"

namespace crema::internal {

/// Converts ticks to ns by one multiplication, rounding down: so parts never add up to more than their whole.
class TickRate {
 public:
  /// 1 tick = 1 ns.
  TickRate() = default;
  TickRate(std::uint64_t ticks, std::int64_t nanoseconds) noexcept;

  std::int64_t Nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<Wide>(ticks) * multiplier_ >> kShift);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr int kShift = 32;
  std::uint64_t multiplier_ = std::uint64_t{1} << kShift;
};

/// A moment on both clocks.
struct Instant {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
};

/// Read once per process. CLOCK_MONOTONIC rules; the tick counter, where the kernel itself trusts it, only measures
/// inside a chunk, at a rate taken from both clocks since the anchor. Unix time = monotonic + offset at the anchor, so
/// that a step of the wall clock is seen (`RealtimeStep`) and not felt.
class Clock {
 public:
  void Start() noexcept;

  bool counter_is_clock() const noexcept { return counter_is_clock_; }
  Instant Now() const noexcept;
  std::int64_t UnixNanoseconds(std::int64_t monotonic_ns) const noexcept { return monotonic_ns + realtime_offset_ns_; }
  /// Whether the ticks were read before this clock was started.
  bool IsBeforeStart(std::uint64_t ticks) const noexcept { return ticks < anchor_.ticks; }
  /// By how much REALTIME - MONOTONIC has changed since the anchor; 0: the wall clock was not stepped.
  std::int64_t RealtimeStep() const noexcept;
  /// The counter's rate, for what lay between the two moments. It is the rate since the anchor, unless that disagrees
  /// with CLOCK_MONOTONIC over the interval (a suspended machine, a counter that jumped): then the interval's own.
  TickRate Rate(const Instant& start, const Instant& stop) const noexcept;
  /// The counter's rate since the anchor.
  TickRate Rate() const noexcept { return Rate(anchor_, Now()); }

 private:
  bool counter_is_clock_ = false;
  Instant anchor_;
  std::int64_t realtime_offset_ns_ = 0;
};

/// When this process began, in Unix ns (`/proc/self/stat` field 22, 10 ms fine); `otherwise` where /proc does not say.
std::int64_t ProcessStartUnixNanoseconds(const Clock& clock, std::int64_t otherwise) noexcept;

// PerfCounters: one thread's performance counters, opened at the first use.

/// The number of the event, unique in the kernel (perf_event_open(2), PERF_EVENT_IOC_ID). Inodes do not
/// distinguish events: an eventfd(2) of the program has the same. nullopt, with errno set, if `fd` is not an event.
std::optional<std::uint64_t> PerfEventId(int fd) noexcept;
/// For the calling thread; -1 with errno set.
int OpenPerfEvent(perf_event_attr* attributes) noexcept;

class PerfCounters {
 public:
  static constexpr int kCounters = TrackPerfCounters::kCounters;

  /// Opens what is not open. Before the first reading of a pair.
  void Open(DescriptorBudget* budget) noexcept;
  /// False where this counter is refused, of which `refusal` says why, or the program closed it.
  bool Read(int counter, DescriptorBudget* budget, TrackPerfCounters::Reading* reading) noexcept;
  /// Name of the metric.
  static const char* Name(int counter) noexcept;
  /// errno of the first refusal of this thread, and which counter it was; 0: none.
  int refusal() const noexcept { return refusal_; }
  int refused_counter() const noexcept { return refused_counter_; }
  void Close(DescriptorBudget* budget) noexcept;

 private:
  void OpenOne(int counter, DescriptorBudget* budget) noexcept;
  bool IsOurs(int counter) const noexcept {
    return descriptors_[counter] >= 0 && PerfEventId(descriptors_[counter]) == ids_[counter];
  }

  static constexpr int kNotOpen = -1;
  static constexpr int kRefused = -2;
  int descriptors_[kCounters] = {kNotOpen, kNotOpen, kNotOpen, kNotOpen, kNotOpen, kNotOpen};
  std::uint64_t ids_[kCounters] = {};  ///< the kernel's, of each open one
  int refusal_ = 0;
  int refused_counter_ = -1;
};

}  // namespace crema::internal
