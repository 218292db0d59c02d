// FollowingThread: asks for what is new, again and again, until whoever wants to know goes away.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace crema {

/// The last member of its class, as its function uses the others. The function returns soon after `is_stopping`.
struct FollowingThread {
  template <class Follow>
  explicit FollowingThread(Follow follow) : thread(std::move(follow)) {}
  /// Waits for an answer that is under way, at most some seconds.
  ~FollowingThread() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      is_stopping = true;
    }
    wake.notify_all();
    thread.join();
  }
  void Wait(std::unique_lock<std::mutex>* lock, std::chrono::seconds pause) {
    wake.wait_for(*lock, pause, [this] { return is_stopping; });
  }

  std::mutex mutex;  ///< also of what the function finds
  std::condition_variable wake;
  bool is_stopping = false;
  std::thread thread;
};

}  // namespace crema
