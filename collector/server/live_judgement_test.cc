// What a live run is warned of, and how a warning goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "collector/format/human_numbers.h"
#include "collector/idioms/units.h"
#include "collector/server/live_model_fixture.h"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class LiveJudgementTest : public LiveModelTest {
 protected:
  /// 8 workers of 4 threads, whose chunks take 4.2 s and scatter by 15 %; chunks of the first take `factor` times as
  /// long from the 98th to the 192nd second.
  void Run(uint32_t seed, double factor) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> noise(0, 0.15);
    struct Lane {
      LiveModel::WorkerId worker;
      double start;
      double stop;
    };
    const auto seconds = [&](const Lane& lane, double start) {
      const bool is_slow = lane.worker == 0 && start >= 98 && start < 192;
      return 4.2 * noise(random) * (is_slow ? factor : 1);
    };
    std::vector<Lane> lanes;
    for (int64_t worker = 0; worker < 8; ++worker) {
      const auto id = Worker(worker + 1, 4);
      for (int i = 0; i < 4; ++i) {
        Lane lane = {id, 0, 0};
        lane.stop = seconds(lane, 0);
        lanes.push_back(lane);
      }
    }
    int64_t number = 0;
    for (int second = 1; second <= 290; ++second) {
      PassTo(second);
      for (Lane& lane : lanes) {
        while (lane.stop <= second) {
          Add(lane.worker, ChunkRecord(number++, lane.start, lane.stop));
          lane.start = lane.stop;
          lane.stop += seconds(lane, lane.start);
        }
      }
    }
  }
};

TEST_F(LiveJudgementTest, WarnsOfReadsThatAreSlowForAWhile) {
  Run(1, 1.7);
  EXPECT_THAT(Texts(), Contains(HasSubstr("node:1 takes 1.")));
  EXPECT_THAT(Texts(), Contains(HasSubstr("node:1 is back to normal")));
  EXPECT_THAT(Texts(), Not(Contains(HasSubstr("node:2 takes"))));
}

class HealthyRuns : public LiveJudgementTest, public ::testing::WithParamInterface<uint32_t> {};

TEST_P(HealthyRuns, GiveNoAlarm) {
  Run(GetParam(), 1);
  EXPECT_THAT(Texts(), Not(Contains(HasSubstr("takes"))));
}

INSTANTIATE_TEST_SUITE_P(Ten, HealthyRuns, ::testing::Range(1U, 11U));

TEST_F(LiveJudgementTest, AWarningOfMemoryIsUpdatedInPlace) {
  const auto worker = Worker(1);
  Begin(worker, 0, 0);
  const auto text = [&] {
    const auto texts = Texts();
    const auto found =
        std::find_if(texts.begin(), texts.end(), [](const auto& t) { return t.find("memory gr") != t.npos; });
    return found == texts.end() ? std::string() : *found;
  };
  for (int second = 1; second <= 20; ++second) Sample(worker, second, 600'000'000 + 5'000'000 * second);
  EXPECT_THAT(text(), HasSubstr("memory grows: 6"));
  for (int second = 21; second <= 65; ++second) Sample(worker, second, 600'000'000 + 5'000'000 * second);
  EXPECT_THAT(text(), HasSubstr("memory grows: " + HumanMemory(925e6)));
  for (int second = 66; second <= 200; ++second) Sample(worker, second, 925'000'000);
  EXPECT_EQ(text(), "node:1 memory grew, now " + HumanMemory(925e6) + " of " + HumanMemory(1e9));
}

TEST_F(LiveJudgementTest, AnOwnerThatWaitsForItsHelpersHoldsNoCore) {
  const auto waits = Worker(1, 0), works = Worker(2, 0);
  for (const auto worker : {waits, works}) {
    Record record = ChunkRecord(0, 0, 10);
    record.chunk.lanes_peak = 3;
    record.chunk.helper_union_ns = 9 * kSecondNs;
    record.chunk.cpu_ns = worker == waits ? kSecondNs / 2 : 9 * kSecondNs;
    Add(worker, record);
  }
  EXPECT_EQ(model_.workers()[waits].cores(), 2);
  EXPECT_EQ(model_.workers()[works].cores(), 3);
}

}  // namespace
}  // namespace crema
