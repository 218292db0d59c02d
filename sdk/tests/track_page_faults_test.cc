// TrackPageFaults: compares the counted page faults with the number of pages that were first touched.
#include <gtest/gtest.h>

#include "crema/crema.h"
#include "sdk/tests/fresh_pages.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

TEST(TrackPageFaults, CountsThePagesThatWereTouched) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    FreshPages pages(1000);
    {
      TrackPageFaults faults("first");
      pages.Touch();
    }
    TrackPageFaults faults("again");
    pages.Touch();
  });
  const MetricRow first = Metric(chunk, "first.minor_faults", "count");
  EXPECT_GE(*first.sum, 1000);
  EXPECT_LT(*first.sum, 1100);
  EXPECT_LT(*Metric(chunk, "again.minor_faults", "count").sum, 100);
  EXPECT_EQ(Metric(chunk, "first.major_faults", "count").sum, 0);
  EXPECT_EQ(Section(chunk.sections, "first").count, 1);
}

TEST(TrackPageFaults, OutsideAChunkIsCountedAsDropped) {
  const RecordLog log = Recorded([] { TrackPageFaults faults("early"); });
  EXPECT_EQ(log.end->dropped, 2);
  EXPECT_EQ(Section(log.end->sections, "early").count, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
