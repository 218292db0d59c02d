#include "counting.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "block_table.h"
#include "crema/internal/platform.h"
#include "priority_lock.h"
#include "process/allocation_counter.h"
#include "site_table.h"
#include "unseen_allocators.h"

namespace crema {
namespace allocations {
namespace {

using internal::AllocationCounter;
constexpr auto kRelaxed = std::memory_order_relaxed;

std::atomic<std::uint32_t (*)()> g_site_of_thread{nullptr};
std::atomic<std::uint64_t> g_blocks_lost{0};

/// A page that the kernel gives to a forked child empty (MADV_WIPEONFORK): so it is seen without a handler, that of
/// clone(2) too. Nothing is counted before it is there.
std::atomic<std::uint32_t*> g_mark{nullptr};
std::atomic<bool> g_mark_refused{false};

/// Where in its stack the thread came into this library; 0: it is not here. A block that comes from deeper in the stack
/// is a handler's of a signal, or the allocator's own: tcmalloc takes some when it is asked for a size for the first
/// time. One from elsewhere in the stack shows that a handler left this library for good (siglongjmp(3)).
CREMA_THREAD_LOCAL std::uintptr_t t_entered_at = 0;
CREMA_THREAD_LOCAL bool t_asks_allocator = false;
CREMA_THREAD_LOCAL std::uint64_t t_own_calls = 0;
CREMA_THREAD_LOCAL std::uint64_t t_calls = 0;
CREMA_THREAD_LOCAL std::uint64_t t_bytes = 0;
CREMA_THREAD_LOCAL bool t_probes = false;  ///< it measures what counting costs

CREMA_NEVER_INLINE bool SetMark() {
  if (g_mark_refused.load(kRelaxed)) return false;
  const int host_errno = errno;
  void* page = mmap(nullptr, sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_set = page != MAP_FAILED && madvise(page, sizeof(std::uint32_t), MADV_WIPEONFORK) == 0;
  if (is_set) {
    *static_cast<std::uint32_t*>(page) = 1;
    std::uint32_t* none = nullptr;
    if (!g_mark.compare_exchange_strong(none, static_cast<std::uint32_t*>(page))) munmap(page, sizeof(std::uint32_t));
  } else {
    g_mark_refused.store(true, kRelaxed);
    if (page != MAP_FAILED) munmap(page, sizeof(std::uint32_t));
  }
  errno = host_errno;
  return is_set;
}

CREMA_NEVER_INLINE void StartAnewAfterFork(std::uint32_t* mark) {
  t_thread_id = 0;
  ForgetAllBlocks();
  ForgetCounts();
  g_blocks_lost.store(0, kRelaxed);
  __atomic_store_n(mark, 1u, __ATOMIC_RELAXED);
}

/// Whether the process is counted; in a child that was forked, from here on.
bool IsCounted(const NextAllocator& next) {
  std::uint32_t* mark = g_mark.load(std::memory_order_acquire);
  if (CREMA_UNLIKELY(mark == nullptr)) {
    if (next.malloc_usable_size == nullptr || !SetMark()) return false;
    return true;
  }
  if (CREMA_UNLIKELY(__atomic_load_n(mark, __ATOMIC_RELAXED) == 0)) StartAnewAfterFork(mark);
  return true;
}

std::uint32_t SiteOfThread() {
  std::uint32_t (*const ask)() = g_site_of_thread.load(std::memory_order_acquire);
  const std::uint32_t site = ask == nullptr ? static_cast<std::uint32_t>(internal::kOutsideChunks) : ask();
  return CREMA_UNLIKELY(t_probes) ? static_cast<std::uint32_t>(internal::kAllocationProbe) : site;
}

void CountLost() { g_blocks_lost.fetch_add(1, kRelaxed); }

/// False if the thread is here already.
CREMA_ALWAYS_INLINE bool Enter() {
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (CREMA_UNLIKELY(t_entered_at != 0)) {
    if (frame < t_entered_at) return false;
    CountLost();
    t_asks_allocator = false;
  }
  t_entered_at = frame;
  return true;
}
void Leave() { t_entered_at = 0; }

std::size_t SizeOf(const NextAllocator& next, void* block) {
  t_asks_allocator = true;
  const std::size_t bytes = next.malloc_usable_size(block);
  t_asks_allocator = false;
  return bytes;
}

void CountCall(std::uint32_t site, std::size_t bytes) {
  CountAllocation(site, bytes);
  ++t_calls;
  t_bytes += bytes;
}

/// A block of a handler that has interrupted this library, whose tables may be locked or half changed.
void CountUnnoted(const NextAllocator& next, void* block) {
  if (t_asks_allocator) return;
  const std::uint32_t site = SiteOfThread();
  if (site == internal::kOwnAllocation) return;
  CountCall(site, next.malloc_usable_size(block));
  CountLost();
}

bool Attach(std::uint32_t (*site_of_thread)()) noexcept {
  std::uint32_t (*none)() = nullptr;
  return g_site_of_thread.compare_exchange_strong(none, site_of_thread) || none == site_of_thread;
}

const char* WhyNotCounted() noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || next->malloc_usable_size == nullptr) return "the allocator does not tell the sizes of blocks";
  if (!IsCounted(*next)) return "the kernel has no MADV_WIPEONFORK (Linux before 4.14), or refuses memory";
  return nullptr;
}

const char* WhyNot(internal::OperatorNew* of_caller) noexcept {
  const char* const reason = WhyNotCounted();
  return reason != nullptr ? reason : FindUnseenAllocator(of_caller, [] { return t_calls + t_own_calls; });
}

std::uint64_t BlocksLost() noexcept { return g_blocks_lost.load(kRelaxed); }
std::uint64_t OwnCalls() noexcept { return t_own_calls; }

void ThreadCounts(std::uint64_t* calls, std::uint64_t* bytes) noexcept {
  *calls = t_calls;
  *bytes = t_bytes;
}

std::int64_t MeasureCost() noexcept;

constexpr AllocationCounter kCounter = {AllocationCounter::kVersion,
                                        Attach,
                                        WhyNot,
                                        FindSite,
                                        SiteCount,
                                        Site,
                                        BlocksLost,
                                        OwnCalls,
                                        ThreadCounts,
                                        MarkLiveBytes,
                                        MeasureCost};

}  // namespace

void SawBlock(const NextAllocator& next, void* block) noexcept {
  if (block == nullptr) return;
  if (CREMA_UNLIKELY(!Enter())) return CountUnnoted(next, block);
  if (CREMA_LIKELY(IsCounted(next))) {
    const std::uint32_t site = SiteOfThread();
    if (CREMA_UNLIKELY(site == internal::kOwnAllocation)) {
      ++t_own_calls;
    } else {
      if (CREMA_UNLIKELY(NoteBlock(block, site) != Noted::kAsNew)) CountLost();
      CountCall(site, SizeOf(next, block));
    }
  }
  Leave();
}

EndedBlock SeeEnd(const NextAllocator& next, void* block) noexcept {
  if (block == nullptr) return {};
  if (CREMA_UNLIKELY(!Enter())) {
    if (!t_asks_allocator) CountLost();
    return {};
  }
  EndedBlock ended;
  if (CREMA_LIKELY(IsCounted(next))) {
    bool is_lost = false;
    ended.site = ForgetBlock(block, &is_lost);
    if (ended.site != 0) {
      ended.bytes = SizeOf(next, block);
      CountFree(ended.site, ended.bytes);
    }
    if (CREMA_UNLIKELY(is_lost)) CountLost();
  }
  Leave();
  return ended;
}

void TakeBackEnd(void* block, const EndedBlock& ended) noexcept {
  if (ended.site == 0) return;
  if (!Enter()) return CountLost();
  const bool is_noted = NoteBlock(block, ended.site) == Noted::kAsNew;
  if (is_noted) CountKept(ended.site, ended.bytes);
  if (!is_noted) CountLost();
  Leave();
}

void MakeNoSystemCalls(bool none) noexcept {
  const NextAllocator* next = FindNextAllocator();
  if (none && next != nullptr && IsCounted(*next)) KnowThread();
  t_makes_no_calls = none;
}

namespace {

std::int64_t MeasureCost() noexcept {
  constexpr int kRounds = 8;
  constexpr int kBlocks = 64;
  constexpr std::size_t kBytes = 64;
  const NextAllocator* next = FindNextAllocator();
  if (next == nullptr || WhyNotCounted() != nullptr) return 0;
  std::int64_t counted_ns = INT64_MAX;
  std::int64_t plain_ns = INT64_MAX;
  t_probes = true;
  for (int round = 0; round < kRounds; ++round) {  // the first fills the caches, any may be interrupted
    const std::int64_t start_ns = internal::MonotonicNanoseconds();
    for (int i = 0; i < kBlocks; ++i) {
      void* block = next->malloc(kBytes);
      SawBlock(*next, block);
      SeeEnd(*next, block);
      next->free(block);
    }
    const std::int64_t middle_ns = internal::MonotonicNanoseconds();
    for (int i = 0; i < kBlocks; ++i) next->free(next->malloc(kBytes));
    const std::int64_t stop_ns = internal::MonotonicNanoseconds();
    counted_ns = std::min(counted_ns, middle_ns - start_ns);
    plain_ns = std::min(plain_ns, stop_ns - middle_ns);
  }
  t_probes = false;
  return std::max<std::int64_t>((counted_ns - plain_ns) / kBlocks, 0);
}

}  // namespace
}  // namespace allocations
}  // namespace crema

extern "C" __attribute__((visibility("default"))) const crema::internal::AllocationCounter* crema_allocation_counter();
const crema::internal::AllocationCounter* crema_allocation_counter() { return &crema::allocations::kCounter; }
