#include "collector/insight/key_figure_bands.h"

#include "gtest/gtest.h"

namespace crema {
namespace {

// METRICS.md section 10, last rows
TEST(KeyFigureBands, CallCpuEfficiencyGoodFromSeventyAndBadBelowFortyPercent) {
  EXPECT_EQ(MarkOf(KeyFigure::kCpuEfficiency, 0.70), Mark::kGood);
  EXPECT_EQ(MarkOf(KeyFigure::kCpuEfficiency, 0.699), Mark::kWatch);
  EXPECT_EQ(MarkOf(KeyFigure::kCpuEfficiency, 0.40), Mark::kWatch);
  EXPECT_EQ(MarkOf(KeyFigure::kCpuEfficiency, 0.399), Mark::kBad);
}

TEST(KeyFigureBands, CallWaitingGoodUpToFifteenAndBadAboveThirtyPercent) {
  EXPECT_EQ(MarkOf(KeyFigure::kWaiting, 0.15), Mark::kGood);
  EXPECT_EQ(MarkOf(KeyFigure::kWaiting, 0.151), Mark::kWatch);
  EXPECT_EQ(MarkOf(KeyFigure::kWaiting, 0.30), Mark::kWatch);
  EXPECT_EQ(MarkOf(KeyFigure::kWaiting, 0.301), Mark::kBad);
}

TEST(KeyFigureBands, CallMemoryGoodUpToEightyPercentOfItsLimit) {
  EXPECT_EQ(MarkOf(KeyFigure::kMemory, 0.80), Mark::kGood);
  EXPECT_EQ(MarkOf(KeyFigure::kMemory, 0.81), Mark::kWatch);
  EXPECT_EQ(MarkOf(KeyFigure::kMemory, 0.96), Mark::kBad);
}

TEST(KeyFigureBands, SayTheirBoundInWords) {
  EXPECT_EQ(GoodHint(KeyFigure::kCpuEfficiency), "good ≥ 70 %");
  EXPECT_EQ(GoodHint(KeyFigure::kFailedAttempts), "good ≤ 1 %");
}

TEST(KeyFigureBands, HaveAReasonAndAreOrdered) {
  for (KeyFigure figure : {KeyFigure::kCpuEfficiency, KeyFigure::kWaiting, KeyFigure::kMemory, KeyFigure::kBalance,
                           KeyFigure::kFailedAttempts}) {
    const KeyFigureBand& band = BandOf(figure);
    EXPECT_FALSE(band.reason.empty());
    EXPECT_EQ(band.more_is_better, band.good > band.bad);
  }
}

}  // namespace
}  // namespace crema
