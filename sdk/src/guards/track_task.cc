#include "crema/track_task.h"

#include "chunk/chunk_line.h"
#include "chunk/thread_state.h"
#include "crema/track_request.h"
#include "log/secret_filter.h"
#include "process/exit_and_fork.h"
#include "process/process_recorder.h"
#include "storage/arena.h"
#include "tasks/task_table.h"

namespace crema {
namespace internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// One more call of the module runs.
void Begin(TaskModule* module, std::int64_t now_ns) {
  RaiseTo(&module->peak, static_cast<std::int64_t>(module->running.Begin(now_ns)));
}

/// Calls `change(chunk)`, with the chunk locked, where the event is open and this process's.
template <class Change>
void ChangeChunk(const EventHandle& event, Change change) noexcept {
  const Recorder* const recorder = event.slot != nullptr ? CurrentRecorder() : nullptr;
  if (recorder == nullptr || !TaskTable::Acquire(event, recorder->pid)) return;
  {
    const std::lock_guard<std::mutex> lock(event.slot->chunk.helpers_mutex);
    change(&event.slot->chunk);
  }
  TaskTable::Release(event.slot);
}

/// The thread's innermost task for this event; null: none.
const TaskFrame* TaskOf(const ThreadState* thread, const EventSlot* event) {
  const ThreadTasks* const tasks = thread == nullptr ? nullptr : thread->tasks.load(kRelaxed);
  for (int i = tasks == nullptr ? 0 : tasks->depth; i > 0; --i) {
    if (tasks->frames[i - 1].event == event) return &tasks->frames[i - 1];
  }
  return nullptr;
}

/// Whether `inner` is a part of what the frame around it does: `tracks/fit` of `tracks`, for the same event.
bool IsPartOf(const TaskFrame& inner, const TaskFrame& outer) {
  const bool is_same = inner.event == outer.event && inner.generation == outer.generation;
  const std::string_view name = outer.module->name;
  const std::string_view own = inner.module->name;
  const bool is_below = own.substr(0, name.size()) == name && (own.size() == name.size() || own[name.size()] == '/');
  return is_below && (is_same || inner.event == nullptr);
}

/// Takes the innermost task off the thread, whose time has just been given to it. `is_known`: that it ended, and when.
void PopTask(ThreadState* thread, ThreadTasks* tasks, TaskTable* table, const Instant& now, bool is_known) {
  TaskFrame& frame = tasks->frames[--tasks->depth];
  frame.use.store(0, kRelaxed);
  if (tasks->depth == 0) {
    table->FreeThread();
    tasks->is_between.store(thread->work == nullptr, kRelaxed);
  }
  TaskModule& module = *frame.module;
  if (frame.is_counted) module.running.End(is_known ? now.monotonic_ns : frame.start_ns);
  if (is_known) {
    module.count.fetch_add(1, kRelaxed);
    module.own_ns.fetch_add(frame.own_ns, kRelaxed);
    module.cpu_ns.fetch_add(frame.cpu_ns, kRelaxed);
    if (frame.wait_ns != 0) module.wait_ns.fetch_add(frame.wait_ns, kRelaxed);
    if (frame.stolen_ns != 0) module.stolen_ns.fetch_add(frame.stolen_ns, kRelaxed);
    if (*thread->uncaught_exceptions > frame.uncaught_exceptions) module.failed.fetch_add(1, kRelaxed);
    RaiseTo(&module.max_ns, frame.own_ns);
    tasks->tasks.store(tasks->tasks.load(kRelaxed) + 1, kRelaxed);
    if (tasks->depth != 0) {
      TaskFrame& outer = tasks->frames[tasks->depth - 1];
      outer.stolen_ns += IsPartOf(frame, outer) ? frame.stolen_ns : now.monotonic_ns - frame.start_ns;
    }
    if (frame.work != nullptr && frame.work == thread->work) TakeOff(thread, frame, now.ticks);
  }
  if (frame.event == nullptr) return;
  if (frame.node >= 0) {
    // Both are kept where it is not known: no time passed.
    const std::int64_t stop_ns = is_known ? now.monotonic_ns : frame.start_ns;
    frame.event->nodes->nodes[frame.node].stop_ns.store(stop_ns, std::memory_order_release);
  }
  if (is_known) {
    frame.event->tasks.fetch_add(1, kRelaxed);
    frame.event->work_ns.fetch_add(frame.own_ns, kRelaxed);
    frame.event->cpu_ns.fetch_add(frame.cpu_ns, kRelaxed);
    if (frame.wait_ns != 0) frame.event->wait_ns.fetch_add(frame.wait_ns, kRelaxed);
  }
  TaskTable::Release(frame.event);
}

/// Ends the innermost tasks whose guards are gone.
void EndAbandonedTasks(ThreadState* thread, ThreadTasks* tasks, TaskTable* table) {
  while (tasks->depth != 0 && tasks->frames[tasks->depth - 1].guard_is_gone.load(kRelaxed)) {
    PopTask(thread, tasks, table, TaskBoundary(thread), true);
  }
}

/// The thread's, with a clock that can go on; null where there is no memory.
ThreadTasks* TasksOf(Recorder* recorder, ThreadState* thread) {
  ThreadTasks* tasks = thread->tasks.load(kRelaxed);
  if (CREMA_LIKELY(tasks != nullptr && tasks->is_clock_known)) return tasks;
  const ErrnoAndCancelGuard guard;
  if (tasks == nullptr) tasks = MakeOwn<ThreadTasks>();
  if (tasks == nullptr) return nullptr;
  tasks->last_delay_ns = thread->ReadRunDelay(&recorder->descriptors).value_or(0);
  thread->tasks.store(tasks, std::memory_order_release);
  return tasks;
}

/// As `TaskTable::Find`, for a task: most names come again from the same place in memory.
TaskModule* ModuleOf(TaskTable* table, ThreadTasks* tasks, std::string_view name) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  const std::uint64_t place = reinterpret_cast<std::uintptr_t>(name.data()) * kMultiplier;
  TaskModule*& recent = tasks->recent[place >> (64 - ThreadTasks::kRecentBits)];
  if (CREMA_UNLIKELY(recent == nullptr || recent->name != name)) recent = table->Find(name, {}, false);
  return recent;
}

