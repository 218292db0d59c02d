// WorkCounter: hands out numbers to the threads of several processes.
#ifndef CREMA_EXAMPLES_ZJETS_WORK_COUNTER_H_
#define CREMA_EXAMPLES_ZJETS_WORK_COUNTER_H_

#include <atomic>
#include <cstddef>

namespace zjets {

/// Make it before fork(2): it lives in memory that the processes share (mmap(2), MAP_SHARED). Whoever is free takes the
/// next number, so a slow worker takes fewer. Thread-safe.
class WorkCounter {
 public:
  /// Throws std::runtime_error when there is no memory.
  WorkCounter();
  ~WorkCounter();
  WorkCounter(const WorkCounter&) = delete;
  WorkCounter& operator=(const WorkCounter&) = delete;

  /// 0, 1, 2, ...: each number once over all processes.
  std::size_t Next() { return shared_->fetch_add(1, std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<std::size_t>::is_always_lock_free, "a lock would not be shared between processes");
  std::atomic<std::size_t>* shared_;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_WORK_COUNTER_H_
