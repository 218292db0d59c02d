// The section path between enter and exit: one tree of paths per thread, no lock, no allocation, no system call.
#ifndef CREMA_INTERNAL_SECTION_NODE_H_
#define CREMA_INTERNAL_SECTION_NODE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "crema/internal/platform.h"

namespace crema::internal {

/// What `ThreadCpuNanoseconds` returns if the kernel refuses the reading.
inline constexpr std::int64_t kUnknownCpu = INT64_MIN;

/// One section path of one thread. Only the owning thread writes; the sampler reads the atomics, so they are relaxed.
/// Names are matched by content, but first against the child that followed last time: in a loop that is always right.
struct SectionNode {
  std::atomic<std::uint64_t> start_ticks{0};  ///< of the open occurrence; 0 while it is added to the sums
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> total_ticks{0};
  std::atomic<std::uint64_t> min_ticks{UINT64_MAX};
  std::atomic<std::uint64_t> max_ticks{0};
  SectionNode* parent = nullptr;
  SectionNode** cursor = nullptr;         ///< where the child expected next is noted; points into this node or a child
  std::uint32_t uncaught_exceptions = 0;  ///< of the thread, when the section was entered
  std::uint32_t name_length = 0;

  SectionNode* first_expected = nullptr;  ///< the child that came first last time
  SectionNode* next_expected = nullptr;   ///< the sibling that followed last time
  std::atomic<SectionNode*> first_child{nullptr};
  std::atomic<SectionNode*> next_sibling{nullptr};
  SectionNode* last_child = nullptr;
  SectionNode* next_in_bucket = nullptr;
  std::atomic<std::uint64_t> failed{0};  ///< occurrences left by an exception
  std::atomic<std::int64_t> cpu_ns{-1};  ///< -1: never asked for; `kUnknownCpu`: the kernel refused a reading
  std::int64_t cpu_start_ns = 0;
  std::uint64_t self_ticks = 0;  ///< only in trees that other trees were merged into
  bool plain_name = false;       ///< is in a path as it is, without escapes
  std::uint32_t depth = 0;
  std::uint32_t hash = 0;
  /// What the guard has of an open occurrence whose `start_ticks` moved, since its chunk was suspended meanwhile; else
  /// 0.
  std::uint64_t guard_ticks = 0;
  SectionNode* unkept_child = nullptr;  ///< stands for all children that found no place
  bool is_unkept = false;
  /// What counts allocations knows the section by this number; 0: it was not asked yet.
  std::atomic<std::uint32_t> allocation_site{0};
  /// The same of what counts for GPUs.
  std::atomic<std::uint32_t> gpu_site{0};

