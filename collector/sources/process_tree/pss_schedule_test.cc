#include "collector/idioms/units.h"
#include "collector/sources/process_tree/tree_sampler.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

TEST(PssSchedule, ReadsAtOnceThenWhenTheTreeHasGrown) {
  PssSchedule schedule(0);
  EXPECT_TRUE(schedule.Due(0, 100));
  schedule.Spent(1000, 100);
  EXPECT_FALSE(schedule.Due(1 * kSecondNs, 105));
  EXPECT_TRUE(schedule.Due(2 * kSecondNs, 120));
}

TEST(PssSchedule, ReadsEveryTenthSampleOfATreeThatStays) {
  PssSchedule schedule(0);
  schedule.Spent(1000, 100);
  for (int sample = 1; sample < 10; ++sample) EXPECT_FALSE(schedule.Due(sample * kSecondNs, 100)) << sample;
  EXPECT_TRUE(schedule.Due(10 * kSecondNs, 100));
}

TEST(PssSchedule, ReadingsThatCostMuchWaitUntilTheyAreAThousandthOfTheTime) {
  PssSchedule schedule(0);
  schedule.Spent(50 * kMillisecond, 100);
  EXPECT_FALSE(schedule.Due(20 * kSecondNs, 1000));
  EXPECT_TRUE(schedule.Due(100 * kSecondNs, 1000));
}

}  // namespace
}  // namespace crema
