// Limits that a batch system or a container sets for a process: memory, threads, processors. They are the kernel's
// control groups; without the right to make one, these tests are skipped.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/faults/control_group.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMillisecondNs = 1000000;

/// Whether a process may be in such a group here. If not, tests that need it are skipped.
bool MayEnter(const ControlGroup& group) {
  return RunInChild({}, [&group] { _exit(group.Enter() ? 0 : 1); }).exit_status == 0;
}

#define SKIP_WITHOUT(group) \
  if (!MayEnter(group)) GTEST_SKIP() << "control groups cannot be made here: this needs root, and the controller"

/// Touches memory until the kernel ends it, or 1 GB is there.
void TakeAllMemory() {
  constexpr std::size_t kStep = 1 << 20;
  for (int i = 0; i < 1024; ++i) {
    void* memory = mmap(nullptr, kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    std::memset(memory, 1, kStep);
  }
}

/// Fault [ends]: the kernel kills the process for its memory (`memory.max` of a batch job or a container), in a chunk
/// Program: nothing; it is killed as ever
/// Recorded: all chunks that had ended, and the `begin` of the one that was open; no `end`, so that the process and the
/// chunk count as lost
TEST(ControlGroupFault, ItsMemoryIsAllTaken) {
  const ControlGroup group({"memory", "memory.max", "memory.limit_in_bytes", "67108864", ""});
  SKIP_WITHOUT(group);
  constexpr int kChunks = 20;
  for (const char* interval : {"0", "0.01"}) {
    const FaultRun run = RunWithFault(NewDirectory(),
                                      [&group] {
                                        Require(group.Enter());
                                        RecordChunks(kChunks);
                                        TrackMetrics metrics("ttbar");
                                        TrackSection section("fill");
                                        TakeAllMemory();
                                      },
                                      {{"CREMA_INTERVAL", interval}});
    EXPECT_EQ(run.child.signal, SIGKILL);
    EXPECT_EQ(run.warning, "");
    ASSERT_EQ(run.logs.size(), 1u);
    const RecordLog& log = run.logs[0];
    EXPECT_TRUE(log.malformed.empty());
    EXPECT_EQ(log.chunks.size(), static_cast<std::size_t>(kChunks));
    EXPECT_EQ(log.begins.size(), static_cast<std::size_t>(kChunks + 1));
    EXPECT_FALSE(log.end.has_value());
  }
}

/// How many of eight threads and eight children a program gets; each of them records.
void StartAllThatMayBe(int* threads, int* children) {
  std::vector<std::thread> started;
  std::atomic<bool> all_are_started{false};
  for (int i = 0; i < 8; ++i) {
    try {
      started.emplace_back([&all_are_started] {
        RecordChunks(1);
        while (!all_are_started) Sleep(kMillisecondNs);
      });
    } catch (const std::system_error& error) {
      Require(error.code().value() == EAGAIN);
    }
  }
  all_are_started = true;
  *threads = static_cast<int>(started.size());
  for (std::thread& thread : started) thread.join();
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child < 0) continue;
    if (child == 0) {
      Sleep(500 * kMillisecondNs);  // all are there at once
      _exit(0);
    }
    ++*children;
  }
  while (wait(nullptr) > 0) {
  }
}

/// Fault [kernel]: a limit of tasks (`pids.max`), and all of them are taken, by the program's threads and children
/// Program: nothing; as many threads and children start as without recording
/// Recorded: everything; no samples, and why no thread was looked at: so few tasks are left to the program
TEST(ControlGroupFault, ItMayStartNoMoreThreads) {
  for (const auto& [tasks, interval] : {std::pair("5", "0"), std::pair("5", "0.01"), std::pair("1", "0.01")}) {
    const ControlGroup group({"pids", "pids.max", "pids.max", tasks, ""});
    SKIP_WITHOUT(group);
    const FaultRun run = RunWithFault(NewDirectory(),
                                      [&group] {
                                        Require(group.Enter());
                                        RecordChunks(3);
                                        int threads = 0;
                                        int children = 0;
                                        StartAllThatMayBe(&threads, &children);
                                        std::printf("%d threads, %d children\n", threads, children);
                                      },
                                      {{"CREMA_INTERVAL", interval}, {"CREMA_WAITS", "20"}});
    EXPECT_EQ(run.warning, "");
    EXPECT_EQ(run.child.exit_status, 0);
    const int others = std::stoi(tasks) - 1;
    const std::string got = std::to_string(others) + " threads, " + std::to_string(others) + " children\n";
    EXPECT_NE(run.child.output.find(got), std::string::npos) << run.child.output;
    ASSERT_EQ(run.logs.size(), 1u);
    EXPECT_EQ(run.logs[0].chunks.size(), static_cast<std::size_t>(3 + others));
    EXPECT_EQ(run.logs[0].end->dropped, 0);
    EXPECT_NE(run.logs[0].lines.back().find("\"waits_reason\":\"the limit of tasks"), std::string::npos) << tasks;
  }
}

/// Fault [kernel]: a quota of CPU time (`cpu.max`) that stops the process most of the time
/// Program: nothing
/// Recorded: everything; the quota is the process's `cores`, and the time for which it was stopped does not count as
/// CPU time
TEST(ControlGroupFault, ItsProcessorIsAFifth) {
  const ControlGroup group({"cpu", "cpu.max", "cpu.cfs_quota_us", "20000 100000", "20000"});
  SKIP_WITHOUT(group);
  const RecordLog log = LogWithFault([&group] {
    Require(group.Enter());
    TrackMetrics metrics("ttbar");
    TrackSection section("burn");
    SpinCpu(100 * kMillisecondNs);
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  // The kernel gives 20 ms of each 100 ms, so 100 ms of CPU time take five periods; the first and the last may be
  // short.
  EXPECT_GE(chunk.duration_ns(), 300 * kMillisecondNs);
  EXPECT_GE(chunk.cpu_ns.value(), 100 * kMillisecondNs);
  EXPECT_LE(chunk.cpu_ns.value() + chunk.cpu_wait_ns.value_or(0), chunk.duration_ns() + kMillisecondNs);
  EXPECT_NE(log.lines[0].find("\"cores\":0.2"), std::string::npos) << log.lines[0];
}

}  // namespace
}  // namespace testing
}  // namespace crema
