// PerfCounters: one thread's performance counters, opened at the first use.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

#include "crema/track_perf_counters.h"
#include "process/own_descriptor.h"

namespace crema {
namespace internal {

/// The number of the event, unique in the kernel (perf_event_open(2), PERF_EVENT_IOC_ID). Inodes do not
/// distinguish events: an eventfd(2) of the program has the same. nullopt, with errno set, if `fd` is no event.
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
  bool IsOurs(int counter) const noexcept;

  static constexpr int kNotOpen = -1;
  static constexpr int kRefused = -2;
  int descriptors_[kCounters] = {kNotOpen, kNotOpen, kNotOpen, kNotOpen, kNotOpen, kNotOpen};
  std::uint64_t ids_[kCounters] = {};  ///< the kernel's, of each open one
  int refusal_ = 0;
  int refused_counter_ = -1;
};

}  // namespace internal
}  // namespace crema