/// Counts and warns of an event's handle that cannot be used.
void CountLate(const EventHandle& event, std::int64_t pid) {
  if (event.slot->chunk.recorder_pid != pid) return;  // a forked child has the handles of its parent
  CountMisuse("a task, a request or a call of MarkReady came after its event had ended");
}

/// Fills in what the lines of a chunk have, so that readers that know of no events see a chunk whose helpers did all.
ChunkEnd EndOf(EventSlot* slot, const EventParts& parts, std::int64_t peak, std::int64_t stop_ns) {
  ChunkState& chunk = slot->chunk;
  chunk.helper_scope_ns = slot->work_ns.load(kRelaxed);
  chunk.helper_cpu_ns = slot->cpu_ns.load(kRelaxed);
  chunk.helper_wait_ns = slot->wait_ns.load(kRelaxed);
  chunk.helper_union_ns = parts.active_ns;
  chunk.lanes_peak.store(peak);
  ChunkEnd end;
  end.stop.monotonic_ns = stop_ns;
  end.cpu_ns = end.wait_ns = 0;
  end.duration_ns = stop_ns - slot->start_ns;
  end.suspended_ns = end.duration_ns - parts.active_ns;
  end.open_chunks = 1;
  end.traced = slot;
  return end;
}

void EndEvent(Recorder* recorder, EventSlot* slot, std::int64_t stop_ns) {
  // From here on no task and no request can begin.
  slot->state->fetch_add(std::uint64_t{1} << 32, std::memory_order_acq_rel);
  TaskTable& table = *recorder->tasks.load(kRelaxed);
  const std::uint32_t used = slot->used.load(kRelaxed);
  const bool is_divided = used <= EventNodes::kMost;
  std::uint32_t open = 0;
  EventParts parts = DivideLatency(slot->nodes, std::min(used, EventNodes::kMost), slot->start_ns, stop_ns, &open);
  if (!is_divided) {
    parts = {};
    parts.rest_ns = parts.critical_gap_ns = stop_ns - slot->start_ns;
  }
  for (std::uint32_t i = 0; i < open; ++i) CountMisuse("an event ended before a task or a request of it");
  const std::lock_guard<std::mutex> lock(slot->chunk.helpers_mutex);
  table.AddEvent(slot, parts, stop_ns, is_divided);
  ChunkEnd end = EndOf(slot, parts, table.peak(), stop_ns);
  recorder->chunks.fetch_add(1, kRelaxed);
  if (slot->chunk.failed) recorder->failed.fetch_add(1, kRelaxed);
  bool is_written = false;
  if (slot->has_lines) {
    recorder->suspended.fetch_sub(1, kRelaxed);
    recorder->open_events.fetch_sub(1, kRelaxed);
    EncodeChunk(*recorder, end, &slot->chunk, &slot->line);
    is_written = recorder->log.WriteOfChunk(slot->line, stop_ns);
  }
  if (!is_written) recorder->sums.Add(recorder, &slot->chunk, end);
  if (slot->chunk.data.dropped() != 0) recorder->dropped.fetch_add(slot->chunk.data.dropped(), kRelaxed);
  recorder->overhead_ns.fetch_add(table.cost_ns() * (1 + slot->tasks.load(kRelaxed)), kRelaxed);
}

}  // namespace

