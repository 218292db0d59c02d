// From ticks to nanoseconds.
#include "sdk/src/kernel/clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>

#include "sdk/tests/clocks.h"

namespace crema {
namespace internal {
namespace {

TEST(TickRate, IsOneToOneUnlessToldOtherwise) {
  EXPECT_EQ(TickRate().Nanoseconds(12345), 12345);
  EXPECT_EQ(TickRate(0, 100).Nanoseconds(7), 7);
  EXPECT_EQ(TickRate(100, 0).Nanoseconds(7), 7);
}

TEST(TickRate, ConvertsAndRoundsDown) {
  const TickRate rate(3000000000u, 1000000000);  // a counter of 3 GHz
  EXPECT_EQ(rate.Nanoseconds(0), 0);
  EXPECT_EQ(rate.Nanoseconds(2), 0);
  EXPECT_EQ(rate.Nanoseconds(4), 1);
  EXPECT_EQ(rate.Nanoseconds(3000000001u), 1000000000 - 1 + 1);
}

TEST(TickRate, HoldsForDays) {
  const TickRate rate(2500000000u, 1000000000);
  constexpr std::int64_t kMonthNs = std::int64_t{30} * 24 * 3600 * 1000000000;
  const std::int64_t month_ns = rate.Nanoseconds(static_cast<std::uint64_t>(kMonthNs) / 2 * 5);
  EXPECT_LE(month_ns, kMonthNs);
  EXPECT_GE(month_ns, kMonthNs - kMonthNs / 1000000000 - 1);  // the factor has 32 binary places
}

TEST(TickRate, PartsNeverAddUpToMoreThanTheWhole) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const TickRate rate(random() % 5000000000u + 1, static_cast<std::int64_t>(random() % 2000000000u + 1));
    const std::uint64_t a = random() % 1000000000000u;
    const std::uint64_t b = random() % 1000u;
    EXPECT_LE(rate.Nanoseconds(a) + rate.Nanoseconds(b), rate.Nanoseconds(a + b));
  }
}

TEST(Clock, MeasuresAsTheKernelDoes) {
  Clock clock;
  clock.Start();
  testing::SpinWall(2000000);
  const std::int64_t before_ns = testing::WallNs();
  const Instant start = clock.Now();
  testing::SpinWall(5000000);
  const Instant stop = clock.Now();
  const std::int64_t around_ns = testing::WallNs() - before_ns;
  const std::int64_t measured_ns = clock.Rate(start, stop).Nanoseconds(stop.ticks - start.ticks);
  EXPECT_GE(measured_ns, 5000000 - testing::CounterToleranceNs(5000000));
  EXPECT_LE(measured_ns, around_ns + testing::CounterToleranceNs(around_ns));
}

TEST(Clock, AnIntervalInWhichTheCounterJumpedHasItsOwnRate) {
  Clock clock;
  clock.Start();
  testing::SpinWall(2000000);
  const Instant start = clock.Now();
  Instant stop = start;
  stop.monotonic_ns += 3000000000;                             // the clock says 3 s
  stop.ticks += clock.counter_is_clock() ? 1000 : 3000000000;  // the counter stood still
  EXPECT_NEAR(static_cast<double>(clock.Rate(start, stop).Nanoseconds(stop.ticks - start.ticks)), 3e9, 1000);
}

TEST(Clock, SaysWhatTimeItIs) {
  Clock clock;
  clock.Start();
  const std::int64_t before = testing::UnixNs();
  const std::int64_t now = clock.UnixNanoseconds(clock.Now().monotonic_ns);
  const std::int64_t after = testing::UnixNs();
  EXPECT_GE(now, before - 20000);  // the anchor is good to some us
  EXPECT_LE(now, after + 20000);
  EXPECT_EQ(clock.RealtimeStep(), 0);
}

TEST(Clock, KnowsWhenTheProcessBegan) {
  Clock clock;
  clock.Start();
  const std::int64_t now = clock.UnixNanoseconds(clock.Now().monotonic_ns);
  const std::int64_t began = ProcessStartUnixNanoseconds(clock, 42);
  EXPECT_LE(began, now + 10000000);  // the kernel counts it in hundredths of a second
  EXPECT_GE(began, now - std::int64_t{3600} * 1000000000);
}

// If two readings are on two sides of a millisecond, the log's name decides: LogFile::StartAsLogged.
TEST(Clock, EachComesToTheSameBeginOfTheProcess) {
  Clock first;
  first.Start();
  const std::int64_t began = ProcessStartUnixNanoseconds(first, 42);
  for (int i = 0; i < 20; ++i) {
    Clock later;
    later.Start();
    EXPECT_LE(std::llabs(ProcessStartUnixNanoseconds(later, 42) - began), 1000000);
  }
}

}  // namespace
}  // namespace internal
}  // namespace crema
