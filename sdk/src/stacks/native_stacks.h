// NativeStacks: which functions the chunks of this process are in: one sample for each 1/HZ s of a thread's CPU time.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "kernel/kernel_readings.h"
#include "stacks/call_frame.h"
#include "stacks/stack_table.h"

namespace crema::internal {

struct Recorder;
struct ThreadState;

/// The kernel's task clock of one thread (perf_event_open(2), PERF_COUNT_SW_TASK_CLOCK), in user mode only: an event in
/// the kernel would bring the signal to a thread that is about to wait, and the wait would end with EINTR. So where the
/// time is over in the kernel, the clock is silent. All but `Close` is for the thread itself.
class TaskClock {
 public:
  /// The clock then sends `signal` to the thread `tid`, which is the calling one. Nothing is opened
  ///  - in a sandbox (seccomp(2)): its filter may kill for a call that it does not know;
  ///  - by a thread of a real-time class: the first such event on a machine waits for all processors, some 10 ms;
  ///  - on a kernel with PREEMPT_RT, which sends the signal some time later, when the thread may be waiting;
  ///  - where the kernel refuses it, or no descriptor is left.
  void Open(int signal, std::int64_t tid, DescriptorBudget* budget) noexcept;
  bool is_open() const noexcept { return descriptor_.load(std::memory_order_relaxed) >= 0; }
  /// Sends one signal, after `cpu_ns` of the thread's CPU time. False: it is closed.
  bool Set(std::int64_t cpu_ns, DescriptorBudget* budget) noexcept;
  bool is_set() const noexcept { return is_open() && is_set_; }
  /// The clock stands still. Any thread may call it.
  void Stop() noexcept;
  /// It goes on where it was stopped.
  void GoOn() noexcept;
  /// Any thread may call it, in a forked child, too.
  void Close(DescriptorBudget* budget) noexcept;
  /// Closes it for good: it turned out to be of no use.
  void GiveUp(DescriptorBudget* budget) noexcept;
  /// Whether the clock has sent this signal. It sends no other one then.
  bool HasSent(const siginfo_t& info) noexcept;
  /// Between two of the kernel's ticks.
  std::int64_t tick_ns() const noexcept { return tick_ns_; }

 private:
  static constexpr int kNotOpen = -1;
  static constexpr int kRefused = -2;
  void Control(unsigned long request) const noexcept;
  bool IsOurs(int descriptor) const noexcept;

  std::atomic<int> descriptor_{kNotOpen};
  std::uint64_t id_ = 0;  ///< the kernel's
  std::int64_t tick_ns_ = 0;
  bool is_set_ = false;  ///< it has yet to send its signal
};

/// Whether the thread was in the kernel in each of the kernel's ticks since the last call, of which there was one or
/// more. The kernel counts a whole tick of user time or of system time.
class TickModes {
 public:
  bool WereInKernel() noexcept;

 private:
  std::int64_t user_ns_ = 0;
  std::int64_t all_ns_ = 0;
};

// ChunkPositions: where in its chunks a thread was seen, and how much less its samples say if it was the same places.

/// The kernel looks at timers of CPU time in its ticks only. If chunks keep step with the ticks, the thread is seen at
/// the same places of its chunks again and again. Every place has the same chance otherwise, so the places show it.
/// The thread and its handler call all but `Inflation`.
class ChunkPositions {
 public:
  /// CPU time in chunks begins at `cpu_ns` of the thread's CPU clock.
  void Begin(std::int64_t cpu_ns) noexcept;
  /// The thread was seen at `cpu_ns`, and went on at `after_ns`; the sighting stands for `samples`. Only those that
  /// came with the kernel's ticks can keep step with them.
  void Note(std::int64_t cpu_ns, std::int64_t after_ns, std::uint64_t samples, bool is_in_tick) noexcept;
  /// CPU time in chunks ends at `cpu_ns`.
  void End(std::int64_t cpu_ns) noexcept;
  /// By how much the squares of the sightings' samples are to grow, so that the error that follows from them covers
  /// the truth: 1 if the places are what chance gives. Any thread may call it.
  double Inflation() const noexcept;

