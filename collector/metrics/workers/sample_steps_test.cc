#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "collector/metrics/workers/worker_life.h"

namespace crema {
namespace {

using Steps = std::vector<std::pair<int64_t, int64_t>>;

ProcessSample StepSample(int64_t time_ns, std::optional<int64_t> rss, std::optional<int64_t> limit = std::nullopt) {
  ProcessSample sample;
  sample.time_ns = time_ns;
  sample.rss_bytes = rss;
  sample.memory_limit_bytes = limit;
  return sample;
}

Steps Pairs(const std::vector<SampleStep>& steps) {
  Steps pairs;
  for (const SampleStep& step : steps) pairs.emplace_back(step.time_ns, step.value);
  return pairs;
}

Steps Rss(const std::vector<ProcessSample>& samples, int64_t start_ns, int64_t stop_ns) {
  return Pairs(StepsOfSamples(samples, &ProcessSample::rss_bytes, start_ns, stop_ns));
}

TEST(SampleSteps, HoldTheLastSampleBeforeTheStart) {
  EXPECT_EQ(Rss({StepSample(1, 900), StepSample(3, 100), StepSample(7, 200)}, 5, 10), (Steps{{5, 100}, {7, 200}}));
  EXPECT_EQ(Rss({StepSample(1, 900), StepSample(5, 300)}, 5, 10), (Steps{{5, 300}}));
}

TEST(SampleSteps, AreUnknownBeforeTheFirstSampleAndEndWithTheStop) {
  EXPECT_EQ(Rss({StepSample(7, 200), StepSample(10, 300), StepSample(11, 400)}, 5, 10), (Steps{{7, 200}, {10, 300}}));
}

TEST(SampleSteps, LeaveOutSamplesWithoutTheQuantity) {
  EXPECT_EQ(Rss({StepSample(6, 100), StepSample(7, std::nullopt)}, 5, 10), (Steps{{6, 100}}));
  EXPECT_TRUE(Rss({StepSample(7, std::nullopt)}, 5, 10).empty());
}

TEST(SampleSteps, TakeTheLimitFromTheProcessUntilASampleTellsOne) {
  ProcessRow process;
  process.samples = {StepSample(7, 1, 2000)};
  EXPECT_EQ(Pairs(StepsOfMemoryLimit(process, 5, 10)), (Steps{{7, 2000}}));
  process.memory_limit_bytes = 1000;
  EXPECT_EQ(Pairs(StepsOfMemoryLimit(process, 5, 10)), (Steps{{5, 1000}, {7, 2000}}));
  EXPECT_EQ(Pairs(StepsOfMemoryLimit(process, 8, 10)), (Steps{{8, 2000}}));
}

}  // namespace
}  // namespace crema
