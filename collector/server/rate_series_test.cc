#include <gtest/gtest.h>

#include <numeric>

#include "collector/server/live_model.h"

namespace crema {
namespace {

int64_t Events(const RateSeries& series) {
  int64_t sum = 0;
  for (const RateSeries::Bin& bin : series.bins()) sum += bin.events;
  return sum;
}

TEST(RateSeries, HasABinForEachSecondAtFirst) {
  RateSeries series;
  series.Add(0.2, 10, 100);
  series.Add(3.9, 5, 50);
  EXPECT_EQ(series.bin_seconds(), 1);
  ASSERT_EQ(series.bins().size(), 4u);
  EXPECT_EQ(series.bins()[0].events, 10);
  EXPECT_EQ(series.bins()[3].bytes, 50);
}

TEST(RateSeries, JoinsNeighboursWhenThereAreTooManyAndLosesNothing) {
  RateSeries series;
  for (int second = 0; second < 5000; ++second) series.Add(second + 0.5, second, 1);
  EXPECT_LE(series.bins().size(), RateSeries::kMost);
  EXPECT_EQ(series.bin_seconds(), 16);
  EXPECT_EQ(Events(series), 5000LL * 4999 / 2);
  EXPECT_EQ(series.bins()[0].events, 120);  // seconds 0 to 15
}

TEST(RateSeries, TakesTimesOutsideTheRunToItsEnds) {
  RateSeries series;
  series.Add(-5, 1, 0);
  series.Add(1e18, 2, 0);
  EXPECT_EQ(series.bins()[0].events, 1);
  EXPECT_EQ(Events(series), 3);
  EXPECT_LE(series.bins().size(), RateSeries::kMost);
}

}  // namespace
}  // namespace crema