 private:
  static constexpr int kParts = 8;  ///< of a chunk
  /// A chunk that is seen more often is longer than many ticks, and cannot keep step with them.
  static constexpr int kMostSeen = 16;
  /// In shorter ones the 10 us in which the kernel calls the handler look like places that are never seen.
  static constexpr std::int64_t kLeastNanoseconds = 500'000;
  struct Seen {
    std::int64_t at_ns = 0;
    std::uint64_t samples = 0;
  };
  using Sum = std::atomic<std::uint64_t>;  // only the thread changes it
  static void Add(Sum* sum, std::uint64_t value) noexcept {
    sum->store(sum->load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }

  std::int64_t begin_ns_ = 0;  ///< later by what the handler took since
  int seen_count_ = 0;
  Seen seen_[kMostSeen];
  Sum samples_[kParts] = {};
  Sum squares_{0};      ///< of what is in `samples_`
  Sum all_squares_{0};  ///< of long chunks, too
};

/// When the samples of a thread are due. Its CPU time inside chunks is cut into periods, and one sample is due at a
/// random moment of each period. So every moment has the same chance, whatever the length of the chunks, and a thread
/// gets exactly one sample for each period.
class SampleSchedule {
 public:
  static constexpr std::int64_t kNextTick = 1;

  /// A period begins with the next `Resume`.
  void Start(std::int64_t period_ns, std::uint64_t seed) noexcept;
  /// A chunk begins. `cpu_ns` is the thread's CPU clock (CLOCK_THREAD_CPUTIME_ID), here and below.
  void Resume(std::int64_t cpu_ns) noexcept;
  /// The thread's last chunk ends.
  void Pause(std::int64_t cpu_ns) noexcept;
  bool is_paused() const noexcept { return is_paused_; }
  /// How many samples have become due; they are due no more.
  std::uint64_t Take(std::int64_t cpu_ns) noexcept;
  /// How long a timer must run until the next sample. One that is late comes with the kernel's next tick.
  std::int64_t UntilDue(std::int64_t cpu_ns) const noexcept { return due_ns_ > cpu_ns ? due_ns_ - cpu_ns : kNextTick; }
  /// When the thread's last chunk ended.
  std::int64_t paused_ns() const noexcept { return paused_ns_; }
  /// How long ago the next sample became due; negative: it is not due yet.
  std::int64_t LateNanoseconds(std::int64_t cpu_ns) const noexcept { return cpu_ns - due_ns_; }

 private:
  void Advance() noexcept;

  std::int64_t period_ns_ = 0;
  std::int64_t due_ns_ = 0;
  std::int64_t rest_ns_ = 0;  ///< of the period, after the moment that is due
  std::int64_t paused_ns_ = 0;
  bool is_paused_ = true;
  std::uint64_t random_ = 0;
};

/// For a thread that had a chunk open; kept with its state, for the next thread.
struct ThreadStacks {
  std::atomic<bool> is_taken{false};  ///< the table, by the handler or by who writes: neither waits for the other
  std::atomic<Recorder*> recorder{nullptr};
  StackTable* table = nullptr;
  StackBounds bounds;
  char* handler_stack = nullptr;  ///< where the handler works; nullptr: not mapped yet
  std::size_t handler_stack_bytes = 0;
  std::atomic<bool> has_timer{false};
  std::atomic<bool> is_armed{false};
  std::atomic<bool> is_in_handler{false};
  std::atomic<bool> was_blocked{false};  ///< the handler found samples that were due while it could not run
  std::atomic<bool> has_failed{false};   ///< the timer could not be set in the handler
  bool brings_stack = false;             ///< the thread had no stack for handlers, and gets one
  timer_t timer = {};
  SampleSchedule schedule;
  TaskClock clock;
  std::int64_t clock_due_ns = 0;     ///< the clock is to send its signal at this time of the thread's CPU clock
  std::int64_t clock_period_ns = 0;  ///< what it was set to
  std::int64_t clock_ahead_ns = 0;   ///< how long it has counted outside chunks since
  bool is_clock_missed = false;      ///< it was due outside chunks
  int silences = 0;                  ///< how often in turn it was silent when it was due
  /// Samples that were due while the thread was in the kernel. A tick that finds it there says where.
  std::uint64_t kernel_samples = 0;
  int kernel_ticks = 0;  ///< since there are some
  TickModes ticks;
  ChunkPositions positions;
};

/// Why there are no stacks, or not all. The texts are in the log.
enum class NoStacks : std::uint8_t {
  kNotSupported,
  kSignalInUse,
  kSignalTaken,
  kSignalBlocked,
  kBlockedInChunk,
  kNoMemory,
  kNoHandlerStack,
  kNoTimer,
  kNoClock,
  kSwitchedOff,
  kInterrupted,
  kNoRoomInLog,
};

/// Belongs to a recorder. Off where nobody asks for stacks: then chunks load one number, and sections none.
class NativeStacks {
 public:
  using Handler = void (*)(int, siginfo_t*, void*);

