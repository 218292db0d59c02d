// Where each thread was when it called CUDA. CUPTI reads crema's clock at the begin and at the end of each call, on the
// thread that calls. The clock notes the thread's place. The record of the call comes later, and its times lead to the
// note.
#pragma once

#include "process/gpu_counter.h"

namespace crema::gpu {

/// Sets the function that returns the place of the calling thread. False if another one is set already.
bool SetPlaceOfThread(internal::GpuPlace (*place_of_thread)()) noexcept;
/// CLOCK_MONOTONIC, in ns, for CUPTI. Notes the calling thread's place.
std::uint64_t NoteAndReadClock() noexcept;
/// From now on that clock notes nothing, and is CUPTI's own: CLOCK_REALTIME. CUPTI does not forget a clock.
void StopNoting() noexcept;
/// Readings of the clock by all threads so far.
std::uint64_t ClockReadings() noexcept;
/// Finds where the thread (gettid(2)) was in a call, and for how long it was off the CPU meanwhile, in pauses of 10 us
/// and more. False if there is no note of that time, or not any more.
bool FindCall(std::uint32_t thread, std::uint64_t start_ns, std::uint64_t end_ns, internal::GpuPlace* place,
              std::uint64_t* blocked_ns) noexcept;

}  // namespace crema::gpu
