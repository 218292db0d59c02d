// What recording says of its own cost.
#include <gtest/gtest.h>

#include <algorithm>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

void RecordChunks(int chunks) {
  for (int i = 0; i < chunks; ++i) TrackMetrics metrics({"ttbar", "f", i, i + 1});
}

TEST(Overhead, OfChunksThatDoNothingIsNearlyAllTheTimeTheyTake) {
  const SharedValue<std::int64_t> wall_ns;
  const RecordLog log = Recorded([&] {
    RecordChunks(1);
    const std::int64_t start_ns = WallNs();
    RecordChunks(2000);
    *wall_ns = WallNs() - start_ns;
  });
  EXPECT_GT(log.end->overhead_ns, *wall_ns / 4);
  // The first chunk and the calibrated part are on top.
  EXPECT_LT(log.end->overhead_ns, *wall_ns + *wall_ns / 2);
}

TEST(Overhead, OfWorkInAChunkIsNotCounted) {
  constexpr std::int64_t kWorkNs = 50000000;
  // What is recorded is wall time: where others take the core in just that moment, it is theirs. Not in each recording.
  std::int64_t least_ns = kWorkNs;
  for (int i = 0; i < 10 && least_ns >= kWorkNs / 2; ++i) {
    const RecordLog log = Recorded([] {
      TrackMetrics metrics("ttbar");
      TrackSection section("work");
      SpinWall(kWorkNs);
    });
    EXPECT_GT(log.end->overhead_ns, 0);
    least_ns = std::min<std::int64_t>(least_ns, log.end->overhead_ns);
  }
  EXPECT_LT(least_ns, kWorkNs / 2);
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
