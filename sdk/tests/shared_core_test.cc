// What sections measure on a core that others also use.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/rival.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/thread_account.h"

namespace crema {
namespace testing {
namespace {

constexpr int kRounds = 200;

struct Clocks {
  std::int64_t cpu_section_ns = 0;
  std::int64_t io_ns = 0;
  std::int64_t faults_ns = 0;
  std::int64_t counters_ns = 0;
  std::int64_t loop_ns = 0;
  std::int64_t inside_ns() const { return cpu_section_ns + io_ns + faults_ns + counters_ns; }
};

/// Computes for some 0.1 ms without a system call, so that the kernel takes the core away in the calls of guards.
void Work(int steps = 30000) {
  volatile double value = 1;
  for (int i = 0; i < steps; ++i) value = value * 1.0000001;
}

/// How long a guard and the work in its scope took, by a clock around both.
template <class Guard, class... Arguments>
std::int64_t WorkInside(Arguments... arguments) {
  const std::int64_t start = WallNs();
  {
    const Guard guard(arguments...);
    Work();
  }
  return WallNs() - start;
}

/// Sections, each with its time by a clock around its guard, of one run beside a rival.
struct TwoClocks {
  std::string what;
  std::int64_t ns = 0;
  std::int64_t clock_ns = 0;

  double Difference() const { return std::abs(static_cast<double>(ns - clock_ns)) / static_cast<double>(clock_ns); }
};

std::vector<TwoClocks> SectionsBesideARival() {
  const SharedValue<Clocks> clocks;
  const RecordLog log = Recorded([&] {
    StayOnOneCore();
    const Rival rival;
    const TrackMetrics metrics("ttbar");
    { const TrackPerfCounters counters("opens"); }
    const std::int64_t start = WallNs();
    {
      const TrackSection loop("loop", kCpuTime);
      for (int i = 0; i < kRounds; ++i) {
        clocks->cpu_section_ns += WorkInside<TrackSection>("cpu", kCpuTime);
        clocks->io_ns += WorkInside<TrackIo>("io");
        clocks->faults_ns += WorkInside<TrackPageFaults>("faults");
        clocks->counters_ns += WorkInside<TrackPerfCounters>("counters");
      }
    }
    clocks->loop_ns = WallNs() - start;
  });
  EXPECT_EQ(log.chunks.size(), 1u);
  const std::vector<SectionRow>& rows = log.chunks.front().sections;
  for (const SectionRow& row : rows) {
    EXPECT_LE(row.cpu_ns.value_or(0), row.total_ns) << row.path;
  }
  const std::vector<TwoClocks> sections = {
      {"section with CPU time", Section(rows, "loop/cpu").total_ns, clocks->cpu_section_ns},
      {"TrackIo", Section(rows, "loop/io").total_ns, clocks->io_ns},
      {"TrackPageFaults", Section(rows, "loop/faults").total_ns, clocks->faults_ns},
      {"TrackPerfCounters", Section(rows, "loop/counters").total_ns, clocks->counters_ns},
      {"the section around them", Section(rows, "loop").total_ns, clocks->loop_ns}};
  for (const TwoClocks& section : sections) {
    EXPECT_LE(section.ns, section.clock_ns + CounterToleranceNs(section.clock_ns)) << section.what;
  }
  std::vector<TwoClocks> all = sections;
  all.push_back({"its own time", Section(rows, "loop").self_ns + clocks->inside_ns(), clocks->loop_ns});
  return all;
}

/// The kernel may give the core to the rival at the end of a guard's system calls. The section waits then, not the one
/// around it. The rival may also get it between a clock and the guard inside it; in four runs this does not happen to
/// each kind. No section is ever longer than its clock.
TEST(SharedCore, SectionsLastAsLongAsAClockAroundTheirGuardsSays) {
  const double near = kSanitized ? 0.1 : 0.02;
  std::vector<TwoClocks> nearest = SectionsBesideARival();
  for (int run = 0; run < 3; ++run) {
    const std::vector<TwoClocks> again = SectionsBesideARival();
    for (std::size_t i = 0; i < again.size(); ++i) {
      if (again[i].Difference() < nearest[i].Difference()) nearest[i] = again[i];
    }
  }
  for (const TwoClocks& section : nearest) {
    EXPECT_LE(section.Difference(), near) << section.what << ": " << section.ns << " and " << section.clock_ns << " ns";
  }
}

/// The time that the rival takes in the system calls of guards is time of waiting for a CPU, not blocked time.
TEST(SharedCore, WhatComputesIsNotBlocked) {
  const ChunkLine chunk = RecordedChunk([] {
    StayOnOneCore();
    const Rival rival;
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 6000; ++i) {  // short parts: their readings are much of their time
      Work(3000);
      metrics.Suspend();
      metrics.Resume();
    }
  });
  if (!chunk.cpu_wait_ns.has_value()) GTEST_SKIP() << "the kernel does not report the run delay";
  const std::int64_t blocked_ns = chunk.duration_ns() - *chunk.suspended_ns - *chunk.cpu_ns - *chunk.cpu_wait_ns;
  EXPECT_LT(blocked_ns, kSanitized ? *chunk.cpu_ns : *chunk.cpu_ns / 2);
}

/// Nobody reads the thread's run delay there but who writes the sample.
TEST(SharedCore, SamplesHaveWhatAThreadWaitedOutsideItsChunks) {
  struct Delays {
    std::int64_t first_ns = 0, before_ns = 0, after_ns = 0;
  };
  const SharedValue<Delays> kernel;
  const RecordLog log = Recorded([&] {
    StayOnOneCore();
    const Rival rival;
    { const TrackMetrics metrics("ttbar"); }
    kernel->first_ns = ReadThreadAccount().wait_ns;
    Work(30'000'000);
    kernel->before_ns = ReadThreadAccount().wait_ns;
    Flush();
    kernel->after_ns = ReadThreadAccount().wait_ns;
  });
  if (kernel->first_ns < 0) GTEST_SKIP() << "the kernel does not report the run delay";
  ASSERT_GT(kernel->before_ns, kernel->first_ns) << "the rival took nothing";
  const std::string key = "\"run_delay_ns\":";
  const bool is_there = std::any_of(log.lines.begin(), log.lines.end(), [&](const std::string& line) {
    const std::size_t at = line.find(key);
    if (line.rfind("{\"type\":\"sample\"", 0) != 0 || at == line.npos) return false;
    const std::int64_t sampled_ns = std::stoll(line.substr(at + key.size()));
    return sampled_ns >= kernel->before_ns && sampled_ns <= kernel->after_ns;
  });
  EXPECT_TRUE(is_there) << kernel->before_ns << " to " << kernel->after_ns;
}

TEST(SharedCore, CpuTimeOfShortSectionsIsNoLongerThanTheyAre) {
  const ChunkLine chunk = RecordedChunk([] {
    const TrackMetrics metrics("ttbar");
    for (int i = 0; i < 1000; ++i) const TrackSection section("short", kCpuTime);
  });
  const SectionRow row = Section(chunk.sections, "short");
  ASSERT_TRUE(row.cpu_ns.has_value());
  EXPECT_LE(*row.cpu_ns, row.total_ns);
}

}  // namespace
}  // namespace testing
}  // namespace crema
