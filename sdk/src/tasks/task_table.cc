#include "tasks/task_table.h"

#include "chunk/thread_state.h"

namespace crema::internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::uint64_t kOneGeneration = std::uint64_t{1} << 32;

/// A gap between tasks that is not longer counts as CPU time, so that the clock need not be read.
constexpr std::int64_t kShortGapNs = 5000;
/// Where a thread did not compute for longer, its run delay is read.
constexpr std::int64_t kLongPauseNs = 20000;
constexpr std::int64_t kFirstWriteNs = 10000000000;
/// Between two writings, a part of the time so far: some dozens a day.
constexpr std::int64_t kPartsOfRun = 4;
constexpr std::size_t kRowsOfLine = 1000;

constexpr std::string_view kOther = "(other)";
constexpr std::string_view kOtherDataset = ",\"dataset\":\"(other)\"";

/// Eight bytes at a time, by the multiplication of FNV-1a.
std::uint64_t HashOf(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  word = 0;
  if (text.size() >= sizeof(std::uint32_t)) {  // its two halves, which may overlap
    std::uint32_t halves[2];
    std::memcpy(&halves[0], text.data(), sizeof halves[0]);
    std::memcpy(&halves[1], text.data() + text.size() - sizeof halves[1], sizeof halves[1]);
    std::memcpy(&word, halves, sizeof word);
  } else {
    for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
  }
  hash += text.size();
  hash = (hash ^ word) * kPrime;
  return hash ^ hash >> 32;
}

bool IsNamed(const TaskModule& module, std::string_view name, std::string_view operation, bool is_request) {
  return module.name == name && module.is_request == is_request && module.operation == operation;
}

EventNodes* NewNodes() {
  void* const memory =
      mmap(nullptr, sizeof(EventNodes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, sizeof(EventNodes), MADV_NOHUGEPAGE);  // only what is used is to be touched
  // All zero is what its constructor makes of it.
  static_assert(TaskNode::kNone == 0);
  return static_cast<EventNodes*>(memory);
}

/// What tasks cost: two readings of the wall clock, one of the thread's CPU clock, and some hundred instructions.
std::int64_t CostOfTask() {
  constexpr int kRounds = 16;
  constexpr std::int64_t kInstructionsNs = 100;
  std::int64_t least_ns = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t start_ns = MonotonicNanoseconds();
    ThreadCpuNanoseconds();
    least_ns = std::min(least_ns, MonotonicNanoseconds() - start_ns);
  }
  return least_ns + kInstructionsNs;
}

/// Adds to a value that only this thread writes.
void Raise(std::atomic<std::int64_t>* sum, std::int64_t more) { sum->store(sum->load(kRelaxed) + more, kRelaxed); }

/// As the thread left them; with `until_ns`, up to then: it may be between two tasks.
ThreadTimes TimesOf(const ThreadTasks& tasks, std::int64_t tid, std::int64_t until_ns) {
  constexpr int kMostTries = 100;
  ThreadTimes times;
  for (int i = 0; i < kMostTries; ++i) {
    const std::uint32_t before = tasks.version.load(std::memory_order_acquire);
    times.tasks = tasks.tasks.load(kRelaxed);
    for (int time = 0; time < ThreadTimes::kTimes; ++time) times.ns[time] = tasks.times[time].load(kRelaxed);
    const std::int64_t last_ns = tasks.last_ns.load(kRelaxed);
    const std::int64_t last_cpu_ns = tasks.last_cpu_ns.load(kRelaxed);
    const bool is_between = until_ns != 0 && tasks.is_between.load(kRelaxed);
    const MaybeInteger cpu_ns = is_between ? CpuOfThread(tid) : std::nullopt;
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((before & 1) != 0 || tasks.version.load(kRelaxed) != before) continue;
    if (is_between) times.ns[ThreadTimes::kBetween] += std::max<std::int64_t>(until_ns - last_ns, 0);
    if (cpu_ns.has_value()) times.ns[ThreadTimes::kBetweenCpu] += std::max<std::int64_t>(*cpu_ns - last_cpu_ns, 0);
    break;
  }
  return times;
}

