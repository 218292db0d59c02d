#include "chunk/suspension.h"

#include "process/wait_sampler.h"
#include "tasks/task_table.h"

namespace crema {
namespace internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// Moves a reading's start by what passed while the chunk was suspended, on whichever thread it goes on.
void Shift(MaybeInteger* start, MaybeInteger suspended, MaybeInteger resumed) {
  AddTo(start, Difference(resumed, suspended));
}

/// Leaves this time out of a section that is open and of those around it.
void LeaveOut(SectionNode* open, std::uint64_t ticks, MaybeInteger cpu_ns) {
  for (; open != nullptr && open->parent != nullptr; open = open->parent) {
    const std::uint64_t start_ticks = open->start_ticks.load(kRelaxed);
    if (open->guard_ticks == 0 && ticks != 0) open->guard_ticks = start_ticks;
    open->start_ticks.store(start_ticks + ticks, kRelaxed);
    if (open->cpu_start_ns != kUnknownCpu) {
      open->cpu_start_ns = cpu_ns.has_value() ? open->cpu_start_ns + *cpu_ns : kUnknownCpu;
    }
  }
}

}  // namespace

void ReportToOuter(OpenWork* frame, std::uint64_t now_ticks, const FrameReadings& now) noexcept {
  const FrameTime before = frame->known_to_outer;
  const FrameReadings& start = frame->at_start;
  frame->known_to_outer = {now_ticks - frame->start_ticks, Difference(now.cpu_ns, start.cpu_ns),
                           Difference(now.wait_ns, start.wait_ns), Difference(now.usage, start.usage)};
  OpenWork* const outer = frame->outer;
  if (outer == nullptr) return;
  const std::uint64_t ticks = frame->known_to_outer.ticks - before.ticks;
  const MaybeInteger more_cpu_ns = Difference(frame->known_to_outer.cpu_ns, before.cpu_ns);
  outer->inner.ticks += ticks;
  AddTo(&outer->inner.cpu_ns, more_cpu_ns);
  AddTo(&outer->inner.wait_ns, Difference(frame->known_to_outer.wait_ns, before.wait_ns));
  AddTo(&outer->inner.usage, Difference(frame->known_to_outer.usage, before.usage));
  LeaveOut(frame->outer_section, ticks, more_cpu_ns);
}

void TakeOff(ThreadState* thread, const TaskFrame& task) noexcept {
  FrameTime& inner = task.work->inner;
  const std::uint64_t ticks = Ticks(thread) - task.start_ticks - (inner.ticks - task.inner_ticks);
  inner.ticks += ticks;
  AddTo(&inner.cpu_ns, task.cpu_ns);
  AddTo(&inner.wait_ns, task.wait_ns);
  LeaveOut(thread->current.load(kRelaxed), ticks, task.cpu_ns);
}

void Suspend(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  DescriptorBudget* descriptors = &recorder->descriptors;
  Suspension suspension;
  suspension.open_section = thread->current.load(kRelaxed);
  suspension.readings.cpu_ns = ThreadCpu();
  suspension.ticks = Ticks(thread);
  suspension.readings.wait_ns = thread->ReadRunDelay(descriptors);
  suspension.readings.usage = thread->kernel.Usage();
  suspension.allocations = AllocationsOfThread(*recorder);
  ReportToOuter(state, suspension.ticks, suspension.readings);
  TakeWaits(thread, state, {});
  thread->GiveAway(state, Depth(state->outer));
  thread->Pop(state);
  PauseStacks(thread, suspension.readings.cpu_ns);
  state->owner = nullptr;
  state->outer = nullptr;
  state->suspension = suspension;
  recorder->suspended.fetch_add(1, kRelaxed);
  FreeLane(recorder, *state);
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
  state->start_ticks += pause_ticks;
  const FrameReadings& before = suspension.readings;
  Shift(&state->at_start.wait_ns, before.wait_ns, thread->ReadRunDelay(descriptors));
  const MaybeInteger cpu_ns = ThreadCpu();
  const MaybeInteger pause_cpu_ns = Difference(cpu_ns, before.cpu_ns);
  AddTo(&state->at_start.cpu_ns, pause_cpu_ns);
  AddTo(&state->at_start.usage, Difference(thread->kernel.Usage(), before.usage));
  const ThreadAllocations allocations = AllocationsOfThread(*recorder);
  Shift(&state->allocations_start.calls, suspension.allocations.calls, allocations.calls);
  Shift(&state->allocations_start.bytes, suspension.allocations.bytes, allocations.bytes);
  ResumeStacks(thread, cpu_ns);
  state->uncaught_exceptions = *thread->uncaught_exceptions;
  LeaveOut(suspension.open_section, pause_ticks, pause_cpu_ns);
  for (SectionNode* open = suspension.open_section; open != nullptr; open = open->parent) {
    open->uncaught_exceptions = *thread->uncaught_exceptions;
  }
  OccupyLane(recorder, *thread, state);
  const std::uint64_t use = state->use;  // it is the same use: guards inside it go on too
  thread->Push(state, use);
  thread->current.store(suspension.open_section, std::memory_order_release);
  return true;
}

void MakeInnermost(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  thread->Rotate(Depth(state->outer), Depth(thread->work) - 1);
  OpenWork* inside = thread->work;
  while (inside->outer != state) inside = inside->outer;
  const std::uint64_t now_ticks = Ticks(thread);
  const FrameReadings now = {ThreadCpu(), thread->ReadRunDelay(&recorder->descriptors), thread->kernel.Usage()};
  ReportToOuter(inside, now_ticks, now);
  ReportToOuter(state, now_ticks, now);  // the frame that is around it from now on gets only what comes now
  inside->outer = state->outer;
  std::swap(inside->holds_lane, state->holds_lane);
  SectionNode* const open_section = inside->outer_section;
  inside->outer_section = state->outer_section;
  const std::uint64_t use = state->use;
  thread->Push(state, use);
  thread->current.store(open_section, std::memory_order_release);
}

}  // namespace internal
}  // namespace crema
