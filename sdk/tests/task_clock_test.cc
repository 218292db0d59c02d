// If the kernel permits it, samples of native stacks come exactly when they are due (docs/reliability.md, "Stacks").
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/seen_stacks.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
const Environment kStacks = {{"CREMA_STACKS", "1000"}};

/// How many clocks of the kernel this process holds. -1 if one has a number that a program with few files may get, or
/// if an executed program would inherit one.
int Clocks() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) std::abort();
  int clocks = 0;
  bool is_ours = true;
  while (const dirent* const entry = readdir(folder)) {
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    char target[64] = "";
    if (readlink(path.c_str(), target, sizeof target - 1) < 0 || std::string(target) != "anon_inode:[perf_event]") {
      continue;
    }
    const int descriptor = std::atoi(entry->d_name);
    is_ours = is_ours && descriptor >= 768 && (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
    ++clocks;
  }
  closedir(folder);
  return is_ours ? clocks : -1;
}

/// Whether this kernel, and the surroundings of this test, permit the clock.
bool MayHaveClock() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = 1'000'000;
  attributes.exclude_kernel = 1;
  attributes.disabled = 1;
  const long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return false;
  close(static_cast<int>(descriptor));
  utsname kernel = {};
  if (uname(&kernel) != 0 || std::string(kernel.version).find("PREEMPT") != std::string::npos) {
    if (std::string(kernel.version).find("RT") != std::string::npos) return false;
  }
  std::FILE* const status = std::fopen("/proc/thread-self/status", "r");
  int mode = -1;
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) std::sscanf(line, "Seccomp: %d", &mode);
  if (status != nullptr) std::fclose(status);
  return mode == 0 && sched_getscheduler(0) == SCHED_OTHER;
}

struct Held {
  int in_chunk = -1;
  int after = -1;
};

/// Checks that each millisecond of CPU time in chunks has one sample, except those that no tick has brought at the end.
/// On a virtual machine that loses its core, this is the lost time.
void ExpectSamples(const RecordLog& log) {
  const Seen seen = StacksOf(log);
  EXPECT_THAT(seen.refused, ::testing::IsEmpty());
  double cpu_ms = 0;
  for (const ChunkLine& chunk : log.chunks) cpu_ms += static_cast<double>(chunk.cpu_ns.value_or(0)) * 1e-6;
  EXPECT_GE(cpu_ms, 100);
  const double samples = seen.Samples() + static_cast<double>(seen.lost_samples);
  EXPECT_LE(samples, cpu_ms + 2);
  EXPECT_GT(samples, 0.3 * cpu_ms);
}

/// Runs `prepare`, then a chunk of 100 ms. `held` gets the clocks that are held in it.
RecordLog InChunkAfter(const std::function<void()>& prepare, Held* held) {
  const SharedValue<Held> shared;
  RecordLog log = Recorded(
      [&] {
        prepare();
        std::thread([&] {
          TrackMetrics metrics("zjets");
          SpinCpu(100 * kMillisecond);
          shared->in_chunk = Clocks();
        }).join();
        shared->after = Clocks();
      },
      kStacks);
  *held = *shared;
  return log;
}

TEST(TaskClock, IsHeldByEachThreadThatHasAChunkAndByNoOther) {
  if (!MayHaveClock()) GTEST_SKIP() << "the kernel, or a sandbox, does not permit it";
  Held held;
  ExpectSamples(InChunkAfter([] {}, &held));
  EXPECT_EQ(held.in_chunk, 1);
  EXPECT_EQ(held.after, 0);
}

/// Each of these takes the clock away. The timer then brings as many samples.
struct Refusal {
  const char* name;
  std::function<void()> make;
};

class TaskClockIsNotOpened : public ::testing::TestWithParam<Refusal> {};

