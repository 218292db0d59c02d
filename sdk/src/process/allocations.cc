#include "process/allocations.h"

#include <stdlib.h>

#include "chunk/open_work.h"
#include "chunk/section_tree.h"
#include "chunk/thread_state.h"
#include "log/json_line.h"
#include "process/allocation_counter.h"
#include "process/environment.h"
#include "process/loaded_objects.h"
#include "process/process_recorder.h"

namespace crema::internal {

// Not in the unnamed namespace: see `t_ended`.
CREMA_THREAD_LOCAL std::uint32_t t_allocation_scopes = 0;

void* AllocateOwn(std::size_t bytes) noexcept {
  const SdkAllocationScope scope;
  return std::malloc(bytes);
}

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::int64_t kIntervalNanoseconds = 10000000000;
/// From so many chunks on there are marks at a quarter to half of them, and after the first.
constexpr std::uint64_t kChunksOfGrowth = 4;

/// Set in the copy of the SDK that the library asks, never taken back; all copies have that of their recorder.
std::atomic<const AllocationCounter*> g_counter{nullptr};
/// A library was loaded that allocates unseen.
std::atomic<bool> g_is_incomplete{false};

/// The library calls it in each allocation, so it must not allocate.
std::uint32_t SiteOfThread() {
  if (t_allocation_scopes != 0) return kOwnAllocation;
  const ThreadContext* const context = t_context;
  if (context == nullptr) return kOutsideChunks;
  if (context->allocation_scopes != 0) return kOwnAllocation;
  SectionNode* const node = context->current.load(kRelaxed);
  if (node == nullptr) return kOutsideChunks;
  const std::uint32_t site = node->allocation_site.load(kRelaxed);
  if (CREMA_LIKELY(site != 0)) return site;
  const std::uint32_t root_site = static_cast<const ThreadState*>(context)->root_site();
  return FindSite(*g_counter.load(kRelaxed), &SectionNode::allocation_site, root_site, node);
}

/// Whether the library sees what this code allocates: a program may have an allocator inside, which comes first.
bool SeesAllocations(const AllocationCounter& counter) {
  static void* (*volatile allocate)(std::size_t) = std::malloc;  // the compiler must not leave it out
  const SdkAllocationScope scope;
  const std::uint64_t before = counter.own_calls();
  void* const block = allocate(1);
  std::free(block);
  return block != nullptr && before < counter.own_calls();
}

/// In a forked child it says what the parent found: another thread of the parent may have held the lock of the list of
/// loaded files.
const char* WhyNot(const AllocationCounter& counter) {
  return counter.why_not(WasForked() ? nullptr : static_cast<OperatorNew*>(::operator new));
}

/// Sets the library, or returns why not; nothing where nobody asked for it, or another copy of the SDK has it.
std::string_view FindCounter(const AllocationCounter** found) {
  using GetCounter = const AllocationCounter* (*)();
  static GetCounter get_counter = nullptr;
  if (!WasForked()) get_counter = reinterpret_cast<GetCounter>(FindFunction(kAllocationCounterFunction));
  if (get_counter == nullptr) {
    if (!EnvironmentAsksForAllocations()) return {};
    return "the library libcrema_allocations.so was not loaded: the program, or one that started it, is linked "
           "statically or with a sanitizer, has another C library or word size, does not find the library, or changed "
           "LD_PRELOAD";
  }
  const AllocationCounter* counter = get_counter();
  if (counter->version != AllocationCounter::kVersion)
    return "the library libcrema_allocations.so is of another version than the SDK";
  if (const char* reason = WhyNot(*counter)) return reason;
  if (!counter->attach(SiteOfThread)) return {};
  g_counter.store(counter, std::memory_order_release);
  if (!SeesAllocations(*counter)) return "the program has an allocator inside, which is not seen";
  *found = counter;
  return {};
}

std::string_view RootName(const AllocationCounter& counter, std::uint32_t site) {
  while (site >= kFirstNamedSite) site = counter.site(site)->parent;
  return site == kOutsideChunks ? "process" : site == kInHelpers ? "helper" : "chunk";
}

struct Counts {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> live_bytes;
  std::optional<std::int64_t> peak_live_bytes;
  std::optional<std::int64_t> live_growth_bytes;

