#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "collector/metrics/attempts/slopes.h"

namespace crema {
namespace {

constexpr double kPage = 4096;

// Chunks of 2,000 events; `pages` gives the RSS at the end of the chunk with this number.
std::vector<AttemptRow> Chunks(uint32_t process, uint32_t count, const std::function<double(uint32_t)>& pages) {
  std::vector<AttemptRow> attempts;
  for (uint32_t number = 0; number < count; ++number) {
    AttemptRow attempt;
    attempt.process = process;
    attempt.number = number;
    attempt.start_ns = int64_t{1000} * number;
    attempt.duration_ns = 900;
    attempt.events = 2000;
    attempt.rss_stop_bytes = static_cast<int64_t>(pages(number)) * 4096;
    attempts.push_back(attempt);
  }
  return attempts;
}

TEST(RssSlope, IsTheLeakPerThousandEvents) {
  const auto slope = LargestRssSlope(Chunks(0, 100, [](uint32_t n) { return 50000 + 8 * n; }));
  ASSERT_TRUE(slope.has_value());
  EXPECT_NEAR(slope->slope, 8 * kPage / 2, 1e-6);  // 8 pages a chunk of 2,000 events
  EXPECT_NEAR(slope->low, slope->slope, 1e-6);
  EXPECT_NEAR(slope->high, slope->slope, 1e-6);
}

TEST(RssSlope, IsZeroWithAnIntervalAroundItWhereMemoryOnlyFluctuates) {
  std::mt19937 random(4);
  const auto slope = LargestRssSlope(Chunks(0, 5000, [&](uint32_t) { return 50000 + random() % 1000; }));
  ASSERT_TRUE(slope.has_value());
  EXPECT_LT(slope->low, 0);
  EXPECT_GT(slope->high, 0);
  EXPECT_NEAR(slope->slope, 0, 0.02 * kPage);
}

TEST(RssSlope, FindsASmallLeakUnderNoiseAndSpikes) {
  std::mt19937 random(9);
  const auto slope = LargestRssSlope(Chunks(
      0, 20000, [&](uint32_t n) { return 50000 + 0.5 * n + random() % 1000 + (random() % 10 == 0 ? 100000 : 0); }));
  ASSERT_TRUE(slope.has_value());
  EXPECT_NEAR(slope->slope, 0.5 * kPage / 2, 0.02 * kPage);
  EXPECT_LE(slope->low, slope->slope);
  EXPECT_GE(slope->high, slope->slope);
  EXPECT_GT(slope->low, 0);
}

TEST(RssSlope, DoesNotTakeAMappedFileForALeak) {
  ProcessRow process;
  for (int64_t second = 0; second <= 100; ++second) {
    ProcessSample sample;
    sample.time_ns = 1000 * second;
    sample.rss_bytes = (50000 + 8 * second) * 4096;
    sample.anonymous_bytes = (49000 + second) * 4096;
    process.samples.push_back(sample);
  }
  const std::vector<AttemptRow> chunks = Chunks(0, 100, [](uint32_t n) { return 50000 + 8 * n + 7; });
  const auto slope = LargestRssSlope(chunks, {process});
  ASSERT_TRUE(slope.has_value());
  EXPECT_NEAR(slope->slope, 1 * kPage / 2, kPage / 100) << "the file grows by 7 pages a chunk, the rest by one";
  for (ProcessSample& sample : process.samples) sample.anonymous_bytes.reset();
  EXPECT_NEAR(LargestRssSlope(chunks, {process})->slope, 8 * kPage / 2, 1e-6) << "nobody distinguishes them";
}

TEST(RssSlope, ForgetsTheGrowthOfTheFirstTenth) {
  const auto slope = LargestRssSlope(Chunks(0, 200, [](uint32_t n) { return n < 20 ? 1000 * n : 20000; }));
  ASSERT_TRUE(slope.has_value());
  EXPECT_EQ(slope->slope, 0);
}

TEST(RssSlope, IsSensMedianWithHisIntervalOnGrowingSteps) {
  // Squares of 4 to 39: the slope between i and j is i + j, so the 630 slopes can be counted: 39 is the 243rd, 47 the
  // 388th.
  const auto slope = LargestRssSlope(Chunks(0, 40, [](uint32_t n) { return n * n; }));
  ASSERT_TRUE(slope.has_value());
  EXPECT_NEAR(slope->slope, 43 * kPage / 2, 1e-6);
  EXPECT_NEAR(slope->low, 39 * kPage / 2, 1e-6);
  EXPECT_NEAR(slope->high, 47 * kPage / 2, 1e-6);
}

TEST(RssSlope, NeedsTwentyChunksInOneProcess) {
  std::vector<AttemptRow> attempts = Chunks(0, 19, [](uint32_t n) { return 100 + n; });
  const std::vector<AttemptRow> others = Chunks(1, 19, [](uint32_t n) { return 100 + n; });
  attempts.insert(attempts.end(), others.begin(), others.end());
  EXPECT_EQ(LargestRssSlope(attempts), std::nullopt);
  EXPECT_TRUE(LargestRssSlope(Chunks(0, 20, [](uint32_t n) { return 100 + n; })).has_value());
}

TEST(RssSlope, IsNotMeasuredWithoutRssOrEvents) {
  std::vector<AttemptRow> attempts = Chunks(0, 100, [](uint32_t n) { return 100 + n; });
  for (AttemptRow& attempt : attempts) attempt.events = AttemptRow::kUnknown;
  EXPECT_EQ(LargestRssSlope(attempts), std::nullopt);
  attempts = Chunks(0, 100, [](uint32_t n) { return 100 + n; });
  for (AttemptRow& attempt : attempts) attempt.rss_stop_bytes = AttemptRow::kUnknown;
  EXPECT_EQ(LargestRssSlope(attempts), std::nullopt);
}

TEST(RssSlope, IsThatOfTheProcessThatGrowsMost) {
  std::vector<AttemptRow> attempts = Chunks(0, 50, [](uint32_t n) { return 9000 + 2 * n; });
  for (uint32_t process : {1u, 2u}) {
    const std::vector<AttemptRow> more =
        Chunks(process, 50, [&](uint32_t n) { return 9000 + (process == 1 ? 10 * n : n); });
    attempts.insert(attempts.end(), more.begin(), more.end());
  }
  const auto slope = LargestRssSlope(attempts);
  ASSERT_TRUE(slope.has_value());
  EXPECT_NEAR(slope->slope, 10 * kPage / 2, 1e-6);
}

}  // namespace
}  // namespace crema