TEST_P(TaskClockIsNotOpened, AndSamplesComeByTheTimer) {
  Held held;
  ExpectSamples(InChunkAfter(GetParam().make, &held));
  EXPECT_EQ(held.in_chunk, 0);
  EXPECT_EQ(held.after, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Where, TaskClockIsNotOpened,
    ::testing::Values(Refusal{"a filter would kill for the call",
                              [] { FilterCalls({SYS_perf_event_open}, SECCOMP_RET_KILL_PROCESS); }},
                      Refusal{"the kernel refuses it", [] { RefuseCalls({SYS_perf_event_open}, EACCES); }},
                      Refusal{"no descriptor is left",
                              [] {
                                const rlimit limit{16, 16};  // the log and the room for its end are two of 16 / 8
                                setrlimit(RLIMIT_NOFILE, &limit);
                              }}),
    [](const ::testing::TestParamInfo<Refusal>& refusal) { return "Case" + std::to_string(refusal.index); });

TEST(TaskClock, IsNotForThreadsOfARealTimeClass) {
  const SharedValue<bool> is_permitted;
  Held held;
  InChunkAfter(
      [&] {
        const sched_param priority = {1};
        *is_permitted = sched_setscheduler(0, SCHED_RR, &priority) == 0;  // the thread of the chunk inherits it
      },
      &held);
  if (!*is_permitted) GTEST_SKIP() << "no right to be of such a class";
  EXPECT_EQ(held.in_chunk, 0);
}

TEST(TaskClock, IsGoneAfterDisableAndInAForkedChild) {
  if (!MayHaveClock()) GTEST_SKIP() << "the kernel, or a sandbox, does not permit it";
  const SharedValue<Held> before;
  const SharedValue<Held> off;
  const SharedValue<int> in_child;
  Recorded(
      [&] {
        {
          TrackMetrics metrics("zjets");
          SpinCpu(10 * kMillisecond);
          before->in_chunk = Clocks();
        }
        const pid_t child = fork();
        if (child == 0) {
          *in_child = Clocks();
          _exit(0);
        }
        if (child < 0 || waitpid(child, nullptr, 0) != child) std::abort();
        before->after = Clocks();
        {
          TrackMetrics open("open");
          SpinCpu(10 * kMillisecond);
          Disable();
          off->in_chunk = Clocks();
        }
        if (!Enable(Options())) std::abort();
        TrackMetrics again("zjets");
        SpinCpu(10 * kMillisecond);
        off->after = Clocks();
      },
      kStacks);
  EXPECT_EQ(before->in_chunk, 1);
  EXPECT_EQ(*in_child, 0);
  EXPECT_EQ(before->after, 1);
  EXPECT_EQ(off->in_chunk, 0);
  EXPECT_EQ(off->after, 1);
}

TEST(TaskClock, ThatTheProgramClosesIsReplacedByTheTimer) {
  const SharedValue<bool> is_untouched;
  const RecordLog log = Recorded(
      [&] {
        { const TrackSection section("opens the log"); }
        int mine = -1;
        TrackMetrics metrics("zjets");
        SpinCpu(50 * kMillisecond);
        for (int descriptor = 3; descriptor < 1024; ++descriptor) {
          char target[64] = "";
          const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
          if (readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
          if (std::string(target) != "anon_inode:[perf_event]") continue;
          close(descriptor);
          mine = memfd_create("mine", 0);  // the program's file has the number now
          if (mine < 0 || dup2(mine, descriptor) != descriptor) std::abort();
          mine = descriptor;
        }
        SpinCpu(50 * kMillisecond);
        *is_untouched = mine < 0 || fcntl(mine, F_GETFD) >= 0;
      },
      kStacks);
  EXPECT_TRUE(*is_untouched);
  ExpectSamples(log);
}

TEST(TaskClock, CountsEachSampleAtItsOwnMoment) {
  if (!MayHaveClock()) GTEST_SKIP() << "the kernel, or a sandbox, does not permit it";
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes handlers slow";
  timespec tick = {};
  clock_getres(static_cast<clockid_t>(~0u << 3 | 4), &tick);
  if (tick.tv_nsec < 3 * kMillisecond) GTEST_SKIP() << "the ticks of this kernel are hardly rarer than the samples";
  const auto squares = [](const std::function<void()>& prepare) {
    const Seen seen = StacksOf(Recorded(
        [&] {
          prepare();
          TrackMetrics metrics("zjets");
          volatile double value = 1;
          const std::int64_t until = ThreadCpuNs() + 400 * kMillisecond;
          while (ThreadCpuNs() < until) {
            for (int i = 0; i < 100'000; ++i) value = value * 1.0000001 + 0.1;
          }
        },
        kStacks));
    double sum = 0;
    for (const SeenStack& stack : seen.stacks) sum += static_cast<double>(stack.squares);
    return sum / seen.Samples();
  };
  // A sighting in a tick of 4 ms stands for four samples, and its square for 16.
  EXPECT_LT(squares([] {}), 0.7 * squares([] { RefuseCalls({SYS_perf_event_open}, EPERM); }));
}

__attribute__((noinline)) void Compute(std::int64_t rounds) {
  volatile double value = 1;
  for (std::int64_t i = 0; i < rounds; ++i) value = value * 1.0000001 + 0.1;
}

__attribute__((noinline)) void TouchPages(std::size_t pages) {
  constexpr std::size_t kPage = 4096;
  void* const block = mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) std::abort();
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(block)[i * kPage] = 1;
  munmap(block, pages * kPage);
}

__attribute__((noinline)) void CallTheKernel(int calls) {
  char block[4096];
  const int zeros = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < calls; ++i) {
    if (pread(zeros, block, sizeof block, 0) < 0) std::abort();
  }
  close(zeros);
}

TEST(TaskClock, CountsTheKernelsTimeWhereItIsSpent) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes calls of its own";
  struct Truth {
    std::int64_t computing, touching, calling;
  };
  const SharedValue<Truth> truth;
  const Seen seen = StacksOf(Recorded(
      [&] {
        TrackMetrics metrics("zjets");
        while (truth->computing + truth->touching + truth->calling < 3000 * kMillisecond) {
          const std::int64_t begin = ThreadCpuNs();
          {
            const TrackSection section("compute");
            Compute(200'000);
          }
          const std::int64_t computed = ThreadCpuNs();
          {
            const TrackSection section("touch");
            TouchPages(400);
          }
          const std::int64_t touched = ThreadCpuNs();
          {
            const TrackSection section("call");
            CallTheKernel(500);
          }
          const std::int64_t called = ThreadCpuNs();
          truth->computing += computed - begin;
          truth->touching += touched - computed;
          truth->calling += called - touched;
        }
      },
      kStacks));
  const auto all = static_cast<double>(truth->computing + truth->touching + truth->calling);
  const auto expect_share = [&](const char* section, std::int64_t ns) {
    const double share = static_cast<double>(ns) / all;
    double squares = 0;
    for (const SeenStack& stack : seen.stacks) squares += static_cast<double>(stack.squares);
    const double error = std::sqrt(share * (1 - share) * squares) / seen.Samples();
    EXPECT_NEAR(seen.Samples(section) / seen.Samples(), share, 4.5 * error + 0.03) << section;
  };
  expect_share("compute", truth->computing);
  expect_share("touch", truth->touching);
  expect_share("call", truth->calling);
}

TEST(TaskClock, AThreadThatIsCancelledSwitchesRecordingOffFirst) {
  if (!MayHaveClock()) GTEST_SKIP() << "no clock: nothing can be cancelled";
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, kStacks.at(0)}, [&] {
    const auto switch_off = [](void*) -> void* {
      int state = 0;
      { const TrackMetrics metrics("zjets"); }
      errno = 4711;
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
      pthread_cancel(pthread_self());
      pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
      Disable();
      if (errno != 4711) std::abort();
      pthread_testcancel();
      return nullptr;
    };
    pthread_t thread{};
    void* result = nullptr;
    if (pthread_create(&thread, nullptr, switch_off, nullptr) != 0 || pthread_join(thread, &result) != 0) std::abort();
    if (result != PTHREAD_CANCELED || Enabled()) std::abort();
    Options options;
    options.directory = directory;
    alarm(60);
    if (!Enable(options)) std::abort();
    const TrackMetrics after("after");
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal << child.errors;
  EXPECT_EQ(ChunkOf(ReadRecordLogs(directory).at(0), "after").status, "ok");
}

TEST(TaskClock, InterruptsNoWait) {
  utsname kernel = {};
  int major = 0;
  int minor = 0;
  if (uname(&kernel) != 0 || std::sscanf(kernel.release, "%d.%d", &major, &minor) != 2) {
    GTEST_SKIP() << "the kernel's release has no number";
  }
  if (major * 100 + minor < 511) GTEST_SKIP() << "the timer's signal interrupts waits here";
  const SharedValue<int> interrupted;
  Recorded(
      [&] {
        TrackMetrics metrics("zjets");
        for (int i = 0; i < 2000; ++i) {
          Compute(50'000);
          const timespec wait = {0, 100'000};
          if (poll(nullptr, 0, 0) < 0 || nanosleep(&wait, nullptr) != 0) ++*interrupted;
        }
      },
      kStacks);
  EXPECT_EQ(*interrupted, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
