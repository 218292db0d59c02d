// The cost that recording reports of itself.
#include <gtest/gtest.h>

#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/rival.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

void RecordChunks(int chunks) {
  for (int i = 0; i < chunks; ++i) TrackMetrics metrics({"ttbar", "f", i, i + 1});
}

/// On a core that others also use: the time that they take from a chunk is no cost of measuring.
TEST(Overhead, OfChunksThatDoNothingIsNearlyAllTheCpuTimeTheyTake) {
  const SharedValue<std::int64_t> cpu_ns;
  const RecordLog log = Recorded([&] {
    StayOnOneCore();
    const Rival one;
    const Rival two;
    RecordChunks(1);
    Flush();
    const std::int64_t start_ns = ThreadCpuNs();
    RecordChunks(2000);
    *cpu_ns = ThreadCpuNs() - start_ns;
    Flush();
  });
  ASSERT_EQ(log.samples.size(), 2u);
  for (const SampleLine& sample : log.samples) EXPECT_LE(*sample.overhead_ns, *sample.cpu_ns);
  EXPECT_LE(log.end->overhead_ns, *log.end->cpu_ns);
  const std::int64_t overhead_ns = *log.samples[1].overhead_ns - *log.samples[0].overhead_ns;
  EXPECT_GT(overhead_ns, *cpu_ns / 2);
  EXPECT_LT(overhead_ns, *cpu_ns + *cpu_ns / 4);  // one in 16 is measured
}

/// Threads that have a chunk each: the first chunk of a thread costs more than those after it.
TEST(Overhead, OfManyThreadsIsNoMoreThanTheirCpuTime) {
  const SharedValue<std::int64_t> cpu_ns;
  const RecordLog log = Recorded([&] {
    RecordChunks(1);
    Flush();
    for (int i = 0; i < 200; ++i) {
      std::thread([&cpu_ns] {
        RecordChunks(1);
        *cpu_ns += ThreadCpuNs();
      }).join();
    }
    Flush();
  });
  ASSERT_EQ(log.samples.size(), 2u);
  const std::int64_t overhead_ns = *log.samples[1].overhead_ns - *log.samples[0].overhead_ns;
  EXPECT_GT(overhead_ns, *cpu_ns / 4);
  EXPECT_LE(overhead_ns, *cpu_ns + 10000000);  // the first sample is on top
}

TEST(Overhead, OfWorkInAChunkIsNotCounted) {
  constexpr std::int64_t kWorkNs = 50000000;
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    TrackSection section("work");
    SpinCpu(kWorkNs);
  });
  EXPECT_GT(log.end->overhead_ns, 0);
  EXPECT_LT(log.end->overhead_ns, *log.end->cpu_ns - kWorkNs);
}

TEST(Overhead, GrowsWithTheRequests) {
  constexpr int kRequests = 100000;
  const RecordLog log = Recorded([] {
    { TrackMetrics metrics("ttbar"); }
    Flush();
    {
      TrackMetrics metrics("ttbar");
      for (int i = 0; i < kRequests; ++i) RecordRequest("root://one", "read", 1, 1);
    }
    Flush();
  });
  ASSERT_EQ(log.samples.size(), 2u);
  EXPECT_GT(*log.samples[1].overhead_ns - *log.samples[0].overhead_ns, 5 * kRequests);  // over 5 ns each
}

TEST(Overhead, GrowsWithTheSectionsInsideAndOutsideChunks) {
  constexpr int kSections = 100000;
  const RecordLog log = Recorded([] {
    { TrackMetrics metrics("ttbar"); }
    Flush();
    {
      TrackMetrics metrics("ttbar");
      for (int i = 0; i < kSections; ++i) TrackSection section("inside");
    }
    Flush();
    for (int i = 0; i < kSections; ++i) TrackSection section("outside");
    Flush();
  });
  ASSERT_EQ(log.samples.size(), 3u);
  EXPECT_GT(*log.samples[1].overhead_ns - *log.samples[0].overhead_ns, kSections);  // over 1 ns each
  EXPECT_GT(*log.samples[2].overhead_ns - *log.samples[1].overhead_ns, kSections);
  EXPECT_GE(log.end->overhead_ns, *log.samples[2].overhead_ns);
}

}  // namespace
}  // namespace testing
}  // namespace crema
