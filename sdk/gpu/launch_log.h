// Where each thread was when it called CUDA. CUPTI asks for the time at the begin and at the end of each call, on the
// thread that calls. That is when the thread's place is noted; the record of the call, which comes later, is found by
// its times.
#ifndef CREMA_GPU_LAUNCH_LOG_H_
#define CREMA_GPU_LAUNCH_LOG_H_

#include <cstdint>

#include "process/gpu_counter.h"

namespace crema {
namespace gpu {

/// Who says where a thread is. False if another one says it already.
bool SetPlaceOfThread(internal::GpuPlace (*place_of_thread)()) noexcept;
/// CLOCK_MONOTONIC, in ns, for CUPTI. Notes the calling thread's place.
std::uint64_t NoteAndReadClock() noexcept;
/// Readings of the clock by all threads so far.
std::uint64_t ClockReadings() noexcept;
/// Where the thread (gettid(2)) was in a call, and for how long it was off the CPU meanwhile, in pauses of
/// 10 us and more. False if it has no note of that time, or not any more.
bool FindCall(std::uint32_t thread, std::uint64_t start_ns, std::uint64_t end_ns, internal::GpuPlace* place,
              std::uint64_t* blocked_ns) noexcept;

}  // namespace gpu
}  // namespace crema

#endif  // CREMA_GPU_LAUNCH_LOG_H_
