// Kernels that refuse to report values, and clocks that jump.
#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/faults/faked_kernel.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kHourNs = std::int64_t{3600} * 1000000000;

/// Calls everything that reads values from the kernel.
void RecordFullChunk() {
  TrackMetrics metrics("ttbar");
  TrackSection section("work", kCpuTime);
  TrackMemory memory("jets");
  TrackIo io("read");
  TrackPageFaults faults("read");
  TrackPerfCounters counters("read");
  metrics.SetEvents(7);
}

/// Checks a chunk: its times are right, although the kernel showed nothing in /proc.
void ExpectTimesWithoutProc(const RecordLog& log) {
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(chunk.events, 7);
  EXPECT_GT(chunk.duration_ns(), 0);
  EXPECT_TRUE(chunk.cpu_ns.has_value());
  EXPECT_EQ(Section(chunk.sections, "work").count, 1);
  EXPECT_EQ(chunk.cpu_wait_ns, std::nullopt);
  EXPECT_EQ(chunk.rss_start_bytes, std::nullopt);
  EXPECT_EQ(chunk.rss_stop_bytes, std::nullopt);
  for (const MemoryRow& row : chunk.memory_sections) EXPECT_EQ(row.count, 0) << row.path;
}

/// Fault [kernel]: the wall clock is set forward by an hour inside a chunk
/// Program: nothing
/// Recorded: times as if it had not been; the step in `realtime_offset_ns` of `sample` and `end`
TEST(KernelFault, TheClockIsSetForwardByAnHour) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1, "before");
    {
      TrackMetrics metrics("across");
      TrackSection section("work");
      Kernel().realtime_step_ns = kHourNs;
      SpinWall(1000000);
    }
    RecordChunks(1, "after");
    Flush();
  });
  const ChunkLine across = ChunkOf(log, "across");
  EXPECT_GE(across.duration_ns(), 1000000);
  EXPECT_LT(across.duration_ns(), kHourNs);
  EXPECT_LT(Section(across.sections, "work").total_ns, kHourNs);
  EXPECT_LT(ChunkOf(log, "after").start_ns - ChunkOf(log, "before").start_ns, kHourNs);
  ASSERT_EQ(log.samples.size(), 1u);
  EXPECT_NEAR(static_cast<double>(*log.samples[0].realtime_offset_ns), static_cast<double>(kHourNs), 1e9);
  EXPECT_NEAR(static_cast<double>(*log.end->realtime_offset_ns), static_cast<double>(kHourNs), 1e9);
}

/// Fault [kernel]: the wall clock is set back by an hour inside a chunk
/// Program: nothing
/// Recorded: times as if it had not been; the step in `realtime_offset_ns` of `sample` and `end`
TEST(KernelFault, TheClockIsSetBackByAnHour) {
  const RecordLog log = LogWithFault([] {
    TrackMetrics metrics("across");
    Kernel().realtime_step_ns = -kHourNs;
  });
  EXPECT_GT(ChunkOf(log, "across").duration_ns(), 0);
  EXPECT_NEAR(static_cast<double>(*log.end->realtime_offset_ns), -static_cast<double>(kHourNs), 1e9);
}

