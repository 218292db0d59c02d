#include "crema/track_metrics.h"

#include "chunk/chunk_line.h"
#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "log/log_file.h"
#include "process/allocations.h"
#include "process/exit_and_fork.h"
#include "process/gpu.h"
#include "process/process_recorder.h"
#include "process/wait_sampler.h"
#include "stacks/native_stacks.h"

namespace crema {
namespace internal {
namespace {

constexpr std::string_view kNestedChunk = "(chunk)";

bool IsOpen(const ChunkState* state, std::uint64_t generation) {
  return (generation & 1) != 0 && state->generation.load(std::memory_order_acquire) == generation;
}

/// The chunk's own part of what a counter rose by, which does not fall below 0.
MaybeInteger Rise(MaybeInteger stop, MaybeInteger start, MaybeInteger inner = 0) {
  const MaybeInteger rise = Difference(Difference(stop, start), inner);
  return rise.has_value() && *rise < 0 ? 0 : rise;
}

ThreadUsage Rise(const ThreadUsage& stop, const ThreadUsage& start, const ThreadUsage& inner) {
  return {Rise(stop.read_bytes, start.read_bytes, inner.read_bytes),
          Rise(stop.system_cpu_ns, start.system_cpu_ns, inner.system_cpu_ns),
          Rise(stop.minor_faults, start.minor_faults, inner.minor_faults),
          Rise(stop.major_faults, start.major_faults, inner.major_faults)};
}

/// Ends sections that were left open inside the chunk, so that its times close.
void CloseSections(ThreadState* thread, const OpenWork& frame, std::uint64_t now_ticks) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  SectionNode* const root = const_cast<ChunkData&>(frame.data).sections().root();
  SectionNode* open = thread->current.load(kRelaxed);
  if (open != root) CountMisuse("a chunk ended before the sections inside it: they were ended with it");
  for (; open != root && open->parent != nullptr; open = open->parent) AddOpenOccurrence(open, now_ticks);
  thread->current.store(root, kRelaxed);
}

void Begin(Recorder* recorder, ThreadState* thread, const Chunk& chunk, ChunkState* state) {
  thread->finished = {};
  PrepareChunk(recorder, thread, chunk, state);
  state->log = LogForChunk(recorder, thread);
  const std::int64_t others = recorder->open_chunks.fetch_add(1, std::memory_order_relaxed);
  state->generation.fetch_add(1);  // odd: open. From here on others raise the peak; until here, our own count does
  if (UnannouncedCpu::IsToSettle(others)) recorder->unannounced.Settle(recorder, state);
  OccupyLane(recorder, *thread, state);
  RaiseTo(&state->lanes_peak, recorder->lanes.load(), std::memory_order_seq_cst);

  ArmStacks(recorder, thread);
  DescriptorBudget* descriptors = &recorder->descriptors;
  state->rss_start_bytes = recorder->rss.Bytes(MonotonicNanoseconds(), thread->tid, &thread->kernel, descriptors);
  state->data.SawRss(state->rss_start_bytes.value_or(-1));
  state->at_start.usage = thread->kernel.Usage(&state->rss_peak_start_bytes);
  state->allocations_start = AllocationsOfThread(*recorder);
  // CPU time and run delay are read inside the duration: so they never add up to more than it.
  state->start = recorder->clock.Now();
  state->start_ticks = state->start.ticks;
  state->at_start.wait_ns = thread->ReadRunDelay(descriptors);
  state->at_start.cpu_ns = ThreadCpu();
  ResumeStacks(thread, state->at_start.cpu_ns);
  thread->Push(state, state->start.monotonic_ns);
  if (recorder->log.limits().is_stopped()) return;
  EncodeBegin(*recorder, state, &thread->line);
  state->has_begin_line = state->log->log.WriteOfChunk(thread->line, state->start.monotonic_ns);
}

/// Writes the chunk's line, or where that cannot be adds it to the sums.
void Write(Recorder* recorder, ThreadState* thread, ChunkState* state, const ChunkEnd& end) {
  EncodeChunk(*recorder, end, state, &thread->line);  // in any case: it decides which sections are handed out
  if (state->log->log.WriteOfChunk(thread->line, end.stop.monotonic_ns)) return;
  state->log->sums.Add(recorder, state, end);
}

/// Ends the chunk and writes its record. On the chunk's own thread, with the chunk innermost.
void End(Recorder* recorder, ThreadState* thread, ChunkState* state) {
  ChunkEnd end;
  DescriptorBudget* descriptors = &recorder->descriptors;
  FrameReadings at_stop;
  at_stop.cpu_ns = ThreadCpu();
  end.stop = recorder->clock.Now();
  at_stop.wait_ns = thread->ReadRunDelay(descriptors);
  end.rss_stop_bytes = recorder->rss.Bytes(end.stop.monotonic_ns, thread->tid, &thread->kernel, descriptors);
  MaybeInteger rss_peak_bytes;
  at_stop.usage = thread->kernel.Usage(&rss_peak_bytes);
  end.usage = Rise(at_stop.usage, state->at_start.usage, state->inner.usage);
  const ThreadAllocations allocations = AllocationsOfThread(*recorder);
  end.allocations = Rise(allocations.calls, state->allocations_start.calls);
  end.allocated_bytes = Rise(allocations.bytes, state->allocations_start.bytes);
  end.cpu_ns = Rise(at_stop.cpu_ns, state->at_start.cpu_ns, state->inner.cpu_ns);
  end.wait_ns = Rise(at_stop.wait_ns, state->at_start.wait_ns, state->inner.wait_ns);
  if (end.usage.system_cpu_ns > end.cpu_ns) end.usage.system_cpu_ns = end.cpu_ns;  // the ticks' division is coarse
  end.rate = recorder->clock.Rate(state->start, end.stop);
  end.duration_ns = end.rate.Nanoseconds(end.stop.ticks - state->start.ticks);
  end.suspended_ns = end.rate.Nanoseconds(state->suspended_ticks);
  end.inner_ns = end.rate.Nanoseconds(state->inner.ticks);
  CloseSections(thread, *state, end.stop.ticks);
  state->data.SawRss(end.rss_stop_bytes.value_or(-1));
  // The kernel's own peak, where this chunk raised it: between two readings more may have been in use.
  if (rss_peak_bytes > state->rss_peak_start_bytes) state->data.SawRss(*rss_peak_bytes);
  TakeWaits(thread, state, {});
  thread->Pop(state, end.stop.monotonic_ns);
  PauseStacks(thread, at_stop.cpu_ns);
  ReportToOuter(state, end.stop.ticks, at_stop);
  {
    const std::lock_guard<std::mutex> lock(state->helpers_mutex);
    if (state->active_helpers > 0) {
      state->helper_union_ns += end.stop.monotonic_ns - state->union_start_ns;
      state->active_helpers = 0;
    }
    state->generation.fetch_add(1);  // even: closed
    for (const TraceRow& occurrence : state->helpers.trace()) state->data.AddTrace(occurrence);
    state->data.MergeTables(state->helpers);
  }
  FreeLane(recorder, *state);
  end.open_chunks = recorder->open_chunks.fetch_sub(1, std::memory_order_relaxed);
  if (UnannouncedCpu::IsToSettle(end.open_chunks - 1)) recorder->unannounced.Settle(recorder, nullptr);
  const std::uint64_t chunks = state->log->chunks.fetch_add(1, std::memory_order_relaxed) + 1;
  if (state->failed) state->log->failed.fetch_add(1, std::memory_order_relaxed);
  if (recorder->summary != nullptr) recorder->summary->Add(state, end);
  Write(recorder, thread, state, end);
  WriteSumsWhenDue(recorder, end.stop.monotonic_ns);
  recorder->stacks.WriteWhenDue(recorder, end.stop.monotonic_ns);
  NoteChunkOfAllocations(recorder, chunks, end.stop.monotonic_ns);
  WriteGpuWhenDue(recorder, end.stop.monotonic_ns);
  thread->finished = {state, end.rate, end.own_ns()};
  if (state->data.dropped() != 0) recorder->dropped.fetch_add(state->data.dropped(), std::memory_order_relaxed);
  const std::uint64_t sections = state->data.sections().Occurrences() + state->helpers.sections().Occurrences();
  const MaybeInteger cost_ns =
      thread->end_cost.IsNextMeasured() ? Difference(ThreadCpu(), at_stop.cpu_ns) : std::nullopt;
  recorder->overhead_ns.fetch_add(thread->end_cost.Nanoseconds(cost_ns) +
                                      static_cast<std::int64_t>(sections) * recorder->section_cost_ns +
                                      static_cast<std::int64_t>(state->data.Requests()) * recorder->request_cost_ns,
                                  std::memory_order_relaxed);
}

/// The chunk ends while recording is switched off: it is counted, and has no line.
void EndUnmeasured(Recorder* recorder, ThreadState* thread, ChunkState* state) {
  const bool is_suspended = state->suspension.has_value();
  if (!is_suspended && (thread == nullptr || thread != state->owner)) return state->guard_is_gone.store(true);
  if (is_suspended) recorder->suspended.fetch_sub(1, std::memory_order_relaxed);
  state->suspension.reset();
  while (!is_suspended && thread->Holds(state)) {
    FreeLane(recorder, *thread->work);
    thread->Pop(thread->work, 0);
  }
  recorder->open_chunks.fetch_sub(1, std::memory_order_relaxed);
  state->log->chunks.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard<std::mutex> lock(state->helpers_mutex);
  state->generation.fetch_add(1);
}

/// The chunk that the thread works for, its own or another's; null where there is none.
OpenWork* CurrentWork() {
  auto* thread = static_cast<ThreadState*>(t_context);
  return thread == nullptr ? nullptr : thread->work;
}

bool IsUnnamed(const Chunk& chunk) { return chunk.file.empty() && !chunk.entry_start.has_value(); }

/// Whether a chunk begun inside `work` is the same one, named again by an inner layer of the program. If there is no
/// memory to compare them, it counts the chunk as dropped, and says yes.
bool IsSameChunk(const OpenWork* work, const Recorder& recorder, const ThreadState& thread, const Chunk& chunk,
                 ChunkState* scratch) {
  if (IsUnnamed(chunk)) return true;
  if (work->is_helper) return false;
  EncodeIdentity(recorder, thread, chunk, scratch);
  if (scratch->identity.broken()) {  // as another chunk the same events would count twice
    CountDropped();
    return true;
  }
  return scratch->identity.text() == static_cast<const ChunkState*>(work)->identity.text();
}

}  // namespace

void PrepareChunk(Recorder* recorder, ThreadState* thread, const Chunk& chunk, ChunkState* state,
                  bool is_summed) noexcept {
  state->data.Reset();
  state->helpers.Reset();
  state->number = recorder->next_chunk.fetch_add(1, std::memory_order_relaxed);
  state->log = recorder;
  state->recorder_pid.store(recorder->pid, std::memory_order_relaxed);
  state->uncaught_exceptions = *thread->uncaught_exceptions;
  state->events = -1;
  state->failed = false;
  state->reason = {};
  state->inner = state->known_to_outer = {};
  state->helper_scope_ns = state->helper_union_ns = 0;
  state->helper_cpu_ns = state->helper_wait_ns = 0;
  state->active_helpers = 0;
  state->activities.Clear();
  state->guard_is_gone.store(false);
  state->suspension.reset();
  state->suspended_ticks = 0;
  state->gpu_dataset.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < chunk.attribute_count; ++i) {
    const bool is_kept =
        i < Chunk::kMaxAttributes && !chunk.attributes[i].name.is_lost() && !chunk.attributes[i].value.is_lost();
    if (is_kept) {
      state->data.SetAttribute(chunk.attributes[i].name, chunk.attributes[i].value);
    } else {
      state->data.CountDropped();
    }
  }
  for (const internal::OwnedText* text : {&chunk.dataset, &chunk.file, &chunk.tree, &chunk.pass}) {
    if (text->is_lost()) state->data.CountDropped();
  }
  EncodeIdentity(*recorder, *thread, chunk, state, is_summed);
  state->file_is_lost = !state->data.Keep(CutOnCodePoint(chunk.file, kMaxPathBytes), &state->file);
  state->has_begin_line = state->is_detached = false;
  state->lanes_peak.store(0);
  state->unannounced_cpu_ns.store(kNeverAlone, std::memory_order_relaxed);
  state->children_cpu_ns.store(kNeverAlone, std::memory_order_relaxed);
}

