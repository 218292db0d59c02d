// TrackPageFaults: memory touched for the first time, and memory that had to come from a disk.
#ifndef CREMA_TRACK_PAGE_FAULTS_H_
#define CREMA_TRACK_PAGE_FAULTS_H_

#include <cstdint>
#include <string_view>

#include "crema/instrumentation_context.h"

namespace crema {

/// A section that records, as metrics of the chunk, this thread's page faults (getrusage(2), RUSAGE_THREAD):
/// `<name>.minor_faults` and `<name>.major_faults`, unit `count`. Under 1 us.
class TrackPageFaults : public BaseInstrumentationContext {
 public:
  /// `name` must live as long as the guard.
  explicit TrackPageFaults(std::string_view name) noexcept;
  ~TrackPageFaults();

 private:
  [[maybe_unused]] std::string_view name_;
  [[maybe_unused]] std::int64_t minor_ = -1;
  [[maybe_unused]] std::int64_t major_ = -1;
};

#ifdef CREMA_COMPILED_OUT
inline TrackPageFaults::TrackPageFaults(std::string_view name) noexcept : BaseInstrumentationContext(name) {}
inline TrackPageFaults::~TrackPageFaults() {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_PAGE_FAULTS_H_
