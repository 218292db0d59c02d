// The effect of the signal of native stacks on system calls of the program (docs/reliability.md, "Stacks").
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/select.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <mutex>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

/// Makes a call while the signal of the stacks strikes the thread again and again. Returns its result, or its errno as
/// a negative number. `let_go` ends a call that goes on.
int Struck(const std::function<int()>& call, const std::function<void()>& let_go) {
  std::atomic<bool> is_ready{false};
  std::atomic<bool> is_done{false};
  int result = 0;
  std::thread thread([&] {
    TrackMetrics metrics("struck");
    is_ready = true;
    errno = 0;
    result = call();
    if (result < 0) result = -errno;
    is_done = true;
  });
  while (!is_ready) std::this_thread::yield();
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && !is_done; ++i) {
    pthread_kill(thread.native_handle(), SIGURG);
    Sleep(1000000);
  }
  if (!is_done) let_go();
  thread.join();
  return result;
}

TEST(NativeStacks, InterruptTheCallsThatTheirPageNames) {
  struct Results {
    int polled, selected, slept, read, waited;
  };
  const SharedValue<Results> results;
  Recorded(
      [&] {
        int ends[2];
        if (pipe(ends) != 0) std::abort();
        const auto write_byte = [&] {
          if (write(ends[1], "a", 1) != 1) std::abort();
        };
        results->polled = Struck(
            [&] {
              pollfd waited = {ends[0], POLLIN, 0};
              return poll(&waited, 1, -1);
            },
            write_byte);
        results->selected = Struck(
            [&] {
              fd_set set;
              FD_ZERO(&set);
              FD_SET(ends[0], &set);
              return select(ends[0] + 1, &set, nullptr, nullptr, nullptr);
            },
            write_byte);
        results->slept = Struck(
            [] {
              const timespec time = {3, 0};
              return nanosleep(&time, nullptr);
            },
            [] {});
        results->read = Struck(
            [&] {
              char byte = 0;
              return static_cast<int>(read(ends[0], &byte, 1));
            },
            write_byte);
        std::mutex mutex;
        std::condition_variable condition;
        bool is_over = false;
        results->waited = Struck(
            [&] {
              std::unique_lock<std::mutex> lock(mutex);
              condition.wait(lock, [&] { return is_over; });
              return 5;
            },
            [&] {
              const std::lock_guard<std::mutex> lock(mutex);
              is_over = true;
              condition.notify_one();
            });
      },
      {{"CREMA_STACKS", "1"}});
  EXPECT_EQ(results->polled, -EINTR);
  EXPECT_EQ(results->selected, -EINTR);
  EXPECT_EQ(results->slept, -EINTR);
  EXPECT_EQ(results->read, 1);
  EXPECT_EQ(results->waited, 5);
}

}  // namespace
}  // namespace testing
}  // namespace crema