void AppendTimes(const ThreadTimes& times, JsonLine* line) {
  line->Field("tasks", times.tasks);
  line->Field("task_ns", times.ns[ThreadTimes::kTask]);
  line->Field("task_cpu_ns", times.ns[ThreadTimes::kTaskCpu]);
  line->Field("task_wait_ns", times.ns[ThreadTimes::kTaskWait]);
  line->Field("between_ns", times.ns[ThreadTimes::kBetween]);
  line->Field("between_cpu_ns", times.ns[ThreadTimes::kBetweenCpu]);
  line->Field("between_wait_ns", times.ns[ThreadTimes::kBetweenWait]);
  line->Raw("}");
}

/// Rows are objects without a comma before their first field.
void BeginRow(JsonLine* line) {
  if (!line->EndsWith('[')) line->Raw(",");
  line->Raw("{");
}

void AppendModule(const TaskModule& module, std::int64_t now_ns, JsonLine* line) {
  BeginRow(line);
  line->Raw("\"name\":");
  line->String(module.name);
  if (module.is_request) line->FieldText("operation", module.operation);
  line->Field("count", module.count.load(kRelaxed));
  line->Field("own_ns", module.own_ns.load(kRelaxed));
  line->Field("union_ns", RunningTime::Between(0, module.running.At(now_ns)));
  line->Field("peak", module.peak.load(kRelaxed));
  const auto append = [line](const auto& key, const std::atomic<std::int64_t>& value) {
    if (const std::int64_t known = value.load(kRelaxed); known != 0) line->Field(key, known);
  };
  append("cpu_ns", module.cpu_ns);
  append("wait_ns", module.wait_ns);
  append("max_ns", module.max_ns);
  append("queued", module.queued);
  append("queue_ns", module.queue_ns);
  append("queue_max_ns", module.queue_max_ns);
  append("behind_ns", module.behind_ns);
  append("stolen_ns", module.stolen_ns);
  append("critical_run_ns", module.critical_run_ns);
  append("critical_queue_ns", module.critical_queue_ns);
  append("failed", module.failed);
  line->Raw("}");
}

void AppendEvent(const EventRow& row, const Clock& clock, JsonLine* line) {
  BeginRow(line);
  line->Raw(row.dataset.substr(1));  // without its comma
  line->Field("count", row.count);
  line->Field("failed", row.failed);
  line->Field("not_divided", row.not_divided);
  line->Field("first_start_ns", clock.UnixNanoseconds(row.first_start_ns));
  line->Field("last_stop_ns", clock.UnixNanoseconds(row.last_stop_ns));
  line->Field("latency_ns", row.latency_ns);
  line->Field("min_ns", row.min_ns);
  line->Field("max_ns", row.max_ns);
  line->Field("active_ns", row.parts.active_ns);
  line->Field("queued_ns", row.parts.queued_ns);
  line->Field("external_ns", row.parts.external_ns);
  line->Field("rest_ns", row.parts.rest_ns);
  line->Field("critical_run_ns", row.parts.critical_run_ns);
  line->Field("critical_queue_ns", row.parts.critical_queue_ns);
  line->Field("critical_external_ns", row.parts.critical_external_ns);
  line->Field("critical_gap_ns", row.parts.critical_gap_ns);
  line->Field("tasks", row.tasks);
  line->Field("work_ns", row.work_ns);
  if (!row.sketch_lost) {
    line->Key("sketch");
    row.latencies.Append(line);
    line->Field("sketch_shift", row.latencies.shift());
  }
  line->Raw("}");
}