/// Fault [kernel]: a kernel without `schedstat`
/// Program: nothing
/// Recorded: all but the time spent waiting for a CPU: `cpu_wait_ns` is null
TEST(KernelFault, WithoutSchedstat) {
  const RecordLog log = LogWithFault([] {
    Kernel().missing = "schedstat";
    RecordFullChunk();
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.chunks[0].cpu_wait_ns, std::nullopt);
  EXPECT_TRUE(log.chunks[0].cpu_ns.has_value());
  EXPECT_TRUE(log.chunks[0].rss_stop_bytes.has_value());
}

/// A chunk that cannot be confused with another one.
Chunk Named(const std::string& dataset) { return {dataset, dataset, 0, 1}; }

/// Every guard that computes the difference of two readings of the CPU clock. The kernel refuses the first or the
/// second reading.
void RecordWithOneReading(bool is_first_refused) {
  std::atomic<bool>& refuses = Kernel().refuses_thread_cpu;
  const std::string when = is_first_refused ? "first " : "second ";
  {
    refuses = is_first_refused;
    const TrackMetrics chunk(Named(when + "chunk"));
    refuses = !is_first_refused;
  }
  refuses = false;
  {
    const TrackMetrics outer(Named(when + "outer"));
    refuses = is_first_refused;
    const TrackMetrics inner(Named(when + "inner"));
    refuses = !is_first_refused;
  }
  refuses = false;
  {
    const TrackMetrics chunk(Named(when + "sections"));
    { const TrackSection section("cpu", kCpuTime); }
    refuses = is_first_refused;
    {
      const TrackSection section("cpu", kCpuTime);
      refuses = !is_first_refused;
    }
    refuses = false;
    { const TrackSection section("cpu", kCpuTime); }
    { const TrackSection section("known", kCpuTime); }
  }
  {
    const TrackMetrics outer(Named(when + "around the suspended"));
    TrackMetrics chunk(Named(when + "suspended"));
    const TrackSection section("cpu", kCpuTime);
    refuses = is_first_refused;
    chunk.Suspend();
    refuses = !is_first_refused;
    chunk.Resume();
    refuses = false;
  }
  {
    const TrackMetrics chunk(Named(when + "helped"));
    std::thread([&when, &refuses, is_first_refused, handle = chunk.handle()] {
      const TrackMetrics outer(Named(when + "around the helper"));
      refuses = is_first_refused;
      const TrackHelper helper(handle);
      refuses = !is_first_refused;
    }).join();
    refuses = false;
  }
}

/// Fault [kernel]: the CPU clock is refused for one of the two readings of a guard
/// Program: nothing
/// Recorded: all but the CPU time that needs this reading: that is null or left out
TEST(KernelFault, OneOfTwoReadingsOfTheCpuClockIsRefused) {
  const RecordLog log = LogWithFault([] {
    for (const bool is_first : {true, false}) RecordWithOneReading(is_first);
    RecordChunks(1, "after");
  });
  for (const std::string when : {"first ", "second "}) {
    for (const char* unknown : {"chunk", "inner", "outer", "suspended", "around the suspended", "around the helper"}) {
      EXPECT_EQ(ChunkOf(log, when + unknown).cpu_ns, std::nullopt) << when << unknown;
    }
    const ChunkLine sections = ChunkOf(log, when + "sections");
    EXPECT_TRUE(sections.cpu_ns.has_value());
    EXPECT_EQ(Section(sections.sections, "cpu").count, 3);
    EXPECT_EQ(Section(sections.sections, "cpu").cpu_ns, std::nullopt);
    EXPECT_TRUE(Section(sections.sections, "known").cpu_ns.has_value());
    EXPECT_EQ(Section(ChunkOf(log, when + "suspended").sections, "cpu").cpu_ns, std::nullopt);
    EXPECT_TRUE(ChunkOf(log, when + "helped").cpu_ns.has_value());
    EXPECT_EQ(ChunkOf(log, when + "helped").helper_cpu_ns, std::nullopt);
  }
  EXPECT_LE(*ChunkOf(log, "after").cpu_ns, ChunkOf(log, "after").duration_ns());
}

TEST(KernelFault, ARefusedCpuClockLeavesErrno) {
  Recorded([] {
    TrackMetrics metrics(Named("ttbar"));
    TrackEvent event(Named("raw"));
    Kernel().refuses_thread_cpu = true;
    errno = 4711;  // no call sets it
    { TrackSection section("cpu", kCpuTime); }
    Require(errno == 4711);
    { TrackTask task(event.handle(), "task"); }
    Require(errno == 4711);
    event.End();
  });
}

TEST(KernelFault, AReadingIsRefusedAsAChunkEndsBeforeTheOneInsideIt) {
  for (const bool is_first_refused : {true, false}) {
    const RecordLog log = Recorded([&] {
      Require(freopen("/dev/null", "w", stderr) != nullptr);  // one warning of misuse
      auto outer = std::make_unique<TrackMetrics>(Named("ends first"));
      Kernel().refuses_thread_cpu = is_first_refused;
      const TrackMetrics inner(Named("ends last"));
      Kernel().refuses_thread_cpu = !is_first_refused;
      outer.reset();
    });
    EXPECT_EQ(ChunkOf(log, "ends first").cpu_ns, std::nullopt);
    EXPECT_EQ(ChunkOf(log, "ends last").cpu_ns, std::nullopt);
  }
}

/// Fault [kernel]: no `/proc` (faked)
/// Program: nothing
/// Recorded: wall and CPU times; what only `/proc` shows is null
TEST(KernelFault, WithoutProc) {
  const RecordLog log = LogWithFault([] {
    Kernel().missing = "/proc";
    RecordFullChunk();
    Flush();
  });
  ExpectTimesWithoutProc(log);
  EXPECT_EQ(log.chunks.at(0).io_read_bytes, std::nullopt);
  EXPECT_EQ(log.process->executable, std::nullopt);
  EXPECT_EQ(log.samples.at(0).rss_bytes, std::nullopt);
  EXPECT_EQ(log.samples.at(0).threads, std::nullopt);
}

/// Whether /proc is empty for this process.
bool HideProc() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", "/proc", "tmpfs", 0, nullptr) == 0;
}

