// PerfCounters: one thread's performance counters, opened at the first use.
#ifndef CREMA_SRC_PERF_COUNTERS_H_
#define CREMA_SRC_PERF_COUNTERS_H_

#include "crema/track_perf_counters.h"
#include "kernel_readings.h"

namespace crema {
namespace internal {

class PerfCounters {
 public:
  static constexpr int kCounters = TrackPerfCounters::kCounters;

  /// False where this counter is refused; `Refusal` says why.
  bool Read(int counter, DescriptorBudget* budget, TrackPerfCounters::Reading* reading) noexcept;
  /// Name of the metric.
  static const char* Name(int counter) noexcept;
  /// errno of the first refusal of this thread, and which counter it was; 0: none.
  int refusal() const noexcept { return refusal_; }
  int refused_counter() const noexcept { return refused_counter_; }
  void Close(DescriptorBudget* budget) noexcept;

 private:
  void Open(int counter, DescriptorBudget* budget) noexcept;

  static constexpr int kNotTried = -1;
  static constexpr int kRefused = -2;
  int descriptors_[kCounters] = {kNotTried, kNotTried, kNotTried, kNotTried, kNotTried, kNotTried};
  int refusal_ = 0;
  int refused_counter_ = -1;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PERF_COUNTERS_H_
