// ThreadState: all that belongs to one thread, and the chunks and helper scopes it has open.
#pragma once

#include <algorithm>

#include "chunk/open_work.h"
#include "crema/internal/section_node.h"
#include "kernel/clock.h"
#include "kernel/kernel_readings.h"
#include "log/json_line.h"
#include "process/process_recorder.h"
#include "stacks/native_stacks.h"

namespace crema::internal {

struct ThreadTasks;

/// Whose CPU time nobody asks for.
inline constexpr std::int64_t kCpuNotKnown = -1;

/// A chunk that is over, as long as its frame holds no other.
struct FinishedChunk {
  ChunkState* state = nullptr;
  TickRate rate;
  std::int64_t duration_ns = 0;
};

/// What guards of one kind cost their thread, in CPU time. A reading in every guard would cost as much as some guards:
/// the first ones are measured, then one in 16, and the mean counts for the others.
class GuardCost {
 public:
  /// Begins with the next guard: whether that one is to be measured.
  bool IsNextMeasured() noexcept {
    ++guards_;
    // The multiplication spreads the guards that are measured, so that no loop of the program keeps step with them.
    return guards_ <= kMeasured || guards_ * 0x9e3779b97f4a7c15u >> 60 == 0;
  }
  /// The guard's cost; its own if it was measured.
  std::int64_t Nanoseconds(MaybeInteger measured_ns) noexcept {
    if (!measured_ns.has_value()) return mean_ns_;
    // The first one opens files, which none does after it.
    const auto weight = static_cast<std::int64_t>(std::min(guards_, kMeasured)) - 1;
    if (weight > 0) mean_ns_ += (*measured_ns - mean_ns_) / weight;
    return *measured_ns;
  }

 private:
  static constexpr std::uint64_t kMeasured = 16;
  std::uint64_t guards_ = 0;
  std::int64_t mean_ns_ = 0;
};

/// Never freed: when its thread ends it waits for the next one. So a handle or a sampler that looks at it late is safe.
struct ThreadState : ThreadContext {
  std::atomic<bool> in_use{true};
  ThreadState* next = nullptr;       ///< all of the process
  std::uint64_t thread = 0;          ///< pthread_self()
  std::atomic<std::int64_t> tid{0};  ///< gettid(2); the sampler reads it
  KernelReadings kernel;
  PerfCounters perf;
  JsonLine line;             ///< reused for every record
  SectionTree outside;       ///< sections outside chunks
  OpenWork* work = nullptr;  ///< innermost open chunk or helper scope
  ChunkLog* log = nullptr;   ///< that it moved to (`LogForChunk`); null: the recorder's first
  std::uint32_t crowded_begins = 0;
  SpanState* span = nullptr;  ///< innermost span opened by this thread inside a chunk
  std::uint64_t activities_begun = 0;
  std::atomic<std::uint64_t> open_use{0};     ///< of `work`; 0: none
  std::atomic<WaitTable*> waits{nullptr};     ///< once the thread was seen at work, where waits are sampled
  std::atomic<std::int64_t> run_delay_ns{0};  ///< as it was read last
  std::atomic<std::int64_t> cpu_known_from_ns{kCpuNotKnown};  ///< see `UnannouncedCpu`
  std::atomic<ThreadStacks*> stacks{nullptr};                 ///< once it had a chunk open, where stacks are taken
  std::atomic<ThreadTasks*> tasks{nullptr};                   ///< once it had a task (tasks/task_table.h)
  GuardCost begin_cost;                                       ///< of chunks
  GuardCost end_cost;
  FinishedChunk finished;  ///< the last one, until it is handed out (`VisitFinishedSections`) or the next one begins

