// Adds up the records that CUPTI delivers, by the places of the launching threads. The record of a kernel may come
// before that of the call that launched it, or after it.
#pragma once

#include "process/gpu_counter.h"

namespace crema::gpu {

/// Adds one record (cupti.h). Records of other kinds count nothing.
void AddRecord(const void* record) noexcept;
/// Records that CUPTI had no room for.
void AddLost(std::uint64_t records) noexcept;
/// No record comes any more: what waits for the record of its call gets no place.
void GiveUpWaiting() noexcept;
/// See `GpuState`.
void ReadTotals(std::int64_t* busy_ns, std::uint64_t* lost) noexcept;
/// See `GpuCounter::take`.
void TakeRows(bool (*row)(void* data, const internal::GpuRow& row),
              bool (*kernel)(void* data, const internal::GpuKernelRow& row), void* data) noexcept;

// LaunchLog: where each thread was when it called CUDA. CUPTI reads crema's clock at the begin and at the end of each
// call, on the thread that calls. The clock notes the thread's place. The record of the call comes later, and its times
// lead to the note.

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