/// Gives out what the thread did since its last boundary, up to `now_ns`.
void DivideUntil(std::int64_t now_ns, ThreadState* thread) noexcept {
  ThreadTasks& tasks = *thread->tasks.load(kRelaxed);
  TaskFrame* const top = tasks.depth != 0 ? &tasks.frames[tasks.depth - 1] : nullptr;
  const std::int64_t last_cpu_ns = tasks.last_cpu_ns.load(kRelaxed);
  const std::int64_t wall_ns = now_ns - tasks.last_ns.load(kRelaxed);
  std::int64_t cpu_ns = last_cpu_ns + wall_ns;
  if (top != nullptr || wall_ns > kShortGapNs || !tasks.is_clock_known) cpu_ns = ThreadCpuNanoseconds();
  if (cpu_ns == kUnknownCpu) cpu_ns = last_cpu_ns;
  // Only this thread writes it.
  const std::uint32_t version = tasks.version.load(kRelaxed);
  tasks.version.store(version + 1, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);
  if (tasks.is_clock_known) {
    // What does not fit into this piece is of the next one: clocks are not read at one moment.
    const std::int64_t own_cpu_ns = std::clamp<std::int64_t>(cpu_ns - last_cpu_ns, 0, wall_ns);
    std::int64_t wait_ns = 0;
    if (wall_ns - own_cpu_ns > kLongPauseNs) {
      const ErrnoAndCancelGuard guard;
      Recorder* const recorder = CurrentRecorder();
      const MaybeInteger delay_ns = recorder == nullptr ? std::nullopt : thread->ReadRunDelay(&recorder->descriptors);
      wait_ns = std::clamp<std::int64_t>(delay_ns.value_or(0) - tasks.last_delay_ns, 0, wall_ns - own_cpu_ns);
      tasks.last_delay_ns += wait_ns;
    }
    cpu_ns = last_cpu_ns + own_cpu_ns;
    const bool is_in_chunk = thread->work != (top != nullptr ? top->work : nullptr);
    if (top != nullptr && !is_in_chunk) {
      top->own_ns += wall_ns;
      top->cpu_ns += own_cpu_ns;
      top->wait_ns += wait_ns;
    }
    if (!is_in_chunk) {
      std::atomic<std::int64_t>* const sums = &tasks.times[top != nullptr ? ThreadTimes::kTask : ThreadTimes::kBetween];
      Raise(&sums[0], wall_ns);
      Raise(&sums[1], own_cpu_ns);
      if (wait_ns != 0) Raise(&sums[2], wait_ns);
    }
  }
  tasks.last_ns.store(now_ns, kRelaxed);
  tasks.last_cpu_ns.store(cpu_ns, kRelaxed);
  tasks.is_clock_known = true;
  tasks.version.store(version + 2, std::memory_order_release);
}

}  // namespace

TaskTable* TaskTable::Make(Recorder* recorder) noexcept {
  const ErrnoAndCancelGuard guard;
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  TaskTable* table = recorder->tasks.load(kRelaxed);
  if (table != nullptr) return table;
  table = MakeOwn<TaskTable>();
  if (table == nullptr) return nullptr;
  for (TaskModule& other : table->other_) other.name = kOther;
  table->other_[1].operation = kOther;
  table->other_[1].is_request = true;
  table->cost_ns_ = CostOfTask();
  table->start_ns_ = MonotonicNanoseconds();
  table->due_ns_.store(table->start_ns_ + kFirstWriteNs, kRelaxed);
  recorder->tasks.store(table, std::memory_order_release);
  return table;
}

TaskModule* TaskTable::Find(std::string_view name, std::string_view operation, bool is_request) noexcept {
  name = CutOnCodePoint(name, kMaxNameBytes);
  operation = CutOnCodePoint(operation, kMaxNameBytes);
  std::uint64_t hash = HashOf(name, is_request ? 1 : 0);
  if (is_request) hash = HashOf(operation, hash);
  const auto find = [&](std::uint32_t* place) -> TaskModule* {
    for (*place = static_cast<std::uint32_t>(hash) % kPlaces;; *place = (*place + 1) % kPlaces) {
      TaskModule* const module = places_[*place].load(std::memory_order_acquire);
      if (module == nullptr || (module->hash == hash && IsNamed(*module, name, operation, is_request))) return module;
    }
  };
  std::uint32_t place = 0;
  if (TaskModule* const module = find(&place)) return module;
  TaskModule* const other = &other_[is_request ? 1 : 0];
  if (modules_.load(kRelaxed) >= kMostModules) return other;
  const ErrnoAndCancelGuard guard;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (TaskModule* const module = find(&place)) return module;
  OwnPointer<TaskModule> module(modules_.load(kRelaxed) < kMostModules ? MakeOwn<TaskModule>() : nullptr);
  if (module == nullptr) return other;
  if (!texts_.Copy(name, &module->name) || !texts_.Copy(operation, &module->operation)) return other;
  module->hash = hash;
  module->is_request = is_request;
  modules_.fetch_add(1, kRelaxed);
  places_[place].store(module.get(), std::memory_order_release);
  return module.release();
}