  /// The thread's run delay since it began, which is kept for the samples.
  MaybeInteger ReadRunDelay(DescriptorBudget* descriptors) noexcept {
    const MaybeInteger delay_ns = kernel.RunDelayNanoseconds(descriptors);
    if (delay_ns.has_value()) run_delay_ns.store(*delay_ns, std::memory_order_relaxed);
    return delay_ns;
  }
  /// Whether the thread's guards read clocks.
  void Switch(bool is_on, const Clock& clock) noexcept {
    is_switched_off.store(!is_on, std::memory_order_relaxed);
    reads_counter.store(is_on && clock.counter_is_clock(), std::memory_order_relaxed);
  }
  /// A frame at the present depth of nesting, made once and reused; nullptr when nested too deep or out of memory.
  ChunkState* NewChunkFrame() noexcept;
  HelperState* NewHelperFrame() noexcept;
  /// Takes the frame of a chunk that is not open on this thread any more out of this thread's.
  void GiveAway(const ChunkState* frame, int depth) noexcept {
    if (chunk_frames_[depth].load(std::memory_order_relaxed) == frame) chunk_frames_[depth].store(nullptr);
  }
  /// Puts the frame of a chunk, which is to be the innermost, among this thread's; false when nested too deep.
  bool TakeOver(Recorder* recorder, ChunkState* frame) noexcept;
  /// Frames at `depth` and deeper, up to `top`, move one place out, and the one at `depth` to `top`.
  void Rotate(int depth, int top) noexcept;
  /// Makes `frame` the innermost and its tree the one in use. Until `start_ns` (CLOCK_MONOTONIC) the time is that of
  /// the task around it. `use` where it goes on with that use.
  void Push(OpenWork* frame, std::int64_t start_ns, std::uint64_t use = 0) noexcept;
  /// Goes back to what was in use before `frame`, which must be the innermost. `stop_ns`: when its time ended;
  /// not used where recording is off, as no clock may be read then.
  void Pop(OpenWork* frame, std::int64_t stop_ns) noexcept;
  /// Innermost open section outside chunks. Any thread may call it, and follow the sections around it while it holds
  /// the recorder's mutex; null when the thread is not to be caught between two trees.
  const SectionNode* OpenOutside() const noexcept;
  /// How often the thread began to work in another tree, and did; odd while it is between the two.
  std::uint64_t switches() const noexcept { return switches_.load(std::memory_order_acquire); }
  /// Whether the frame is `work`, or one around it.
  bool Holds(const OpenWork* frame) const noexcept {
    const OpenWork* open = work;
    while (open != nullptr && open != frame) open = open->outer;
    return open != nullptr;
  }
  /// An open chunk among this thread's, for any thread; null: none.
  ChunkState* OpenChunk() const noexcept;
  /// Ends all that is open outside chunks. With the recorder's mutex held.
  void CloseOutside() noexcept;
  /// `lanes` lanes of the process are busy now: raises the peak of this thread's open chunks. Any thread may call it.
  void RaiseLanesPeak(std::int64_t lanes) noexcept;
  std::uint32_t root_site() const noexcept {
    return work == nullptr ? kOutsideChunks : work->is_helper ? kInHelpers : kInChunks;
  }
  /// The tree that sections of this thread go into now.
  SectionTree* tree() noexcept { return work == nullptr ? &outside : &work->data.sections(); }

 private:
  static constexpr int kDeepest = 8;
  /// Innermost open section of `outside` while the thread works in another tree.
  std::atomic<SectionNode*> outside_open_{nullptr};
  std::uint64_t uses_ = 0;                  ///< of frames
  std::atomic<std::uint64_t> switches_{0};  ///< odd while `current` goes from one tree to another
  std::atomic<ChunkState*> chunk_frames_[kDeepest] = {};
  std::atomic<HelperState*> helper_frames_[kDeepest] = {};
};

/// Whether nothing is recorded on the calling thread any more: its last destructors are running, or the process ends.
extern CREMA_THREAD_LOCAL bool t_ended;

/// Once per process: from now on the ends of threads that record are seen. Returns 0, or an error number.
int WatchThreadEnds() noexcept;
/// Nothing is recorded on this thread any more; chunks whose guards are gone end.
void EndCallingThread() noexcept;

/// Ends the innermost chunks and helper scopes of the calling thread whose guards are gone, and with them what they
/// left open. Defined with the chunks.
void EndAbandoned(Recorder* recorder, ThreadState* thread) noexcept;

/// The calling thread's state; nullptr when recording is off or the thread is being torn down.
ThreadState* CurrentThread() noexcept;

/// Leaves errno as the host program had it, and keeps the thread from being cancelled (pthread_cancel(3)) until it is
/// back in the program: guards call the kernel where the program itself might not, and cannot be left half-way.
class ErrnoAndCancelGuard {
 public:
  ErrnoAndCancelGuard() noexcept;
  ~ErrnoAndCancelGuard();
  ErrnoAndCancelGuard(const ErrnoAndCancelGuard&) = delete;
  ErrnoAndCancelGuard& operator=(const ErrnoAndCancelGuard&) = delete;

 private:
  int cancel_state_;
  SdkAllocationScope allocation_scope_;
};

// Chunks that leave their thread for a while: coroutines and fibres.

struct TaskFrame;

/// Adds to the frame around this one which of its time was this one's, up to these readings. What is inside no other
/// frame of the thread counts once then, in the sections around it, too.
void ReportToOuter(OpenWork* frame, std::uint64_t now_ticks, const FrameReadings& now) noexcept;
/// Takes the time of a task that ended off the chunk or helper scope around it, and off the sections that are open
/// there.
void TakeOff(ThreadState* thread, const TaskFrame& task, std::uint64_t now_ticks) noexcept;
/// Takes the chunk, which is the innermost of its thread, off that thread; its open sections go with it.
void Suspend(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept;
/// Goes on with a suspended chunk on this thread, as its innermost; false when nested too deep.
bool Resume(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept;
/// Takes a chunk that is not the innermost of its thread out from between the others, which stay as they are, and makes
/// it the innermost, to be ended at once. What those inside it took so far is theirs.
void MakeInnermost(Recorder* recorder, ThreadState* thread, ChunkState* state) noexcept;

}  // namespace crema::internal
