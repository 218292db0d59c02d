#include "next_allocator.h"

#include <dlfcn.h>
#include <sched.h>

#include <atomic>

#include "crema/internal/platform.h"

namespace crema {
namespace allocations {
namespace {

constexpr std::size_t kEarlyBytes = std::size_t{1} << 15;
alignas(64) char g_early[kEarlyBytes];
std::atomic<std::size_t> g_early_used{0};

NextAllocator g_next;
enum State : int { kUnknown, kAsking, kKnown };
std::atomic<int> g_state{kUnknown};
CREMA_THREAD_LOCAL bool t_asks = false;

template <class Function>
void Ask(Function** function, const char* name) {
  *function = reinterpret_cast<Function*>(NextSymbol(name));
}

CREMA_NEVER_INLINE const NextAllocator* AskLinker() {
  if (t_asks) return nullptr;
  int unknown = kUnknown;
  if (!g_state.compare_exchange_strong(unknown, kAsking)) {
    while (g_state.load(std::memory_order_acquire) != kKnown) sched_yield();
    return &g_next;
  }
  t_asks = true;
  Ask(&g_next.malloc, "malloc");
  Ask(&g_next.calloc, "calloc");
  Ask(&g_next.realloc, "realloc");
  Ask(&g_next.free, "free");
  Ask(&g_next.posix_memalign, "posix_memalign");
  Ask(&g_next.aligned_alloc, "aligned_alloc");
  Ask(&g_next.memalign, "memalign");
  Ask(&g_next.valloc, "valloc");
  Ask(&g_next.pvalloc, "pvalloc");
  Ask(&g_next.malloc_usable_size, "malloc_usable_size");
  t_asks = false;
  g_state.store(kKnown, std::memory_order_release);
  return &g_next;
}

}  // namespace

const NextAllocator* FindNextAllocator() noexcept {
  if (CREMA_LIKELY(g_state.load(std::memory_order_acquire) == kKnown)) return &g_next;
  return AskLinker();
}

void* AllocateEarly(std::size_t bytes) noexcept {
  constexpr std::size_t kAlignment = 64;
  if (bytes > kEarlyBytes) return nullptr;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t at = g_early_used.fetch_add(rounded);
  return at + rounded <= kEarlyBytes ? g_early + at : nullptr;
}

bool IsEarly(const void* block) noexcept {
  const auto* byte = static_cast<const char*>(block);
  return byte >= g_early && byte < g_early + kEarlyBytes;
}

std::size_t EarlyBytesFrom(const void* block) noexcept {
  return static_cast<std::size_t>(g_early + kEarlyBytes - static_cast<const char*>(block));
}

void* NextSymbol(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

bool AreOfOneObject(const void* one, const void* other) noexcept {
  Dl_info first{};
  Dl_info second{};
  return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 && first.dli_fbase == second.dli_fbase;
}

}  // namespace allocations
}  // namespace crema
