// Counts the blocks of the process, each for the site that the SDK names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crema::allocations {

/// The allocator that the program would have without this library: the C library's, jemalloc, tcmalloc. Its functions,
/// null where it has none.
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

/// The allocator has made `block`; nullptr: it has not.
void SawBlock(const NextAllocator& next, void* block) noexcept;

/// What is known of a block that ends.
struct EndedBlock {
  std::uint32_t site = 0;  ///< 0: nothing
  std::size_t bytes = 0;
};
/// The program gives `block` back. Before the allocator gets it: after that another thread may be given it anew.
EndedBlock SeeEnd(const NextAllocator& next, void* block) noexcept;
/// It did not take it.
void TakeBackEnd(void* block, const EndedBlock& ended) noexcept;

/// Whether the calling thread makes no system call in this library from now on, nor does a child that it forks.
void MakeNoSystemCalls(bool none) noexcept;

}  // namespace crema::allocations
