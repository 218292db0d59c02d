// The bounds of live warnings are applied as they are written: just inside and just outside of each.
#include <gtest/gtest.h>

#include "collector/server/live_model.h"

namespace crema {
namespace {

constexpr int64_t kLimit = 1'000'000'000;

/// A worker whose memory grew evenly, by a sample a second, to `last`.
LiveWorker Grown(size_t samples, double last, double growth) {
  LiveWorker worker;
  worker.memory_limit_bytes = kLimit;
  for (size_t i = 0; i < samples; ++i) {
    const double left = static_cast<double>(samples - 1 - i) / static_cast<double>(samples - 1);
    worker.memory.push_back({static_cast<int64_t>(i) * 1'000'000'000, static_cast<int64_t>(last - left * growth)});
  }
  worker.rss_bytes = worker.memory.back().rss_bytes;
  return worker;
}

TEST(LiveLimits, MemoryIsJudgedFromHalfOfTheLimitOn) {
  const double half = kLeastMemory * kLimit;
  EXPECT_TRUE(SecondsToLimit(Grown(60, half + 1, 1e8)).has_value());
  EXPECT_FALSE(SecondsToLimit(Grown(60, half - 1, 1e8)).has_value());
}

TEST(LiveLimits, MemoryThatHardlyGrowsIsNotJudged) {
  const double least = kLeastGrowth * kLimit;
  EXPECT_TRUE(SecondsToLimit(Grown(60, 7e8, 1.01 * least)).has_value());
  EXPECT_FALSE(SecondsToLimit(Grown(60, 7e8, 0.99 * least)).has_value());
}

TEST(LiveLimits, FewSamplesAreNotJudged) {
  EXPECT_TRUE(SecondsToLimit(Grown(kLeastMemoryPoints, 7e8, 1e8)).has_value());
  EXPECT_FALSE(SecondsToLimit(Grown(kLeastMemoryPoints - 1, 7e8, 1e8)).has_value());
}

}  // namespace
}  // namespace crema
