// How often values of about one size came: the `sketch` of a metric's row.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

using Counts = std::map<std::int64_t, std::int64_t>;  // by bucket

/// As in docs/record_log.md, but with arithmetic instead of bits.
std::int64_t BucketOf(double value, std::int64_t shift = 0) {
  const double magnitude = std::abs(value);
  if (magnitude < 2.2250738585072014e-308) return 0;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // from 0.5 to below 1
  const auto within = static_cast<std::int64_t>(std::floor((2 * fraction - 1) * 64));
  const std::int64_t bucket = ((std::int64_t{exponent} - 1 + 1023) * 64 + within) >> shift;
  return value < 0 ? -bucket : bucket;
}

Counts CountsOf(const std::vector<double>& values, std::int64_t shift = 0) {
  Counts counts;
  for (const double value : values) ++counts[BucketOf(value, shift)];
  return counts;
}

Counts CountsOf(const MetricRow& row) {
  Counts counts;
  for (std::size_t i = 0; i + 1 < row.sketch.size(); i += 2) {
    EXPECT_TRUE(counts.empty() || counts.rbegin()->first < row.sketch[i]) << "by growing bucket, each once";
    counts[row.sketch[i]] = row.sketch[i + 1];
  }
  EXPECT_EQ(row.sketch.size() % 2, 0u);
  return counts;
}

MetricRow RowOf(const std::vector<double>& values) {
  return Metric(RecordedChunk([&] {
                  TrackMetrics metrics("ttbar");
                  for (const double value : values) RecordMetric("x", value);
                }),
                "x");
}

TEST(MetricSketch, CountsValuesByTheirSize) {
  const std::vector<double> values = {3, 3, 3.5, -3.5, 0, -0.0, 1e-300, 5e-324, 1e300, 2.9999, 4, 3};
  EXPECT_EQ(CountsOf(RowOf(values)), CountsOf(values));
  EXPECT_EQ(BucketOf(3.5), 65584);  // the example of docs/record_log.md
  EXPECT_EQ(BucketOf(3.5, 1), 32792);
}

TEST(MetricSketch, IsLeftOutWhereAllValuesAreEqual) {
  EXPECT_TRUE(RowOf({7}).sketch.empty());
  EXPECT_TRUE(RowOf({7, 7, 7}).sketch.empty());
  EXPECT_EQ(CountsOf(RowOf({7, 7, 7, 8, 7})), (Counts{{BucketOf(7), 4}, {BucketOf(8), 1}}));
}

TEST(MetricSketch, OfManyBucketsIsCoarserAndLosesNoValue) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-300, 300);
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) values.push_back((i % 3 == 0 ? -1 : 1) * std::pow(10, exponent(random)));
  const MetricRow row = RowOf(values);
  EXPECT_GE(row.sketch_shift, 4);
  EXPECT_LE(row.sketch.size(), 2 * 256u);
  EXPECT_EQ(CountsOf(row), CountsOf(values, row.sketch_shift));
}

TEST(MetricSketch, IsThatOfOneOctaveToTheLastBucket) {
  std::vector<double> values;
  for (int i = 0; i < 4 * 64; ++i) values.push_back((1 << i / 64) * (1 + (i % 64) / 64.0));
  const MetricRow row = RowOf(values);
  EXPECT_EQ(row.sketch.size(), 2 * 256u);
  EXPECT_EQ(row.sketch_shift, 0);
  values.push_back(1000);
  EXPECT_EQ(RowOf(values).sketch_shift, 1);
}

TEST(MetricSketch, OfHelpersAreAddedUp) {
  const std::vector<std::vector<double>> parts = {{5, 5, 5}, {5, 6, 7}, {8, 8}, {1e-9, 1e9, -4}};
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    for (const auto& part : parts) {
      std::thread([&, handle = metrics.handle()] {
        TrackHelper helper(handle);
        for (const double value : part) RecordMetric("x", value);
      }).join();
    }
  });
  EXPECT_EQ(CountsOf(Metric(chunk, "x")), CountsOf(all));
}

TEST(MetricSketch, OfAHelperMayBeCoarserThanThatOfAnother) {
  std::vector<double> wide, narrow = {1, 2, 3, 4, 5.5};
  for (int i = -40; i < 40; ++i) {
    for (int k = 0; k < 40; ++k) wide.push_back(std::ldexp(1 + k / 40.0, i));
  }
  std::vector<double> all = wide;
  all.insert(all.end(), narrow.begin(), narrow.end());
  for (const bool wide_first : {true, false}) {
    const ChunkLine chunk = RecordedChunk([&] {
      TrackMetrics metrics("ttbar");
      for (const auto* part : {wide_first ? &wide : &narrow, wide_first ? &narrow : &wide}) {
        std::thread([&, handle = metrics.handle()] {
          TrackHelper helper(handle);
          for (const double value : *part) RecordMetric("x", value);
        }).join();
      }
    });
    const MetricRow row = Metric(chunk, "x");
    EXPECT_GT(row.sketch_shift, 0);
    EXPECT_EQ(CountsOf(row), CountsOf(all, row.sketch_shift));
  }
}

TEST(MetricSketch, StartsFromNoneInTheNextChunk) {
  const RecordLog log = Recorded([] {
    for (const char* dataset : {"first", "second"}) {
      TrackMetrics metrics(dataset);
      for (int i = 0; i < 3; ++i) RecordMetric("x", dataset[0] + i);
    }
  });
  EXPECT_EQ(CountsOf(Metric(ChunkOf(log, "second"), "x")), CountsOf(std::vector<double>{'s', 's' + 1.0, 's' + 2.0}));
}

TEST(MetricSketch, OfThousandMetricsAreBoundedAndRight) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int metric = 0; metric < 1000; ++metric) {
      for (int i = 0; i < 400; ++i) RecordMetric("m" + std::to_string(metric), i);
    }
  });
  ASSERT_EQ(chunk.metrics.size(), 1000u);
  int coarser = 0, left_out = 0;
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i);
  for (const MetricRow& row : chunk.metrics) {
    EXPECT_EQ(row.count, 400);
    left_out += row.sketch.empty();
    coarser += row.sketch_shift > 2;
    if (row.sketch.empty()) continue;
    EXPECT_EQ(CountsOf(row), CountsOf(values, row.sketch_shift));
  }
  EXPECT_GT(coarser, 0);
  EXPECT_LT(left_out, 1000);
}

}  // namespace
}  // namespace testing
}  // namespace crema
