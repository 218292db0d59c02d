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

}  // namespace crema::gpu
