// SpinLock: a lock that needs no memory, may be held over a fork, and is never waited for without end.
#ifndef CREMA_ALLOCATIONS_SPIN_LOCK_H_
#define CREMA_ALLOCATIONS_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

namespace crema {
namespace allocations {

/// Held for some instructions, or while a table grows. A handler of a signal may have left it locked for ever
/// (siglongjmp(3)): who waited for about a second gives up, and so does everybody after.
class SpinLock {
 public:
  bool Lock() noexcept {
    for (int tries = 0; tries < kMostTries; ++tries) {
      if (!is_held_.load(std::memory_order_relaxed) && !is_held_.exchange(true, std::memory_order_acquire)) return true;
      if (is_broken_.load(std::memory_order_relaxed)) return false;
      if (tries > kBusyTries) sched_yield();
    }
    is_broken_.store(true, std::memory_order_relaxed);
    return false;
  }
  void Unlock() noexcept { is_held_.store(false, std::memory_order_release); }
  /// In a forked child, where whoever held it is gone.
  void StartAnew() noexcept {
    is_held_.store(false, std::memory_order_relaxed);
    is_broken_.store(false, std::memory_order_relaxed);
  }

 private:
  static constexpr int kBusyTries = 100;
  static constexpr int kMostTries = 1000000;

  std::atomic<bool> is_held_{false};
  std::atomic<bool> is_broken_{false};
};

}  // namespace allocations
}  // namespace crema

#endif  // CREMA_ALLOCATIONS_SPIN_LOCK_H_