  void AppendTo(JsonLine* line) const {
    line->FieldUnsigned("allocations", calls);
    line->FieldUnsigned("allocated_bytes", bytes);
    line->Field("live_bytes", live_bytes);
    line->Field("peak_live_bytes", peak_live_bytes);
  }
  void AppendRowTo(JsonLine* line) const {
    AppendTo(line);
    line->Field("live_growth_bytes", live_growth_bytes);
    line->Raw("}");
  }
};

Counts CountsOf(const AllocationSite& site, bool is_live_known, bool knows_growth) {
  Counts counts;
  counts.calls = site.calls.load(kRelaxed);
  counts.bytes = site.bytes.load(kRelaxed);
  if (!is_live_known) return counts;
  counts.live_bytes = std::max<std::int64_t>(site.live_bytes.load(kRelaxed), 0);  // other threads go on meanwhile
  counts.peak_live_bytes = std::max(site.peak_live_bytes.load(kRelaxed), *counts.live_bytes);
  if (knows_growth) counts.live_growth_bytes = *counts.live_bytes - site.live_bytes_at_mark_before.load(kRelaxed);
  return counts;
}

/// Calls `visit(site, its index)` for each that may have counted something.
template <class Visit>
void ForEachSite(const AllocationCounter& counter, Visit visit) {
  const std::uint32_t count = counter.site_count();
  for (std::uint32_t i = kOutsideChunks; i < count; ++i) {
    if (i != kAllocationProbe && counter.site(i)->calls.load(kRelaxed) != 0) visit(*counter.site(i), i);
  }
}

void AppendRows(const AllocationCounter& counter, bool is_live_known, bool knows_growth, JsonLine* line) {
  Counts rest;  // of sites whose rows would make the line too long; peaks of several do not add up
  rest.live_bytes = 0;
  line->Raw(",\"sites\":[");
  ForEachSite(counter, [&](const AllocationSite& site, std::uint32_t index) {
    const Counts counts = CountsOf(site, is_live_known, knows_growth);
    if (line->size() > kMaxLineBytes / 2) {
      rest.calls += counts.calls;
      rest.bytes += counts.bytes;
      rest.live_bytes = is_live_known ? *rest.live_bytes + *counts.live_bytes : std::optional<std::int64_t>();
      return;
    }
    line->Raw(line->EndsWith('[') ? std::string_view("{\"path\":\"") : std::string_view(",{\"path\":\""));
    AppendSitePath(counter, index, line);
    line->Raw("\"");
    line->FieldText("of", RootName(counter, index));
    counts.AppendRowTo(line);
  });
  if (rest.calls != 0) {
    line->Raw(",{\"path\":\"(other)\",\"of\":\"chunk\"");
    rest.AppendRowTo(line);
  }
  line->Raw("]");
}

void BeginLine(const Recorder& recorder, std::int64_t now_ns, bool is_last, JsonLine* line) {
  line->Raw("{\"type\":\"allocations\"");
  line->Field("time_ns", recorder.clock.UnixNanoseconds(now_ns));
  line->Raw(is_last ? std::string_view(",\"last\":true") : std::string_view(",\"last\":false"));
}

void WriteWhyNot(Recorder* recorder, std::string_view why_not, std::int64_t now_ns, bool is_last) {
  JsonLine line;
  BeginLine(*recorder, now_ns, is_last, &line);
  line.FieldText("reason", why_not);
  line.Raw(",\"allocations\":null,\"allocated_bytes\":null,\"live_bytes\":null,\"peak_live_bytes\":null");
  line.Raw(",\"cost_ns\":null,\"sites\":[]}\n");
  recorder->log.Write(line);
}

void WriteCounts(Recorder* recorder, std::int64_t now_ns, bool is_last) {
  const AllocationCounter& counter = *recorder->allocation_counter;
  if (const char* why_not = WhyNot(counter)) {
    g_is_incomplete.store(true, kRelaxed);
    return WriteWhyNot(recorder, why_not, now_ns, is_last);
  }
  const bool is_live_known = counter.blocks_lost() == 0;
  Counts all = CountsOf(*counter.site(kWholeProcess), is_live_known, false);
  ForEachSite(counter, [&](const AllocationSite& site, std::uint32_t) {
    all.calls += site.calls.load(kRelaxed);
    all.bytes += site.bytes.load(kRelaxed);
  });
  JsonLine line;
  BeginLine(*recorder, now_ns, is_last, &line);
  line.FieldText("reason", is_live_known ? std::string_view() : "the end of some blocks was not seen");
  all.AppendTo(&line);
  line.Field("cost_ns", AllocationCostNanoseconds(*recorder));
  AppendRows(counter, is_live_known, recorder->chunks.load(kRelaxed) >= kChunksOfGrowth, &line);
  line.Raw("}\n");
  recorder->log.Write(line);
}

}  // namespace

