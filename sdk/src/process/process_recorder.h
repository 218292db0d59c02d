// Recorder: the one thing there is per process.
#pragma once

#include <sys/mman.h>

#include <initializer_list>

#include "chunk/chunk_data.h"
#include "chunk/section_tree.h"
#include "crema/recorder.h"
#include "kernel/clock.h"
#include "kernel/kernel_readings.h"
#include "log/json_line.h"
#include "log/log_file.h"
#include "process/wait_sampler.h"
#include "stacks/native_stacks.h"
#include "storage/arena.h"
#include "storage/fixed_text.h"

namespace crema::internal {

class ExitSummary;
struct AllocationCounter;
struct ChunkState;
struct GpuCounter;
struct OpenWork;
struct SpanState;
class TaskTable;
struct ThreadState;

/// A record log, and what is counted of the chunks in it. A process has more than one only where many threads write at
/// once (docs/design.md, "Several logs of one process").
struct ChunkLog {
  LogFile log;
  ChunkSums sums;                        ///< of chunks without a line
  JsonLine process_line;                 ///< the log's first
  std::atomic<std::uint64_t> chunks{0};  ///< ended
  std::atomic<std::uint64_t> failed{0};
  std::atomic<ChunkLog*> next{nullptr};  ///< one that was opened after it
  int threads = 0;                       ///< that moved to it; with `Recorder::logs_mutex` held
};

using OptionText = FixedText<kMaxPathBytes>;

/// Options after the environment was asked; no field is left open but those that may stay unknown. Too large for the
/// stack of a thread that the program keeps small.
struct Settings {
  OptionText directory;
  OptionText run_id;
  OptionText pass;
  std::optional<int> threads;
  double interval_seconds = 1;
  double waits_hertz = 0;        ///< 0: waits are not sampled
  bool waits_are_asked = false;  ///< by a number
  std::optional<std::int64_t> total_events;
  std::optional<std::int64_t> max_log_bytes;
  bool trace = false;
  bool summary = false;
  bool record_arguments = true;
};

/// Distinguishes a process from children of it that no handler of pthread_atfork(3) saw, of clone(2) and _Fork(3): a
/// page that the kernel gives to children empty (MADV_WIPEONFORK). Where it cannot (Linux before 4.14), such children
/// are not noticed. A child of vfork(2) has the memory of its parent, and is taken for it.
class ForkMark {
 public:
  /// Before any other thread knows of this object. Never taken back.
  void Set() noexcept {
    constexpr std::size_t kBytes = sizeof(*mark_);  // the kernel makes whole pages of it
    void* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, kBytes, MADV_WIPEONFORK) != 0) {
      munmap(page, kBytes);
      return;
    }
    mark_ = static_cast<std::atomic<bool>*>(page);
    mark_->store(true);
  }
  /// Whether this is a child of the process in which it was set.
  bool IsLeft() const noexcept { return mark_ != nullptr && !mark_->load(std::memory_order_relaxed); }

 private:
  std::atomic<bool>* mark_ = nullptr;
};

/// The CPU time of the children that were waited for, and of theirs, by RUSAGE_CHILDREN; and that of the children that
/// live, by their clocks. So what a child computes counts when it computes, not when it is waited for. Which children
/// the main thread has is looked for at most once in 20 ms: `children` of proc_pid_task(5), where the kernel has it, on
/// a descriptor of our own, since a filter of seccomp(2) may come that does not list open(2). Without it, beyond 16
/// children, and of other threads, a child counts when it has been waited for.
///
/// Not synchronized.
class ChildrenCpu {
 public:
  /// What all used so far, ns; it never declines. `pid`: of this process. nullopt: the kernel does not report it.
  MaybeInteger Read(std::int64_t pid, std::int64_t now_ns, DescriptorBudget* budget) noexcept;
  void Close(DescriptorBudget* budget) noexcept { list_.Close(budget); }

 private:
  struct Child {
    std::int64_t pid = 0;
    std::int64_t cpu_ns = 0;  ///< when it was read last
  };

  /// Adds the main thread's children that are not known.
  void Look(DescriptorBudget* budget) noexcept;
  /// Reads the clocks of the known children, and forgets those that have none any more.
  std::int64_t ReadLiving() noexcept;

  static constexpr int kMostChildren = 16;
  char path_[64] = "";
  ProcReading list_{path_, IsListOfProcesses};
  Child children_[kMostChildren];
  int count_ = 0;
  std::int64_t look_ns_ = 0;  ///< when to look again
  std::int64_t last_ns_ = 0;
  std::int64_t gone_ns_ = 0;  ///< of children for which nobody waited
};

/// What was open while a time passed.
enum class OpenThen : std::uint8_t {
  kNothing,
  kOneChunk,
  kSeveral,  ///< or it is not known
};

/// CPU time of threads without guards, and wall time, while so much was open.
struct UnannouncedTime {
  std::int64_t cpu_ns = 0;
  std::int64_t wall_ns = 0;