/// Fault [kernel]: a container without `/proc`
/// Program: nothing
/// Recorded: wall and CPU times; what only `/proc` shows is null
TEST(KernelFault, InAContainerWithoutProc) {
  if (RunInChild({}, [] {
        if (!HideProc()) std::_Exit(1);
      }).exit_status != 0) {
    GTEST_SKIP() << "not allowed to mount";
  }
  ExpectTimesWithoutProc(LogWithFault([] {
    Require(HideProc());
    RecordFullChunk();
  }));
}

/// Fault [kernel]: `seccomp` that refuses what recording asks besides reading and writing
/// Program: nothing
/// Recorded: all but what was refused: that is null or left out
TEST(KernelFault, SeccompThatRefusesQuestions) {
  const RecordLog log = LogWithFault([] {
    RefuseCalls({SYS_flock, SYS_fdatasync, SYS_getrlimit, SYS_prlimit64, SYS_sched_getaffinity, SYS_getrusage,
                 SYS_perf_event_open, SYS_uname, SYS_readlink, SYS_readlinkat},
                EPERM);
    RecordFullChunk();
    Flush();
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.chunks[0].events, 7);
  EXPECT_TRUE(log.chunks[0].cpu_ns.has_value());
  EXPECT_EQ(log.samples.size(), 1u);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [kernel]: `seccomp` that refuses to open files once the log is open
/// Program: nothing
/// Recorded: wall and CPU times; what only `/proc` shows is null
TEST(KernelFault, SeccompThatRefusesFiles) {
  ExpectTimesWithoutProc(LogWithFault([] {
    { TrackSection section("opens the log"); }
    RefuseCalls({SYS_open, SYS_openat}, EACCES);
    RecordFullChunk();
  }));
}

/// Fault [kernel]: `seccomp` that refuses to start the sampler's thread
/// Program: nothing
/// Recorded: all but the samples
TEST(KernelFault, SeccompThatRefusesThreads) {
  const RecordLog log = LogWithFault(
      [] {
        RefuseCalls({SYS_clone, SYS_clone3}, EPERM);
        RecordChunks(2);
      },
      {{"CREMA_INTERVAL", "0.01"}});
  EXPECT_EQ(log.chunks.size(), 2u);
  EXPECT_TRUE(log.samples.empty());
  EXPECT_TRUE(log.end.has_value());
}

/// Fault [kernel]: `seccomp` that refuses `fstat` once the log is open
/// Program: nothing
/// Recorded: nothing from then on; no `end`, so that the process counts as lost if a chunk was open, else as
/// `unreported`
TEST(KernelFault, SeccompThatRefusesToLookAtTheLog) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1);
    RefuseCalls({SYS_fstat, SYS_newfstatat}, EPERM);
    RecordChunks(3, "lost");
  });
  EXPECT_EQ(log.chunks.size(), 1u);
  EXPECT_FALSE(log.end.has_value());
}

}  // namespace
}  // namespace testing
}  // namespace crema
