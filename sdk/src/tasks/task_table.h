// TaskTable: the modules, the open events, and what threads do for them (docs/tasks.md).
#pragma once

#include "chunk/chunk_sums.h"
#include "chunk/open_work.h"
#include "crema/track_task.h"
#include "log/json_line.h"
#include "process/process_recorder.h"
#include "storage/arena.h"

namespace crema::internal {

/// How many calls of a module run, and for how long at least one has, in one word that changes at once. While some run,
/// the length is that of the past less the moment since when they do.
class RunningTime {
 public:
  /// Returns how many run now.
  std::uint64_t Begin(std::int64_t now_ns) noexcept { return Change(1, now_ns); }
  void End(std::int64_t now_ns) noexcept { Change(-1, now_ns); }
  /// At this moment. Only differences mean something, modulo 2^52.
  std::uint64_t At(std::int64_t now_ns) const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    return (word + (word >> kTimeBits != 0 ? static_cast<std::uint64_t>(now_ns) : 0)) & kTime;
  }
  static std::int64_t Between(std::uint64_t from, std::uint64_t to) noexcept {
    return static_cast<std::int64_t>((to - from) & kTime);
  }

 private:
  static constexpr int kTimeBits = 52;  // ns: 52 days
  static constexpr std::uint64_t kTime = (std::uint64_t{1} << kTimeBits) - 1;

  std::uint64_t Change(int more, std::int64_t now_ns) noexcept {
    const auto now = static_cast<std::uint64_t>(now_ns);
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while (true) {
      const std::uint64_t running = (word >> kTimeBits) + static_cast<std::uint64_t>(more);
      std::uint64_t time = word;
      if (more > 0 && running == 1) time -= now;
      if (more < 0 && running == 0) time += now;
      if (word_.compare_exchange_weak(word, running << kTimeBits | (time & kTime), std::memory_order_relaxed)) {
        return running;
      }
    }
  }

  std::atomic<std::uint64_t> word_{0};
};

/// What tasks, or requests, of one name came to since the process began. Any thread adds to it.
struct TaskModule {
  std::string_view name;  ///< of a request: the server
  std::string_view operation;
  bool is_request = false;
  std::uint64_t hash = 0;
  RunningTime running;
  std::atomic<std::int64_t> peak{0};  ///< most at once
  std::atomic<std::int64_t> count{0};
  std::atomic<std::int64_t> failed{0};
  std::atomic<std::int64_t> own_ns{0};  ///< of a request: from its begin to its end
  std::atomic<std::int64_t> cpu_ns{0};
  std::atomic<std::int64_t> wait_ns{0};
  std::atomic<std::int64_t> max_ns{0};
  std::atomic<std::int64_t> queued{0};  ///< calls that were marked as ready
  std::atomic<std::int64_t> queue_ns{0};
  std::atomic<std::int64_t> queue_max_ns{0};
  std::atomic<std::int64_t> behind_ns{0};  ///< of `queue_ns`, while another call of the module ran
  std::atomic<std::int64_t> stolen_ns{0};
  std::atomic<std::int64_t> critical_run_ns{0};
  std::atomic<std::int64_t> critical_queue_ns{0};
};

/// A task or a request of an event. What is not atomic is written before `stop_ns` says that it is open.
struct TaskNode {
  static constexpr std::int64_t kNone = 0;
  static constexpr std::int64_t kOpen = -1;
  std::atomic<std::int64_t> stop_ns{kNone};
  std::int64_t start_ns = 0;
  std::int64_t ready_ns = 0;  ///< as `start_ns` where it was not marked
  TaskModule* module = nullptr;
  std::int32_t begun_by = -1;  ///< of a request, the task that began it; of a task, the one that marked it as ready
  std::int32_t tid = 0;        ///< of a task
};

/// Where the latency of an event went. Both lists add up to it, to the nanosecond.
struct EventParts {
  std::int64_t active_ns = 0;    ///< at least one task ran
  std::int64_t queued_ns = 0;    ///< none ran, and one was ready
  std::int64_t external_ns = 0;  ///< neither, and a request was open
  std::int64_t rest_ns = 0;
  std::int64_t critical_run_ns = 0;
  std::int64_t critical_queue_ns = 0;
  std::int64_t critical_external_ns = 0;
  std::int64_t critical_gap_ns = 0;
};

/// An event's nodes, in memory of its own that is touched only as far as it is used, with room to divide its latency.
struct EventNodes {
  static constexpr std::uint32_t kMost = 8192;
  struct Span {
    std::int64_t start_ns, stop_ns, ready_ns;
    TaskModule* module;  ///< null: nothing
    std::int32_t begun_by;
  };
  struct Piece {
    std::int64_t start_ns, stop_ns;
    std::int32_t part;
  };
  TaskNode nodes[kMost];
  Span spans[kMost];
  Piece pieces[2 * kMost];
  std::uint32_t by_stop[kMost];
};