  /// The name's bytes follow the node in the same allocation.
  const char* name() const { return reinterpret_cast<const char*>(this + 1); }
};

/// What a guard needs of its thread.
struct ThreadContext {
  std::atomic<SectionNode*> current{nullptr};  ///< innermost open section, or the root of the tree in use
  /// The thread's count of exceptions in flight, inside the C++ runtime's `__cxa_eh_globals` (Itanium C++ ABI 2.2.2).
  const unsigned int* uncaught_exceptions = nullptr;
  std::atomic<bool> reads_counter{false};  ///< recording is on, and the tick counter is invariant
  std::atomic<bool> is_switched_off{false};
  bool traces = false;                  ///< every occurrence is kept, not only the sums
  std::uint32_t allocation_scopes = 0;  ///< scopes in which the thread works for the SDK (see `SdkAllocationScope`)
};

enum Mode : std::uint8_t { kModeUndecided = 0, kModeOff = 1, kModeOn = 2 };

extern std::atomic<std::uint8_t> g_mode;
extern CREMA_THREAD_LOCAL ThreadContext* t_context;

/// `t_context`, for code that cannot reach a library's thread-local variables.
ThreadContext* ReadContext() noexcept;
CREMA_ALWAYS_INLINE ThreadContext* ContextOfThread() noexcept {
#ifdef __CLING__  // ROOT's interpreter compiles such code
  return ReadContext();
#else
  return t_context;
#endif
}

/// Reads the environment once; true if recording is on afterwards.
bool DecideMode() noexcept;
/// Makes the calling thread known; nullptr while the thread or the process is being torn down.
ThreadContext* EnsureThreadContext() noexcept;
/// The child of `parent` with this name, created if need be. Beyond the limits of depth and number of paths a child
/// that is not kept, and nullptr inside that.
SectionNode* FindOrAddChild(ThreadContext* context, SectionNode* parent, std::string_view name) noexcept;
/// Closes a section that is not the innermost open one of its thread, or whose chunk was suspended meanwhile; or, with
/// `now_ticks` 0, one that ends while recording is switched off.
void ExitOutOfOrder(SectionNode* node, std::uint64_t start_ticks, std::uint64_t now_ticks) noexcept;
/// Counts a section that was to be closed and is not open on this thread, unless it may be that of a parent process.
void CountUnmatchedExit() noexcept;
/// Trace mode: keeps one occurrence.
void TraceOccurrence(SectionNode* node, std::uint64_t start_ticks, std::uint64_t stop_ticks) noexcept;
/// CLOCK_THREAD_CPUTIME_ID in ns, or `kUnknownCpu`.
std::int64_t ThreadCpuNanoseconds() noexcept;

/// A relaxed load and a branch when recording is off.
CREMA_ALWAYS_INLINE bool Recording() noexcept {
  const std::uint8_t mode = g_mode.load(std::memory_order_relaxed);
  if (CREMA_LIKELY(mode == kModeOn)) return true;
  return mode == kModeUndecided && DecideMode();
}

/// Whether recording was switched off, or has ended. A guard that is open then reads no clock when it ends: a program
/// may switch recording off because it forbids itself such calls from then on (seccomp(2)).
CREMA_ALWAYS_INLINE bool IsSwitchedOff() noexcept { return g_mode.load(std::memory_order_relaxed) == kModeOff; }

/// CLOCK_MONOTONIC in ns; 0 while recording is switched off.
std::uint64_t TicksOfClock(const ThreadContext* context) noexcept;

/// 0 while recording is switched off.
CREMA_ALWAYS_INLINE std::uint64_t Ticks(const ThreadContext* context) noexcept {
  if (CREMA_LIKELY(context->reads_counter.load(std::memory_order_relaxed))) return CounterTicks();
  return TicksOfClock(context);
}

/// An open section, as its guard remembers it.
struct OpenSection {
  SectionNode* node = nullptr;
  std::uint64_t start_ticks = 0;
};

CREMA_ALWAYS_INLINE bool HasName(const SectionNode& node, std::string_view name) noexcept {
  if (node.name_length != name.size()) return false;
  return name.empty() || std::memcmp(node.name(), name.data(), name.size()) == 0;  // an empty one may have no data
}

CREMA_ALWAYS_INLINE OpenSection EnterSection(std::string_view name) noexcept {
  ThreadContext* context = ContextOfThread();
  if (CREMA_UNLIKELY(context == nullptr)) {
    context = EnsureThreadContext();
    if (context == nullptr) return {};
  }
  SectionNode* parent = context->current.load(std::memory_order_relaxed);
  SectionNode* node = *parent->cursor;
  if (CREMA_UNLIKELY(!HasName(*node, name))) {
    node = FindOrAddChild(context, parent, name);
    if (node == nullptr) return {};
  }
  parent->cursor = &node->next_expected;
  node->cursor = &node->first_expected;
  node->uncaught_exceptions = *context->uncaught_exceptions;
  const std::uint64_t start = Ticks(context);
  node->start_ticks.store(start, std::memory_order_relaxed);
  // The sampler follows it: a section that it finds open must have its start.
  context->current.store(node, std::memory_order_release);
  return {node, start};
}

/// As `EnterSection`, and measures the thread's CPU time. The section's wall time includes both readings: each is a
/// system call, at whose end the kernel may give the core to another thread (docs/limits.md, "Measured, and easily
/// misread").
OpenSection EnterSectionWithCpu(std::string_view name) noexcept;
/// Ends what `EnterSectionWithCpu` began.
void ExitSectionWithCpu(OpenSection section) noexcept;

CREMA_ALWAYS_INLINE void AddOccurrence(SectionNode* node, std::uint64_t ticks) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  // The sampler reads in the other order: a total that has the occurrence in it comes with a section that is not open.
  node->start_ticks.store(0, kRelaxed);
  node->total_ticks.store(node->total_ticks.load(kRelaxed) + ticks, std::memory_order_release);
  node->count.store(node->count.load(kRelaxed) + 1, kRelaxed);
  if (ticks < node->min_ticks.load(kRelaxed)) node->min_ticks.store(ticks, kRelaxed);
  if (ticks > node->max_ticks.load(kRelaxed)) node->max_ticks.store(ticks, kRelaxed);
}

CREMA_ALWAYS_INLINE void ExitSectionAt(ThreadContext* context, OpenSection section, std::uint64_t now) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  SectionNode* node = section.node;
  if (CREMA_UNLIKELY(now == 0 || context == nullptr || context->current.load(kRelaxed) != node ||
                     node->start_ticks.load(kRelaxed) != section.start_ticks))
    return ExitOutOfOrder(node, section.start_ticks, now);
  AddOccurrence(node, now - section.start_ticks);
  if (CREMA_UNLIKELY(*context->uncaught_exceptions > node->uncaught_exceptions)) {
    node->failed.store(node->failed.load(kRelaxed) + 1, kRelaxed);
  }
  context->current.store(node->parent, std::memory_order_release);
  if (CREMA_UNLIKELY(context->traces)) TraceOccurrence(node, section.start_ticks, now);
}

CREMA_ALWAYS_INLINE void ExitSection(OpenSection section) noexcept {
  ThreadContext* context = ContextOfThread();
  ExitSectionAt(context, section, CREMA_LIKELY(context != nullptr) ? Ticks(context) : 0);
}

}  // namespace crema::internal

#endif  // CREMA_INTERNAL_SECTION_NODE_H_
