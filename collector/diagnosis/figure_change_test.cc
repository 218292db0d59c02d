#include <gtest/gtest.h>

#include "collector/diagnosis/between_runs.h"
#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/idioms/normal_distribution.h"
#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr ChangedFigure kElapsed = {"wall_time", ChangeOf::kRate, false};
constexpr ChangedFigure kEfficiency = {"cpu_efficiency", ChangeOf::kShare, true};
constexpr ChangedFigure kFailed = {"num_failed_attempts", ChangeOf::kFailures, false};
constexpr ChangedFigure kMemory = {"peak_memory_bytes", ChangeOf::kMemory, false};

/// 100 chunks of a second, whose mean is known to ± `percent` %.
Measurement RunOf(double wall_time, double percent) {
  return WithMetrics({{"wall_time", wall_time},
                      {"num_attempts", 100},
                      {"chunk_duration_mean", 1.0},
                      {"chunk_duration_std", percent / 100 * 10 / kSigmasTo975}});
}

TEST(HalfIntervalOfMean, NarrowsWithTheRootOfTheChunks) {
  EXPECT_NEAR(*HalfIntervalOfMean(RunOf(10, 2), "chunk_duration_mean"), 0.02, 1e-12);
  Measurement failing = RunOf(10, 2);
  failing.metrics.Set("num_failed_attempts", 75.0);
  EXPECT_NEAR(*HalfIntervalOfMean(failing, "chunk_duration_mean"), 0.04, 1e-12);
  EXPECT_FALSE(HalfIntervalOfMean(RunOf(10, 2), "chunk_duration_p50").has_value());
}

TEST(ChangeSince, ATimeIsBetterWhereItIsLessByMoreThanFivePerCentAndTheNoise) {
  const auto change = ChangeSince(RunOf(10, 3), RunOf(9, 4), kElapsed);
  ASSERT_TRUE(change.has_value());
  EXPECT_DOUBLE_EQ(change->before, 10);
  EXPECT_NEAR(*change->change, -0.1, 1e-12);
  EXPECT_NEAR(*change->noise, 0.05, 1e-12);
  EXPECT_EQ(change->is_better, true);
  EXPECT_EQ(ChangeSince(RunOf(10, 3), RunOf(11, 4), kElapsed)->is_better, false);
}

TEST(ChangeSince, WhatIsWithinTheNoiseOrFivePerCentIsNoChange) {
  EXPECT_FALSE(ChangeSince(RunOf(10, 9), RunOf(9, 9), kElapsed)->is_better.has_value());
  EXPECT_FALSE(ChangeSince(RunOf(10, 0), RunOf(9.6, 0), kElapsed)->is_better.has_value());
  EXPECT_EQ(ChangeSince(RunOf(10, 0), RunOf(9.4, 0), kElapsed)->is_better, true);
}

TEST(ChangeSince, SharesAreComparedInPoints) {
  const auto change =
      ChangeSince(WithMetrics({{"cpu_efficiency", 0.5}}), WithMetrics({{"cpu_efficiency", 0.54}}), kEfficiency);
  EXPECT_NEAR(*change->change, 0.04, 1e-12);
  EXPECT_FALSE(change->noise.has_value());
  EXPECT_FALSE(change->is_better.has_value());
  EXPECT_EQ(ChangeSince(WithMetrics({{"cpu_efficiency", 0.5}}), WithMetrics({{"cpu_efficiency", 0.6}}), kEfficiency)
                ->is_better,
            true);
  const ChangedFigure blocked = {"io_overhead_pct", ChangeOf::kShare, false, 0.01};
  const auto percent =
      ChangeSince(WithMetrics({{"io_overhead_pct", 10}}), WithMetrics({{"io_overhead_pct", 20}}), blocked);
  EXPECT_DOUBLE_EQ(percent->before, 0.1);
  EXPECT_EQ(percent->is_better, false);
}

TEST(ChangeSince, FailuresChangeWhereCountsDoSoByMoreThanChance) {
  const auto change = [](int before, int now) {
    return ChangeSince(WithMetrics({{"num_failed_attempts", before}}), WithMetrics({{"num_failed_attempts", now}}),
                       kFailed);
  };
  EXPECT_FALSE(change(0, 0)->is_better.has_value());
  EXPECT_FALSE(change(10, 14)->is_better.has_value());
  EXPECT_EQ(change(10, 40)->is_better, false);
  EXPECT_EQ(change(10, 0)->is_better, true);
}

TEST(ChangeSince, WhatWasNotMeasuredInBothIsNotCompared) {
  EXPECT_FALSE(
      ChangeSince(WithMetrics({{"peak_memory_bytes", nullptr}}), WithMetrics({{"peak_memory_bytes", 5}}), kMemory));
  EXPECT_FALSE(
      ChangeSince(WithMetrics({{"peak_memory_bytes", 5}}), WithMetrics({{"peak_memory_bytes", nullptr}}), kMemory));
}

TEST(ChangeSince, ThereIsNoRelativeChangeSinceZero) {
  const auto change =
      ChangeSince(WithMetrics({{"peak_memory_bytes", 0}}), WithMetrics({{"peak_memory_bytes", 5}}), kMemory);
  ASSERT_TRUE(change.has_value());
  EXPECT_FALSE(change->change.has_value());
  EXPECT_FALSE(change->is_better.has_value());
}

TEST(HaveSameEvents, OnlyWhereBothKnow) {
  EXPECT_TRUE(HaveSameEvents(WithMetrics({{"total_events", 5}}), WithMetrics({{"total_events", 5}})));
  EXPECT_FALSE(HaveSameEvents(WithMetrics({{"total_events", 5}}), WithMetrics({{"total_events", 6}})));
  EXPECT_FALSE(HaveSameEvents(Measurement(), Measurement()));
}

}  // namespace
}  // namespace crema
