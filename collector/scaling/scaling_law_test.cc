// Laws, fitted to points that follow them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "collector/scaling/scaling_study.h"

namespace crema {
namespace {

double Usl(double n, double lambda, double sigma, double kappa) {
  return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

std::vector<LawPoint> Made(double sigma, double kappa, double error, uint64_t seed,
                           const std::vector<double>& cores = {1, 2, 4, 8, 16, 32}) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<LawPoint> points;
  for (const double n : cores) points.push_back({n, Usl(n, 100, sigma, kappa) * (1 + error * noise(random))});
  return points;
}

TEST(ScalingLaw, ExactPointsGiveTheLawThatTheyFollow) {
  const auto law = FitLaw(LawKind::kUsl, Made(0.05, 0.001, 0, 1));
  ASSERT_TRUE(law.ok());
  EXPECT_NEAR(*law->lambda.value, 100, 1e-3);
  EXPECT_NEAR(*law->sigma.value, 0.05, 1e-5);
  EXPECT_NEAR(*law->kappa.value, 0.001, 1e-6);
  EXPECT_EQ(*law->fastest.value, 31);  // sqrt(0.95 / 0.001) = 30.8
  EXPECT_NEAR(*law->error, 0, 1e-6);
}

TEST(ScalingLaw, TheLastWorthwhileCoreBringsHalfAndTheNextOneLess) {
  const auto law = FitLaw(LawKind::kAmdahl, Made(0.05, 0, 0, 1));
  ASSERT_TRUE(law.ok());
  EXPECT_NEAR(*law->sigma.value, 0.05, 1e-5);
  const double n = *law->worthwhile.value;
  EXPECT_GE(Usl(n, 1, 0.05, 0) - Usl(n - 1, 1, 0.05, 0), 0.5);
  EXPECT_LT(Usl(n + 1, 1, 0.05, 0) - Usl(n, 1, 0.05, 0), 0.5);
}

TEST(ScalingLaw, WhatNeverSlowsDownHasNoFastestNumberOfCores) {
  const auto law = FitLaw(LawKind::kUsl, Made(0, 0, 0, 1));
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(*law->sigma.value, 0);
  EXPECT_EQ(*law->kappa.value, 0);
  EXPECT_FALSE(law->fastest.value.has_value());
  EXPECT_FALSE(law->fastest.high.has_value());
  EXPECT_FALSE(law->worthwhile.value.has_value());
}

TEST(ScalingLaw, AmdahlsHasNoFastestNumberAtAll) {
  const auto law = FitLaw(LawKind::kAmdahl, Made(0.05, 0.001, 0.01, 1));
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(*law->kappa.value, 0);
  EXPECT_FALSE(law->fastest.value.has_value());
}

TEST(ScalingLaw, IntervalsHoldTheTruthInNineOfTenCases) {
  int sigma_inside = 0, kappa_inside = 0, fastest_inside = 0;
  constexpr int kCases = 300;
  for (int seed = 0; seed < kCases; ++seed) {
    const auto law = FitLaw(LawKind::kUsl, Made(0.05, 0.001, 0.02, static_cast<uint64_t>(seed)));
    ASSERT_TRUE(law.ok());
    const auto holds = [](const FittedNumber& number, double truth) {
      return *number.low <= truth && (!number.high.has_value() || truth <= *number.high);
    };
    sigma_inside += holds(law->sigma, 0.05);
    kappa_inside += holds(law->kappa, 0.001);
    fastest_inside += holds(law->fastest, 31);
    ASSERT_LE(*law->sigma.low, *law->sigma.value);
    ASSERT_LE(*law->sigma.value, *law->sigma.high);
  }
  // 90 %, and three standard deviations of 300 cases
  EXPECT_GE(sigma_inside, 0.85 * kCases);
  EXPECT_LE(sigma_inside, 0.97 * kCases);
  EXPECT_GE(kappa_inside, 0.85 * kCases);
  EXPECT_LE(kappa_inside, 0.97 * kCases);
  EXPECT_GE(fastest_inside, 0.85 * kCases);
}

TEST(ScalingLaw, FourNumbersOfCoresAreTheLeast) {
  EXPECT_TRUE(FitLaw(LawKind::kUsl, Made(0.05, 0, 0.02, 1, {1, 2, 4, 8})).ok());
  const auto law = FitLaw(LawKind::kUsl, Made(0.05, 0, 0.02, 1, {1, 2, 4, 4, 4, 2}));
  ASSERT_FALSE(law.ok());
  EXPECT_EQ(law.status().message(), "a law needs 4 different numbers of cores; there are 3");
}

TEST(ScalingLaw, RunsThatBecomeSlowerWithCoresStayWithinTheLaw) {
  const auto law = FitLaw(LawKind::kUsl, {{1, 100}, {2, 90}, {4, 50}, {8, 20}});
  ASSERT_TRUE(law.ok());
  EXPECT_EQ(*law->fastest.value, 1);
  EXPECT_EQ(*law->worthwhile.value, 1);
  EXPECT_LE(*law->sigma.value, 1);
}

}  // namespace
}  // namespace crema
