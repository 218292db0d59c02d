#include "crema/root/loop_passes.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace crema {
namespace internal {
namespace {

TEST(LoopPasses, CountsTheLoopsThatReadAFileForADatasetBefore) {
  LoopPasses passes;
  EXPECT_EQ(passes.Before(1, "ttbar", "a.root"), 0U);
  EXPECT_EQ(passes.Before(2, "ttbar", "a.root"), 1U);
  EXPECT_EQ(passes.Before(2, "ttbar", "b.root"), 0U);
  EXPECT_EQ(passes.Before(2, "zjets", "a.root"), 0U);
}

TEST(LoopPasses, TellsApartLoopsThatTakeTurns) {
  LoopPasses passes;
  for (int turn = 0; turn < 3; ++turn) {
    for (std::uint64_t loop = 1; loop <= LoopPasses::kMostLoops; ++loop) {
      EXPECT_EQ(passes.Before(loop, "ttbar", "a.root"), loop - 1);
    }
  }
}

TEST(LoopPasses, KeepsCountingLoopsThatItForgot) {
  LoopPasses passes;
  constexpr std::uint64_t kLoops = 100'000;
  for (std::uint64_t loop = 1; loop <= kLoops; ++loop) ASSERT_EQ(passes.Before(loop, "ttbar", "a.root"), loop - 1);
  EXPECT_EQ(passes.Before(kLoops, "ttbar", "a.root"), kLoops - 1);
  EXPECT_LE(passes.size(), LoopPasses::kMostLoops);
}

TEST(LoopPasses, OfTooManyFilesItKnowsTheFirst) {
  LoopPasses passes;
  const auto file = [](std::size_t number) { return std::to_string(number) + ".root"; };
  for (std::size_t i = 0; i < LoopPasses::kMostFiles + 1000; ++i) passes.Before(1, "ttbar", file(i));
  EXPECT_LE(passes.size(), LoopPasses::kMostFiles);
  EXPECT_EQ(passes.Before(2, "ttbar", file(0)), 1U);
  EXPECT_EQ(passes.Before(2, "ttbar", file(LoopPasses::kMostFiles + 10)), 0U);
}

}  // namespace
}  // namespace internal
}  // namespace crema
