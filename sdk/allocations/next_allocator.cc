#include "next_allocator.h"

#include <atomic>

#include "crema/internal/platform.h"
#include "process/loaded_objects.h"

namespace crema {
namespace allocations {
namespace {

NextAllocator g_next;
enum State : int { kUnknown, kAsking, kKnown };
std::atomic<int> g_state{kUnknown};

CREMA_NEVER_INLINE const NextAllocator* AskLinker() {
  int unknown = kUnknown;
  if (!g_state.compare_exchange_strong(unknown, kAsking)) return unknown == kKnown ? &g_next : nullptr;
  internal::FindNext(&g_next.malloc, "malloc");
  internal::FindNext(&g_next.calloc, "calloc");
  internal::FindNext(&g_next.realloc, "realloc");
  internal::FindNext(&g_next.free, "free");
  internal::FindNext(&g_next.posix_memalign, "posix_memalign");
  internal::FindNext(&g_next.aligned_alloc, "aligned_alloc");
  internal::FindNext(&g_next.memalign, "memalign");
  internal::FindNext(&g_next.valloc, "valloc");
  internal::FindNext(&g_next.pvalloc, "pvalloc");
  internal::FindNext(&g_next.malloc_usable_size, "malloc_usable_size");
  g_state.store(kKnown, std::memory_order_release);
  return &g_next;
}

// Before the program can have threads: none of them waits for another one here.
__attribute__((constructor)) void AskInTime() { AskLinker(); }

}  // namespace

const NextAllocator* FindNextAllocator() noexcept {
  if (CREMA_LIKELY(g_state.load(std::memory_order_acquire) == kKnown)) return &g_next;
  return AskLinker();
}

}  // namespace allocations
}  // namespace crema