void EndRequest(EventSlot* slot, TaskModule* module, std::int32_t node, std::int64_t start_ns, std::int64_t bytes,
                bool failed) noexcept {
  const Recorder* const recorder = CurrentRecorder();
  if (recorder == nullptr || recorder->pid != slot->chunk.recorder_pid) return;  // a fork's copy
  const bool is_known = !IsSwitchedOff();
  const std::int64_t stop_ns = is_known ? std::max(MonotonicNanoseconds(), start_ns) : start_ns;
  module->running.End(stop_ns);
  if (node >= 0) slot->nodes->nodes[node].stop_ns.store(stop_ns, std::memory_order_release);
  if (is_known) {
    module->count.fetch_add(1, kRelaxed);
    module->own_ns.fetch_add(stop_ns - start_ns, kRelaxed);
    RaiseTo(&module->max_ns, stop_ns - start_ns);
    if (failed) module->failed.fetch_add(1, kRelaxed);
    const ErrnoAndCancelGuard guard;
    const std::lock_guard<std::mutex> lock(slot->chunk.helpers_mutex);
    const int row = slot->chunk.data.RequestRowIndex(module->name, module->operation);
    if (row >= 0) slot->chunk.data.AddRequest(row, bytes, stop_ns - start_ns, failed);
  }
  TaskTable::Release(slot);
}

void EndTasksOfThread(Recorder* recorder, ThreadState* thread) noexcept {
  ThreadTasks* const tasks = thread->tasks.load(kRelaxed);
  if (tasks == nullptr) return;
  const bool is_known = !IsSwitchedOff() || ProcessIsEnding();
  const Instant now = is_known ? TaskBoundary(thread) : Instant{};
  while (tasks->depth != 0) {
    if (is_known) CountMisuse("a thread ended inside a task: the task ended with it");
    PopTask(thread, tasks, recorder->tasks.load(kRelaxed), now, is_known);
  }
  ThreadTimes times;
  times.tasks = tasks->tasks.exchange(0, kRelaxed);
  for (int time = 0; time < ThreadTimes::kTimes; ++time) times.ns[time] = tasks->times[time].exchange(0, kRelaxed);
  tasks->is_clock_known = false;
  tasks->is_between.store(false, kRelaxed);
  recorder->tasks.load(kRelaxed)->AddEnded(times);
}

}  // namespace internal

using namespace internal;