EventSlot* TaskTable::TakeSlot(std::uint32_t* generation) noexcept {
  for (int i = 0; i < kMostEvents; ++i) {
    std::uint64_t state = states_[i].load(kRelaxed);
    const std::uint64_t taken = state + kOneGeneration + 1;
    const bool is_free = (state & kOneGeneration) == 0 && static_cast<std::uint32_t>(state) == 0;
    if (!is_free || !states_[i].compare_exchange_strong(state, taken, std::memory_order_acq_rel)) continue;
    if (slots_[i] == nullptr) slots_[i] = MakeOwn<EventSlot>();
    EventSlot* const slot = slots_[i];
    if (slot != nullptr) slot->state = &states_[i];
    if (slot != nullptr && slot->nodes == nullptr) slot->nodes = NewNodes();
    if (slot == nullptr || slot->nodes == nullptr) {
      states_[i].store(state, std::memory_order_release);
      return nullptr;
    }
    *generation = static_cast<std::uint32_t>(taken >> 32);
    return slot;
  }
  return nullptr;
}

void TaskTable::AddEvent(EventSlot* slot, const EventParts& parts, std::int64_t stop_ns, bool is_divided) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string_view dataset = slot->chunk.identity.broken() ? kOtherDataset : slot->chunk.parts.dataset;
  const auto find = [&] {
    EventRow* row = rows_;
    while (row != nullptr && row->dataset != dataset) row = row->next;
    return row;
  };
  EventRow* row = find();
  if (row == nullptr && datasets_ >= kMostDatasets) {
    dataset = kOtherDataset;
    row = find();
  }
  if (row == nullptr) {
    OwnPointer<EventRow> made(MakeOwn<EventRow>());
    if (made == nullptr || !texts_.Copy(dataset, &made->dataset)) return CountDropped();
    made->next = rows_;
    rows_ = row = made.release();
    ++datasets_;
  }
  const std::int64_t latency_ns = stop_ns - slot->start_ns;
  ++row->count;
  if (slot->chunk.failed) ++row->failed;
  if (!is_divided) ++row->not_divided;
  row->tasks += slot->tasks.load(kRelaxed);
  row->work_ns += slot->work_ns.load(kRelaxed);
  row->first_start_ns = std::min(row->first_start_ns, slot->start_ns);
  row->last_stop_ns = std::max(row->last_stop_ns, stop_ns);
  row->latency_ns += latency_ns;
  row->min_ns = std::min(row->min_ns, latency_ns);
  row->max_ns = std::max(row->max_ns, latency_ns);
  for (std::int64_t EventParts::*part :
       {&EventParts::active_ns, &EventParts::queued_ns, &EventParts::external_ns, &EventParts::rest_ns,
        &EventParts::critical_run_ns, &EventParts::critical_queue_ns, &EventParts::critical_external_ns,
        &EventParts::critical_gap_ns}) {
    row->parts.*part += parts.*part;
  }
  // What is lost once would make all quantiles wrong.
  row->sketch_lost =
      row->sketch_lost || !row->latencies.Add(1e-9 * static_cast<double>(latency_ns), 1, &texts_, &sketch_room_);
}

void TaskTable::AddEnded(const ThreadTimes& times) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++ended_threads_;
  ended_.tasks += times.tasks;
  for (int time = 0; time < ThreadTimes::kTimes; ++time) ended_.ns[time] += times.ns[time];
}

void AppendTasks(const EventSlot& slot, JsonLine* line) noexcept {
  const std::uint32_t used = slot.used.load(kRelaxed);
  std::uint32_t i = 0;
  line->Raw(",\"tasks\":[");
  // With more, none is known well enough: the latency of the event is not divided.
  for (; used <= EventNodes::kMost && i < used && line->size() < kMaxLineBytes / 16 * 15; ++i) {
    const EventNodes::Span& span = slot.nodes->spans[i];
    BeginRow(line);
    line->Raw("\"name\":");
    line->String(span.module != nullptr ? span.module->name : kOther);
    if (span.module != nullptr && span.module->is_request) {
      line->FieldText("operation", span.module->operation);
    } else if (span.module != nullptr) {
      line->Field("tid", slot.nodes->nodes[i].tid);
    }
    line->Field("start_ns", span.start_ns - slot.start_ns);
    line->Field("duration_ns", span.stop_ns - span.start_ns);
    if (span.ready_ns < span.start_ns) line->Field("ready_ns", span.ready_ns - slot.start_ns);
    if (span.begun_by >= 0) line->Field("by", span.begun_by);
    line->Raw("}");
  }
  line->Raw("]");
  line->FieldUnsigned("trace_dropped", used - i);
}