/// Divides [start_ns, stop_ns) by the first `count` nodes, and adds to their modules what was on the critical path.
/// `*open`: nodes that have not ended; they end with the event.
EventParts DivideLatency(EventNodes* nodes, std::uint32_t count, std::int64_t start_ns, std::int64_t stop_ns,
                         std::uint32_t* open) noexcept;

/// A place for an open event. Never freed.
struct EventSlot {
  /// The generation, odd while an event is open, above 32 bits of who uses the slot: its guard, tasks, requests.
  std::atomic<std::uint64_t>* state = nullptr;
  EventNodes* nodes = nullptr;
  std::atomic<std::uint32_t> used{0};  ///< nodes given out, and asked for
  bool has_lines = false;
  std::int64_t start_ns = 0;
  std::atomic<std::int64_t> tasks{0};  ///< that ended, as the next three
  std::atomic<std::int64_t> work_ns{0};
  std::atomic<std::int64_t> cpu_ns{0};
  std::atomic<std::int64_t> wait_ns{0};
  JsonLine line;
  ChunkState chunk;  ///< its identity and what was recorded for it, guarded by `helpers_mutex`
};

/// A task that a thread has open. In memory of the thread: a guard may be gone.
struct TaskFrame {
  ThreadState* thread = nullptr;
  std::int64_t recorder_pid = 0;
  std::atomic<std::uint64_t> use{0};  ///< 0: not open
  std::atomic<bool> guard_is_gone{false};
  TaskModule* module = nullptr;
  EventSlot* event = nullptr;  ///< null: of no event, or of one that was over
  std::uint32_t generation = 0;
  std::int32_t node = -1;
  bool is_counted = false;   ///< among those of the module that run; not inside another of it
  OpenWork* work = nullptr;  ///< the thread's chunk or helper scope around it
  std::uint64_t start_ticks = 0;
  std::uint64_t inner_ticks = 0;  ///< of `work`, before
  std::uint32_t uncaught_exceptions = 0;
  std::int64_t start_ns = 0;
  std::int64_t own_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t stolen_ns = 0;
};

/// Tasks of one thread, and what it did between them.
struct ThreadTimes {
  enum Time { kTask, kTaskCpu, kTaskWait, kBetween, kBetweenCpu, kBetweenWait, kTimes };
  std::int64_t tasks = 0;
  std::int64_t ns[kTimes] = {};
};

/// Only the thread writes; others read under `version`, which is odd while it does.
struct ThreadTasks {
  static constexpr int kDeepest = 32;
  static constexpr int kRecentBits = 6;
  TaskFrame frames[kDeepest];
  TaskModule* recent[1 << kRecentBits] = {};  ///< by where the name was in memory
  int depth = 0;
  std::uint64_t uses = 0;
  bool is_clock_known = false;
  std::int64_t last_delay_ns = 0;
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::int64_t> last_ns{0};
  std::atomic<std::int64_t> last_cpu_ns{0};
  std::atomic<bool> is_between{false};
  std::atomic<std::int64_t> tasks{0};
  std::atomic<std::int64_t> times[ThreadTimes::kTimes] = {};
};

/// Events of one dataset that ended.
struct EventRow {
  EventRow* next = nullptr;
  std::string_view dataset;  ///< as it is in lines, `"dataset":"ttbar"` with a comma before
  std::int64_t count = 0, failed = 0, tasks = 0;
  std::int64_t not_divided = 0;  ///< of `count`: more tasks than an event keeps; their latency is in `rest_ns`
  std::int64_t first_start_ns = INT64_MAX, last_stop_ns = 0;
  std::int64_t latency_ns = 0, min_ns = INT64_MAX, max_ns = 0;
  std::int64_t work_ns = 0;
  EventParts parts;
  ValueSketch latencies;
  bool sketch_lost = false;
};

/// Bounded: 4,096 names, 512 events at once, 256 datasets, and one row for all others. The path of a task takes no
/// lock, allocates nothing but at the first task of a thread or of a name, and waits for nobody.
class TaskTable {
 public:
  static constexpr std::uint32_t kMostModules = 4096;
  static constexpr int kMostEvents = 512;
  static constexpr int kMostDatasets = 256;

  /// The process's, made at first use; null where there is no memory.
  static CREMA_ALWAYS_INLINE TaskTable* Of(Recorder* recorder) noexcept {
    TaskTable* const table = recorder->tasks.load(std::memory_order_acquire);
    return CREMA_LIKELY(table != nullptr) ? table : Make(recorder);
  }

