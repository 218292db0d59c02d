#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

RobustFit Fit(std::vector<ChunkPoint> points) { return FitDuration(absl::MakeSpan(points)); }

std::vector<ChunkPoint> LineWithNoise(int count, double fixed, double slope, double noise, std::mt19937& random) {
  std::uniform_int_distribution<int> events(1000, 50000);
  std::normal_distribution<double> error(0, noise);
  std::vector<ChunkPoint> points;
  for (int i = 0; i < count; ++i) {
    const double size = events(random);
    points.push_back({size, fixed + slope * size + error(random)});
  }
  return points;
}

TEST(RobustFit, RecoversAnExactLine) {
  std::vector<ChunkPoint> points;
  for (int i = 1; i <= 40; ++i) points.push_back({1000.0 * i, 0.25 + 1e-4 * 1000.0 * i});
  const RobustFit fit = Fit(points);
  EXPECT_TRUE(fit.slope_known);
  EXPECT_NEAR(fit.seconds_per_event, 1e-4, 1e-12);
  EXPECT_NEAR(fit.fixed_seconds, 0.25, 1e-9);
  EXPECT_NEAR(fit.Predict(5000), 0.75, 1e-9);
  EXPECT_EQ(fit.points, 40);
}

TEST(RobustFit, IsNotBentByAFifthOfWildOutliers) {
  std::mt19937 random(3);
  for (int count : {30, 200, 5000}) {
    std::vector<ChunkPoint> points = LineWithNoise(count, 0.5, 2e-4, 0.05, random);
    for (int i = 0; i < count / 5; ++i) points[static_cast<size_t>(i)].seconds *= 30;
    const RobustFit fit = Fit(points);
    EXPECT_NEAR(fit.seconds_per_event, 2e-4, 2e-5) << count;
    EXPECT_NEAR(fit.Predict(25000), 5.5, 0.4) << count;
  }
}

TEST(RobustFit, FindsTheSlopeWhenAllButTheLastChunkOfEachFileAreEqual) {
  std::vector<ChunkPoint> points(100000, {10000, 1.0});
  for (size_t i = 0; i < points.size(); i += 1000) points[i] = {2000, 0.3};
  const RobustFit fit = Fit(points);
  EXPECT_TRUE(fit.slope_known);
  EXPECT_NEAR(fit.seconds_per_event, 0.7 / 8000, 1e-12);
  EXPECT_NEAR(fit.fixed_seconds, 0.125, 1e-9);
}

TEST(RobustFit, WeighsSizesByTheirChunks) {
  std::vector<ChunkPoint> points;
  for (int i = 0; i < 100; ++i) points.insert(points.end(), {{1000, 1}, {2000, 2}});
  for (int i = 0; i < 30; ++i) points.push_back({3000.0 + i, 60});  // many sizes, few chunks, all of them odd
  EXPECT_NEAR(Fit(points).seconds_per_event, 1e-3, 1e-12);
}

TEST(RobustFit, GroupsManySizesWithoutLosingTheLine) {
  std::mt19937 random(11);
  const RobustFit fit = Fit(LineWithNoise(200000, 0.5, 2e-4, 0.5, random));
  EXPECT_NEAR(fit.seconds_per_event, 2e-4, 1e-6);
  EXPECT_NEAR(fit.fixed_seconds, 0.5, 0.02);
}

TEST(RobustFit, DoesNotDependOnTheOrderOfThePoints) {
  std::mt19937 random(5);
  for (int count : {20, 3000}) {
    std::vector<ChunkPoint> points = LineWithNoise(count, 0.5, 2e-4, 0.3, random);
    const RobustFit first = Fit(points);
    for (int round = 0; round < 5; ++round) {
      std::shuffle(points.begin(), points.end(), random);
      const RobustFit again = Fit(points);
      EXPECT_EQ(again.fixed_seconds, first.fixed_seconds);
      EXPECT_EQ(again.seconds_per_event, first.seconds_per_event);
    }
  }
}

TEST(RobustFit, GivesTheMedianDurationWhereAllChunksAreOfOneSize) {
  const RobustFit fit = Fit({{500, 1}, {500, 9}, {500, 2}, {500, 3}, {500, 100}});
  EXPECT_FALSE(fit.slope_known);
  EXPECT_EQ(fit.seconds_per_event, 0);
  EXPECT_EQ(fit.fixed_seconds, 3);
}

TEST(RobustFit, IsZeroWithoutPoints) {
  const RobustFit fit = Fit({});
  EXPECT_EQ(fit.points, 0);
  EXPECT_FALSE(fit.slope_known);
  EXPECT_EQ(fit.Predict(1000), 0);
}

TEST(RobustFit, NeverPredictsANegativeDuration) {
  const RobustFit fit = Fit({{1000, 0.1}, {2000, 1.1}, {3000, 2.1}});
  EXPECT_LT(fit.fixed_seconds, 0);
  EXPECT_EQ(fit.Predict(0), 0);
}

TEST(RobustFit, HasIntervalsThatHoldTheTruthAsOftenAsTheySay) {
  std::mt19937 random(7);
  int fixed_inside = 0;
  int slope_inside = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    std::normal_distribution<double> noise(0, 0.05);
    std::vector<ChunkPoint> points;
    for (int i = 0; i < 120; ++i) {
      const double events = i % 3 == 0 ? 1000.0 + 37 * i : 5000.0;  // most are of one size, as in a real fileset
      const double outlier = i % 20 == 0 ? 3 : 0;
      points.push_back({events, 0.25 + 1e-4 * events + noise(random) + outlier});
    }
    const RobustFit fit = Fit(points);
    fixed_inside += std::abs(fit.fixed_seconds - 0.25) <= fit.fixed_error;
    slope_inside += std::abs(fit.seconds_per_event - 1e-4) <= fit.slope_error;
    EXPECT_LT(fit.fixed_error, 0.1);
  }
  EXPECT_GT(fixed_inside, kRuns * 88 / 100);
  EXPECT_GT(slope_inside, kRuns * 88 / 100);
}

}  // namespace
}  // namespace crema
