#include <gtest/gtest.h>

#include "collector/server/live_model.h"

namespace crema {
namespace {

LatestChunk EndedAt(int64_t seconds) {
  LatestChunk chunk;
  chunk.stop_ns = seconds * 1'000'000'000;
  return chunk;
}

TEST(LatestChunks, AreForgottenAfterTwoMinutes) {
  LatestChunks chunks;
  for (int64_t second = 0; second < 200; ++second) chunks.Add(EndedAt(second));
  chunks.Forget(200 * 1'000'000'000LL);
  ASSERT_EQ(chunks.all().size(), 120u);
  EXPECT_EQ(chunks.all().front().number, 80);
}

TEST(LatestChunks, AreAtMostAsManyAsCanBeDrawn) {
  LatestChunks chunks;
  for (size_t i = 0; i < 2 * LatestChunks::kMost; ++i) chunks.Add(EndedAt(1));
  EXPECT_EQ(chunks.all().size(), LatestChunks::kMost);
  EXPECT_EQ(chunks.all().back().number, 2 * static_cast<int64_t>(LatestChunks::kMost) - 1) << "the latest stay";
}

}  // namespace
}  // namespace crema