void FailChunk(ChunkState* state, std::string_view reason) noexcept {
  state->failed = true;
  if (!state->reason.empty() || state->data.Keep(CutOnCodePoint(reason, kMaxErrorBytes), &state->reason)) return;
  state->data.CountDropped();
  state->reason = "failed; there was no memory to keep the reason";
}

void EndAbandoned(Recorder* recorder, ThreadState* thread) noexcept {
  while (thread->work != nullptr && thread->work->guard_is_gone.load()) {
    if (thread->work->is_helper) {
      FreeLane(recorder, *thread->work);
      thread->Pop(thread->work, MonotonicNanoseconds());
    } else {  // as late as this: nobody else may touch what its thread works with
      End(recorder, thread, static_cast<ChunkState*>(thread->work));
    }
  }
}

}  // namespace internal

using namespace internal;

TrackMetrics::TrackMetrics(const Chunk& chunk) noexcept {
  if (!Recording()) return;
  const ErrnoAndCancelGuard guard;
  if (CurrentRecorder() == nullptr && !Recording()) return;  // a child of clone(2) has yet to begin its own
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  EndAbandoned(recorder, thread);
  ChunkState* state = thread->NewChunkFrame();
  const bool is_lost = state == nullptr && (thread->work == nullptr || !IsUnnamed(chunk));  // too deep, or no memory
  if (is_lost) CountDropped();
  if (state == nullptr || (thread->work != nullptr && IsSameChunk(thread->work, *recorder, *thread, chunk, state))) {
    nested_ = EnterSection(kNestedChunk);
    return;
  }
  const MaybeInteger entry_ns = thread->begin_cost.IsNextMeasured() ? ThreadCpu() : std::nullopt;
  Begin(recorder, thread, chunk, state);
  state_ = state;
  generation_ = state->generation.load(std::memory_order_relaxed);
  const MaybeInteger cost_ns = entry_ns.has_value() ? Difference(ThreadCpu(), entry_ns) : std::nullopt;
  recorder->overhead_ns.fetch_add(thread->begin_cost.Nanoseconds(cost_ns), std::memory_order_relaxed);
}

