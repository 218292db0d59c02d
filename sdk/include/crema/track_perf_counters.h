// TrackPerfCounters: what the processor counted over a part of the work.
#ifndef CREMA_TRACK_PERF_COUNTERS_H_
#define CREMA_TRACK_PERF_COUNTERS_H_

#include <cstdint>
#include <string_view>

#include "crema/instrumentation_context.h"

namespace crema {

/// A section that records, as metrics of the chunk, this thread's counters (perf_event_open(2), user space only):
/// `<name>.cycles`, `<name>.instructions`, `<name>.cache_misses`, `<name>.branch_misses` from the processor, and
/// `<name>.context_switches`, `<name>.cpu_migrations` from the kernel, unit `count`. A counter that is shared with
/// other users is scaled by the time it ran. Where the kernel refuses some, the chunk's attribute `perf_counters` says
/// which and why. Holds the thread's descriptors until it ends; four system calls per counter and use.
class TrackPerfCounters : public BaseInstrumentationContext {
 public:
  /// `name` must live as long as the guard.
  explicit TrackPerfCounters(std::string_view name) noexcept;
  ~TrackPerfCounters();

  static constexpr int kCounters = 6;
  /// One reading: the count, and for how long the counter was asked for and really ran.
  struct Reading {
    std::uint64_t value = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;
    std::uint64_t event = 0;  ///< the kernel's number of the counter
  };

 private:
  [[maybe_unused]] std::string_view name_;
  [[maybe_unused]] Reading start_[kCounters];
  [[maybe_unused]] bool valid_[kCounters] = {};
};

#ifdef CREMA_COMPILED_OUT
inline TrackPerfCounters::TrackPerfCounters(std::string_view name) noexcept : BaseInstrumentationContext(name) {}
inline TrackPerfCounters::~TrackPerfCounters() {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_PERF_COUNTERS_H_
