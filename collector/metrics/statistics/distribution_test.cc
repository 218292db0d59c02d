#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "collector/metrics/attempts/breakdown.h"

namespace crema {
namespace {

TEST(Distribution, HasNoValueWithoutData) {
  std::vector<int64_t> none;
  const Distribution distribution = DescribeIntegers(none, 1);
  EXPECT_EQ(distribution.count, 0);
  EXPECT_FALSE(distribution.mean.has_value());
  EXPECT_FALSE(distribution.p50.has_value());
}

TEST(Distribution, HasNoStandardDeviationOfOneValue) {
  std::vector<int64_t> one = {7};
  const Distribution distribution = DescribeIntegers(one, 1);
  EXPECT_EQ(distribution.mean, 7);
  EXPECT_EQ(distribution.p99, 7);
  EXPECT_FALSE(distribution.std.has_value());
}

TEST(Distribution, ScalesIntegersToTheUnit) {
  std::vector<int64_t> nanoseconds = {2'000'000'000, 4'000'000'000};
  const Distribution distribution = DescribeIntegers(nanoseconds, 1e9);
  EXPECT_EQ(distribution.mean, 3);
  EXPECT_EQ(distribution.min, 2);
  EXPECT_EQ(distribution.max, 4);
  EXPECT_DOUBLE_EQ(*distribution.std, std::sqrt(2));
}

TEST(Distribution, TakesTheValueOfRankCeilPN) {
  std::vector<int64_t> values;
  for (int64_t i = 100; i >= 1; --i) values.push_back(i);
  const Distribution distribution = DescribeIntegers(values, 1);
  EXPECT_EQ(distribution.p50, 50);
  EXPECT_EQ(distribution.p90, 90);
  EXPECT_EQ(distribution.p95, 95);
  EXPECT_EQ(distribution.p99, 99);
}

TEST(Distribution, KeepsTheSpreadOfLargeNumbersThatHardlyDiffer) {
  // Nanoseconds of today: sums of squares pass 64 bits, and in floating point the spread would drown.
  constexpr int64_t kNow = 1'800'000'000'000'000'000;
  std::vector<int64_t> values = {kNow - 1, kNow, kNow + 1};
  EXPECT_DOUBLE_EQ(*DescribeIntegers(values, 1).std, 1);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> extremes = {0, kMost};
  EXPECT_NEAR(*DescribeIntegers(extremes, 1).std / (static_cast<double>(kMost) / std::sqrt(2)), 1, 1e-12);
}

TEST(Distribution, DescribesRealNumbers) {
  std::vector<double> values = {0.5, -1.5, 2.5, 2.5};
  const Distribution distribution = DescribeReals(values);
  EXPECT_DOUBLE_EQ(*distribution.mean, 1);
  EXPECT_DOUBLE_EQ(*distribution.std, std::sqrt((0.25 + 6.25 + 2.25 + 2.25) / 3));
  EXPECT_EQ(distribution.min, -1.5);
  EXPECT_EQ(distribution.p50, 0.5);
}

}  // namespace
}  // namespace crema
