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

/// Null while the dynamic linker is being asked for it, by the calling thread: this allocates.
const NextAllocator* FindNextAllocator() noexcept;

/// Memory for that time. It is never given back.
void* AllocateEarly(std::size_t bytes) noexcept;
bool IsEarly(const void* block) noexcept;
/// How many bytes from `block` on are early memory.
std::size_t EarlyBytesFrom(const void* block) noexcept;

/// What the symbol was before this library; null where it was nothing.
void* NextSymbol(const char* name) noexcept;
/// Whether both functions are of one object.
bool AreOfOneObject(const void* one, const void* other) noexcept;

}  // namespace allocations
}  // namespace crema

#endif  // CREMA_ALLOCATIONS_NEXT_ALLOCATOR_H_
