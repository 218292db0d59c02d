// PriorityLock: a lock that needs no memory, may be held over a fork, and is never waited for without end.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "crema/internal/platform.h"

namespace crema::allocations {

/// The kernel's name for the calling thread; 0: not asked yet.
inline CREMA_THREAD_LOCAL std::uint32_t t_thread_id = 0;
inline void KnowThread() noexcept {
  if (CREMA_UNLIKELY(t_thread_id == 0)) t_thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
}

/// The kernel would end the calling thread for a system call that it makes here (seccomp(2), "strict").
inline CREMA_THREAD_LOCAL bool t_makes_no_calls = false;

/// Held for some instructions, or while a table grows. While a thread waits, the kernel lends its priority to the
/// holder (futex(2), "Priority-inheritance futexes"): else a real-time thread would wait for one that it keeps from
/// running. A handler of a signal may have left the lock locked for ever (siglongjmp(3)): who waited for a second gives
/// up, and so does everybody after.
class PriorityLock {
 public:
  bool Lock() noexcept {
    KnowThread();
    return CREMA_LIKELY(Try()) || Wait();
  }
  void Unlock() noexcept {
    std::uint32_t own = t_thread_id;
    if (CREMA_LIKELY(holder_.compare_exchange_strong(own, 0, std::memory_order_release))) return;
    if (t_makes_no_calls) return;  // who waits gives up
    const internal::KeptErrno kept_errno;
    syscall(SYS_futex, &holder_, FUTEX_UNLOCK_PI_PRIVATE, 0, nullptr, nullptr, 0);  // somebody waits
  }
  /// In a forked child, where whoever held it is gone.
  void StartAnew() noexcept {
    holder_.store(0, std::memory_order_relaxed);
    is_broken_.store(false, std::memory_order_relaxed);
  }

 private:
  static constexpr int kBusyTries = 100;
  static constexpr int kYields = 1000;

  bool Try() noexcept {
    std::uint32_t nobody = 0;
    return holder_.load(std::memory_order_relaxed) == 0 &&
           holder_.compare_exchange_strong(nobody, t_thread_id, std::memory_order_acquire);
  }

  bool TryOften(int times, bool yields) noexcept {
    for (int i = 0; i < times; ++i) {
      if (Try()) return true;
      if (yields) sched_yield();
    }
    return false;
  }

  static bool IsRealTime() noexcept {
    const long policy = syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;
    return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
  }

  CREMA_NEVER_INLINE bool Wait() noexcept {
    if (is_broken_.load(std::memory_order_relaxed)) return false;
    if (TryOften(kBusyTries, false)) return true;
    if (t_makes_no_calls) return false;
    const internal::KeptErrno kept_errno;
    // Who waits in the kernel is woken up for it: seldom worth it, except for a thread that others cannot pass.
    if (!IsRealTime() && TryOften(kYields, true)) return true;
    timespec until;  // FUTEX_LOCK_PI wants the time of the real-time clock
    clock_gettime(CLOCK_REALTIME, &until);
    ++until.tv_sec;
    const bool is_held = syscall(SYS_futex, &holder_, FUTEX_LOCK_PI_PRIVATE, 0, &until, nullptr, 0) == 0;
    const bool is_refused = !is_held && (errno == ENOSYS || errno == EPERM);  // by a sandbox, say
    if (!is_held && !is_refused) is_broken_.store(true, std::memory_order_relaxed);
    return is_held;
  }

  std::atomic<std::uint32_t> holder_{0};  ///< a thread, with the kernel's FUTEX_WAITERS
  std::atomic<bool> is_broken_{false};
};

}  // namespace crema::allocations
