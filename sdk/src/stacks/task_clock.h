// TaskClock: a signal after so much CPU time of a thread, also between the kernel's ticks.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "process/own_descriptor.h"

namespace crema {
namespace internal {

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

}  // namespace internal
}  // namespace crema
