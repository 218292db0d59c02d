// Numbers of the user's own.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

TEST(RecordMetric, KeepsCountSumLeastAndGreatest) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (const double value : {3.5, -1.25, 10.0}) RecordMetric("pt", value, "GeV");
  });
  const MetricRow pt = Metric(chunk, "pt", "GeV");
  EXPECT_EQ(pt.count, 3);
  EXPECT_EQ(pt.sum, 12.25);
  EXPECT_EQ(pt.min, -1.25);
  EXPECT_EQ(pt.max, 10.0);
  EXPECT_EQ(pt.invalid, 0);
}

TEST(RecordMetric, TakesAnyArithmeticType) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordMetric("x", std::size_t{7});
    RecordMetric("x", -7);
    RecordMetric("x", 0.5f);
    RecordMetric("x", true);
    RecordMetric("x", std::int64_t{1} << 52);
  });
  const MetricRow x = Metric(chunk, "x");
  EXPECT_EQ(x.count, 5);
  EXPECT_EQ(x.sum, 4503599627370496.0 + 1.5);
  EXPECT_EQ(x.min, -7);
}

TEST(RecordMetric, OfTheProcessNeedsNoChunk) {
  const RecordLog log = Recorded([] {
    RecordProcessMetric("bytes_written", std::int64_t{1000}, "B");
    {
      TrackMetrics chunk("ttbar");
      RecordProcessMetric("bytes_written", 24.0, "B");
    }
    Flush();
    std::thread([] { RecordProcessMetric("files", 1, "count"); }).join();
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_TRUE(log.chunks[0].metrics.empty());
  ASSERT_EQ(log.samples.size(), 1u);
  ASSERT_EQ(log.samples[0].metrics.size(), 1u);
  EXPECT_EQ(log.samples[0].metrics[0].sum, 1024);
  ASSERT_TRUE(log.end.has_value());
  ASSERT_EQ(log.end->metrics.size(), 2u);
  const MetricRow& written = log.end->metrics[0];
  EXPECT_EQ(written.name, "bytes_written");
  EXPECT_EQ(written.count, 2);
  EXPECT_EQ(written.sum, 1024);
  EXPECT_EQ(written.min, 24);
  EXPECT_EQ(written.max, 1000);
  EXPECT_EQ(log.end->metrics[1].name, "files");
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(RecordMetric, OfTheProcessBeyondTheRowsIsCounted) {
  const RecordLog log = Recorded([] {
    for (int i = 0; i < 1003; ++i) RecordProcessMetric("m" + std::to_string(i), i);
  });
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->metrics.size(), 1000u);
  EXPECT_EQ(log.end->dropped, 3);
}

TEST(RecordMetric, OfAnotherUnitIsAnotherRow) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordMetric("mass", 91.2, "GeV");
    RecordMetric("mass", 91200, "MeV");
    RecordMetric("mass", 1);
  });
  EXPECT_EQ(chunk.metrics.size(), 3u);
  EXPECT_EQ(Metric(chunk, "mass", "GeV").sum, 91.2);
  EXPECT_EQ(Metric(chunk, "mass", "MeV").sum, 91200);
  EXPECT_EQ(Metric(chunk, "mass").sum, 1);
}

TEST(RecordMetric, FindsItsRowInWhateverOrderMetricsCome) {
  constexpr int kMetrics = 7;
  constexpr int kChunks = 3;
  constexpr int kValues = 500;
  // In turn; again and again, the last one first; in no order.
  const auto metric_of = [](int chunk, int value) {
    if (chunk == 0) return value % kMetrics;
    return chunk == 1 ? kMetrics - 1 - value * kMetrics / kValues : (value * value * 31 + value / 3) % kMetrics;
  };
  const RecordLog log = Recorded([&] {
    for (int i = 0; i < kChunks; ++i) {
      TrackMetrics chunk({"ttbar", "f", i, i + 1});
      for (int j = 0; j < kValues; ++j) RecordMetric("m" + std::to_string(metric_of(i, j)), j, "count");
    }
  });
  ASSERT_EQ(log.chunks.size(), static_cast<std::size_t>(kChunks));
  for (int i = 0; i < kChunks; ++i) {
    std::map<int, std::pair<std::int64_t, double>> counts_and_sums;
    for (int j = 0; j < kValues; ++j) {
      auto& [count, sum] = counts_and_sums[metric_of(i, j)];
      ++count;
      sum += j;
    }
    EXPECT_EQ(log.chunks[i].metrics.size(), counts_and_sums.size());
    for (const auto& [metric, expected] : counts_and_sums) {
      const MetricRow row = Metric(log.chunks[i], "m" + std::to_string(metric), "count");
      EXPECT_EQ(row.count, expected.first) << i << " " << metric;
      EXPECT_EQ(row.sum, expected.second) << i << " " << metric;
    }
  }
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(RecordMetric, CountsWhatIsNotFiniteApart) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordMetric("some", 2.0);
    RecordMetric("some", std::numeric_limits<double>::quiet_NaN());
    RecordMetric("some", -std::numeric_limits<double>::infinity());
    RecordMetric("none", std::numeric_limits<double>::infinity());
  });
  const MetricRow some = Metric(chunk, "some");
  EXPECT_EQ(some.count, 1);
  EXPECT_EQ(some.invalid, 2);
  EXPECT_EQ(some.sum, 2.0);
  const MetricRow none = Metric(chunk, "none");
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.invalid, 1);
  EXPECT_EQ(none.min, std::nullopt);
  EXPECT_EQ(none.max, std::nullopt);
}

TEST(RecordMetric, NumbersReadBackExactly) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordMetric("tenth", 0.1);
    RecordMetric("largest", std::numeric_limits<double>::max());
    RecordMetric("least", std::numeric_limits<double>::denorm_min());
  });
  EXPECT_EQ(Metric(chunk, "tenth").sum, 0.1);
  EXPECT_EQ(Metric(chunk, "largest").sum, std::numeric_limits<double>::max());
  EXPECT_EQ(Metric(chunk, "least").sum, std::numeric_limits<double>::denorm_min());
}

TEST(RecordMetric, NamesBindByContentAndAreEscaped) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    std::string name = "a \"b\"/\n";
    for (int i = 0; i < 2; ++i) {
      RecordMetric(name, 1, "µs");
      name.assign(name.size(), 'x');
      name = "a \"b\"/\n";
    }
  });
  ASSERT_EQ(chunk.metrics.size(), 1u);
  EXPECT_EQ(Metric(chunk, "a \"b\"/\n", "µs").count, 2);
}

TEST(RecordMetric, BeyondAThousandNamesIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 1200; ++i) RecordMetric("m" + std::to_string(i), i);
  });
  EXPECT_EQ(log.chunks.at(0).metrics.size(), 1000u);
  EXPECT_EQ(log.end->dropped, 200);
}

TEST(RecordMetric, OutsideAChunkIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    RecordMetric("early", 1);
    { TrackMetrics metrics("ttbar"); }
    RecordMetric("late", 1);
  });
  EXPECT_TRUE(log.chunks.at(0).metrics.empty());
  EXPECT_EQ(log.end->dropped, 2);
}

TEST(RecordMetric, StartsFromNoneInTheNextChunk) {
  const RecordLog log = Recorded([] {
    for (const char* dataset : {"first", "second"}) {
      TrackMetrics metrics(dataset);
      RecordMetric("jets", 5);
    }
  });
  EXPECT_EQ(Metric(ChunkOf(log, "second"), "jets").sum, 5);
}

}  // namespace
}  // namespace testing
}  // namespace crema