  double Rate() const noexcept { return wall_ns > 0 ? static_cast<double>(cpu_ns) / static_cast<double>(wall_ns) : 0; }
};

/// Threads without guards, as a library starts them, have no chunk; but while one chunk is open alone, what they and
/// child processes compute is that chunk's work. So their CPU time is read where the number of open chunks passes
/// between 0, 1 and 2: the CPU time of the process less that of all threads that have used a guard, of the main thread,
/// and of our own. While several chunks are open it cannot be divided.
///
/// No chunk waits here: where two threads come at once, one of them reads, and the time until then counts as that of
/// several chunks.
class UnannouncedCpu {
 public:
  /// Whether to call `Settle`, for the number of other open chunks when a chunk begins or has ended.
  static bool IsToSettle(std::int64_t others) noexcept { return others <= 1; }
  /// Gives the time since the last call to what was open then. `begun`: the chunk that has just begun; null: one has
  /// just ended.
  void Settle(Recorder* recorder, ChunkState* begun) noexcept;
  /// From now on the CPU time of this thread, which is the calling one, is announced.
  void JoinThread(Recorder* recorder, ThreadState* thread) noexcept;
  /// The calling thread ends.
  void LeaveThread(ThreadState* thread, std::int64_t pid) noexcept;
  void SetOwnThread(std::int64_t tid) noexcept { own_thread_.store(tid, std::memory_order_relaxed); }

  UnannouncedTime Time(OpenThen open) noexcept;
  /// In a forked child, and at the end.
  void Close(DescriptorBudget* budget) noexcept { children_.Close(budget); }

 private:
  static constexpr int kMostThreads = 32;  ///< whose clocks are read, at 0.3 us each; of more, nothing is known
  MaybeInteger Read(const Recorder& recorder) noexcept;
  MaybeInteger ReadOnce(const Recorder& recorder) noexcept;
  /// Leaves CPU time of a thread that was not announced until now out of what is given.
  void TakeOut(const Recorder& recorder, std::int64_t own_ns) noexcept;
  /// What threads that also compute while no chunk is open, as a logger does, use in such a time: it is no chunk's.
  std::int64_t Background(std::int64_t wall_ns) const noexcept;
  /// `cpu_ns` was used in a pause of `wall_ns` between two chunks.
  void LearnBackground(std::int64_t cpu_ns, std::int64_t wall_ns) noexcept;
  /// With the mutex held.
  void Give(MaybeInteger cpu_ns, MaybeInteger children_ns) noexcept;

  std::mutex mutex_;
  std::atomic<bool> was_missed_{false};   ///< a call found the mutex held
  std::atomic<bool> thread_came_{false};  ///< since the last call
  std::atomic<std::int64_t> own_thread_{0};
  std::atomic<std::int64_t> ended_ns_{0};  ///< CPU time of announced threads that are gone
  MaybeInteger last_cpu_ns_;
  ChildrenCpu children_;
  MaybeInteger last_children_ns_;
  std::int64_t owed_ns_ = 0;  ///< so much too much was given: a sum of clocks that run on is late or early
  std::int64_t last_time_ns_ = 0;
  OpenThen open_ = OpenThen::kSeveral;
  ChunkState* chunk_ = nullptr;  ///< the one that is open
  std::uint64_t generation_ = 0;
  UnannouncedTime times_[3];
  UnannouncedTime background_;  ///< of pauses, without the time in which a library may spin
};

/// Nobody counts allocations, or what GPUs do.
inline constexpr std::int64_t kNeverDue = INT64_MAX;

/// Made at the first `Enable`, never destroyed, replaced in a forked child. Counters are atomics; `mutex` guards the
/// rest and is never taken between enter and exit of a section, or by a chunk without spans. It is the first of its
/// logs.
struct Recorder : ChunkLog {
  Settings settings;
  ForkMark mark;
  Clock clock;
  DescriptorBudget descriptors;
  ProcessRss rss;
  std::int64_t pid = 0;
  int number = 0;                       ///< the least that its log may have (docs/record_log.md, "The file")
  std::int64_t section_cost_ns = 0;     ///< calibrated, of one occurrence
  std::int64_t request_cost_ns = 0;     ///< calibrated, of a request's guard
  std::int64_t reading_cost_ns = 0;     ///< calibrated, of a memory guard
  std::int64_t allocation_cost_ns = 0;  ///< measured, of counting one block; 0: none are counted

