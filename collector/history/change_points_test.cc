#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "collector/history/run_history.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using Noise = std::function<double(std::mt19937_64*)>;

double Normal(std::mt19937_64* random) { return std::normal_distribution<double>()(*random); }
double Laplace(std::mt19937_64* random) {
  std::exponential_distribution<double> size;
  return size(*random) - size(*random);
}
double HeavyTailed(std::mt19937_64* random) { return std::student_t_distribution<double>(3)(*random); }

std::vector<double> Series(size_t count, const Noise& noise, std::mt19937_64* random) {
  std::vector<double> values(count);
  for (double& value : values) value = 100 + noise(random);
  return values;
}

/// A plateau of `size` from `begin` on.
std::vector<double> Stepped(std::vector<double> values, size_t begin, double size) {
  for (size_t i = begin; i < values.size(); ++i) values[i] += size;
  return values;
}

TEST(ChangePoints, SeriesWithoutAChangeGetOneInAtMostATwentieth) {
  std::mt19937_64 random(1);
  for (const Noise& noise : {Noise(Normal), Noise(Laplace), Noise(HeavyTailed)}) {
    for (const size_t count : {8, 20, 60, 300}) {
      int alarms = 0;
      for (int i = 0; i < 400; ++i) alarms += FindChangePoints(Series(count, noise, &random)).segments.size() > 1;
      EXPECT_LE(alarms, 20) << count;
    }
  }
}

TEST(ChangePoints, AStepIsFoundWhereItIsWithinItsRanges) {
  std::mt19937_64 random(2);
  int found = 0, in_places = 0, in_range = 0;
  for (int i = 0; i < 300; ++i) {
    const size_t begin = 10 + i % 30;
    const ChangePoints points = FindChangePoints(Stepped(Series(60, Normal, &random), begin, 3));
    if (points.segments.size() != 2) continue;
    ++found;
    const Segment& after = points.segments[1];
    in_places += after.earliest <= begin && begin <= after.latest;
    EXPECT_LE(after.earliest, after.begin);
    EXPECT_LE(after.begin, after.latest);
    EXPECT_LE(after.latest - after.earliest, 12u);
    const LevelChange change = ChangeBetween(points, points.segments[0], after);
    in_range += change.low <= 3 && 3 <= change.high;
  }
  EXPECT_GE(found, 285);
  EXPECT_GE(in_places, found * 85 / 100);
  EXPECT_GE(in_range, found * 85 / 100);
  EXPECT_LE(in_range, found * 99 / 100);
}

TEST(ChangePoints, WhatItSaysWouldBeSeenIsSeen) {
  std::mt19937_64 random(3);
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> values = Series(40, Normal, &random);
    const double size = FindChangePoints(values).seen;
    for (size_t k = 0; k < kSeenFor; ++k) values.push_back(100 + size + Normal(&random));
    seen += FindChangePoints(values).segments.size() > 1;
  }
  EXPECT_GE(seen, 170);
}

/// The least cost by trying every last segment for every end.
double OptimalCost(const std::vector<double>& values, double penalty) {
  std::vector<double> least(values.size() + 1, std::numeric_limits<double>::infinity());
  least[0] = -penalty;
  for (size_t end = kLeastSegment; end <= values.size(); ++end) {
    for (size_t begin = 0; begin + kLeastSegment <= end; ++begin) {
      double mean = 0, cost = 0;
      for (size_t i = begin; i < end; ++i) mean += values[i] / static_cast<double>(end - begin);
      for (size_t i = begin; i < end; ++i) cost += std::pow(values[i] - mean, 2);
      least[end] = std::min(least[end], least[begin] + cost + penalty);
    }
  }
  return least.back();
}

TEST(ChangePoints, TheCostIsTheLeastOfAllSegmentations) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 1500; ++round) {
    std::vector<double> values;
    const size_t count = 16 + random() % 50;
    double level = 0;
    for (size_t i = 0; i < count; ++i) {
      if (random() % 6 == 0) level += static_cast<double>(random() % 31) - 15;
      values.push_back(level + Normal(&random));
    }
    std::vector<double> steps;
    const ChangePoints points = FindChangePoints(values);
    for (size_t i = 1; i < count; ++i) steps.push_back(std::fabs(values[i] - values[i - 1]));
    const auto median = [](std::vector<double> of) {
      std::sort(of.begin(), of.end());
      return (of[(of.size() - 1) / 2] + of[of.size() / 2]) / 2;
    };
    const double noise = 1.4826 * median(steps) / std::sqrt(2) * (1 + 3.5 / static_cast<double>(count));
    std::vector<double> kept = values, scaled;
    for (size_t i = 0; i < count; ++i) {
      const size_t from = i < 2 ? 0 : i - 2, until = std::min(i + 3, count);
      std::vector<double> near(values.begin() + static_cast<long>(from), values.begin() + static_cast<long>(until));
      const double around = median(near);
      kept[i] = std::clamp(values[i], around - 3 * noise, around + 3 * noise);
    }
    for (const double value : kept) scaled.push_back(value / noise);
    const double penalty = 5 * std::log(static_cast<double>(count));
    double cost = -penalty;
    for (const Segment& segment : points.segments) {
      double mean = 0;
      for (size_t i = segment.begin; i < segment.end; ++i) mean += scaled[i] / static_cast<double>(segment.size());
      cost += penalty;
      for (size_t i = segment.begin; i < segment.end; ++i) cost += std::pow(scaled[i] - mean, 2);
    }
    ASSERT_NEAR(cost, OptimalCost(scaled, penalty), 1e-6) << round;
  }
}

TEST(ChangePoints, OutliersAreNoChange) {
  std::mt19937_64 random(5);
  int alarms = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<double> values = Series(50, Normal, &random);
    values[20] += 80;
    values[33] -= 40;
    values[34] += 60;
    alarms += FindChangePoints(values).segments.size() > 1;
  }
  EXPECT_LE(alarms, 5);
}

TEST(ChangePoints, EqualValuesHaveOneLevelAndCountsThatChangedTwo) {
  EXPECT_EQ(FindChangePoints(std::vector<double>(12, 7)).segments.size(), 1u);
  EXPECT_EQ(FindChangePoints(std::vector<double>(12, 0)).segments.size(), 1u);
  std::vector<double> counts(20, 100);
  for (size_t i = 12; i < 20; ++i) counts[i] = 101;
  const ChangePoints points = FindChangePoints(counts);
  ASSERT_EQ(points.segments.size(), 2u);
  EXPECT_EQ(points.segments[1].begin, 12u);
  EXPECT_EQ(points.segments[1].earliest, 12u);
  EXPECT_EQ(points.segments[1].latest, 12u);
}

TEST(ChangePoints, LargeValuesDoNotLoseTheirDifferences) {
  std::mt19937_64 random(6);
  std::vector<double> values = Stepped(Series(40, Normal, &random), 25, 6);
  for (double& value : values) value += 1e9;
  const ChangePoints points = FindChangePoints(values);
  ASSERT_EQ(points.segments.size(), 2u);
  EXPECT_NEAR(points.segments[1].level - points.segments[0].level, 6, 1);
}

}  // namespace
}  // namespace crema
