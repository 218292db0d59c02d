#include <optional>
#include <vector>

#include "collector/metrics/engine/engine_metrics.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

ClusterSampleFact SampledAt(int64_t time_ns, std::optional<int64_t> executing, std::optional<double> contention) {
  ClusterSampleFact sample;
  sample.time_ns = time_ns;
  sample.executing = executing;
  sample.gil_contention = contention;
  return sample;
}

std::optional<double> Of(const std::vector<ClusterSampleFact>& samples, const RunWindow& run = {0, 1000}) {
  ClusterWorkerFact fact;
  fact.samples = samples;
  return GilContention({{0, &fact}}, run);
}

TEST(GilContention, IsTheMeanOverTimeAndOverExecutingTasks) {
  EXPECT_DOUBLE_EQ(*Of({SampledAt(0, 4, 0.9), SampledAt(100, 4, 0.5), SampledAt(200, 2, 0.8)}),
                   (400 * 0.5 + 200 * 0.8) / 600);
}

TEST(GilContention, OneTaskWaitsForNobody) {
  EXPECT_EQ(
      Of({SampledAt(0, 1, 1.0), SampledAt(100, 1, 1.0), SampledAt(200, 0, 1.0), SampledAt(300, std::nullopt, 1.0)}),
      std::nullopt);
  EXPECT_DOUBLE_EQ(*Of({SampledAt(0, 1, 1.0), SampledAt(100, 1, 1.0), SampledAt(200, 2, 0.25)}), 0.25);
}

TEST(GilContention, IsNotKnownWhereNoWorkerTellsIt) {
  EXPECT_EQ(Of({SampledAt(0, 4, std::nullopt), SampledAt(100, 4, std::nullopt)}), std::nullopt);
  EXPECT_EQ(Of({SampledAt(100, 4, 0.5)}), std::nullopt) << "since when is not known";
  EXPECT_EQ(Of({}), std::nullopt);
}

TEST(GilContention, OnlyTheRunCounts) {
  EXPECT_DOUBLE_EQ(*Of({SampledAt(0, 2, 0), SampledAt(500, 2, 1.0), SampledAt(1500, 2, 0.5)}, {400, 1000}),
                   (100 * 1.0 + 500 * 0.5) / 600);
}

}  // namespace
}  // namespace crema
