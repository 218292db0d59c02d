// The sites that blocks belong to, and their counters.
#pragma once

#include "process/allocation_counter.h"

namespace crema::allocations {

/// Named sites and roots together; a section beyond them counts for the one around it.
inline constexpr std::uint32_t kMostSites = 4096;

/// See `AllocationCounter`.
std::uint32_t FindSite(std::uint32_t parent, const char* name, std::uint32_t name_length) noexcept;
std::uint32_t SiteCount() noexcept;
const internal::AllocationSite* Site(std::uint32_t index) noexcept;

/// One more block of `bytes` is there.
void CountAllocation(std::uint32_t site, std::size_t bytes) noexcept;
/// A block came back after all: it was freed by a call that failed.
void CountKept(std::uint32_t site, std::size_t bytes) noexcept;
void CountFree(std::uint32_t site, std::size_t bytes) noexcept;
/// See `AllocationCounter::mark`.
void MarkLiveBytes() noexcept;
/// Sets all counters to 0; names stay. No other thread may be there.
void ForgetCounts() noexcept;

}  // namespace crema::allocations
