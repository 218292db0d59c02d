// The functions of malloc(3) and their relatives, in front of the program's allocator.
#include <cerrno>
#include <cstddef>

#include "counting.h"
#include "next_allocator.h"

namespace {

using crema::allocations::EndedBlock;
using crema::allocations::FindNextAllocator;
using crema::allocations::NextAllocator;
using crema::allocations::SawBlock;

void* Seen(const NextAllocator& next, void* block) {
  SawBlock(next, block);
  return block;
}

void* Missing() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the C library's names
#define CREMA_INTERPOSED extern "C" __attribute__((visibility("default")))

CREMA_INTERPOSED void* malloc(std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr) return Missing();
  return Seen(*next, next->malloc(bytes));
}

CREMA_INTERPOSED void* calloc(std::size_t count, std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr) return Missing();
  return Seen(*next, next->calloc(count, bytes));
}

CREMA_INTERPOSED void free(void* block) noexcept {
  if (block == nullptr) return;
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr) return;
  crema::allocations::SeeEnd(*next, block);
  next->free(block);
}

CREMA_INTERPOSED void* realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr) return Missing();
  const EndedBlock ended = crema::allocations::SeeEnd(*next, block);
  void* moved = next->realloc(block, bytes);
  if (moved == nullptr && bytes != 0) crema::allocations::TakeBackEnd(block, ended);
  return Seen(*next, moved);
}

CREMA_INTERPOSED int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->posix_memalign == nullptr) return ENOMEM;
  const int error = next->posix_memalign(block, alignment, bytes);
  if (error == 0) SawBlock(*next, *block);
  return error;
}

CREMA_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->aligned_alloc == nullptr) return Missing();
  return Seen(*next, next->aligned_alloc(alignment, bytes));
}

CREMA_INTERPOSED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->memalign == nullptr) return Missing();
  return Seen(*next, next->memalign(alignment, bytes));
}

CREMA_INTERPOSED void* valloc(std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->valloc == nullptr) return Missing();
  return Seen(*next, next->valloc(bytes));
}

CREMA_INTERPOSED void* pvalloc(std::size_t bytes) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->pvalloc == nullptr) return Missing();
  return Seen(*next, next->pvalloc(bytes));
}
// NOLINTEND(readability-identifier-naming)