TrackEvent::TrackEvent(const Chunk& chunk, EventRecord record) noexcept {
  if (!Recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* const thread = CurrentThread();
  Recorder* const recorder = CurrentRecorder();
  TaskTable* const table = recorder == nullptr || thread == nullptr ? nullptr : TaskTable::Of(recorder);
  if (table == nullptr) return;
  EventHandle handle;
  EventSlot* const slot = handle.slot = table->TakeSlot(&handle.generation);
  if (slot == nullptr) {
    CountDropped();  // more are open than there are places, or no memory
    return;
  }
  slot->has_lines = (record == kLine || recorder->settings.trace) && !recorder->log.limits().is_stopped();
  PrepareChunk(recorder, thread, chunk, &slot->chunk, !slot->has_lines);
  slot->chunk.is_detached = true;
  slot->chunk.start = recorder->clock.Now();
  const std::uint32_t used = std::min(slot->used.exchange(0, kRelaxed), EventNodes::kMost);
  for (std::uint32_t i = 0; i < used; ++i) slot->nodes->nodes[i].stop_ns.store(TaskNode::kNone, kRelaxed);
  for (auto* sum : {&slot->tasks, &slot->work_ns, &slot->cpu_ns, &slot->wait_ns}) sum->store(0, kRelaxed);
  slot->start_ns = slot->chunk.start.monotonic_ns;
  if (slot->has_lines) {
    recorder->suspended.fetch_add(1, kRelaxed);
    recorder->open_events.fetch_add(1, kRelaxed);
    EncodeBegin(*recorder, &slot->chunk, &thread->line);
    slot->chunk.has_begin_line = recorder->log.WriteOfChunk(thread->line, slot->start_ns);
  }
  handle_ = handle;
}

TrackRequest::TrackRequest(const EventHandle& event, std::string_view server, std::string_view operation) noexcept {
  if (!Recording()) return;
  Recorder* const recorder = CurrentRecorder();
  TaskTable* const table = recorder == nullptr ? nullptr : TaskTable::Of(recorder);
  if (table == nullptr) return;
  if (!TaskTable::Acquire(event, recorder->pid)) {
    if (event.slot != nullptr) CountLate(event, recorder->pid);
    if (event.slot == nullptr) CountOutsideChunk();
    return;
  }
  char name[kMaxNameBytes + 1];
  module_ = table->Find(ServerWithoutUser(server, name, sizeof name), operation, true);
  const TaskFrame* const by = TaskOf(static_cast<ThreadState*>(t_context), event.slot);
  start_ns_ = MonotonicNanoseconds();
  Begin(module_, start_ns_);
  row_ = TaskTable::AddNode(event.slot, module_, start_ns_, start_ns_, by != nullptr ? by->node : -1, 0);
  event_ = event.slot;
}

void TrackEvent::End() noexcept {
  EventSlot* const slot = std::exchange(handle_.slot, nullptr);
  if (slot == nullptr) return;
  const ErrnoAndCancelGuard guard;
  Recorder* const recorder = CurrentRecorder();
  if (recorder == nullptr || recorder->pid != slot->chunk.recorder_pid) return;  // a fork's copy
  if (static_cast<std::uint32_t>(slot->state->load(kRelaxed) >> 32) != handle_.generation) return;
  if (IsSwitchedOff()) {
    slot->state->fetch_add(std::uint64_t{1} << 32, std::memory_order_acq_rel);
    if (slot->has_lines) {
      recorder->suspended.fetch_sub(1, kRelaxed);
      recorder->open_events.fetch_sub(1, kRelaxed);
    }
    recorder->chunks.fetch_add(1, kRelaxed);
  } else {
    const std::int64_t stop_ns = MonotonicNanoseconds();
    EndEvent(recorder, slot, stop_ns);
    WriteSumsWhenDue(recorder, stop_ns);
    recorder->tasks.load(kRelaxed)->WriteWhenDue(recorder, stop_ns);
  }
  TaskTable::Release(slot);
}

void TrackEvent::SetEventCount(std::int64_t events) noexcept {
  if (events >= 0) ChangeChunk(handle_, [=](ChunkState* chunk) { chunk->events = events; });
}

void TrackEvent::AddBytes(std::int64_t stored) noexcept {
  ChangeChunk(handle_, [=](ChunkState* chunk) { chunk->data.AddBytes(stored, -1); });
}

void TrackEvent::SetAttribute(std::string_view name, std::string_view value) noexcept {
  ChangeChunk(handle_, [=](ChunkState* chunk) { chunk->data.SetAttribute(name, value); });
}

void TrackEvent::Fail(std::string_view reason) noexcept {
  ChangeChunk(handle_, [=](ChunkState* chunk) { FailChunk(chunk, reason); });
}

Ready MarkReady(const EventHandle& event, std::string_view task) noexcept {
  if (!Recording()) return {};
  Recorder* const recorder = CurrentRecorder();
  TaskTable* const table = recorder == nullptr ? nullptr : TaskTable::Of(recorder);
  if (table == nullptr) return {};
  auto* const thread = static_cast<ThreadState*>(t_context);
  ThreadTasks* const tasks = thread == nullptr ? nullptr : thread->tasks.load(kRelaxed);
  Ready ready;
  ready.module = tasks != nullptr ? ModuleOf(table, tasks, task) : table->Find(task, {}, false);
  ready.time_ns = MonotonicNanoseconds();
  ready.ran = ready.module->running.At(ready.time_ns);
  const TaskFrame* const by = event.slot == nullptr ? nullptr : TaskOf(thread, event.slot);
  if (by != nullptr && by->generation == event.generation) ready.by = by->node;
  return ready;
}

TrackTask::TrackTask(const EventHandle& event, std::string_view name, const Ready& ready) noexcept {
  if (!Recording()) return;
  ThreadState* const thread = t_context != nullptr ? static_cast<ThreadState*>(t_context) : CurrentThread();
  Recorder* const recorder = CurrentRecorder();
  TaskTable* const table = recorder == nullptr || thread == nullptr ? nullptr : TaskTable::Of(recorder);
  ThreadTasks* const tasks = table == nullptr ? nullptr : TasksOf(recorder, thread);
  if (tasks == nullptr) return;
  EndAbandonedTasks(thread, tasks, table);
  if (tasks->depth == ThreadTasks::kDeepest) {
    CountDropped();  // its time stays with the task around it
    return;
  }
  TaskModule* const module = ModuleOf(table, tasks, name);
  const bool is_of_event = TaskTable::Acquire(event, recorder->pid);
  if (!is_of_event && event.slot != nullptr) CountLate(event, recorder->pid);
  const Instant now = TaskBoundary(thread);
  const std::int64_t now_ns = now.monotonic_ns;
  TaskFrame& frame = tasks->frames[tasks->depth];
  frame.thread = thread;
  frame.recorder_pid = recorder->pid;
  frame.guard_is_gone.store(false, kRelaxed);
  frame.module = module;
  frame.event = is_of_event ? event.slot : nullptr;
  frame.generation = event.generation;
  frame.node = -1;
  frame.is_counted = true;
  for (int i = 0; i < tasks->depth; ++i) frame.is_counted = frame.is_counted && tasks->frames[i].module != module;
  frame.work = thread->work;
  if (frame.work != nullptr) {
    frame.start_ticks = now.ticks;
    frame.inner_ticks = frame.work->inner.ticks;
  }
  frame.uncaught_exceptions = *thread->uncaught_exceptions;
  frame.start_ns = now_ns;
  frame.own_ns = frame.cpu_ns = frame.wait_ns = frame.stolen_ns = 0;
  if (tasks->depth++ == 0) table->OccupyThread();
  tasks->is_between.store(false, kRelaxed);
  if (frame.is_counted) Begin(module, now_ns);
  const std::int64_t ready_ns = ready.time_ns != 0 ? std::min(ready.time_ns, now_ns) : now_ns;
  if (ready.time_ns != 0) {
    module->queued.fetch_add(1, kRelaxed);
    module->queue_ns.fetch_add(now_ns - ready_ns, kRelaxed);
    RaiseTo(&module->queue_max_ns, now_ns - ready_ns);
    if (ready.module == module) {
      const std::int64_t ran_ns = RunningTime::Between(ready.ran, module->running.At(now_ns));
      module->behind_ns.fetch_add(std::clamp<std::int64_t>(ran_ns, 0, now_ns - ready_ns), kRelaxed);
    }
  }
  if (is_of_event) frame.node = TaskTable::AddNode(event.slot, module, now_ns, ready_ns, ready.by, thread->tid);
  use_ = ++tasks->uses;
  frame.use.store(use_, kRelaxed);
  frame_ = &frame;
}

TrackTask::~TrackTask() {
  if (frame_ == nullptr) return;
  Recorder* const recorder = CurrentRecorder();
  auto* const thread = static_cast<ThreadState*>(t_context);
  if (recorder == nullptr || frame_->recorder_pid != recorder->pid) return;  // a fork's copy
  if (t_ended || frame_->use.load(kRelaxed) != use_) return;                 // its thread ended, or what lay around it
  if (frame_->thread != thread) {
    frame_->guard_is_gone.store(true, kRelaxed);
    CountMisuse("a task ended on another thread than it began on: it lasts until its own goes on");
    return;
  }
  ThreadTasks* const tasks = thread->tasks.load(kRelaxed);
  TaskTable* const table = recorder->tasks.load(kRelaxed);
  const bool is_known = !IsSwitchedOff();
  const Instant now = is_known ? TaskBoundary(thread) : Instant{};
  if (!is_known) tasks->is_clock_known = false;
  while (true) {
    const bool is_own = &tasks->frames[tasks->depth - 1] == frame_;
    if (!is_own && is_known && !tasks->frames[tasks->depth - 1].guard_is_gone.load(kRelaxed)) {
      CountMisuse("a task ended before a task inside it, on the same thread: that one ended with it");
    }
    PopTask(thread, tasks, table, now, is_known);
    if (is_own) return;
  }
}

EventHandle CurrentHandle() noexcept {
  const auto* const thread = static_cast<const ThreadState*>(t_context);
  const ThreadTasks* const tasks = thread == nullptr ? nullptr : thread->tasks.load(kRelaxed);
  if (tasks == nullptr || tasks->depth == 0) return {};
  const TaskFrame& frame = tasks->frames[tasks->depth - 1];
  if (frame.event == nullptr) return {};
  return {frame.event, frame.generation};
}

}  // namespace crema