TrackMetrics::~TrackMetrics() {
  if (nested_.node != nullptr) ExitSection(nested_);
  if (state_ == nullptr || !IsOpen(state_, generation_)) return;
  const ErrnoAndCancelGuard guard;
  Recorder* recorder = CurrentRecorder();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (recorder == nullptr || recorder->pid != state_->recorder_pid) return;  // a fork's copy: the chunk is the parent's
  if (IsSwitchedOff()) {
    EndUnmeasured(recorder, thread, state_);
    return;
  }
  if (state_->suspension.has_value()) Resume();
  if (state_->suspension.has_value()) return;  // that was not possible: it stays open
  if (thread != state_->owner) {
    if (t_ended) return;  // open when its thread or the process ended
    state_->guard_is_gone.store(true);
    CountMisuse("a chunk ended on another thread than it began on: it lasts until its own goes on (see Suspend)");
    return;
  }
  if (*thread->uncaught_exceptions > state_->uncaught_exceptions) FailChunk(state_, "exception");
  while (thread->work != state_) {  // chunks or helper scopes inside that are still open: not this one's order
    if (thread->work->is_helper) {
      CountMisuse("a chunk ended before the helper scope inside it: that one is not recorded");
      FreeLane(recorder, *thread->work);
      thread->Pop(thread->work, MonotonicNanoseconds());
      continue;
    }
    CountMisuse("a chunk ended before the chunk inside it, on the same thread: their times overlap (see Suspend)");
    MakeInnermost(recorder, thread, state_);
  }
  End(recorder, thread, state_);
}

