#include "suspension.h"

namespace crema {
namespace internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// Moves a reading's start by what passed while the chunk was suspended, on whichever thread it goes on.
void Shift(MaybeInteger* start, MaybeInteger suspended, MaybeInteger resumed) {
  AddTo(start, Difference(resumed, suspended));
}

}  // namespace

void TellOuter(ChunkState* state, MaybeInteger cpu_ns, MaybeInteger wait_ns) noexcept {
  const MaybeInteger chunk_cpu_ns = Difference(cpu_ns, state->cpu_start_ns);
  const MaybeInteger chunk_wait_ns = Difference(wait_ns, state->wait_start_ns);
  if (state->outer != nullptr) {
    AddTo(&state->outer->inner_cpu_ns, Difference(chunk_cpu_ns, state->told_outer_cpu_ns));
    AddTo(&state->outer->inner_wait_ns, Difference(chunk_wait_ns, state->told_outer_wait_ns));
  }
  state->told_outer_cpu_ns = chunk_cpu_ns;
  state->told_outer_wait_ns = chunk_wait_ns;
}

void Suspend(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  DescriptorBudget* descriptors = &recorder->descriptors;
  Suspension suspension;
  suspension.open_section = thread->current.load(kRelaxed);
  suspension.cpu_ns = ThreadCpu();
  suspension.wait_ns = thread->kernel.RunDelayNanoseconds(descriptors);
  suspension.read_bytes = thread->kernel.ReadBytes();
  suspension.allocations = AllocationsOfThread(*recorder);
  suspension.ticks = Ticks(thread);
  TellOuter(state, suspension.cpu_ns, suspension.wait_ns);
  thread->GiveAway(state, Depth(state->outer));
  thread->Pop(state);
  PauseStacks(thread);
  state->owner = nullptr;
  state->outer = nullptr;
  state->suspension = suspension;
  recorder->suspended.fetch_add(1, kRelaxed);
  FreeLane(recorder);
}

bool Resume(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  if (!thread->TakeOver(recorder, state)) return false;
  TakeStacks(recorder, thread);
  DescriptorBudget* descriptors = &recorder->descriptors;
  const Suspension suspension = *state->suspension;
  state->suspension.reset();
  recorder->suspended.fetch_sub(1, kRelaxed);
  const std::uint64_t pause_ticks = Ticks(thread) - suspension.ticks;
  state->suspended_ticks += pause_ticks;
  const MaybeInteger pause_cpu_ns = Difference(ThreadCpu(), suspension.cpu_ns);
  AddTo(&state->cpu_start_ns, pause_cpu_ns);
  Shift(&state->wait_start_ns, suspension.wait_ns, thread->kernel.RunDelayNanoseconds(descriptors));
  Shift(&state->read_start_bytes, suspension.read_bytes, thread->kernel.ReadBytes());
  const ThreadAllocations allocations = AllocationsOfThread(*recorder);
  Shift(&state->allocations_start.calls, suspension.allocations.calls, allocations.calls);
  Shift(&state->allocations_start.bytes, suspension.allocations.bytes, allocations.bytes);
  state->uncaught_exceptions = *thread->uncaught_exceptions;
  for (SectionNode* open = suspension.open_section; open != nullptr && open->parent != nullptr; open = open->parent) {
    const std::uint64_t start_ticks = open->start_ticks.load(kRelaxed);
    if (open->guard_ticks == 0 && pause_ticks != 0) open->guard_ticks = start_ticks;
    open->start_ticks.store(start_ticks + pause_ticks, kRelaxed);
    if (open->cpu_start_ns != kUnknownCpu) {
      open->cpu_start_ns = pause_cpu_ns.has_value() ? open->cpu_start_ns + *pause_cpu_ns : kUnknownCpu;
    }
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
  // When `inside` ends, the frames around it learn of the rest.
  AddTo(&state->inner_cpu_ns, Difference(ThreadCpu(), inside->cpu_start_ns));
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
