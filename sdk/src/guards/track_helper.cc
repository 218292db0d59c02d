#include "crema/track_helper.h"

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "process/allocations.h"
#include "process/gpu.h"
#include "process/process_recorder.h"
#include "process/wait_sampler.h"

namespace crema {
namespace {

using namespace internal;

/// Whether the thread works for the chunk already: as its owner, or as a helper further out.
bool WorksFor(const ThreadState& thread, const ChunkHandle& handle) {
  for (const OpenWork* work = thread.work; work != nullptr; work = work->outer) {
    if (work == handle.state) return true;
    if (work->is_helper && static_cast<const HelperState*>(work)->chunk == handle.state) return true;
  }
  return false;
}

/// Notes the scope with the chunk; false when the chunk is over, or memory is refused.
bool Join(const Recorder& recorder, const ChunkHandle& handle, HelperState* helper) {
  ChunkState* chunk = handle.state;
  const std::lock_guard<std::mutex> lock(chunk->helpers_mutex);
  if (chunk->generation.load() != handle.generation) return false;
  JsonLine prefix;
  AppendPath(handle.section, &prefix);
  if (prefix.broken() || !helper->data.Keep(prefix.text(), &helper->prefix)) return false;
  helper->chunk = chunk;
  helper->generation = handle.generation;
  helper->section = handle.section;
  SetAllocationSite(recorder, helper);
  SetGpuPlace(recorder, helper);
  const Instant now = recorder.clock.Now();
  helper->start_ns = now.monotonic_ns;
  helper->start_ticks = now.ticks;
  if (chunk->active_helpers++ == 0) chunk->union_start_ns = helper->start_ns;
  return true;
}

/// Adds what the helper did; false when the chunk is over.
bool Leave(const Recorder& recorder, HelperState* helper, std::int64_t stop_ns) {
  ChunkState* chunk = helper->chunk;
  const std::lock_guard<std::mutex> lock(chunk->helpers_mutex);
  if (chunk->generation.load() != helper->generation) return false;
  chunk->helper_scope_ns += stop_ns - helper->start_ns;
  if (helper->inner.ticks != 0) chunk->helper_scope_ns -= recorder.clock.Rate().Nanoseconds(helper->inner.ticks);
  if (--chunk->active_helpers == 0) chunk->helper_union_ns += stop_ns - chunk->union_start_ns;
  AddTo(&chunk->helper_cpu_ns, Difference(helper->known_to_outer.cpu_ns, helper->inner.cpu_ns));
  AddTo(&chunk->helper_wait_ns, Difference(helper->known_to_outer.wait_ns, helper->inner.wait_ns));
  chunk->helpers.sections().Merge(&helper->data.sections(), helper->section);
  for (TraceRow occurrence : helper->data.trace()) {
    occurrence.node = chunk->helpers.sections().Counterpart(occurrence.node, helper->section);
    if (occurrence.node != nullptr) {
      chunk->helpers.AddTrace(occurrence);
    } else {
      chunk->helpers.CountTraceDropped();
    }
  }
  chunk->helpers.MergeTables(helper->data);
  return true;
}

/// Recording was switched off: what the helper did is not known.
void LeaveUnmeasured(Recorder* recorder, ThreadState* thread, HelperState* helper) {
  thread->Pop(helper, 0);
  FreeLane(recorder, *helper);
  const std::lock_guard<std::mutex> lock(helper->chunk->helpers_mutex);
  if (helper->chunk->generation.load() != helper->generation) return;
  --helper->chunk->active_helpers;
  helper->chunk->helper_cpu_ns.reset();
  helper->chunk->helper_wait_ns.reset();
}

}  // namespace

TrackHelper::TrackHelper(const ChunkHandle& handle) noexcept {
  if (handle.state == nullptr || !Recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr || handle.state->recorder_pid != recorder->pid) return;
  EndAbandoned(recorder, thread);
  if (WorksFor(*thread, handle)) return;
  HelperState* helper = thread->NewHelperFrame();
  if (helper != nullptr) helper->data.Reset();
  if (helper == nullptr || !Join(*recorder, handle, helper)) {
    CountDropped();
    return;
  }
  OccupyLane(recorder, *thread, helper);
  helper->activities.Clear();
  helper->inner = helper->known_to_outer = {};
  helper->guard_is_gone.store(false);
  // Only a frame around this one needs to know what else the kernel counts.
  helper->at_start.usage = thread->work == nullptr ? ThreadUsage() : thread->kernel.Usage();
  helper->at_start.wait_ns = thread->ReadRunDelay(&recorder->descriptors);
  helper->at_start.cpu_ns = ThreadCpu();
  thread->Push(helper, helper->start_ns);
  scope_ = helper;
  use_ = helper->use;
}

TrackHelper::~TrackHelper() {
  if (scope_ == nullptr) return;
  const ErrnoAndCancelGuard guard;
  auto* helper = static_cast<HelperState*>(scope_);
  Recorder* recorder = CurrentRecorder();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (recorder == nullptr || thread == nullptr || helper->use != use_) return;
  if (thread->work != helper) {
    // Also in a forked child, where the scope is the parent's and there is nothing to say.
    if (helper->chunk->recorder_pid == recorder->pid) {
      helper->guard_is_gone.store(true);
      CountMisuse("a helper scope ended on another thread, or before a guard inside it: it is not recorded");
    }
    return;
  }
  if (IsSwitchedOff()) {
    LeaveUnmeasured(recorder, thread, helper);
    return;
  }
  FrameReadings at_stop;
  at_stop.cpu_ns = ThreadCpu();
  const Instant stop = recorder->clock.Now();
  at_stop.wait_ns = thread->ReadRunDelay(&recorder->descriptors);
  if (helper->outer != nullptr) at_stop.usage = thread->kernel.Usage();
  TakeWaits(thread, helper, helper->prefix);
  SectionNode* const root = helper->data.sections().root();
  while (thread->current.load(std::memory_order_relaxed) != root) {
    SectionNode* open = thread->current.load(std::memory_order_relaxed);
    ExitSection({open, open->start_ticks.load(std::memory_order_relaxed)});
  }
  thread->Pop(helper, stop.monotonic_ns);
  ReportToOuter(helper, stop.ticks, at_stop);
  FreeLane(recorder, *helper);
  if (!Leave(*recorder, helper, stop.monotonic_ns)) CountDropped();
}

}  // namespace crema
