#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "collector/metrics/workers/worker_life.h"

namespace crema {
namespace {

AttemptRow LaneAttempt(uint32_t process, int64_t start, int64_t stop) {
  AttemptRow attempt;
  attempt.process = process;
  attempt.start_ns = start;
  attempt.duration_ns = stop - start;
  return attempt;
}

AttemptRow LostAttempt(uint32_t process, int64_t start) {
  AttemptRow attempt;
  attempt.process = process;
  attempt.start_ns = start;
  attempt.status = AttemptState::kLost;
  return attempt;
}

std::vector<ProcessRow> Processes(const std::vector<int64_t>& ends) {
  std::vector<ProcessRow> processes;
  for (int64_t end : ends) {
    processes.emplace_back();
    processes.back().last_ns = end;
  }
  return processes;
}

TEST(Lanes, TakeTheLowestFreeLane) {
  const std::vector<AttemptRow> attempts = {LaneAttempt(0, 0, 10), LaneAttempt(0, 2, 4), LaneAttempt(0, 3, 9),
                                            LaneAttempt(0, 5, 6), LaneAttempt(0, 12, 13)};
  EXPECT_EQ(AssignLanes(attempts), (std::vector<uint32_t>{0, 1, 2, 1, 0}));
}

TEST(Lanes, DoNotOverlapWhereOneStopsAsTheNextBegins) {
  const std::vector<AttemptRow> attempts = {LaneAttempt(0, 10, 20), LaneAttempt(0, 0, 10), LaneAttempt(0, 20, 30)};
  EXPECT_EQ(AssignLanes(attempts), (std::vector<uint32_t>{0, 0, 0}));
  EXPECT_EQ(MaxOpenChunks(attempts, Processes({30})), (std::vector<int64_t>{1}));
}

TEST(Lanes, BelongToOneProcess) {
  const std::vector<AttemptRow> attempts = {LaneAttempt(1, 0, 10), LaneAttempt(0, 0, 10), LaneAttempt(1, 5, 6)};
  EXPECT_EQ(AssignLanes(attempts), (std::vector<uint32_t>{0, 0, 1}));
  EXPECT_EQ(MaxOpenChunks(attempts, Processes({10, 10, 10})), (std::vector<int64_t>{1, 2, 0}));
}

TEST(Lanes, AreAsManyAsTheMostOpenAtOnceAndNeverHoldTwo) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<AttemptRow> attempts;
    for (int i = 0; i < 60; ++i) {
      const int64_t start = static_cast<int64_t>(random() % 100);
      attempts.push_back(LaneAttempt(0, start, start + 1 + static_cast<int64_t>(random() % 20)));
    }
    const std::vector<uint32_t> lanes = AssignLanes(attempts);
    EXPECT_EQ(*std::max_element(lanes.begin(), lanes.end()) + 1, MaxOpenChunks(attempts, Processes({200}))[0]);
    for (size_t i = 0; i < attempts.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool overlap =
            attempts[i].start_ns < attempts[j].stop_ns() && attempts[j].start_ns < attempts[i].stop_ns();
        EXPECT_FALSE(overlap && lanes[i] == lanes[j]);
      }
    }
  }
}

TEST(LoadImbalance, IsZeroWhereAllLanesAreEquallyBusy) {
  EXPECT_EQ(LoadImbalance({LaneAttempt(0, 0, 10), LaneAttempt(0, 0, 10), LaneAttempt(1, 5, 15)}), 0);
}

TEST(LoadImbalance, ComparesTheBusiestLaneWithTheMean) {
  EXPECT_DOUBLE_EQ(*LoadImbalance({LaneAttempt(0, 0, 30), LaneAttempt(0, 1, 6), LaneAttempt(0, 6, 11)}),
                   0.5);  // 30 against 20
}

TEST(LoadImbalance, LeavesOutAttemptsWithoutDuration) {
  EXPECT_EQ(LoadImbalance({LaneAttempt(0, 0, 10), LostAttempt(0, 2), LostAttempt(1, 2)}), 0);
  EXPECT_EQ(LoadImbalance({LostAttempt(0, 2)}), std::nullopt);
  EXPECT_EQ(LoadImbalance({}), std::nullopt);
}

TEST(MaxOpenChunks, CountsALostAttemptUntilItsProcessEnds) {
  EXPECT_EQ(MaxOpenChunks({LostAttempt(0, 0), LaneAttempt(0, 5, 6), LaneAttempt(0, 7, 8)}, Processes({100})),
            (std::vector<int64_t>{2}));
}

TEST(MaxOpenChunks, CountsAnAttemptOfNoLength) {
  EXPECT_EQ(MaxOpenChunks({LaneAttempt(0, 5, 5)}, Processes({100})), (std::vector<int64_t>{1}));
}

}  // namespace
}  // namespace crema
