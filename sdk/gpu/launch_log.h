// Where each thread was when it called CUDA. CUPTI asks for the time at the begin and at the end of each call, on the
// thread that calls. That is when the thread's place is noted; the record of the call, which comes later, is found by
// its times.
#ifndef CREMA_GPU_LAUNCH_LOG_H_
#define CREMA_GPU_LAUNCH_LOG_H_

#include <cstdint>

#include "gpu_counter.h"

namespace crema {
namespace gpu {

/// A pause between two readings of the clock that is worth a note: the thread may have waited for the device.
inline constexpr std::uint64_t kPauseNanoseconds = 20000;

struct LaunchNote {
  std::uint64_t time_ns = 0;
  internal::GpuPlace place;
  std::uint64_t pause_ns = 0;      ///< since the reading before, if that is `kPauseNanoseconds` or more
  std::uint64_t pause_cpu_ns = 0;  ///< the thread's CPU time in it
};

/// Who says where a thread is. False if another one says it already.
bool SetPlaceOfThread(internal::GpuPlace (*place_of_thread)()) noexcept;
/// CLOCK_MONOTONIC, in ns, for CUPTI. Notes the calling thread's place.
std::uint64_t NoteAndReadClock() noexcept;
/// Readings of the clock by all threads so far.
std::uint64_t ClockReadings() noexcept;
/// Finds the last note of the thread (gettid(2)) at this time or before. False if there is none, or not any more.
bool FindNote(std::uint32_t thread, std::uint64_t time_ns, LaunchNote* note) noexcept;

}  // namespace gpu
}  // namespace crema

#endif  // CREMA_GPU_LAUNCH_LOG_H_
