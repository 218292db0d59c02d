// The allocator that the program would have without this library: the C library's, jemalloc, tcmalloc.
#ifndef CREMA_ALLOCATIONS_NEXT_ALLOCATOR_H_
#define CREMA_ALLOCATIONS_NEXT_ALLOCATOR_H_

#include <cstddef>

namespace crema {
namespace allocations {

/// Its functions; null where it has none.
struct NextAllocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  std::size_t (*malloc_usable_size)(void*);
};

/// Null while another thread looks for it, or a handler has interrupted that: not after the library's constructor.
const NextAllocator* FindNextAllocator() noexcept;

}  // namespace allocations
}  // namespace crema

#endif  // CREMA_ALLOCATIONS_NEXT_ALLOCATOR_H_
