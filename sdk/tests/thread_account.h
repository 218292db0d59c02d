// The kernel's own figures of the calling thread and process. Tests compare records with them.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "sdk/tests/clocks.h"

namespace crema {
namespace testing {

struct ThreadAccount {
  std::int64_t wall_ns = 0;      ///< CLOCK_MONOTONIC
  std::int64_t cpu_ns = 0;       ///< CLOCK_THREAD_CPUTIME_ID
  std::int64_t wait_ns = -1;     ///< `/proc/thread-self/schedstat` field 2; -1: not reported
  std::int64_t read_bytes = -1;  ///< `/proc/thread-self/io`; -1: not reported
};

inline ThreadAccount ReadThreadAccount() {
  ThreadAccount account;
  std::ifstream schedstat("/proc/thread-self/schedstat");
  std::int64_t on_cpu_ns = 0;
  std::int64_t wait_ns = 0;
  if (schedstat >> on_cpu_ns >> wait_ns) account.wait_ns = wait_ns;
  std::ifstream io("/proc/thread-self/io");
  std::string key;
  for (std::int64_t value = 0; io >> key >> value;) {
    if (key == "read_bytes:") account.read_bytes = value;
  }
  account.wall_ns = WallNs();
  account.cpu_ns = ThreadCpuNs();
  return account;
}

inline ThreadAccount operator-(ThreadAccount stop, const ThreadAccount& start) {
  stop.wall_ns -= start.wall_ns;
  stop.cpu_ns -= start.cpu_ns;
  if (stop.wait_ns >= 0) stop.wait_ns -= start.wait_ns;
  if (stop.read_bytes >= 0) stop.read_bytes -= start.read_bytes;
  return stop;
}

/// User and system time of all threads of this process, in ns (getrusage(2); sums are exact to a us).
inline std::int64_t ProcessCpuNs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * std::int64_t{1000000000} +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * std::int64_t{1000};
}

/// The kernel's counters only grow. So a measured value is between the difference of two readings just inside and
/// that of two readings just outside. This holds on the busiest machine, without a tolerance.
struct Bounds {
  ThreadAccount inside;
  ThreadAccount outside;
};

}  // namespace testing
}  // namespace crema
