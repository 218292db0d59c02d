// TrackPageFaults: compares the counted page faults with the number of pages that were first touched.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

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

TEST(TrackPageFaults, OnAnotherThreadNothingIsKnown) {
  const std::string directory = NewDirectory();
  RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {  // it warns
    FreshPages pages(1000);
    pages.Touch();
    auto faults = std::make_unique<TrackPageFaults>("wanders");
    auto io = std::make_unique<TrackIo>("wanders");
    std::thread([&] {
      TrackMetrics metrics("ttbar");
      faults.reset();
      io.reset();
      TrackPageFaults stays("stays");
    }).join();
  });
  const ChunkLine chunk = ReadRecordLogs(directory).at(0).chunks.at(0);
  ASSERT_EQ(chunk.metrics.size(), 2u);
  for (const MetricRow& metric : chunk.metrics) EXPECT_EQ(metric.name.rfind("stays.", 0), 0u) << metric.name;
}

TEST(TrackPageFaults, OutsideAChunkIsCountedAsDropped) {
  const RecordLog log = Recorded([] { TrackPageFaults faults("early"); });
  EXPECT_EQ(log.end->dropped, 2);
  EXPECT_EQ(Section(log.end->sections, "early").count, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