  /// On, if stacks are asked for. With several copies of the SDK, the recorder's own calls it: its handler knows all
  /// threads.
  void Start() noexcept;
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  /// The package of an interpreted language takes the stacks of its own functions: none are taken here, nor in forked
  /// children.
  void LeaveToInterpreter() noexcept;
  double hertz() const noexcept { return hertz_; }
  /// Stops all timers, until the next chunk begins.
  void StopTimers(Recorder* recorder) noexcept;
  /// The signal has its default action again, until the next chunk begins.
  void GiveSignalBack() noexcept;
  /// No more samples: the process ends.
  void Stop(Recorder* recorder) noexcept;

  /// Writes what was counted, ten seconds after the last time, or when a thread's table is half full. Whoever comes
  /// while another thread writes does not wait.
  void WriteWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept;
  void Write(Recorder* recorder) noexcept;

  /// Takes the signal when the first chunk begins: until then an interpreter may say that it takes the stacks, and the
  /// program may have set a handler of its own. False where that cannot be; the log says why.
  bool EnsureSignal(Recorder* recorder) noexcept;
  /// Whether the program has left us the signal, and the calling thread does not block it. If not, the log says so.
  bool CanSignal(Recorder* recorder) noexcept;
  /// The log says why there are no stacks, or not all; once for each reason.
  void Refuse(Recorder* recorder, NoStacks reason) noexcept;
  void NoteHalfFull() noexcept { is_half_full_.store(true, std::memory_order_relaxed); }

  /// Samples that were due and are in no line.
  void CountLost(std::uint64_t samples) noexcept { lost_samples_.fetch_add(samples, std::memory_order_relaxed); }
  std::uint64_t lost_samples() const noexcept { return lost_samples_.load(std::memory_order_relaxed); }

 private:
  void GiveUpTakenSignal(Recorder* recorder) noexcept;
  void WriteLocked(Recorder* recorder) noexcept;
  void WriteMerged(Recorder* recorder) noexcept;

  std::atomic<bool> is_on_{false};
  std::atomic<std::uint32_t> refused_{0};  ///< bits of `NoStacks`
  std::atomic<bool> is_half_full_{false};
  std::atomic<std::int64_t> next_write_ns_{0};
  std::atomic<std::uint64_t> lost_samples_{0};
  double hertz_ = 0;
  std::atomic<bool> has_signal_{false};
  std::atomic<bool> had_signal_{false};
  std::atomic<pthread_t> writer_{};  ///< of `mutex_`
  Handler handler_ = nullptr;
  bool can_find_files_ = false;
  std::mutex mutex_;  ///< guards what follows
  StackTable* all_ = nullptr;
};

/// A chunk of the thread is about to begin, or to go on: sets the thread's timer, if it is not set.
void ArmStacks(Recorder* recorder, ThreadState* thread) noexcept;
/// The chunk begins. `cpu_ns` is the thread's CPU clock.
void ResumeStacks(ThreadState* thread, MaybeInteger cpu_ns) noexcept;
/// A chunk has ended at `cpu_ns`. If the thread has no other one open, its timer stops.
void PauseStacks(ThreadState* thread, MaybeInteger cpu_ns) noexcept;
/// The thread ends.
void EndStacks(ThreadState* thread) noexcept;

}  // namespace crema::internal
