#include "sdk/benchmarks/allocation_count.h"

#include <cstddef>

namespace {

__thread std::int64_t t_allocations = 0;

}  // namespace

// glibc's own functions below the names that programs may replace ("Replacing malloc" in glibc's manual).
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are glibc's
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);

void* malloc(std::size_t bytes) {
  ++t_allocations;
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
  ++t_allocations;
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, std::size_t bytes) {
  ++t_allocations;
  return __libc_realloc(memory, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++t_allocations;
  return __libc_memalign(alignment, bytes);
}

void free(void* memory) { __libc_free(memory); }

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace crema_benchmarks {

std::int64_t Allocations() { return t_allocations; }

}  // namespace crema_benchmarks
