#include <gtest/gtest.h>

#include "collector/charts/charts_fixture.h"
#include "collector/charts/time_charts.h"

namespace crema {
namespace {

TEST(WorkerSeries, AValueHoldsUntilTheNextOrTheWorkersStop) {
  Json document = MadeDocument();
  document["workers"][1]["stop"] = 6;
  const SeriesOfWorkers memory = ReadWorkerSeries(MeasurementOf(document), "worker_memory", 10);
  ASSERT_EQ(memory.workers.size(), 2u);
  EXPECT_EQ(memory.workers[0].bins[9].mean(), 2147483648.0);
  EXPECT_EQ(memory.workers[1].bins[1].mean(), std::nullopt);
  EXPECT_EQ(memory.workers[1].bins[5].mean(), 1073741824.0);
  EXPECT_EQ(memory.workers[1].bins[6].mean(), std::nullopt);
  EXPECT_EQ(memory.workers[0].peak, 2147483648.0);
}

TEST(WorkerSeries, BinsKeepTheIntegral) {
  for (const size_t bins : {1, 3, 7, 1000}) {
    const SeriesOfWorkers open = ReadWorkerSeries(MeasurementOf(MadeDocument()), "worker_open_chunks", bins);
    double integral = 0;
    for (const WorkerSeries& series : open.workers) {
      for (const SeriesBin& bin : series.bins) integral += bin.integral;
    }
    EXPECT_NEAR(integral, 2 * 8 + 1 * 6, 1e-9) << bins;
  }
}

TEST(WorkerSeries, TheSumOfStepsIsExact) {
  const Timeline sum = SumOfSteps(MeasurementOf(MadeDocument()), "worker_open_chunks");
  ASSERT_EQ(sum.size(), 3u);
  EXPECT_EQ(sum[0].value, 2);
  EXPECT_EQ(sum[1].value, 3);
  EXPECT_EQ(sum[2].value, 0);
  EXPECT_EQ(sum[2].seconds, 8);
}

TEST(WorkerSeries, ReducedStepsKeepTheIntegral) {
  Timeline steps;
  double integral = 0;
  for (int i = 0; i < 10'000; ++i) {
    steps.push_back({i * 0.001, static_cast<double>(i % 13)});
    integral += i % 13 * 0.001;
  }
  const Timeline reduced = Reduced(steps, 10, 100);
  ASSERT_EQ(reduced.size(), 100u);
  double kept = 0;
  for (const TimelinePoint& step : reduced) kept += step.value * 0.1;
  EXPECT_NEAR(kept, integral, 1e-6);
}

TEST(WorkerSeries, WhatIsNotThereIsEmpty) {
  EXPECT_TRUE(ReadWorkerSeries(MeasurementOf(MadeDocument()), "worker_fds", 10).empty());
  EXPECT_TRUE(SumOfSteps(MeasurementOf(MadeDocument()), "worker_fds").empty());
  Json document = MadeDocument();
  document["metrics"]["wall_time"] = nullptr;
  EXPECT_TRUE(ReadWorkerSeries(MeasurementOf(document), "worker_memory", 10).empty());
}

}  // namespace
}  // namespace crema
