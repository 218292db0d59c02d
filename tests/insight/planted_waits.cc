// planted_waits KIND SHARE SECONDS: chunks that compute a little, and wait. SHARE of the blocked time is in waits of
// KIND, the rest in others. Each wait is timed by the thread that waits; the truth is printed as JSON. Each kind has a
// function of its own that waits, and the lock is held by another chunk, in its section `holding`.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double RunDelay() {
  std::ifstream file("/proc/thread-self/schedstat");
  double cpu_ns = 0, delay_ns = 0;
  file >> cpu_ns >> delay_ns;
  return delay_ns * 1e-9;
}

/// For how long this thread is blocked while it calls `wait`.
double Blocked(const std::function<void()>& wait) {
  const double delay = RunDelay(), cpu = Seconds(CLOCK_THREAD_CPUTIME_ID), wall = Seconds(CLOCK_MONOTONIC);
  wait();
  const double blocked = Seconds(CLOCK_MONOTONIC) - wall - (Seconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
  return blocked - (RunDelay() - delay);
}

void Sleep(double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }

/// Does something after this time, on another thread.
class After {
 public:
  After(double seconds, std::function<void()> action)
      : thread_([seconds, action = std::move(action)] {
          Sleep(seconds);
          action();
        }) {}
  ~After() { thread_.join(); }

 private:
  std::thread thread_;
};

void WriteByte(int descriptor) {
  if (write(descriptor, "x", 1) != 1) std::abort();
}
void ReadByte(int descriptor) {
  char byte = 0;
  if (read(descriptor, &byte, 1) != 1) std::abort();
}

struct Ends {
  int in = -1;
  int out = -1;
};

// After each wait there is something to do, so that the function is still there while it waits.
std::atomic<int> g_waits{0};

__attribute__((noinline)) void NapFor(double seconds) {
  Sleep(seconds);
  ++g_waits;
}
__attribute__((noinline)) void WaitForTheChild(pid_t child) {
  waitpid(child, nullptr, 0);
  ++g_waits;
}
__attribute__((noinline)) void TakeTheLock(std::mutex* mutex) {
  const std::lock_guard<std::mutex> lock(*mutex);
  ++g_waits;
}
__attribute__((noinline)) void WaitForTheQueue(std::mutex* mutex, std::condition_variable* queue, const bool* is_full) {
  std::unique_lock<std::mutex> lock(*mutex);
  while (!*is_full) queue->wait(lock);
  ++g_waits;
}
__attribute__((noinline)) void PollThePipe(int descriptor) {
  pollfd wanted = {descriptor, POLLIN, 0};
  poll(&wanted, 1, -1);
  ++g_waits;
}
__attribute__((noinline)) void ReadTheAnswer(int descriptor) {
  ReadByte(descriptor);
  ++g_waits;
}

double Wait(const std::string& kind, double seconds, const Ends& pipe, const Ends& socket, std::mutex* mutex) {
  if (kind == "sleep") return Blocked([&] { NapFor(seconds); });
  if (kind == "child process") {
    const pid_t child = fork();
    if (child == 0) {
      Sleep(seconds);
      _exit(0);
    }
    return Blocked([&] { WaitForTheChild(child); });
  }
  if (kind == "condition or queue") {
    std::condition_variable queue;
    bool is_full = false;
    const After filler(seconds, [&] {
      const std::lock_guard<std::mutex> lock(*mutex);
      is_full = true;
      queue.notify_one();
    });
    return Blocked([&] { WaitForTheQueue(mutex, &queue, &is_full); });
  }
  if (kind == "lock") {
    std::atomic<bool> is_held{false};
    std::thread holder([&] {
      const crema::TrackMetrics metrics("holder");
      const crema::TrackSection section("holding");
      const std::lock_guard<std::mutex> lock(*mutex);
      is_held = true;
      Sleep(seconds);
    });
    while (!is_held) std::this_thread::yield();
    const double blocked = Blocked([&] { TakeTheLock(mutex); });
    holder.join();
    return blocked;
  }
  const Ends& ends = kind == "network" ? socket : pipe;
  const After answer(seconds, [&] { WriteByte(ends.in); });
  const double blocked = Blocked([&] {
    if (kind == "poll") PollThePipe(ends.out);
    if (kind != "poll") ReadTheAnswer(ends.out);
  });
  if (kind == "poll") ReadByte(ends.out);
  return blocked;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string kind = argv[1];
  const double share = std::atof(argv[2]);
  const double until = Seconds(CLOCK_MONOTONIC) + std::atof(argv[3]);
  const std::string other = kind == "sleep" ? "read" : "sleep";
  int pipe_ends[2], socket_ends[2];
  if (pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends) != 0) return 1;
  const Ends pipe = {pipe_ends[1], pipe_ends[0]}, socket = {socket_ends[1], socket_ends[0]};
  std::mutex mutex;
  double of_kind = 0, of_others = 0;
  constexpr double kPeriod = 0.05;
  for (int i = 0; Seconds(CLOCK_MONOTONIC) < until; ++i) {
    crema::TrackMetrics metrics({"planted", "", i, i + 1});
    metrics.SetEvents(1);
    const double computed = Seconds(CLOCK_THREAD_CPUTIME_ID) + 0.005;
    while (Seconds(CLOCK_THREAD_CPUTIME_ID) < computed) {
    }
    const crema::TrackSection section("wait");
    of_kind += Wait(kind, kPeriod * share, pipe, socket, &mutex);
    of_others += Wait(other, kPeriod * (1 - share), pipe, socket, &mutex);
  }
  std::printf("{\"share\": %.6f, \"other\": \"%s\"}\n", of_kind / (of_kind + of_others), other.c_str());
}
