#include "chunk/thread_state.h"

#include <cxxabi.h>
#include <sched.h>
#include <sys/syscall.h>

#include "tasks/task_table.h"

#ifdef _LIBCPP_VERSION
namespace __cxxabiv1 {  // libc++ has it, and does not declare it
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1
#endif

namespace crema::internal {

CREMA_THREAD_LOCAL ThreadContext* t_context = nullptr;
ThreadContext* ReadContext() noexcept { return t_context; }

// Not in the unnamed namespace: in a shared library the linker gold gives a thread-local variable that is not global
// the address of the library's first one.
CREMA_THREAD_LOCAL bool t_ended = false;
/// What the thread had until then.
CREMA_THREAD_LOCAL ThreadState* t_ended_state = nullptr;

namespace {

/// `__cxa_eh_globals` as the Itanium C++ ABI (2.2.2) lays it out: read in place, it costs a load instead of a call.
struct ExceptionGlobals {
  void* caught_exceptions;
  unsigned int uncaught_exceptions;
};

// A key's destructor rather than that of a thread_local object: where there is no memory for noting the latter, the C
// library ends the program.
pthread_key_t g_end_key;
bool g_has_end_key = false;
// The key's values: destructors of keys run again as long as one of them sets a value.
char g_first_round;
char g_second_round;

/// Gives back what the state of a thread that ends holds. Whether another thread may have the state.
bool GiveBack(Recorder* recorder, ThreadState* thread) {
  {
    const std::lock_guard<std::mutex> lock(recorder->mutex);
    recorder->ended_threads.Merge(&thread->outside, nullptr, thread);
    thread->outside.Reset();
    thread->CloseOutside();
  }
  EndTasksOfThread(recorder, thread);
  recorder->ended_run_delay_ns.fetch_add(thread->ReadRunDelay(&recorder->descriptors).value_or(0));
  thread->run_delay_ns.store(0, std::memory_order_relaxed);
  recorder->unannounced.LeaveThread(thread, recorder->pid);
  thread->kernel.Close(&recorder->descriptors);
  thread->perf.Close(&recorder->descriptors);
  EndStacks(thread);
  thread->open_use.store(0);
  // A chunk that is still open is lost, and stays counted as open; handles to it may be anywhere, so it is not reused.
  return thread->work == nullptr;
}

/// The state that another thread may have from now on; null: none.
ThreadState* LeaveState(void* round) {
  const ErrnoAndCancelGuard guard;
  // Other copies that use this state let go of it in the first round, and destructors of other keys may still record. A
  // thread whose first guard is in such a destructor may have no second round: its state is then not used again.
  const bool is_owner = !UsesSharedCopy();
  if (is_owner && round == &g_first_round && pthread_setspecific(g_end_key, &g_second_round) == 0) return nullptr;
  EndCallingThread();
  Recorder* recorder = CurrentRecorder();
  ThreadState* const ended = t_ended_state;
  t_ended_state = nullptr;
  const bool has_state = is_owner && ended != nullptr && recorder != nullptr;
  return has_state && GiveBack(recorder, ended) ? ended : nullptr;
}

void EndThread(void* round) {
  ThreadState* const state = LeaveState(round);
  if (state != nullptr)
    state->in_use.store(false, std::memory_order_release);  // its own work was noted there until now
}

/// Has the end of the calling thread noted; false where there is no memory for that.
bool NoteEnd() { return !g_has_end_key || pthread_setspecific(g_end_key, &g_first_round) == 0; }

template <class Frame>
Frame* FrameAt(std::atomic<Frame*>* frames, int depth, int deepest) {
  if (depth >= deepest) return nullptr;
  Frame* frame = frames[depth].load(std::memory_order_relaxed);
  if (frame == nullptr) {
    frame = MakeOwn<Frame>();
    frames[depth].store(frame, std::memory_order_release);
  }
  return frame;
}

/// A frame that a chunk left behind which went to another thread; null where there is none.
ChunkState* TakeSpare(Recorder* recorder) {
  if (recorder->spare_frames.load(std::memory_order_acquire) == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  ChunkState* const spare = recorder->spare_frames.load(std::memory_order_relaxed);
  if (spare != nullptr) recorder->spare_frames.store(spare->next_spare, std::memory_order_relaxed);
  return spare;
}

ThreadState* TakeEnded(Recorder* recorder) {
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    bool in_use = false;
    if (!thread->in_use.load(std::memory_order_relaxed) && thread->in_use.compare_exchange_strong(in_use, true)) {
      return thread;
    }
  }
  return nullptr;
}

ThreadState* AddNew(Recorder* recorder) {
  auto* thread = MakeOwn<ThreadState>();
  if (thread == nullptr) return nullptr;
  thread->current.store(thread->outside.root());
  thread->next = recorder->threads.load(std::memory_order_relaxed);
  while (!recorder->threads.compare_exchange_weak(thread->next, thread, std::memory_order_acq_rel)) {
  }
  return thread;
}

/// Whether the open occurrence of `node` is the one that its guard has entered at `guard_ticks`.
bool IsOccurrence(const SectionNode& node, std::uint64_t guard_ticks) {
  const std::uint64_t start_ticks = node.start_ticks.load(std::memory_order_relaxed);
  return (node.guard_ticks != 0 ? node.guard_ticks : start_ticks) == guard_ticks;
}

/// `node` is open on the thread: it ends without a time, and so do those inside it.
void EndUnmeasured(ThreadContext* context, const SectionNode* node) {
  SectionNode* open = context->current.load(std::memory_order_relaxed);
  for (; open != node->parent; open = open->parent) open->start_ticks.store(0, std::memory_order_relaxed);
  context->current.store(open, std::memory_order_release);
}

constexpr auto kRelaxed = std::memory_order_relaxed;

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

int WatchThreadEnds() noexcept {
  const int error = pthread_key_create(&g_end_key, EndThread);
  g_has_end_key = error == 0;
  return error == EAGAIN ? 0 : error;  // the program has taken all keys: no thread's state is used again
}

void EndCallingThread() noexcept {
  auto* thread = static_cast<ThreadState*>(t_context);
  Recorder* recorder = CurrentRecorder();
  if (thread != nullptr && recorder != nullptr && !UsesSharedCopy()) EndAbandoned(recorder, thread);
  if (thread != nullptr) t_ended_state = thread;
  t_context = nullptr;
  t_ended = true;
}

ThreadContext* EnsureThreadContext() noexcept {
  const ErrnoAndCancelGuard guard;
  Recorder* recorder = CurrentRecorder();
  if (recorder == nullptr) return nullptr;
  if (UsesSharedCopy() && !t_ended) {
    ThreadContext* context = AdoptedThreadContext();
    t_context = context != nullptr && NoteEnd() ? context : nullptr;
    if (context != nullptr && t_context == nullptr) CountDropped();
    return t_context;
  }
  if (t_context != nullptr) return t_context;  // another copy asks
  ThreadState* thread = nullptr;
  if (!t_ended && NoteEnd()) {
    thread = TakeEnded(recorder);
    if (thread == nullptr) thread = AddNew(recorder);
  }
  if (thread == nullptr) {
    CountDropped();
    return nullptr;
  }
  thread->uncaught_exceptions =
      &reinterpret_cast<const ExceptionGlobals*>(abi::__cxa_get_globals())->uncaught_exceptions;
  thread->Switch(!IsSwitchedOff(), recorder->clock);
  thread->traces = recorder->settings.trace;
  thread->thread = static_cast<std::uint64_t>(pthread_self());
  thread->tid = static_cast<std::int64_t>(syscall(SYS_gettid));
  thread->span = nullptr;
  thread->finished = {};
  thread->begin_cost = thread->end_cost = {};
  recorder->unannounced.JoinThread(recorder, thread);
  t_context = thread;
  return thread;
}

ThreadState* CurrentThread() noexcept {
  if (!Recording()) return nullptr;
  return static_cast<ThreadState*>(t_context != nullptr ? t_context : EnsureThreadContext());
}

ChunkState* ThreadState::NewChunkFrame() noexcept {
  const int depth = Depth(work);
  if (depth < kDeepest && chunk_frames_[depth].load(std::memory_order_relaxed) == nullptr) {
    if (Recorder* recorder = CurrentRecorder()) chunk_frames_[depth].store(TakeSpare(recorder));
  }
  return FrameAt(chunk_frames_, depth, kDeepest);
}

bool ThreadState::TakeOver(Recorder* recorder, ChunkState* frame) noexcept {
  const int depth = Depth(work);
  if (depth >= kDeepest) return false;
  ChunkState* const spare = chunk_frames_[depth].exchange(frame, std::memory_order_acq_rel);
  if (spare == nullptr) return true;
  if (finished.state == spare) finished = {};
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  spare->next_spare = recorder->spare_frames.load(std::memory_order_relaxed);
  recorder->spare_frames.store(spare, std::memory_order_release);
  return true;
}

void ThreadState::Rotate(int depth, int top) noexcept {
  for (; depth < top && depth + 1 < kDeepest; ++depth) {
    chunk_frames_[depth].store(chunk_frames_[depth + 1].exchange(chunk_frames_[depth].load()));
    helper_frames_[depth].store(helper_frames_[depth + 1].exchange(helper_frames_[depth].load()));
  }
}

HelperState* ThreadState::NewHelperFrame() noexcept { return FrameAt(helper_frames_, Depth(work), kDeepest); }

void ThreadState::RaiseLanesPeak(std::int64_t lanes) noexcept {
  for (const std::atomic<ChunkState*>& slot : chunk_frames_) {
    ChunkState* chunk = slot.load(std::memory_order_acquire);
    if (chunk == nullptr || (chunk->generation.load() & 1) == 0) continue;
    RaiseTo(&chunk->lanes_peak, lanes, std::memory_order_seq_cst);
  }
}

ChunkState* ThreadState::OpenChunk() const noexcept {
  for (const std::atomic<ChunkState*>& slot : chunk_frames_) {
    ChunkState* chunk = slot.load(std::memory_order_acquire);
    if (chunk != nullptr && (chunk->generation.load() & 1) != 0) return chunk;
  }
  return nullptr;
}

void ThreadState::Push(OpenWork* frame, std::int64_t start_ns, std::uint64_t use) noexcept {
  NoteWorkChange(this, frame, start_ns);
  frame->owner = this;
  frame->use = use != 0 ? use : (static_cast<std::uint64_t>(tid) << 32) + ++uses_;
  frame->outer = work;
  frame->outer_section = current.load(std::memory_order_relaxed);
  switches_.fetch_add(1);
  if (work == nullptr) outside_open_.store(frame->outer_section, std::memory_order_release);
  work = frame;
  open_use.store(frame->use, std::memory_order_release);
  current.store(frame->data.sections().root(), std::memory_order_release);
  switches_.fetch_add(1, std::memory_order_release);
}

void ThreadState::Pop(OpenWork* frame, std::int64_t stop_ns) noexcept {
  NoteWorkChange(this, frame->outer, stop_ns);
  switches_.fetch_add(1);
  work = frame->outer;
  open_use.store(work == nullptr ? 0 : work->use, std::memory_order_release);
  current.store(frame->outer_section, std::memory_order_release);
  if (work == nullptr) outside_open_.store(nullptr, std::memory_order_release);
  switches_.fetch_add(1, std::memory_order_release);
}

const SectionNode* ThreadState::OpenOutside() const noexcept {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    const std::uint64_t before = switches_.load(std::memory_order_acquire);
    const SectionNode* open = outside_open_.load(std::memory_order_acquire);
    if (open == nullptr) open = current.load(std::memory_order_acquire);
    if ((before & 1) == 0 && switches_.load(std::memory_order_acquire) == before) return open;
    sched_yield();
  }
  return nullptr;
}

void ThreadState::CloseOutside() noexcept {
  outside_open_.store(nullptr, std::memory_order_release);
  current.store(outside.root(), std::memory_order_release);
}

SectionNode* FindOrAddChild(ThreadContext* context, SectionNode* parent, std::string_view name) noexcept {
  return static_cast<ThreadState*>(context)->tree()->FindOrAdd(parent, name);
}

std::uint64_t TicksOfClock(const ThreadContext* context) noexcept {
  const bool is_off = context->is_switched_off.load(std::memory_order_relaxed);
  return is_off ? 0 : static_cast<std::uint64_t>(MonotonicNanoseconds());
}

void ExitOutOfOrder(SectionNode* node, std::uint64_t start_ticks, std::uint64_t now_ticks) noexcept {
  ThreadContext* context = t_context;
  if (context == nullptr) return;  // the thread, the process or a fork ended the section already
  SectionNode* open = context->current.load(kRelaxed);
  while (open != node && open->parent != nullptr) open = open->parent;
  if (now_ticks == 0) {
    if (open == node && IsOccurrence(*node, start_ticks)) EndUnmeasured(context, node);
    return;
  }
  if (open != node || !IsOccurrence(*node, start_ticks)) {
    Recorder* recorder = CurrentRecorder();
    // Entered before this process was forked: it is the parent's, and ends there.
    if (recorder == nullptr || recorder->clock.IsBeforeStart(start_ticks)) return;
    CountMisuse("a section ended on another thread, or after the guard around it: it is not recorded");
    return;
  }
  const bool is_innermost = context->current.load(kRelaxed) == node;  // then the chunk was suspended meanwhile
  // Guards inside this one are still to end: what is inside ends with it.
  while ((open = context->current.load(kRelaxed)) != node) {
    AddOpenOccurrence(open, now_ticks);
    context->current.store(open->parent, std::memory_order_release);
  }
  AddOpenOccurrence(node, now_ticks);
  context->current.store(node->parent, std::memory_order_release);
  if (is_innermost) {
    if (*context->uncaught_exceptions > node->uncaught_exceptions) node->failed.fetch_add(1, kRelaxed);
    if (context->traces) TraceOccurrence(node, start_ticks, now_ticks);
    return;
  }
  CountMisuse("a section ended before the sections inside it: they were ended with it");
}

void CountUnmatchedExit() noexcept {
  if (t_context == nullptr || WasForked()) return;
  CountMisuse("a section ended on another thread, or after the guard around it: it is not recorded");
}

void TraceOccurrence(SectionNode* node, std::uint64_t start_ticks, std::uint64_t stop_ticks) noexcept {
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread->work != nullptr) thread->work->data.AddTrace({node, start_ticks, stop_ticks, thread->tid});
}

OpenSection EnterSectionWithCpu(std::string_view name) noexcept {
  const OpenSection section = EnterSection(name);
  if (section.node != nullptr) section.node->cpu_start_ns = ThreadCpuNanoseconds();
  return section;
}

void ExitSectionWithCpu(OpenSection section) noexcept {
  ThreadContext* context = t_context;
  if (context == nullptr || IsSwitchedOff()) return ExitSection(section);
  SectionNode* node = section.node;
  if (context->current.load(kRelaxed) == node && IsOccurrence(*node, section.start_ticks)) {
    const std::int64_t now_ns = ThreadCpuNanoseconds();
    const bool is_known = now_ns != kUnknownCpu && node->cpu_start_ns != kUnknownCpu;
    AddCpu(node, is_known ? now_ns - node->cpu_start_ns : kUnknownCpu);
  }
  ExitSectionAt(context, section, Ticks(context));
}

ErrnoAndCancelGuard::ErrnoAndCancelGuard() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
ErrnoAndCancelGuard::~ErrnoAndCancelGuard() { pthread_setcancelstate(cancel_state_, nullptr); }

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

void TakeOff(ThreadState* thread, const TaskFrame& task, std::uint64_t now_ticks) noexcept {
  FrameTime& inner = task.work->inner;
  const std::uint64_t ticks = now_ticks - task.start_ticks - (inner.ticks - task.inner_ticks);
  inner.ticks += ticks;
  AddTo(&inner.cpu_ns, task.cpu_ns);
  AddTo(&inner.wait_ns, task.wait_ns);
  LeaveOut(thread->current.load(kRelaxed), ticks, task.cpu_ns);
}

void Suspend(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept {
  Suspension suspension;
  suspension.open_section = thread->current.load(kRelaxed);
  suspension.readings.cpu_ns = ThreadCpu();
  const Instant now = recorder->clock.Now();
  suspension.ticks = now.ticks;
  suspension.readings.wait_ns = thread->ReadRunDelay(&recorder->descriptors);
  suspension.readings.usage = thread->kernel.Usage();
  suspension.allocations = AllocationsOfThread(*recorder);
  ReportToOuter(state, suspension.ticks, suspension.readings);
  TakeWaits(thread, state, {});
  thread->GiveAway(state, Depth(state->outer));
  thread->Pop(state, now.monotonic_ns);
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
  const Suspension suspension = *state->suspension;
  state->suspension.reset();
  recorder->suspended.fetch_sub(1, kRelaxed);
  const Instant now = recorder->clock.Now();
  const std::uint64_t pause_ticks = now.ticks - suspension.ticks;
  state->suspended_ticks += pause_ticks;
  state->start_ticks += pause_ticks;
  // Each reading's start moves by what passed while the chunk was suspended, on whichever thread it goes on.
  const FrameReadings& before = suspension.readings;
  AddTo(&state->at_start.wait_ns, Difference(thread->ReadRunDelay(&recorder->descriptors), before.wait_ns));
  const MaybeInteger cpu_ns = ThreadCpu();
  const MaybeInteger pause_cpu_ns = Difference(cpu_ns, before.cpu_ns);
  AddTo(&state->at_start.cpu_ns, pause_cpu_ns);
  AddTo(&state->at_start.usage, Difference(thread->kernel.Usage(), before.usage));
  const ThreadAllocations allocations = AllocationsOfThread(*recorder);
  AddTo(&state->allocations_start.calls, Difference(allocations.calls, suspension.allocations.calls));
  AddTo(&state->allocations_start.bytes, Difference(allocations.bytes, suspension.allocations.bytes));
  ResumeStacks(thread, cpu_ns);
  state->uncaught_exceptions = *thread->uncaught_exceptions;
  LeaveOut(suspension.open_section, pause_ticks, pause_cpu_ns);
  for (SectionNode* open = suspension.open_section; open != nullptr; open = open->parent) {
    open->uncaught_exceptions = *thread->uncaught_exceptions;
  }
  OccupyLane(recorder, *thread, state);
  thread->Push(state, now.monotonic_ns, state->use);  // it is the same use: guards inside it go on too
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
  thread->Push(state, MonotonicNanoseconds(), state->use);
  thread->current.store(open_section, std::memory_order_release);
}

}  // namespace crema::internal
