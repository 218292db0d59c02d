#include "collector/insight/human_numbers.h"

#include <limits>

#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(HumanDuration, ChangesUnitWhereThreeDigitsWouldNotDo) {
  EXPECT_EQ(HumanDuration(0), "0 s");
  EXPECT_EQ(HumanDuration(12e-9), "12.0 ns");
  EXPECT_EQ(HumanDuration(4.5e-5), "45.0 µs");
  EXPECT_EQ(HumanDuration(0.12), "120 ms");
  EXPECT_EQ(HumanDuration(5.974), "5.97 s");
  EXPECT_EQ(HumanDuration(377.2), "6 m 17 s");
  EXPECT_EQ(HumanDuration(12056), "3 h 20 m 56 s");
  EXPECT_EQ(HumanDuration(2 * 86400 + 3 * 3600 + 20 * 60 + 59), "2 d 03 h 20 m");
  EXPECT_EQ(HumanDuration(-1.5), "-1.50 s");
}

TEST(HumanDuration, RoundsIntoTheNextUnitInsteadOfPrintingSixtySeconds) {
  EXPECT_EQ(HumanDuration(59.96), "1 m 00 s");
  EXPECT_EQ(HumanDuration(59.94), "59.9 s");
  EXPECT_EQ(HumanDuration(3599.6), "1 h 00 m 00 s");
  EXPECT_EQ(HumanDuration(0.99960), "1.00 s");
}

TEST(HumanCount, IsExactBelowAHundredThousandAndScaledAbove) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(2255), "2 255");
  EXPECT_EQ(HumanCount(99999), "99 999");
  EXPECT_EQ(HumanCount(553210), "553 k");
  EXPECT_EQ(HumanCount(208312000), "208 M");
  EXPECT_EQ(HumanCount(999999), "1.00 M");
  EXPECT_EQ(HumanCount(2.739), "2.74");
  EXPECT_EQ(HumanCount(-1234), "-1 234");
}

TEST(HumanCount, TakesASumOfDoublesForTheWholeNumberItStandsFor) {
  double cores = 0;
  for (int i = 0; i < 40; ++i) cores += 0.1;
  ASSERT_NE(cores, 4.0);
  EXPECT_EQ(HumanCount(cores), "4");
}

TEST(ExactCount, NeverScales) {
  EXPECT_EQ(ExactCount(1234567), "1 234 567");
  EXPECT_EQ(ExactCount(-1000), "-1 000");
}

TEST(Counted, AgreesWithItsNoun) {
  EXPECT_EQ(Counted(1, "worker", "workers"), "1 worker");
  EXPECT_EQ(Counted(0, "worker", "workers"), "0 workers");
}

TEST(HumanMemory, CountsInPowersOf1024AndHumanDataInPowersOf1000) {
  EXPECT_EQ(HumanMemory(512), "512 B");
  EXPECT_EQ(HumanMemory(4.0 * (1 << 30)), "4 GiB");
  EXPECT_EQ(HumanMemory(3876208148.0), "3.61 GiB");
  EXPECT_EQ(HumanData(283.8e9), "284 GB");
  EXPECT_EQ(HumanData(1000), "1 kB");
}

TEST(HumanRate, ScalesToThreeDigits) {
  EXPECT_EQ(HumanRate(552200), "552 k/s");
  EXPECT_EQ(HumanRate(0.52), "0.52/s");
  EXPECT_EQ(HumanBitRate(6.03), "6.03 Gbit/s");
  EXPECT_EQ(HumanBitRate(0.01388), "13.9 Mbit/s");
}

TEST(HumanPercent, KeepsWhatIsSmallVisible) {
  EXPECT_EQ(HumanPercent(0), "0 %");
  EXPECT_EQ(HumanPercent(0.653), "65 %");
  EXPECT_EQ(HumanPercent(0.042), "4.2 %");
  EXPECT_EQ(HumanPercent(0.0004), "0.04 %");
  EXPECT_EQ(HumanPercent(0.00002), "< 0.01 %");
  EXPECT_EQ(HumanPercent(0.653, 1), "65.3 %");
}

TEST(HumanNumbers, SayThatAValueIsNotANumberInsteadOfPrintingNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& text : {HumanDuration(nan), HumanCount(nan), HumanRate(nan), HumanMemory(nan), HumanData(nan),
                                  HumanBitRate(nan), HumanPercent(nan, 1), HumanNumber(nan), ExactCount(nan)}) {
    EXPECT_EQ(text, "?");
  }
}

}  // namespace
}  // namespace crema