  std::atomic<std::uint64_t> next_chunk{0};
  std::atomic<std::int64_t> open_chunks{0};
  std::atomic<std::int64_t> suspended{0};    ///< of the open chunks
  std::atomic<std::int64_t> open_events{0};  ///< those of `TrackEvent` that have lines; not in the two above
  std::atomic<std::int64_t> lanes{0};        ///< threads with a chunk or a helper scope open
  std::atomic<std::uint64_t> dropped{0};     ///< what guards were given and could not be kept; lost lines are the log's
  std::atomic<std::uint64_t> misused{0};     ///< of these, guards that were not used as they should be
  std::atomic<std::uint64_t> outside{0};     ///< of these, values and guards where no chunk was open
  std::atomic<std::int64_t> overhead_ns{0};  ///< CPU time of recording, but for sections outside chunks and allocations
  std::atomic<std::int64_t> ended_run_delay_ns{0};  ///< of threads that recorded and are gone
  MaybeInteger throttled_start_ns;                  ///< when recording began
  std::atomic<ThreadState*> threads{nullptr};
  ThreadState* first_thread() const noexcept { return threads.load(std::memory_order_acquire); }
  std::atomic<SpanState*> process_span{nullptr};

  const AllocationCounter* allocation_counter = nullptr;    ///< set before `allocations_due_ns`
  std::atomic<std::int64_t> allocations_due_ns{kNeverDue};  ///< CLOCK_MONOTONIC, of their next line
  const GpuCounter* gpu_counter = nullptr;                  ///< set before `gpu_due_ns`
  std::atomic<std::int64_t> gpu_due_ns{kNeverDue};          ///< as `allocations_due_ns`

  ExitSummary* summary = nullptr;          ///< null: none was asked for
  std::atomic<TaskTable*> tasks{nullptr};  ///< once there was an event or a task
  JsonLine end_line;                       ///< has room for the last line's counts from the start

  std::atomic<ChunkState*> spare_frames{nullptr};  ///< changed with the mutex held

  std::mutex logs_mutex;  ///< tried only, by who opens a log beside the first

  std::mutex mutex;
  Arena file_names;
  NameSet files;              ///< of which a `file` line was written
  SectionTree ended_threads;  ///< sections outside chunks, of threads that are gone
  ChunkData process_values;   ///< metrics of no chunk

  NativeStacks stacks;
  UnannouncedCpu unannounced;
  WaitSampler waits;
};

/// The log of a chunk that the thread is about to begin: the recorder's first, unless the thread moved to another one.
ChunkLog* LogForChunk(Recorder* recorder, ThreadState* thread) noexcept;

/// Writes the sums of all logs that are due, or will be in `early_ns`; false: none were.
bool WriteSumsWhenDue(Recorder* recorder, std::int64_t now_ns, std::int64_t early_ns = 0) noexcept;

/// Opens the log of this process and writes who it is. False, with errno set, where it cannot be opened.
bool OpenLog(Recorder* recorder) noexcept;
/// Opens another log of this process, and writes whose it is; false where that cannot be.
bool OpenLogBeside(Recorder* recorder, ChunkLog* more) noexcept;
/// The `sample` and `end` lines: the process as a whole, now and at its end. Any thread may call these; they do not
/// meet the sections that other threads are in.
void WriteSample(Recorder* recorder) noexcept;
void WriteEnd(Recorder* recorder) noexcept;

/// Null until recording was first switched on in this process. In a child that was made without the handlers of
/// fork(3), clone(2), it forgets the parent first, as those would have done.
Recorder* CurrentRecorder() noexcept;

/// Starts or resumes recording with these settings; false where it cannot be. What `crema::Enable` does.
bool EnableWith(const Settings& settings) noexcept;
/// As `crema::Enable`, with the texts of the options from elsewhere.
bool EnableWithTexts(std::string_view directory, std::string_view run_id, std::string_view pass,
                     const Options& options) noexcept;
void SwitchOff() noexcept;
/// Ends the process's log, as its exit does, whichever copy of the SDK writes it.
void EndLog() noexcept;
/// From now on `mode` follows this copy's own (see own_descriptor.h).
void MirrorMode(std::atomic<std::uint8_t>* mode) noexcept;
void ForgetMode(std::atomic<std::uint8_t>* mode) noexcept;

/// Whether the process is the child of one that was recorded, and was not replaced by execve(2) since.
bool WasForked() noexcept;

/// One sentence on stderr, `crema: …`, the first time only.
void WarnOnce(std::initializer_list<std::string_view> parts) noexcept;

/// Adds CPU time that recording took.
void AddCost(std::int64_t cpu_ns) noexcept;

/// Counts one thing that a guard was given and that could not be kept.
void CountDropped() noexcept;

/// Counts a value or a guard that belongs to a chunk, where none is open.
void CountOutsideChunk() noexcept;

/// Counts a guard that was not used as it should be, and warns once.
void CountMisuse(std::string_view sentence) noexcept;

/// The thread is about to work in this frame. If it had nothing open, one more lane is busy: notes it with all open
/// chunks, whose `lanes_peak` it may raise.
void OccupyLane(Recorder* recorder, const ThreadState& thread, OpenWork* frame) noexcept;
/// The thread leaves the frame, and with it its lane, if the frame holds one.
void FreeLane(Recorder* recorder, const OpenWork& frame) noexcept;

}  // namespace crema::internal
