// TrackSection: wall time of a part of the work, by name.
#ifndef CREMA_TRACK_SECTION_H_
#define CREMA_TRACK_SECTION_H_

#include <cstdint>
#include <string_view>

#include "crema/internal/section_node.h"

namespace crema {

/// Asks a section for its CPU time as well: two system calls (about 1 us) more per occurrence.
enum SectionClock : std::uint8_t { kWallTime, kCpuTime };

/// Measures from here to the end of the scope: count, total, self, least and longest time. Nested sections form paths
/// (`select/jets`); equal names at the same place are one section. Inside a chunk it goes into the chunk's record,
/// elsewhere into the process's. A guard belongs to the thread that made it. Never throws.
///
///     crema::TrackSection section("cluster");
///
/// Costs about two reads of the processor's counter when recording is on, a load and a branch when it is off.
class TrackSection {
 public:
#ifdef CREMA_COMPILED_OUT
  explicit TrackSection(std::string_view, SectionClock = kWallTime) noexcept {}
  explicit TrackSection(const char*, SectionClock = kWallTime) noexcept {}
  ~TrackSection() {}  // not defaulted: an unused guard must not be a warning
#else
  /// `name` is copied when it is new: 256 bytes at most, cut on a code point.
  CREMA_ALWAYS_INLINE explicit TrackSection(std::string_view name, SectionClock clock = kWallTime) noexcept {
    if (!internal::Recording()) return;
    measures_cpu_ = clock == kCpuTime;
    section_ = measures_cpu_ ? internal::EnterSectionWithCpu(name) : internal::EnterSection(name);
  }
  /// As above. A buffer binds like a literal: what counts is its text up to the first NUL.
  CREMA_ALWAYS_INLINE explicit TrackSection(const char* name, SectionClock clock = kWallTime) noexcept
      : TrackSection(name == nullptr ? std::string_view() : std::string_view(name, __builtin_strlen(name)), clock) {}

  CREMA_ALWAYS_INLINE ~TrackSection() {
    if (section_.node == nullptr) return;
    if (measures_cpu_) {
      internal::ExitSectionWithCpu(section_);
    } else {
      internal::ExitSection(section_);
    }
  }
#endif
  TrackSection(const TrackSection&) = delete;
  TrackSection& operator=(const TrackSection&) = delete;

#ifndef CREMA_COMPILED_OUT
 private:
  internal::OpenSection section_;
  bool measures_cpu_ = false;
#endif
};

}  // namespace crema

#endif  // CREMA_TRACK_SECTION_H_
