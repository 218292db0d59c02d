// Chunks that share a resource, and chunks that do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/attempts/slopes.h"

namespace crema {
namespace {

/// Lanes that take chunk after chunk: two of them for the first half, then eight. `per_event(lanes)`: blocked seconds.
class MadeAttempts {
 public:
  MadeAttempts(const std::function<double(double)>& per_event, uint64_t seed, int few = 2, int many = 8) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> noise(0, 0.2);
    int64_t from_ns = 0;
    for (const int lanes : {few, many}) {
      const int64_t to_ns = from_ns + 60 * kSecondNs;
      for (int lane = 0; lane < lanes; ++lane) {
        for (int64_t now_ns = from_ns; now_ns < to_ns;) {
          AttemptRow attempt;
          attempt.events = 1000;
          const double cpu = 0.2 * noise(random), blocked = per_event(lanes) * 1000 * noise(random);
          attempt.start_ns = now_ns;
          attempt.duration_ns = std::llround((cpu + blocked) * 1e9);
          attempt.cpu_ns = std::llround(cpu * 1e9);
          attempt.cpu_wait_ns = 0;
          attempt.input = attempts_.size() % 2;
          attempts_.push_back(attempt);
          now_ns = attempt.stop_ns();
        }
      }
      for (const AttemptRow& attempt : attempts_) from_ns = std::max(from_ns, attempt.stop_ns());
    }
  }

  ContentionRow Find() const { return FindContention(attempts_, OrderByStart(attempts_), {}, {0, 1}); }
  std::vector<AttemptRow>& attempts() { return attempts_; }

 private:
  std::vector<AttemptRow> attempts_;
};

TEST(Contention, ASharedResourceGivesItsCeilingAsOneOverTheSlope) {
  constexpr double kRate = 5000;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ContentionRow found = MadeAttempts([](double lanes) { return lanes / kRate; }, seed).Find();
    ASSERT_EQ(found.reason, "");
    EXPECT_NEAR(1 / *found.slope, kRate, 0.15 * kRate);
    EXPECT_GT(*found.slope_low, 0);
    EXPECT_LE(*found.slope_low, *found.slope);
    EXPECT_LE(*found.slope, *found.slope_high);
    EXPECT_GT(*found.excess_low, 0);
    EXPECT_LE(*found.excess_low, *found.excess);
  }
}

TEST(Contention, OfManyAttemptsAPartIsFittedAndAllAreCounted) {
  constexpr double kRate = 200'000;
  MadeAttempts made([](double lanes) { return lanes / kRate; }, 1, 40, 160);
  ASSERT_GT(made.attempts().size(), 10'000U);
  const ContentionRow found = made.Find();
  ASSERT_EQ(found.reason, "");
  EXPECT_EQ(found.attempts, static_cast<int64_t>(made.attempts().size()));
  EXPECT_NEAR(1 / *found.slope, kRate, 0.15 * kRate);
}

TEST(Contention, APrivateLatencyExplainsNearlyNothing) {
  int beyond_zero = 0;
  constexpr int kRuns = 100;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    MadeAttempts made([](double) { return 5 / 5000.0; }, seed);
    const ContentionRow found = made.Find();
    ASSERT_EQ(found.reason, "");
    beyond_zero += *found.slope_low > 0;
    double busy = 0;
    for (const AttemptRow& attempt : made.attempts()) busy += static_cast<double>(attempt.duration_ns) / 1e9;
    EXPECT_LT(*found.excess_low, 0.05 * busy);
  }
  EXPECT_LE(beyond_zero, 0.12 * kRuns);  // 5 %, and three standard deviations
}

TEST(Contention, DatasetsThatWaitDifferentlyAreNotComparedWithOneAnother) {
  MadeAttempts made([](double) { return 0.001; }, 1);
  // the second dataset waits ten times as long, and most of its chunks are of the time with many lanes
  std::vector<AttemptRow>& attempts = made.attempts();
  for (AttemptRow& attempt : attempts) {
    attempt.input = attempt.start_ns > 60 * kSecondNs && attempt.start_ns % 4 != 0;
    if (attempt.input == 1) attempt.cpu_ns /= 10;
  }
  const ContentionRow found = made.Find();
  ASSERT_EQ(found.reason, "");
  EXPECT_LE(*found.slope_low, 0);
}

TEST(Contention, LanesThatHardlyVaryTellNothing) {
  const ContentionRow found = MadeAttempts([](double lanes) { return lanes / 5000; }, 1, 7, 8).Find();
  EXPECT_EQ(found.reason.str().substr(0, 50), "the chunks that were open at once hardly varied (7");
  EXPECT_NEAR(*found.lanes_high, 8, 0.01);
}

TEST(Contention, WithoutRunDelayNobodyKnowsWhatWasBlocked) {
  MadeAttempts made([](double lanes) { return lanes / 5000; }, 1);
  for (AttemptRow& attempt : made.attempts()) attempt.cpu_wait_ns = AttemptRow::kUnknown;
  EXPECT_EQ(made.Find().reason, "0 chunks recorded their events, CPU time and run delay; 40 are needed");
}

TEST(Contention, TheOrderOfAttemptsDoesNotMatter) {
  MadeAttempts made([](double lanes) { return lanes / 5000; }, 1);
  const ContentionRow before = made.Find();
  std::reverse(made.attempts().begin(), made.attempts().end());
  const ContentionRow after = made.Find();
  EXPECT_EQ(before.slope, after.slope);
  EXPECT_EQ(before.slope_low, after.slope_low);
  ASSERT_EQ(before.points.size(), after.points.size());
  for (size_t i = 0; i < after.points.size(); ++i) EXPECT_EQ(before.points[i].seconds, after.points[i].seconds);
}

TEST(Contention, MeanLanesAreTimeAverages) {
  // 40 chunks of 1 s one after another, each with a second one open for its second half
  std::vector<AttemptRow> attempts;
  for (int i = 0; i < 40; ++i) {
    for (const int64_t half : {0, 1}) {
      AttemptRow attempt;
      attempt.start_ns = i * kSecondNs + half * kSecondNs / 2;
      attempt.duration_ns = half == 0 ? kSecondNs : kSecondNs / 2;
      attempt.cpu_ns = attempt.cpu_wait_ns = 0;
      attempt.events = 1;
      attempts.push_back(attempt);
    }
  }
  const ContentionRow found = FindContention(attempts, OrderByStart(attempts), {}, {0});
  EXPECT_EQ(*found.lanes_low, 1.5);
  EXPECT_EQ(*found.lanes_high, 2);
}

}  // namespace
}  // namespace crema
