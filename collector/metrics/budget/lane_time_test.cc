#include "collector/metrics/budget/lane_time.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace crema {
namespace {

auto LaneFields(const LaneTime& lane) {
  return std::tuple(lane.inside.start_ns, lane.inside.stop_ns, lane.lanes, lane.compute_ns, lane.cpu_wait_ns,
                    lane.blocked_ns, lane.failed_ns, lane.unmeasured_ns, lane.wait_known, lane.joined_ns);
}

TEST(LaneTime, OfPlainAttemptsIsWhatItIsOfAny) {
  std::mt19937 random(3);
  const std::vector<HelperTimes> helpers = {{50, 10, 80, 60}, {-1, -1, 30, 30}};
  const RunWindow run = {1000, 2000};
  size_t whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    AttemptRow row;
    row.start_ns = 900 + random() % 1200;
    row.duration_ns = random() % 300;
    row.suspended_ns = random() % 4 == 0 ? random() % 50 : 0;
    row.cpu_ns = random() % 5 == 0 ? AttemptRow::kUnknown : random() % 350;
    row.cpu_wait_ns = random() % 5 == 0 ? AttemptRow::kUnknown : random() % 100;
    row.helpers = random() % 3 == 0 ? random() % 2 : AttemptRow::kNone;
    row.status = random() % 4 == 0 ? AttemptState::kFailed : AttemptState::kOk;
    row.is_result = row.status == AttemptState::kOk && random() % 8 != 0;
    const RunWindow interval = {row.start_ns, row.stop_ns()};
    const LaneTime lane = SplitLaneTime(row, interval, helpers, run);
    ASSERT_EQ(LaneFields(lane), LaneFields(SplitAnyLaneTime(row, interval, helpers, run))) << i;
    whole += lane.lanes == kOneLane && lane.compute_ns + lane.cpu_wait_ns + lane.blocked_ns == row.duration_ns;
  }
  EXPECT_GT(whole, 3000u) << "plain ones were hardly tried";
}

TEST(LaneTime, NobodyWaitsInAnEventThatNoThreadHolds) {
  const std::vector<HelperTimes> helpers = {{500, 100, 700, 600}};  // tasks of 700, at least one of them for 600
  AttemptRow row;
  row.start_ns = 0;
  row.duration_ns = 600;
  row.suspended_ns = 400;
  row.cpu_ns = row.cpu_wait_ns = 0;
  row.helpers = 0;
  row.status = AttemptState::kOk;
  row.is_result = true;
  const LaneTime event = SplitLaneTime(row, {0, 1000}, helpers, {0, 1000});
  EXPECT_FALSE(event.has_owner);
  EXPECT_EQ(event.compute_ns, 500);
  EXPECT_EQ(event.cpu_wait_ns, 100);
  EXPECT_EQ(event.blocked_ns, 100);
  EXPECT_EQ(event.lanes, kOneLane * 7 / 10);
  row.cpu_ns = 1;
  EXPECT_TRUE(SplitLaneTime(row, {0, 1000}, helpers, {0, 1000}).has_owner);
}

}  // namespace
}  // namespace crema