void TaskTable::AppendThreads(Recorder* recorder, std::int64_t now_ns) noexcept {
  line_.Raw(",\"task_threads\":[");
  std::size_t rows = 0;
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    const ThreadTasks* const tasks = thread->tasks.load(std::memory_order_acquire);
    if (tasks == nullptr || !thread->in_use.load(std::memory_order_acquire) || rows >= kRowsOfLine) continue;
    const ThreadTimes times = TimesOf(*tasks, thread->tid, now_ns);
    if (times.tasks == 0) continue;  // its thread has ended, and another one is here
    ++rows;
    BeginRow(&line_);
    line_.Raw("\"tid\":");
    line_.Integer(thread->tid);
    AppendTimes(times, &line_);
  }
  if (ended_threads_ != 0) {
    BeginRow(&line_);
    line_.Raw("\"tid\":null");
    line_.Field("threads", ended_threads_);
    AppendTimes(ended_, &line_);
  }
  line_.Raw("]");
}

void TaskTable::WriteWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept {
  std::int64_t due_ns = due_ns_.load(kRelaxed);
  if (now_ns < due_ns) return;
  const std::int64_t next_ns = now_ns + std::max(kFirstWriteNs, (now_ns - start_ns_) / kPartsOfRun);
  if (due_ns_.compare_exchange_strong(due_ns, next_ns)) Write(recorder, false);
}

void TaskTable::Write(Recorder* recorder, bool is_last) noexcept {
  const std::lock_guard<std::mutex> writing(writing_mutex_);
  const std::int64_t now_ns = MonotonicNanoseconds();
  std::size_t rows = 0;
  const auto begin = [&] {
    line_.Clear();
    line_.Raw("{\"type\":\"task_sums\"");
    line_.Field("time_ns", recorder->clock.UnixNanoseconds(now_ns));
    line_.Field("peak", peak());
  };
  const auto write = [&] {
    line_.Raw("]}\n");
    if (!recorder->log.WriteSums(line_, is_last) && is_last) CountDropped();
  };
  begin();
  std::int64_t open = 0;
  for (const std::atomic<std::uint64_t>& state : states_) open += (state.load(kRelaxed) & kOneGeneration) != 0 ? 1 : 0;
  line_.Field("open", open);
  {
    // An event that ends must not wait for a slow disk.
    const std::lock_guard<std::mutex> lock(mutex_);
    line_.Raw(",\"latencies\":[");
    for (const EventRow* row = rows_; row != nullptr; row = row->next) AppendEvent(*row, recorder->clock, &line_);
    line_.Raw("]");
    AppendThreads(recorder, now_ns);
  }
  line_.Raw(",\"task_modules\":[");
  const auto append = [&](const TaskModule* module) {
    if (module == nullptr || module->count.load(kRelaxed) == 0) return;
    if (++rows > kRowsOfLine) {
      write();
      begin();
      line_.Raw(",\"task_modules\":[");
      rows = 1;
    }
    AppendModule(*module, now_ns, &line_);
  };
  for (const std::atomic<TaskModule*>& place : places_) append(place.load(std::memory_order_acquire));
  for (const TaskModule& other : other_) append(&other);
  write();
}

Instant TaskBoundary(ThreadState* thread) noexcept {
  Instant now;
  // At once, and before the rest: what came between them would be both the task's and the chunk's, or neither's.
  if (thread->work != nullptr) now.ticks = Ticks(thread);
  now.monotonic_ns = MonotonicNanoseconds();
  DivideUntil(now.monotonic_ns, thread);
  return now;
}

void NoteWorkChange(ThreadState* thread, const OpenWork* work, std::int64_t now_ns) noexcept {
  ThreadTasks* const tasks = thread->tasks.load(kRelaxed);
  if (CREMA_LIKELY(tasks == nullptr || !tasks->is_clock_known)) return;
  if (IsSwitchedOff()) {
    tasks->is_clock_known = false;
    return;
  }
  DivideUntil(now_ns, thread);
  tasks->is_between.store(tasks->depth == 0 && work == nullptr, kRelaxed);
}

}  // namespace crema::internal
