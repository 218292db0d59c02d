#include "collector/diagnosis/key_figures.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

// docs/verdicts.md, "Bands of the key figures"
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

TEST(KeyFigureBands, FollowDaskWhereItSpillsAndPauses) {
  const KeyFigureBand band = MemoryBand("Dask 2025.11.0");
  EXPECT_EQ(MarkOf(band, 0.70), Mark::kGood);
  EXPECT_EQ(MarkOf(band, 0.75), Mark::kWatch);
  EXPECT_EQ(MarkOf(band, 0.81), Mark::kBad);
  EXPECT_EQ(GoodHint(band), "good ≤ 70 %");
  EXPECT_EQ(MarkOf(MemoryBand("Daskalos"), 0.75), Mark::kGood)
      << "an engine that nobody knows has no bounds of its own";
}

TEST(KeyFigureBands, CallAnyDroppedRecordWorthALook) {
  EXPECT_EQ(MarkOf(KeyFigure::kDroppedRecords, 0), Mark::kGood);
  EXPECT_EQ(MarkOf(KeyFigure::kDroppedRecords, 0.0001), Mark::kWatch);
  EXPECT_EQ(MarkOf(KeyFigure::kDroppedRecords, 0.01), Mark::kBad);
}

TEST(KeyFigureBands, SayTheirBoundInWords) {
  EXPECT_EQ(GoodHint(KeyFigure::kCpuEfficiency), "good ≥ 70 %");
  EXPECT_EQ(GoodHint(KeyFigure::kFailedAttempts), "good ≤ 1 %");
  EXPECT_EQ(GoodHint(KeyFigure::kEventCoverage), "good ≥ 99 %");
  EXPECT_EQ(GoodHint(KeyFigure::kDroppedRecords), "good: none");
  EXPECT_EQ(GoodHint(KeyFigure::kClockOffset), "good ≤ 10.0 ms");
}

TEST(KeyFigureBands, HaveAReasonAndAreOrdered) {
  for (int i = 0; i <= static_cast<int>(KeyFigure::kClockOffset); ++i) {
    const auto figure = static_cast<KeyFigure>(i);
    const KeyFigureBand& band = BandOf(figure);
    EXPECT_EQ(band.figure, figure);
    EXPECT_FALSE(band.reason.empty());
    if (band.good != band.bad) {
      EXPECT_EQ(band.more_is_better, band.good > band.bad);
    }
  }
}

}  // namespace
}  // namespace crema
