// What a fork(2) costs a program that has the SDK's descriptors: docs/design.md, "Descriptors in a process that is not
// ours".
//
//     bazel run //sdk/benchmarks:fork_table
//     bazel run //sdk/benchmarks:fork_table -- 20000       forks of each kind; by default 4,000
//
// The kernel copies the table of descriptors up to the highest one that is open. The kinds are measured in turns, so
// that their differences hold on a machine that does other things.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sdk/src/process/own_descriptor.h"

namespace {

using Clock = std::chrono::steady_clock;

/// A log, the file that reserves room for it, and the files in /proc that three threads read.
constexpr int kDescriptors = 8;
constexpr int kForks = 4000;

struct Kind {
  const char* name;
  /// A copy of `fd` in this kind's place; -1 if this is not possible here.
  int (*copy)(int fd);
  std::vector<double> fork_us = {};   ///< of the call, in the parent
  std::vector<double> whole_us = {};  ///< until the child has ended
};

/// Adds one fork; false: it failed.
bool Measure(Kind* kind, int fd) {
  int copies[kDescriptors];
  for (int& copy : copies) copy = kind->copy(fd);
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const auto forked = Clock::now();
  int status = -1;
  const bool has_ended = child > 0 && waitpid(child, &status, 0) == child;
  const auto stop = Clock::now();
  const bool are_copied = std::all_of(copies, copies + kDescriptors, [](int copy) { return copy >= 0; });
  for (const int copy : copies) close(copy);
  if (!has_ended || !are_copied) return false;
  kind->fork_us.push_back(std::chrono::duration<double, std::micro>(forked - start).count());
  kind->whole_us.push_back(std::chrono::duration<double, std::micro>(stop - start).count());
  return true;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  const int forks = argc > 1 ? std::atoi(argv[1]) : kForks;
  if (forks <= 0) {
    std::fprintf(stderr, "fork_table: %s: is not a number of forks\n", argv[1]);
    return 2;
  }
  rlimit limit{};  // so that a number beyond 1,024 is to be had
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  Kind kinds[] = {
      {"lowest numbers", [](int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }},
      {"below 1,024, as the SDK's", [](int fd) { return crema::internal::DuplicateHigh(fd); }},
      {"above 16,000", [](int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 16000); }},
  };
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (Kind& kind : kinds) Measure(&kind, fd);  // the first forks are slower
  for (Kind& kind : kinds) kind.fork_us.clear(), kind.whole_us.clear();
  for (int i = 0; i < forks; ++i) {
    for (Kind& kind : kinds) Measure(&kind, fd);
  }
  std::printf("%d descriptors, medians of %d forks in turns     fork us  more us   with end us  more us\n",
              kDescriptors, forks);
  const double least = Median(kinds[0].fork_us);
  const double least_whole = Median(kinds[0].whole_us);
  for (const Kind& kind : kinds) {
    if (kind.fork_us.empty()) {
      std::printf("%-50s  not to be had here\n", kind.name);
      continue;
    }
    const double fork_us = Median(kind.fork_us);
    const double whole_us = Median(kind.whole_us);
    std::printf("%-50s %8.2f %8.2f %13.2f %8.2f\n", kind.name, fork_us, fork_us - least, whole_us,
                whole_us - least_whole);
  }
  return 0;
}
