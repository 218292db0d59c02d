#include <limits>

#include "collector/terminal/terminal_box.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

const TerminalStyle kUnicode = {100, false, false};
const TerminalStyle kAscii = {100, false, true};

TEST(Bar, HasAResolutionOfAnEighthOfACharacter) {
  EXPECT_EQ(Bar(0.5, 4, kUnicode), "██");
  EXPECT_EQ(Bar(0.53125, 4, kUnicode), "██▏");
  EXPECT_EQ(Bar(1, 4, kUnicode), "████");
}

TEST(Bar, ShowsTheSmallestShareAndNothingOfNone) {
  EXPECT_EQ(Bar(1e-9, 4, kUnicode), "▏");
  EXPECT_EQ(Bar(1e-9, 4, kAscii), "#");
  EXPECT_EQ(Bar(0, 4, kUnicode), "");
  EXPECT_EQ(Bar(std::numeric_limits<double>::quiet_NaN(), 4, kUnicode), "");
}

TEST(Bar, NeverExceedsItsColumns) {
  EXPECT_EQ(Bar(7, 4, kUnicode), "████");
  EXPECT_EQ(Bar(0.5, 0, kUnicode), "");
  EXPECT_EQ(Bar(0.5, -1, kUnicode), "");
}

TEST(BarOnTrack, AlwaysTakesAllItsColumns) {
  for (double share : {-1.0, 0.0, 0.01, 0.333, 0.999, 1.0, 5.0}) {
    EXPECT_EQ(ColumnsOf(BarOnTrack(share, 7, kUnicode)), 7) << share;
    EXPECT_EQ(ColumnsOf(BarOnTrack(share, 7, kAscii)), 7) << share;
  }
}

TEST(SparkLine, GoesFromZeroToTheTopAndLeavesGapsBlank) {
  EXPECT_EQ(SparkLine({0, 4, std::nullopt, 8}, 8, kUnicode), "▁▅ █");
  EXPECT_EQ(SparkLine({0, 4, std::nullopt, 8}, 8, kAscii), "05 9");
}

TEST(SparkLine, OfZerosIsFlat) { EXPECT_EQ(SparkLine({0, 0}, 0, kUnicode), "▁▁"); }

}  // namespace
}  // namespace crema
