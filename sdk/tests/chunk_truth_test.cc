// Known loads: the times in a chunk's record agree with the kernel's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/thread_account.h"

namespace crema {
namespace testing {
namespace {

/// The scheduler's clock, by which CPU time and run delay are counted, is no more than 500 ppm (NTP's slew) from
/// CLOCK_MONOTONIC; readings are a few us apart.
std::int64_t SchedulerClockToleranceNs(std::int64_t duration_ns) { return 20000 + duration_ns / 1000; }

/// Runs `load` as a chunk of its own, and reads the kernel's account just inside and just outside it.
template <class Load>
void RunChunkBetweenReadings(const char* dataset, Bounds* bounds, Load load) {
  const ThreadAccount before = ReadThreadAccount();
  {
    TrackMetrics metrics(dataset);
    const ThreadAccount start = ReadThreadAccount();
    load();
    bounds->inside = ReadThreadAccount() - start;
  }
  bounds->outside = ReadThreadAccount() - before;
}

void ExpectTruth(const ChunkLine& chunk, const Bounds& bounds) {
  EXPECT_GE(chunk.cpu_ns, bounds.inside.cpu_ns);
  EXPECT_LE(chunk.cpu_ns, bounds.outside.cpu_ns);
  EXPECT_GE(chunk.duration_ns(), bounds.inside.wall_ns - CounterToleranceNs(bounds.inside.wall_ns));
  EXPECT_LE(chunk.duration_ns(), bounds.outside.wall_ns + CounterToleranceNs(bounds.outside.wall_ns));
  if (bounds.inside.wait_ns < 0) {
    EXPECT_EQ(chunk.cpu_wait_ns, std::nullopt);
    return;
  }
  ASSERT_TRUE(chunk.cpu_wait_ns.has_value());
  EXPECT_GE(chunk.cpu_wait_ns, bounds.inside.wait_ns);
  EXPECT_LE(chunk.cpu_wait_ns, bounds.outside.wait_ns);
  EXPECT_LE(*chunk.cpu_ns + *chunk.cpu_wait_ns, chunk.duration_ns() + SchedulerClockToleranceNs(chunk.duration_ns()));
}

/// -1 if the line does not have the field.
std::int64_t IntegerIn(const std::string& line, const std::string& field) {
  const std::size_t at = line.find("\"" + field + "\":");
  return at == std::string::npos ? -1 : std::strtoll(line.c_str() + at + field.size() + 3, nullptr, 10);
}

TEST(ChunkTruth, TheFirstChunkAndTheEndTellTheCpuTimeOfTheProcess) {
  struct Around {
    std::int64_t before_ns;
    std::int64_t after_ns;
  };
  const SharedValue<Around> around;
  const RecordLog log = Recorded([&] {
    SpinWall(20000000);
    around->before_ns = ProcessCpuNs();
    { TrackMetrics first("first"); }
    around->after_ns = ProcessCpuNs();
    { TrackMetrics second("second"); }
  });
  std::vector<std::int64_t> begun;
  for (const std::string& line : log.lines) {
    const std::int64_t cpu_ns = IntegerIn(line, "process_cpu_ns");
    if (cpu_ns >= 0) begun.push_back(cpu_ns);
  }
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_GE(begun[0], around->before_ns);
  EXPECT_LE(begun[0], around->after_ns);
  EXPECT_GE(IntegerIn(log.lines.back(), "cpu_ns"), around->after_ns);
}

TEST(ChunkTruth, ComputingIsCpuTime) {
  const SharedValue<Bounds> bounds;
  const ChunkLine chunk = RecordedChunk([&] { RunChunkBetweenReadings("spin", &*bounds, [] { SpinCpu(100000000); }); });
  ExpectTruth(chunk, *bounds);
  EXPECT_GE(chunk.cpu_ns, 100000000);
}

TEST(ChunkTruth, SleepingIsNeitherCpuTimeNorWaitingForACpu) {
  const SharedValue<Bounds> bounds;
  const ChunkLine chunk = RecordedChunk([&] { RunChunkBetweenReadings("sleep", &*bounds, [] { Sleep(100000000); }); });
  ExpectTruth(chunk, *bounds);
  // Blocked is the rest of the duration: all the time that the thread slept.
  const std::int64_t blocked_ns = chunk.duration_ns() - *chunk.cpu_ns - chunk.cpu_wait_ns.value_or(0);
  EXPECT_GE(blocked_ns, 100000000 - SchedulerClockToleranceNs(100000000));
  EXPECT_LE(blocked_ns, bounds->outside.wall_ns - bounds->inside.cpu_ns);
}

TEST(ChunkTruth, ALoadOfManyKindsAddsUp) {
  const SharedValue<Bounds> bounds;
  const ChunkLine chunk = RecordedChunk([&] {
    RunChunkBetweenReadings("both", &*bounds, [] {
      for (int i = 0; i < 20; ++i) {
        SpinCpu(2000000);
        Sleep(1000000);
        std::this_thread::yield();
      }
    });
  });
  ExpectTruth(chunk, *bounds);
  EXPECT_GE(chunk.cpu_ns, 40000000);
  EXPECT_GE(chunk.duration_ns(), 60000000 - CounterToleranceNs(60000000));
}

TEST(ChunkTruth, MoreThreadsThanCoresWaitForACpu) {
  constexpr std::size_t kMostThreads = 64;
  struct AllBounds {
    std::size_t threads;
    std::int64_t process_cpu_ns;
    Bounds of[kMostThreads];
  };
  const SharedValue<AllBounds> bounds;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores * 3 > static_cast<long>(kMostThreads)) GTEST_SKIP() << "too many cores to make their threads wait";
  const RecordLog log = Recorded([&] {
    bounds->threads = static_cast<std::size_t>(cores) * 3;
    const std::int64_t before_ns = ProcessCpuNs();
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < bounds->threads; ++i) {
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < bounds->threads) std::this_thread::yield();
        RunChunkBetweenReadings(std::to_string(i).c_str(), &bounds->of[i], [] { SpinCpu(40000000); });
      });
    }
    for (std::thread& thread : threads) thread.join();
    bounds->process_cpu_ns = ProcessCpuNs() - before_ns;
  });
  std::int64_t cpu_ns = 0;
  std::int64_t wait_ns = 0;
  for (std::size_t i = 0; i < bounds->threads; ++i) {
    SCOPED_TRACE(i);
    const ChunkLine chunk = ChunkOf(log, std::to_string(i));
    ExpectTruth(chunk, bounds->of[i]);
    cpu_ns += chunk.cpu_ns.value_or(0);
    wait_ns += chunk.cpu_wait_ns.value_or(0);
  }
  EXPECT_LE(cpu_ns, bounds->process_cpu_ns + 1000);
  EXPECT_GE(cpu_ns, static_cast<std::int64_t>(bounds->threads) * 40000000);
  // Three threads a core, all begun together, each with 40 ms to do: while the first on a core is at it, the others
  // wait.
  if (bounds->of[0].inside.wait_ns >= 0) {
    EXPECT_GT(wait_ns, 40000000);
  }
}

}  // namespace
}  // namespace testing
}  // namespace crema
