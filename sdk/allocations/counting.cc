#include "counting.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "crema/internal/platform.h"
#include "priority_lock.h"
#include "process/allocation_counter.h"
#include "process/loaded_objects.h"
#include "site_table.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace crema::allocations {
namespace {

// Which site each live block belongs to.
// The blocks themselves stay as the allocator made them: their sizes and alignment are the program's business. So what
// is noted is beside them, eight bytes a block in tables that are between a third and two thirds full.

constexpr int kPartBits = 8;
constexpr std::uint32_t kParts = 1u << kPartBits;
constexpr int kSiteBits = 16;
constexpr int kAlignmentBits = 3;  // jemalloc aligns small blocks to 8 bytes
/// Blocks of one region share a part: allocators give a region to one thread, so threads seldom meet there.
constexpr int kRegionBits = 16;
constexpr std::size_t kFirstCapacity = 512;             // a page
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // Knuth's multiplicative hashing

/// An open hash table with linear probing.
struct alignas(64) Part {
  PriorityLock lock;
  std::uint64_t* entries = nullptr;  ///< 0: empty, else the block and its site
  std::size_t capacity = 0;          ///< a power of two
  std::size_t size = 0;
};
Part g_parts[kParts];

std::uint64_t KeyOf(const void* block) { return reinterpret_cast<std::uintptr_t>(block) >> kAlignmentBits; }
std::uint64_t KeyOf(std::uint64_t entry) { return entry >> kSiteBits; }

Part* PartOf(const void* block) {
  return &g_parts[((reinterpret_cast<std::uintptr_t>(block) >> kRegionBits) * kGolden) >> (64 - kPartBits)];
}

std::size_t HomeOf(std::uint64_t key, std::size_t capacity) { return ((key * kGolden) >> 32) & (capacity - 1); }

/// Where the key is, or would be.
std::size_t Find(const Part& part, std::uint64_t key) {
  std::size_t at = HomeOf(key, part.capacity);
  while (part.entries[at] != 0 && KeyOf(part.entries[at]) != key) at = (at + 1) & (part.capacity - 1);
  return at;
}

std::uint64_t* NewEntries(std::size_t capacity) {
  if (t_makes_no_calls) return nullptr;
  const internal::KeptErrno kept_errno;
  void* memory =
      mmap(nullptr, capacity * sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(memory);
}

void FreeEntries(std::uint64_t* entries, std::size_t capacity) {
  const internal::KeptErrno kept_errno;
  if (entries != nullptr && !t_makes_no_calls) munmap(entries, capacity * sizeof(std::uint64_t));
}

/// False where there is no room for one more.
bool MakeRoom(Part* part) {
  if (3 * (part->size + 1) <= 2 * part->capacity) return true;
  Part larger;
  larger.capacity = part->capacity == 0 ? kFirstCapacity : 2 * part->capacity;
  larger.entries = NewEntries(larger.capacity);
  if (larger.entries == nullptr) return part->size + 1 < part->capacity;
  for (std::size_t i = 0; i < part->capacity; ++i) {
    if (const std::uint64_t entry = part->entries[i]; entry != 0) larger.entries[Find(larger, KeyOf(entry))] = entry;
  }
  FreeEntries(part->entries, part->capacity);
  part->entries = larger.entries;
  part->capacity = larger.capacity;
  return true;
}

/// Closes the gap at `gap`, so that each entry is found from its home on.
void CloseGap(Part* part, std::size_t gap) {
  const std::size_t mask = part->capacity - 1;
  for (std::size_t at = (gap + 1) & mask; part->entries[at] != 0; at = (at + 1) & mask) {
    const std::size_t home = HomeOf(KeyOf(part->entries[at]), part->capacity);
    if (((at - home) & mask) < ((at - gap) & mask)) continue;  // it would come to be before its home
    part->entries[gap] = part->entries[at];
    gap = at;
  }
  part->entries[gap] = 0;
}

/// Notes that `block` belongs to `site`. False: it was there already, as its end was not seen; or it is not noted, as
/// there is no memory, or its part of the table is not to be had.
bool NoteBlock(const void* block, std::uint32_t site) noexcept {
  Part* part = PartOf(block);
  if (!part->lock.Lock()) return false;
  bool is_new = false;
  if (MakeRoom(part)) {
    const std::size_t at = Find(*part, KeyOf(block));
    is_new = part->entries[at] == 0;
    part->entries[at] = KeyOf(block) << kSiteBits | site;
    if (is_new) ++part->size;
  }
  part->lock.Unlock();
  return is_new;
}

/// Takes the block away and gives its site; 0: it was not there.
std::uint32_t ForgetBlock(const void* block, bool* is_lost) noexcept {
  Part* part = PartOf(block);
  if (!part->lock.Lock()) {
    *is_lost = true;
    return 0;
  }
  std::uint32_t site = 0;
  if (part->size > 0) {
    if (const std::size_t at = Find(*part, KeyOf(block)); part->entries[at] != 0) {
      site = static_cast<std::uint32_t>(part->entries[at] & ((1u << kSiteBits) - 1));
      CloseGap(part, at);
      --part->size;
    }
  }
  part->lock.Unlock();
  return site;
}

/// Forgets all blocks, in a forked child: they are the parent's. No other thread may be there.
void ForgetAllBlocks() noexcept {
  for (Part& part : g_parts) {
    FreeEntries(part.entries, part.capacity);
    part.entries = nullptr;
    part.capacity = part.size = 0;
    part.lock.StartAnew();
  }
}

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

// Allocators of which this library sees nothing.

using internal::LoadCounts;
using internal::LoadedObject;

/// malloc, and the operators by the names of the Itanium C++ ABI ("Mangling"; `m` is std::size_t on 64 bits). They take
/// the size, then the alignment or a std::nothrow_t that nobody reads.
constexpr const char* kFunctions[] = {"malloc",
                                      "_Znwm",
                                      "_Znam",
                                      "_ZnwmRKSt9nothrow_t",
                                      "_ZnamRKSt9nothrow_t",
                                      "_ZnwmSt11align_val_t",
                                      "_ZnamSt11align_val_t",
                                      "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                      "_ZnamSt11align_val_tRKSt9nothrow_t"};
constexpr int kMalloc = 0;
constexpr int kFunctionCount = sizeof kFunctions / sizeof *kFunctions;
constexpr std::size_t kAlignment = 64;
using Function = void* (*)(std::size_t, std::size_t, const void*);

constexpr int kMostObjects = 64;
struct OwnFunctions {
  Function functions[kFunctionCount + 1];  ///< null: it has none; the last is that of the caller
  char name[128];                          ///< the end of it
};
struct Found {
  OwnFunctions objects[kMostObjects];
  int count = 0;
  void* of_caller = nullptr;
};
Found g_found;  // guarded by g_is_busy, like the two below
LoadCounts g_examined;
char g_sentence[256];
std::atomic_flag g_is_busy = ATOMIC_FLAG_INIT;
std::atomic<bool> g_is_unseen{false};

/// This library, the C library, and the C++ runtimes, whose operators call malloc.
bool IsKnown(const LoadedObject& object) {
  static constexpr const char* kNames[] = {"/libstdc++.so", "/libc++", "/libc.so.", "/ld-"};
  bool is_known = internal::Contains(object, kNames);
  for (const char* name : kNames) is_known |= std::strstr(object.name, name) != nullptr;
  return is_known;
}

bool Collect(const LoadedObject& object) {
  if (g_found.count == kMostObjects || IsKnown(object)) return false;
  OwnFunctions& own = g_found.objects[g_found.count];
  const bool is_callers = internal::Contains(object, g_found.of_caller);
  own.functions[kFunctionCount] = is_callers ? reinterpret_cast<Function>(g_found.of_caller) : nullptr;
  bool has_any = own.functions[kFunctionCount] != nullptr;
  for (int i = 0; i < kFunctionCount; ++i) {
    void* const function = internal::Definition(object, kFunctions[i]);
    const bool is_asked = function == reinterpret_cast<void*>(FindNextAllocator()->malloc);  // by this library
    own.functions[i] = is_asked ? nullptr : reinterpret_cast<Function>(function);
    has_any |= own.functions[i] != nullptr;
  }
  const char* slash = std::strrchr(object.name, '/');
  const char* name = *object.name == '\0' ? "the program" : slash == nullptr ? object.name : slash + 1;
  std::strncpy(own.name, name, sizeof own.name - 1);
  if (has_any) ++g_found.count;
  return false;
}

/// A child hangs if another thread of the program held a lock of the allocator when it was made.
constexpr int kMostTries = 3;
constexpr int kFailed = -1;
constexpr int kAllSeen = kFunctionCount + 1;
constexpr int kNotTried = kAllSeen + 1;  ///< the kernel is older than Linux 5.9

/// Gives the index of the first one that is not seen. Calls them in a child that shares no memory: what a program's own
/// operator counts, or takes from a pool, stays as it was. The kernel sends no signal when such a child ends, no
/// handler of fork(2) runs, and wait(2) does not see it.
int TryInChild(const OwnFunctions& own, std::uint64_t (*blocks_seen)()) {
  constexpr int kMostNaps = 200;
  constexpr long kNapNanoseconds = 1000000;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const long child = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    prctl(PR_SET_DUMPABLE, 0);  // if it ends badly, it leaves no file
    if (syscall(SYS_close_range, 0, ~0u, 0) != 0) syscall(SYS_exit_group, kNotTried);  // it may print
    int index = 0;
    for (; index < kAllSeen; ++index) {
      const std::uint64_t seen = blocks_seen();
      if (own.functions[index] == nullptr) continue;
      own.functions[index](1, kAlignment, nullptr);
      if (blocks_seen() == seen) break;
    }
    syscall(SYS_exit_group, index);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return kFailed;
  int status = -1;
  long ended = 0;
  for (int naps = 0; ended == 0 && naps < kMostNaps; ++naps) {
    const timespec nap = {0, kNapNanoseconds};
    syscall(SYS_nanosleep, &nap, nullptr);  // by syscall(2): no point where a thread may be cancelled
    ended = syscall(SYS_wait4, child, &status, __WCLONE | WNOHANG, nullptr);
  }
  if (ended == 0) {
    kill(static_cast<pid_t>(child), SIGKILL);
    syscall(SYS_wait4, child, nullptr, __WCLONE, nullptr);
  }
  const bool was_tried = ended == child && WIFEXITED(status) && WEXITSTATUS(status) != kNotTried;
  return was_tried ? WEXITSTATUS(status) : kFailed;
}

/// Null, or a sentence that names an object with a malloc or an operator new of which this library sees nothing: counts
/// would be too small. It stays once it is there. Tries those that it does not know, so it must be called again when
/// others were loaded. `of_caller` is the caller's own operator new, which its object may not show to ld.so; with null
/// it tries none, and takes no lock.
/// `blocks_seen()` says how many blocks of the calling thread this library has seen.
const char* FindUnseenAllocator(internal::OperatorNew* of_caller, std::uint64_t (*blocks_seen)()) noexcept {
  if (g_is_unseen.load(std::memory_order_acquire)) return g_sentence;
  if (of_caller == nullptr) return nullptr;
  if (g_is_busy.test_and_set(std::memory_order_acquire)) return nullptr;  // its caller says it
  const internal::KeptErrno kept_errno;
  const LoadCounts loads = internal::CountLoads();
  const bool is_same_caller = reinterpret_cast<void*>(of_caller) == g_found.of_caller;
  // What was loaded later is behind.
  const int known = is_same_caller && loads.unloaded == g_examined.unloaded ? g_found.count : 0;
  if (known == 0 || loads.loaded != g_examined.loaded) {
    g_examined = loads;
    g_found.of_caller = reinterpret_cast<void*>(of_caller);
    g_found.count = 0;
    internal::ForEachObject(Collect);
  }
  if (g_found.count == kMostObjects && !g_is_unseen.load(std::memory_order_relaxed)) {
    std::strcpy(g_sentence, "too many libraries have an operator new of their own to try each");
    g_is_unseen.store(true, std::memory_order_release);
  }
  for (int i = known; i < g_found.count && !g_is_unseen.load(std::memory_order_relaxed); ++i) {
    int unseen = kFailed;
    for (int tries = 0; tries < kMostTries && unseen == kFailed; ++tries) {
      unseen = TryInChild(g_found.objects[i], blocks_seen);
    }
    if (unseen == kAllSeen) continue;
    std::strcpy(g_sentence, unseen == kMalloc ? "the allocator inside " : "operator new of ");
    std::strcat(g_sentence, g_found.objects[i].name);
    std::strcat(g_sentence, unseen == kMalloc   ? " is not seen"
                            : unseen == kFailed ? " may not call malloc"
                                                : " does not call malloc");
    g_is_unseen.store(true, std::memory_order_release);
  }
  g_is_busy.clear(std::memory_order_release);
  return g_is_unseen.load(std::memory_order_acquire) ? g_sentence : nullptr;
}

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
  const internal::KeptErrno kept_errno;
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
  if (CREMA_UNLIKELY(mark == nullptr)) return next.malloc_usable_size != nullptr && SetMark();
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
  if (next == nullptr || next->malloc_usable_size == nullptr) return "the allocator does not say how large blocks are";
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

const NextAllocator* FindNextAllocator() noexcept {
  if (CREMA_LIKELY(g_state.load(std::memory_order_acquire) == kKnown)) return &g_next;
  return AskLinker();
}

void SawBlock(const NextAllocator& next, void* block) noexcept {
  if (block == nullptr) return;
  if (CREMA_UNLIKELY(!Enter())) return CountUnnoted(next, block);
  if (CREMA_LIKELY(IsCounted(next))) {
    if (const std::uint32_t site = SiteOfThread(); CREMA_UNLIKELY(site == internal::kOwnAllocation)) {
      ++t_own_calls;
    } else {
      if (CREMA_UNLIKELY(!NoteBlock(block, site))) CountLost();
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
  const bool is_noted = NoteBlock(block, ended.site);
  if (is_noted) CountKept(ended.site, ended.bytes);
  if (!is_noted) CountLost();
  Leave();
}

void MakeNoSystemCalls(bool none) noexcept {
  if (const NextAllocator* next = FindNextAllocator(); none && next != nullptr && IsCounted(*next)) KnowThread();
  t_makes_no_calls = none;
}

}  // namespace crema::allocations

extern "C" __attribute__((visibility("default"))) const crema::internal::AllocationCounter* crema_allocation_counter();
const crema::internal::AllocationCounter* crema_allocation_counter() { return &crema::allocations::kCounter; }