void TrackMetrics::Suspend() noexcept {
  if (state_ == nullptr || !IsOpen(state_, generation_)) return;
  const ErrnoAndCancelGuard guard;
  Recorder* recorder = CurrentRecorder();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (recorder == nullptr || recorder->pid != state_->recorder_pid || state_->suspension.has_value()) return;
  if (IsSwitchedOff()) return EndUnmeasured(recorder, thread, state_);
  if (thread == nullptr || thread->work != state_)
    return CountMisuse("a chunk was suspended on another thread, or with a chunk open inside it: it stays where it is");
  internal::Suspend(recorder, thread, state_);
}

void TrackMetrics::Resume() noexcept {
  if (state_ == nullptr || !IsOpen(state_, generation_) || !state_->suspension.has_value()) return;
  const ErrnoAndCancelGuard guard;
  Recorder* recorder = CurrentRecorder();
  if (recorder == nullptr || recorder->pid != state_->recorder_pid || IsSwitchedOff()) return;
  auto* thread = static_cast<ThreadState*>(t_context != nullptr ? t_context : EnsureThreadContext());
  if (thread == nullptr) return;
  EndAbandoned(recorder, thread);
  if (!internal::Resume(recorder, thread, state_)) CountDropped();
}

/// The chunk that this guard's data go to: its own, or for a chunk inside a chunk the outer one. Null where neither is
/// open on this thread.
ChunkState* TrackMetrics::Data() const noexcept {
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return nullptr;
  if (state_ != nullptr) return state_->owner == thread && IsOpen(state_, generation_) ? state_ : nullptr;
  if (nested_.node == nullptr || thread->work == nullptr || thread->work->is_helper) return nullptr;
  return static_cast<ChunkState*>(thread->work);
}

