// TaskClock: a signal after so much CPU time of a thread, also between the kernel's ticks.
#pragma once

#include <signal.h>

#include "process/own_descriptor.h"

namespace crema::internal {

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

}  // namespace crema::internal