void StartAllocations(Recorder* recorder) noexcept {
  const AllocationCounter* counter = nullptr;
  const std::string_view why_not = FindCounter(&counter);
  if (!why_not.empty()) WriteWhyNot(recorder, why_not, MonotonicNanoseconds(), true);
  if (counter == nullptr) return;
  recorder->allocation_cost_ns = counter->measure_cost_ns();
  recorder->allocation_counter = counter;
  recorder->allocations_due_ns.store(0);
  WriteAllocationsWhenDue(recorder, MonotonicNanoseconds());
}

ThreadAllocations AllocationsOfThread(const Recorder& recorder) noexcept {
  if (CREMA_LIKELY(recorder.allocations_due_ns.load(std::memory_order_acquire) == kNeverDue)) return {};
  if (g_is_incomplete.load(kRelaxed)) return {};
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  recorder.allocation_counter->thread_counts(&calls, &bytes);
  return {static_cast<std::int64_t>(calls), static_cast<std::int64_t>(bytes)};
}

void WriteAllocationsWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept {
  std::int64_t due_ns = recorder->allocations_due_ns.load(kRelaxed);
  if (CREMA_LIKELY(now_ns < due_ns) || recorder->log.limits().is_stopped()) return;  // what room is left is for sums
  if (!recorder->allocations_due_ns.compare_exchange_strong(due_ns, now_ns + kIntervalNanoseconds)) return;
  if (recorder->allocation_counter != nullptr) WriteCounts(recorder, now_ns, false);
}

void NoteChunkOfAllocations(Recorder* recorder, std::uint64_t chunks, std::int64_t now_ns) noexcept {
  if (CREMA_LIKELY(recorder->allocations_due_ns.load(std::memory_order_acquire) == kNeverDue)) return;
  if ((chunks & (chunks - 1)) == 0) recorder->allocation_counter->mark();
  WriteAllocationsWhenDue(recorder, now_ns);
}

void WriteAllocations(Recorder* recorder, bool is_last) noexcept {
  if (recorder->allocations_due_ns.load(std::memory_order_acquire) == kNeverDue) return;
  if (!is_last && recorder->log.limits().is_stopped()) return;
  WriteCounts(recorder, MonotonicNanoseconds(), is_last);
}

std::int64_t AllocationCostNanoseconds(const Recorder& recorder) noexcept {
  if (recorder.allocation_cost_ns == 0) return 0;
  std::uint64_t calls = 0;
  ForEachSite(*recorder.allocation_counter,
              [&calls](const AllocationSite& site, std::uint32_t) { calls += site.calls.load(kRelaxed); });
  return static_cast<std::int64_t>(calls) * recorder.allocation_cost_ns;
}

void SetAllocationSite(const Recorder& recorder, HelperState* helper) noexcept {
  if (recorder.allocations_due_ns.load(std::memory_order_acquire) == kNeverDue) return;
  const AllocationCounter* const counter = recorder.allocation_counter;
  helper->data.sections().root()->allocation_site.store(HelperSite(*counter, helper->section), kRelaxed);
}

}  // namespace crema::internal