  /// The module of this name, or `(other)`; null where there is no memory. With an operation: requests.
  TaskModule* Find(std::string_view name, std::string_view operation, bool is_request) noexcept;
  EventSlot* TakeSlot(std::uint32_t* generation) noexcept;
  /// Keeps an event's slot until `Release`; false when the event is over, or another process's.
  static bool Acquire(const EventHandle& event, std::int64_t pid) noexcept {
    if (event.slot == nullptr || event.slot->chunk.recorder_pid.load(std::memory_order_relaxed) != pid) return false;
    std::uint64_t state = event.slot->state->load(std::memory_order_relaxed);
    do {
      if (static_cast<std::uint32_t>(state >> 32) != event.generation) return false;
    } while (!event.slot->state->compare_exchange_weak(state, state + 1, std::memory_order_acq_rel));
    return true;
  }
  static void Release(EventSlot* slot) noexcept { slot->state->fetch_sub(1, std::memory_order_acq_rel); }
  /// A node that is open from now on; -1 where the event has no room for more.
  static std::int32_t AddNode(EventSlot* slot, TaskModule* module, std::int64_t start_ns, std::int64_t ready_ns,
                              std::int32_t begun_by, std::int64_t tid) noexcept {
    if (slot->used.load(std::memory_order_relaxed) > EventNodes::kMost) return -1;  // so that it does not overflow
    const std::uint32_t index = slot->used.fetch_add(1, std::memory_order_relaxed);
    if (index >= EventNodes::kMost) return -1;
    TaskNode& node = slot->nodes->nodes[index];
    node.start_ns = start_ns;
    node.ready_ns = ready_ns;
    node.module = module;
    node.begun_by = begun_by;
    node.tid = static_cast<std::int32_t>(tid);
    node.stop_ns.store(TaskNode::kOpen, std::memory_order_release);
    return static_cast<std::int32_t>(index);
  }
  void AddEvent(EventSlot* slot, const EventParts& parts, std::int64_t stop_ns, bool is_divided) noexcept;
  void AddEnded(const ThreadTimes& times) noexcept;
  void OccupyThread() noexcept { RaiseTo(&peak_, running_.fetch_add(1, std::memory_order_relaxed) + 1); }
  void FreeThread() noexcept { running_.fetch_sub(1, std::memory_order_relaxed); }
  std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
  std::int64_t cost_ns() const noexcept { return cost_ns_; }

  /// Writes all that there is as `task_sums` lines: 10 s after the first time, then ever less often.
  void WriteWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept;
  void Write(Recorder* recorder, bool is_last) noexcept;

 private:
  static TaskTable* Make(Recorder* recorder) noexcept;
  static constexpr std::uint32_t kPlaces = 2 * kMostModules;
  void AppendThreads(Recorder* recorder, std::int64_t now_ns) noexcept;

  std::mutex mutex_;          ///< guards what is not atomic; nobody holds it while a line is written
  std::mutex writing_mutex_;  ///< guards `line_`; taken first
  Arena texts_;
  std::atomic<TaskModule*> places_[kPlaces] = {};
  std::atomic<std::uint32_t> modules_{0};
  TaskModule other_[2];  ///< of tasks, of requests
  std::atomic<std::uint64_t> states_[kMostEvents] = {};
  EventSlot* slots_[kMostEvents] = {};  ///< each is made by whoever takes its state first
  EventRow* rows_ = nullptr;
  int datasets_ = 0;
  std::size_t sketch_room_ = 1 << 20;
  ThreadTimes ended_;
  std::int64_t ended_threads_ = 0;
  std::atomic<std::int64_t> running_{0};
  std::atomic<std::int64_t> peak_{0};
  std::int64_t cost_ns_ = 0;
  std::int64_t start_ns_ = 0;
  std::atomic<std::int64_t> due_ns_{0};
  JsonLine line_;
};

/// `"tasks":[{...}, ...]` of an event whose latency was divided, in trace mode; and what does not fit.
void AppendTasks(const EventSlot& slot, JsonLine* line) noexcept;

/// What the thread did since the last boundary belongs to its innermost task, to the chunk that it has open, or to the
/// time between tasks. Returns the moment, in ticks only inside a chunk or helper scope. Only where `thread->tasks` is
/// not null.
Instant TaskBoundary(ThreadState* thread) noexcept;
/// The thread's innermost chunk or helper scope became this one at `now_ns`: time until then is not its.
void NoteWorkChange(ThreadState* thread, const OpenWork* work, std::int64_t now_ns) noexcept;
/// A request of the event ends, on any thread.
void EndRequest(EventSlot* slot, TaskModule* module, std::int32_t node, std::int64_t start_ns, std::int64_t bytes,
                bool failed) noexcept;
/// The thread ends: what it has open ends with it.
void EndTasksOfThread(Recorder* recorder, ThreadState* thread) noexcept;

}  // namespace crema::internal
