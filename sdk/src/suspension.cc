#include "suspension.h"

#include <optional>

namespace crema {
namespace internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

using MaybeInteger = std::optional<std::int64_t>;

/// Moves a reading's start by what passed while the chunk was suspended, on whichever thread it goes on.
void Shift(MaybeInteger* start, MaybeInteger suspended, MaybeInteger resumed) {
  *start = start->has_value() && suspended.has_value() && resumed.has_value()
               ? MaybeInteger(**start + *resumed - *suspended)
               : std::nullopt;
}

MaybeInteger Since(MaybeInteger start, MaybeInteger now) {
  return start.has_value() && now.has_value() ? MaybeInteger(*now - *start) : std::nullopt;
}

/// Tells the frame around a chunk which of its time was the chunk's, up to now.
void TellOuter(ChunkState* state, std::int64_t cpu_ns, MaybeInteger wait_ns) {
  const std::int64_t chunk_cpu_ns = cpu_ns - state->cpu_start_ns;
  const std::int64_t chunk_wait_ns = Since(state->wait_start_ns, wait_ns).value_or(state->told_outer_wait_ns);
  if (state->outer != nullptr) {
    state->outer->inner_cpu_ns += chunk_cpu_ns - state->told_outer_cpu_ns;
    state->outer->inner_wait_ns += chunk_wait_ns - state->told_outer_wait_ns;
  }
  state->told_outer_cpu_ns = chunk_cpu_ns;
  state->told_outer_wait_ns = chunk_wait_ns;
}

}  // namespace

void Suspend(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  DescriptorBudget* descriptors = &recorder->descriptors;
  Suspension suspension;
  suspension.open_section = thread->current.load(kRelaxed);
  suspension.cpu_ns = ThreadCpuNanoseconds();
  suspension.wait_ns = thread->kernel.RunDelayNanoseconds(descriptors);
  suspension.read_bytes = thread->kernel.ReadBytes();
  suspension.allocations = AllocationsOfThread(*recorder);
  suspension.ticks = Ticks(thread);
  TellOuter(state, suspension.cpu_ns, suspension.wait_ns);
  thread->GiveAway(state, Depth(state->outer));
  thread->Pop(state);
  PauseStacks(thread, suspension.cpu_ns);
  state->owner = nullptr;
  state->outer = nullptr;
  state->suspension = suspension;
  recorder->suspended.fetch_add(1, kRelaxed);
  FreeLane(recorder);
}

bool Resume(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  if (!thread->TakeOver(recorder, state)) return false;
  ArmStacks(recorder, thread);
  DescriptorBudget* descriptors = &recorder->descriptors;
  const Suspension suspension = *state->suspension;
  state->suspension.reset();
  recorder->suspended.fetch_sub(1, kRelaxed);
  const std::uint64_t pause_ticks = Ticks(thread) - suspension.ticks;
  state->suspended_ticks += pause_ticks;
  const std::int64_t cpu_ns = ThreadCpuNanoseconds();
  Shift(&state->wait_start_ns, suspension.wait_ns, thread->kernel.RunDelayNanoseconds(descriptors));
  Shift(&state->read_start_bytes, suspension.read_bytes, thread->kernel.ReadBytes());
  const ThreadAllocations allocations = AllocationsOfThread(*recorder);
  Shift(&state->allocations_start.calls, suspension.allocations.calls, allocations.calls);
  Shift(&state->allocations_start.bytes, suspension.allocations.bytes, allocations.bytes);
  ResumeStacks(thread, cpu_ns);
  state->cpu_start_ns += cpu_ns - suspension.cpu_ns;
  state->uncaught_exceptions = *thread->uncaught_exceptions;
  for (SectionNode* open = suspension.open_section; open != nullptr && open->parent != nullptr; open = open->parent) {
    const std::uint64_t start_ticks = open->start_ticks.load(kRelaxed);
    if (open->guard_ticks == 0 && pause_ticks != 0) open->guard_ticks = start_ticks;
    open->start_ticks.store(start_ticks + pause_ticks, kRelaxed);
    open->cpu_start_ns += cpu_ns - suspension.cpu_ns;
    open->uncaught_exceptions = *thread->uncaught_exceptions;
  }
  const std::uint64_t use = state->use;  // it is the same use: guards inside it go on too
  thread->Push(state);
  state->use = use;
  thread->current.store(suspension.open_section, std::memory_order_release);
  OccupyLane(recorder);
  return true;
}

void MakeInnermost(ThreadState* thread, ChunkState* state) noexcept {
  thread->Rotate(Depth(state->outer), Depth(thread->work) - 1);
  WorkFrame* inside = thread->work;
  while (inside->outer != state) inside = inside->outer;
  const std::int64_t cpu_ns = ThreadCpuNanoseconds();
  state->inner_cpu_ns += cpu_ns - inside->cpu_start_ns;  // `inside` tells those around it of the rest when it ends
  inside->outer = state->outer;
  SectionNode* const open_section = inside->outer_section;
  inside->outer_section = state->outer_section;
  const std::uint64_t use = state->use;
  thread->Push(state);
  state->use = use;
  thread->current.store(open_section, std::memory_order_release);
}

}  // namespace internal
}  // namespace crema