void TrackMetrics::SetEventCount(std::int64_t events) noexcept {
  ChunkState* state = Data();
  if (state != nullptr && events >= 0) state->events = events;
}

void TrackMetrics::AddBytes(std::int64_t stored, std::int64_t uncompressed) noexcept {
  if (ChunkState* state = Data()) state->data.AddBytes(stored, uncompressed);
}

void TrackMetrics::AddColumn(std::string_view name) noexcept {
  if (ChunkState* state = Data()) state->data.AddColumn(name);
}

void TrackMetrics::SetAttribute(std::string_view name, std::string_view value) noexcept {
  if (ChunkState* state = Data()) state->data.SetAttribute(name, value);
}

void TrackMetrics::Fail(std::string_view reason) noexcept {
  if (ChunkState* state = Data()) FailChunk(state, reason);
}

void TrackMetrics::WriteFileInfo(std::int64_t branches, std::int64_t bytes, std::int64_t compressed_bytes) noexcept {
  ChunkState* state = Data();
  Recorder* recorder = CurrentRecorder();
  if (state == nullptr || recorder == nullptr || IsSwitchedOff()) return;
  const ErrnoAndCancelGuard guard;
  if (state->file_is_lost) state->data.CountDropped();
  WriteFileLine(recorder, state->file, branches, bytes, compressed_bytes);
}

ChunkHandle TrackMetrics::handle() const noexcept {
  ChunkState* state = Data();
  if (state == nullptr) return {};
  // The section of this chunk that is open: where another chunk is inside it, the one around that.
  const SectionNode* section = t_context->current.load(std::memory_order_relaxed);
  for (const OpenWork* frame = static_cast<ThreadState*>(t_context)->work; frame != state; frame = frame->outer) {
    section = frame->outer_section;
  }
  return {state, state->generation.load(std::memory_order_relaxed), Kept(section)};
}

void AddBytesRead(std::int64_t stored) noexcept { AddBytesRead(stored, -1); }

void AddBytesRead(std::int64_t stored, std::int64_t uncompressed) noexcept {
  if (OpenWork* work = CurrentWork()) work->data.AddBytes(stored, uncompressed);
}

void SetAttribute(std::string_view name, std::string_view value) noexcept {
  if (OpenWork* work = CurrentWork()) work->data.SetAttribute(name, value);
}

}  // namespace crema
