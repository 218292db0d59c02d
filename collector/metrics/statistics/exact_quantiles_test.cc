#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "collector/metrics/statistics/quantiles.h"

namespace crema {
namespace {

template <class T>
void ExpectExact(const std::vector<T>& values, const char* what) {
  constexpr double kP[] = {0.95, 0, 0.5, 0.9, 0.99, 1, 0.001};
  std::vector<T> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto found = ExactQuantiles<T>(values, kP);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], sorted[QuantileRank(kP[i], sorted.size()) - 1]) << what << " p " << kP[i];
  }
}

TEST(ExactQuantiles, AreThoseOfTheSortedValues) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 1);
  for (const size_t count : {1, 2, 7, 2049, 30000}) {
    std::vector<double> reals;
    std::vector<double> scales;
    std::vector<double> ties;
    std::vector<int64_t> integers;
    std::vector<int64_t> extremes;
    for (size_t i = 0; i < count; ++i) {
      reals.push_back(normal(random));
      scales.push_back(std::exp(100 * normal(random)) * (random() % 2 == 0 ? 1 : -1));
      ties.push_back(static_cast<double>(random() % 3));
      integers.push_back(static_cast<int64_t>(random() % 1000000) - 500000);
      extremes.push_back(random() % 9 == 0 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(random() >> 1));
    }
    ExpectExact(reals, "normal");
    ExpectExact(scales, "many scales");
    ExpectExact(ties, "ties");
    ExpectExact(integers, "integers");
    ExpectExact(extremes, "all 64 bits");
    ExpectExact(std::vector<double>(count, 0.1), "constant");
  }
}

TEST(ExactQuantiles, OfEqualValuesAreThatValue) {
  std::vector<int64_t> values(10'000, 7);
  EXPECT_EQ(ExactQuantiles<int64_t>(values, {0.0, 0.5, 1.0}), (std::array<int64_t, 3>{7, 7, 7}));
  values.back() = 9;
  EXPECT_EQ(ExactQuantiles<int64_t>(values, {0.0, 0.5, 1.0}), (std::array<int64_t, 3>{7, 7, 9}));
}

TEST(ExactQuantiles, BearTheWholeRangeOfDoubles) {
  std::mt19937_64 random(4);
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) {
    values.push_back(std::ldexp(random() % 2 == 0 ? 1.0 : -1.0, static_cast<int>(random() % 2000) - 1000));
  }
  values.push_back(std::numeric_limits<double>::max());
  values.push_back(std::numeric_limits<double>::lowest());
  ExpectExact(values, "whole range");
}

TEST(ExactQuantiles, AreNotLedAstrayByOneFarAwayValue) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 20000; ++i) values.push_back(i * 7919 % 20000);
  values.push_back(std::numeric_limits<int64_t>::max());
  ExpectExact(values, "outlier");
}

TEST(ExactQuantiles, AreExactWhereRoundingPutsValuesIntoTheBucketBeside) {
  std::mt19937_64 random(5);
  for (const size_t count : {1, 2, 1000, 50'000}) {
    constexpr size_t kBuckets = 100;
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random() % 1'000'000) / 1e6);
    const auto bucket_of = [](double value) {
      const double place = 0.5 + value * (kBuckets - 2);
      const bool is_near = place - std::floor(place) < 1e-3 && place >= 1;  // as if it were rounded
      return static_cast<size_t>(place) - (is_near ? 1 : 0);
    };
    exact_quantiles_internal::Buckets<double> buckets(kBuckets);
    for (const double value : values) buckets.Count(bucket_of(value));
    const uint64_t rank = QuantileRank(0.5, count);
    buckets.Want({rank}, 1);
    for (const double value : values) buckets.Keep(bucket_of(value), value);
    double found = 0;
    buckets.Find(absl::MakeSpan(&found, 1));
    std::sort(values.begin(), values.end());
    EXPECT_EQ(found, values[rank - 1]) << count;
  }
}

}  // namespace
}  // namespace crema
