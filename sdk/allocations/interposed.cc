// The functions of malloc(3) and their relatives, in front of the program's allocator.
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "counting.h"
#include "crema/internal/platform.h"
#include "process/loaded_objects.h"

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

/// Calls one of the allocator's functions that make blocks; out of memory where it has none of the name.
template <auto kFunction, class... Arguments>
CREMA_ALWAYS_INLINE void* Allocate(Arguments... arguments) {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->*kFunction == nullptr) return Missing();
  return Seen(*next, (next->*kFunction)(arguments...));
}

int (*g_next_prctl)(int, ...);
__attribute__((constructor)) void FindNextPrctl() { crema::internal::FindNext(&g_next_prctl, "prctl"); }

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the C library's names
#define CREMA_INTERPOSED extern "C" __attribute__((visibility("default")))

CREMA_INTERPOSED void* malloc(std::size_t bytes) noexcept { return Allocate<&NextAllocator::malloc>(bytes); }
CREMA_INTERPOSED void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return Allocate<&NextAllocator::calloc>(count, bytes);
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
  return Allocate<&NextAllocator::aligned_alloc>(alignment, bytes);
}
CREMA_INTERPOSED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return Allocate<&NextAllocator::memalign>(alignment, bytes);
}
CREMA_INTERPOSED void* valloc(std::size_t bytes) noexcept { return Allocate<&NextAllocator::valloc>(bytes); }
CREMA_INTERPOSED void* pvalloc(std::size_t bytes) noexcept { return Allocate<&NextAllocator::pvalloc>(bytes); }

// A thread that allows itself only read(2) and write(2) may still allocate.
CREMA_INTERPOSED int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  unsigned long values[4];
  for (unsigned long& value : values) value = va_arg(list, unsigned long);
  va_end(list);
  const bool is_strict = option == PR_SET_SECCOMP && values[0] == SECCOMP_MODE_STRICT;
  if (is_strict) crema::allocations::MakeNoSystemCalls(true);
  const long result = g_next_prctl == nullptr ? syscall(SYS_prctl, option, values[0], values[1], values[2], values[3])
                                              : g_next_prctl(option, values[0], values[1], values[2], values[3]);
  if (is_strict && result != 0) crema::allocations::MakeNoSystemCalls(false);
  return static_cast<int>(result);
}
// NOLINTEND(readability-identifier-naming)
