// Rival: another process on the test's core.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crema {
namespace testing {

/// A process that computes on the core of its maker, until it is released.
class Rival {
 public:
  Rival() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) {
    }
  }
  ~Rival() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

 private:
  pid_t pid_;
};

inline void StayOnOneCore() {
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  int core = 0;
  while (!CPU_ISSET(core, &cores)) ++core;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace testing
}  // namespace crema
