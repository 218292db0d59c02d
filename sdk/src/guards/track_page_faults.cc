#include "crema/track_page_faults.h"

#include <sys/resource.h>

#include "chunk/thread_state.h"
#include "guards/dotted_metric.h"

namespace crema {

TrackPageFaults::TrackPageFaults(std::string_view name) noexcept : BaseInstrumentationContext(name), name_(name) {
  if (!recording()) return;
  const internal::ErrnoAndCancelGuard guard;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    minor_ = usage.ru_minflt;
    major_ = usage.ru_majflt;
  }
}

TrackPageFaults::~TrackPageFaults() {
  if (!recording()) return;
  const internal::ErrnoAndCancelGuard guard;
  rusage usage{};
  if (minor_ < 0 || getrusage(RUSAGE_THREAD, &usage) != 0) return;
  EndSection();
  internal::RecordDotted(name_, "minor_faults", static_cast<double>(usage.ru_minflt - minor_), "count");
  internal::RecordDotted(name_, "major_faults", static_cast<double>(usage.ru_majflt - major_), "count");
}

}  // namespace crema
