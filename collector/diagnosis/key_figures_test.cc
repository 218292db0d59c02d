#include "collector/diagnosis/key_figures.h"

#include <gtest/gtest.h>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

TEST(ShareOf, APercentageBecomesAShare) {
  EXPECT_DOUBLE_EQ(*ShareOf(WithMetrics({{"io_overhead_pct", 25}}), kBlockedShare), 0.25);
  EXPECT_DOUBLE_EQ(*ShareOf(WithMetrics({{"balance", 0.5}}), kBalanceShare), 0.5);
  EXPECT_FALSE(ShareOf(WithMetrics({{"balance", nullptr}}), kBalanceShare).has_value());
}

TEST(CpuWaitShare, IsOfTheChunksTime) {
  EXPECT_DOUBLE_EQ(*CpuWaitShare(WithMetrics({{"chunk_cpu_wait", 1}, {"busy_time", 4}})), 0.25);
  EXPECT_FALSE(CpuWaitShare(WithMetrics({{"chunk_cpu_wait", 0}, {"busy_time", 0}})).has_value());
}

TEST(FindPeakMemory, TheTightestWorkerIsClosestToItsOwnLimit) {
  const Measurement measurement =
      MeasurementOf({{"metrics", {{"peak_memory_bytes", 900}}},
                     {"workers",
                      {{{"name", "large"}, {"peak_memory_bytes", 900}, {"memory_limit_bytes", 2000}},
                       {{"name", "tight"}, {"peak_memory_bytes", 90}, {"memory_limit_bytes", 100}},
                       {{"name", "free"}, {"peak_memory_bytes", 800}, {"memory_limit_bytes", nullptr}}}}});
  const std::optional<PeakMemory> memory = FindPeakMemory(measurement);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->bytes, 900);
  EXPECT_EQ(memory->tightest->name, "tight");
  EXPECT_DOUBLE_EQ(memory->tightest->share(), 0.9);
}

TEST(FindPeakMemory, WhereAWorkerWasLostItIsThatOfTheLargestProcess) {
  Measurement measurement = WithMetrics({{"peak_memory_bytes", 2}, {"process_peak_rss_bytes", 60}});
  EXPECT_TRUE(FindPeakMemory(measurement)->is_of_worker);
  measurement.quality.processes_lost = 1;
  const std::optional<PeakMemory> memory = FindPeakMemory(measurement);
  EXPECT_EQ(memory->bytes, 60);
  EXPECT_FALSE(memory->is_of_worker);
  EXPECT_FALSE(memory->tightest.has_value());
}

TEST(FindPeakMemory, WithoutSamplesItIsThatOfTheLargestProcess) {
  const std::optional<PeakMemory> memory = FindPeakMemory(WithMetrics({{"process_peak_rss_bytes", 5}}));
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->key, "process_peak_rss_bytes");
  EXPECT_FALSE(memory->is_of_worker);
  EXPECT_FALSE(FindPeakMemory(Measurement()).has_value());
}

TEST(FindFailedAttempts, LostOnesAreJudgedToo) {
  const std::optional<FailedAttempts> figure = FindFailedAttempts(WithMetrics(
      {{"num_attempts", 100}, {"num_failed_attempts", 1}, {"num_lost_attempts", 9}, {"num_unfinished_chunks", 0}}));
  ASSERT_TRUE(figure.has_value());
  EXPECT_EQ(figure->gone(), 10);
  EXPECT_EQ(figure->mark, Mark::kBad);
  EXPECT_TRUE(figure->is_all_recovered);
}

TEST(FindFailedAttempts, AChunkWithoutResultIsBadUnlessTheRunGoesOn) {
  Measurement measurement =
      WithMetrics({{"num_attempts", 1000}, {"num_failed_attempts", 1}, {"num_unfinished_chunks", 1}});
  EXPECT_EQ(FindFailedAttempts(measurement)->mark, Mark::kBad);
  EXPECT_FALSE(FindFailedAttempts(measurement)->is_all_recovered);
  measurement.run.state = "running";
  EXPECT_EQ(FindFailedAttempts(measurement)->mark, Mark::kGood);
  EXPECT_EQ(FindFailedAttempts(measurement)->without_result, 0);
}

TEST(FindFailedAttempts, WhatIsNotKnownIsNotCalledRecovered) {
  EXPECT_FALSE(FindFailedAttempts(WithMetrics({{"num_attempts", 10}, {"num_failed_attempts", 1}}))->is_all_recovered);
  EXPECT_FALSE(FindFailedAttempts(WithMetrics({{"num_attempts", 10}})).has_value());
}

TEST(FindFailedAttempts, WithoutAttemptsThereIsNothingToJudge) {
  EXPECT_FALSE(FindFailedAttempts(WithMetrics({{"num_attempts", 0}, {"num_failed_attempts", 0}}))->mark.has_value());
}

}  // namespace
}  // namespace crema
