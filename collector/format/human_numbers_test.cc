#include "collector/format/human_numbers.h"

#include <limits>
#include <string>

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
  EXPECT_EQ(HumanDurationRange(0.12, 4), "120 ms to 4.00 s");
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

TEST(HumanPercent, NeverTakesNearlyAllForAll) {
  EXPECT_EQ(HumanPercent(1), "100 %");
  EXPECT_EQ(HumanPercent(1, 1), "100.0 %");
  EXPECT_EQ(HumanPercent(0.9996), "99.96 %");
  EXPECT_EQ(HumanPercent(0.9997, 1), "99.97 %");
  EXPECT_EQ(HumanPercent(0.99996, 1), "> 99.99 %");
  EXPECT_EQ(HumanPercent(1.0003, 1), "100.03 %");
  EXPECT_EQ(HumanPercent(1.00001), "> 100 %");
}

TEST(HumanPercent, NeverTakesNearlyNothingForNothing) {
  EXPECT_EQ(HumanPercent(0, 1), "0.0 %");
  EXPECT_EQ(HumanPercent(0.0003, 1), "0.03 %");
  EXPECT_EQ(HumanPercent(0.004, 0), "0.4 %");
  EXPECT_EQ(HumanPercent(0.00002, 1), "< 0.01 %");
  EXPECT_EQ(HumanPercent(-0.00002), "> -0.01 %");
}

TEST(HumanPercent, TakesASumOfDoublesForWhatItStandsFor) {
  double whole = 0;
  for (int i = 0; i < 10; ++i) whole += 0.1;
  ASSERT_NE(whole, 1.0);
  EXPECT_EQ(HumanPercent(whole, 1), "100.0 %");
  EXPECT_EQ(HumanPercent(1 - whole, 1), "0.0 %");
}

TEST(HumanChange, HasASign) {
  EXPECT_EQ(HumanChange(0.123), "+12.3 %");
  EXPECT_EQ(HumanChange(-0.123), "-12.3 %");
  EXPECT_EQ(HumanChange(0), "0.0 %");
  EXPECT_EQ(HumanChange(-0.00001), "> -0.01 %");
}

TEST(HumanTimeChange, IsADurationWithASign) {
  EXPECT_EQ(HumanTimeChange(3.2), "+3.20 s");
  EXPECT_EQ(HumanTimeChange(-377), "-6 m 17 s");
}

TEST(HumanClock, ShowsWholeSeconds) {
  EXPECT_EQ(HumanClock(0), "0:00");
  EXPECT_EQ(HumanClock(37), "0:37");
  EXPECT_EQ(HumanClock(3661.4), "1:01:01");
  EXPECT_EQ(HumanClock(-61), "-1:01");
}

TEST(RoundTimeStep, IsOneThatPeopleCountIn) {
  EXPECT_EQ(RoundTimeStep(148, 5), 30);
  EXPECT_EQ(RoundTimeStep(30.3, 8), 5);
  EXPECT_EQ(RoundTimeStep(7200, 5), 1800);
  EXPECT_EQ(RoundTimeStep(86400 * 40, 8), 86400 * 5);
}

TEST(HumanNumber, IsPlainDecimals) {
  EXPECT_EQ(HumanNumber(18552.3), "18 552");
  EXPECT_EQ(HumanNumber(0.001223), "0.001223");
  EXPECT_EQ(HumanNumber(1.7664e-5), "0.00001766");
  EXPECT_EQ(HumanNumber(2.5), "2.5");
  EXPECT_EQ(HumanNumber(9.99996), "10");
  EXPECT_EQ(HumanNumber(1234567), "1 234 567");
}

TEST(HumanQuantity, ScalesWhatItsUnitScales) {
  EXPECT_EQ(HumanQuantity("event_rate_core_hz", 18550, "Hz/core"), "18.6 kHz/core");
  EXPECT_EQ(HumanQuantity("event_rate_wall_khz", 0.991, "kHz"), "991 Hz");
  EXPECT_EQ(HumanQuantity("overall_rate_gbps", 0.001223, "Gbit/s"), "1.22 Mbit/s");
  EXPECT_EQ(HumanQuantity("overall_rate_mbs", 0.177, "MB/s"), "177 kB/s");
  EXPECT_EQ(HumanQuantity("chunk_duration_p50", 1.766e-5, "s"), "17.7 µs");
  EXPECT_EQ(HumanQuantity("process_peak_rss_bytes", 1024, "B"), "1 KiB");
  EXPECT_EQ(HumanQuantity("disk_read_bytes", 1024, "B"), "1.02 kB");
  EXPECT_EQ(HumanQuantity("io_overhead_pct", 99.97, "%"), "99.97 %");
  EXPECT_EQ(HumanQuantity("mass", 2.5, "GeV"), "2.5 GeV");
}

TEST(Unbroken, KeepsNumbersWithTheirUnits) {
  EXPECT_EQ(Unbroken("36 % of 1 234 567 events in 6 m 07 s."),
            "36\u00a0% of 1\u00a0234\u00a0567 events in 6\u00a0m\u00a007\u00a0s.");
  EXPECT_EQ(Unbroken("552 k/s, good ≥ 70 %, (3.61 GiB)"), "552\u00a0k/s, good ≥\u00a070\u00a0%, (3.61\u00a0GiB)");
  EXPECT_EQ(Unbroken("2 workers of 4 and a m 5"), "2 workers of 4 and a m 5");
}

TEST(HumanNumbers, RoundHalvesAwayFromZero) {
  EXPECT_EQ(HumanPercent(0.125, 0), "13 %");
  EXPECT_EQ(HumanDuration(0.0125), "12.5 ms");
  EXPECT_EQ(HumanCount(2.125), "2.13");
}

TEST(HumanNumbers, SayThatAValueIsNotANumberInsteadOfPrintingNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& text :
       {HumanDuration(nan), HumanCount(nan), HumanRate(nan), HumanMemory(nan), HumanData(nan), HumanBitRate(nan),
        HumanPercent(nan, 1), HumanNumber(nan), ExactCount(nan), HumanClock(nan), HumanFactor(nan)}) {
    EXPECT_EQ(text, "?");
  }
}

}  // namespace
}  // namespace crema
