// Counts the heap allocations of a thread: replaces malloc(3) and its relatives in this program.
#pragma once

#include <cstdint>

namespace crema_benchmarks {

/// Calls of malloc, calloc, realloc and aligned_alloc by this thread so far; `operator new` ends in one of them.
std::int64_t Allocations();

}  // namespace crema_benchmarks
