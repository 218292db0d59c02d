// List scheduling, against schedules that were worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "collector/prediction/observed_run.h"

namespace crema {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

ReplaySetup LanesWith(size_t lanes, const std::vector<double>& durations) {
  ReplaySetup setup;
  setup.lanes.assign(lanes, {0, kForever});
  for (const double duration : durations) setup.chunks.push_back({duration, 0, 0});
  return setup;
}

TEST(Replay, TakesTheLaneThatIsFreeFirst) {
  // lane 1: 3, then 2; lane 2: 1, 1, 4
  const ReplayResult result = Replay(LanesWith(2, {3, 1, 1, 4, 2}), 1);
  EXPECT_DOUBLE_EQ(result.wall_time, 6);
  EXPECT_DOUBLE_EQ(result.busy, 11);
  EXPECT_DOUBLE_EQ(result.lane_seconds, 12);
  EXPECT_TRUE(result.finished);
}

TEST(Replay, OneLaneTakesTheSum) { EXPECT_DOUBLE_EQ(Replay(LanesWith(1, {3, 1, 1, 4, 2}), 1).wall_time, 11); }

TEST(Replay, AGapStandsBetweenTwoChunksOfALane) {
  ReplaySetup setup = LanesWith(1, {1, 1, 1});
  setup.gaps = {0.25};
  setup.shutdown = 0.5;
  EXPECT_DOUBLE_EQ(Replay(setup, 1).wall_time, 4);
}

TEST(Replay, APhaseWaitsForTheOneBefore) {
  ReplaySetup setup = LanesWith(2, {3, 1, 2, 2});
  setup.chunks[2].phase = setup.chunks[3].phase = 1;
  setup.between = {0.5};
  EXPECT_DOUBLE_EQ(Replay(setup, 1).wall_time, 5.5);
}

TEST(Replay, LanesComeLateAndLeave) {
  ReplaySetup setup = LanesWith(2, {2, 2, 2});
  setup.lanes[1].from = 3;
  EXPECT_DOUBLE_EQ(Replay(setup, 1).wall_time, 5);
  setup.lanes = {{0, 1}, {0, kForever}};
  EXPECT_DOUBLE_EQ(Replay(setup, 1).wall_time, 4);
  setup.lanes = {{0, 1}};
  EXPECT_FALSE(Replay(setup, 1).finished);
}

TEST(Replay, LanesShareCores) {
  // Four chunks of one core-second on two cores: one after two, whatever the lanes.
  ReplaySetup setup = LanesWith(4, {});
  setup.shared_cores = 2;
  for (int i = 0; i < 4; ++i) setup.chunks.push_back({0, 1, 0});
  EXPECT_NEAR(Replay(setup, 1).wall_time, 2, 1e-6);
  // Four that only wait do so at once.
  for (ReplayChunk& chunk : setup.chunks) chunk = {1, 0, 0};
  EXPECT_NEAR(Replay(setup, 1).wall_time, 1, 1e-6);
  // A tenth of the time on a core: two cores are enough for four.
  for (ReplayChunk& chunk : setup.chunks) chunk = {0.9, 0.1, 0};
  EXPECT_NEAR(Replay(setup, 1).wall_time, 1, 1e-6);
  // Eight lanes that want a core for half of their time want four, of which there are two: s of
  // 8 x 0.5 / (0.5 + 0.5 s) = 2 is 3, and a chunk takes 0.5 + 1.5.
  setup.lanes.assign(8, {0, kForever});
  setup.chunks.assign(16, {0.5, 0.5, 0});
  EXPECT_NEAR(Replay(setup, 1).wall_time, 4, 1e-6);
}

TEST(Replay, SharedCoresChangeNothingWhereThereAreEnough) {
  ReplaySetup setup;
  setup.lanes.assign(3, {0.5, kForever});
  for (int i = 0; i < 50; ++i) setup.chunks.push_back({0.1 * (i % 7), 0.05 * (i % 5), i < 30 ? 0u : 1u});
  setup.gaps = {0.01};
  setup.between = {1};
  const ReplayResult own = Replay(setup, 1);
  setup.shared_cores = 3;
  const ReplayResult shared = Replay(setup, 1);
  EXPECT_NEAR(shared.wall_time, own.wall_time, 1e-6);
  EXPECT_NEAR(shared.busy, own.busy, 1e-6);
}

/// On a third of their number of cores. `least_share`: of a chunk, CPU time; some chunks have helpers.
ReplaySetup ManyLanes(size_t lanes, double least_share, uint64_t seed) {
  ReplaySetup setup = LanesWith(lanes, {});
  setup.shared_cores = static_cast<double>(lanes) / 3;
  setup.gaps = {0.001, 0.01, 0.02, 0.05};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> part(0, 1);
  for (size_t i = 0; i < 3 * lanes; ++i) {
    const double seconds = 0.5 + part(random), cpu = seconds * (least_share + (1 - least_share) * part(random));
    setup.chunks.push_back({seconds - cpu, cpu, 0, i % 10 == 0 ? 2.5 : 1});
  }
  return setup;
}

TEST(Replay, ManyLanesShareCoresAsFewDo) {
  double sum = 0;
  int replays = 0;
  for (const double least_share : {0.0, 0.5, 0.9, 1.0}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      ReplaySetup setup = ManyLanes(300, least_share, seed);
      const ReplayResult many = Replay(setup, seed);
      setup.most_exact_lanes = 300;
      const ReplayResult exact = Replay(setup, seed);
      // The last chunk may come onto another lane. Chunks that only compute are one group, in which all are alike.
      EXPECT_NEAR(many.wall_time / exact.wall_time, 1, least_share == 1 ? 1e-9 : 4e-3) << least_share << ' ' << seed;
      EXPECT_NEAR(many.busy / exact.busy, 1, least_share == 1 ? 1e-9 : 4e-4) << least_share << ' ' << seed;
      sum += many.wall_time / exact.wall_time - 1;
      ++replays;
    }
  }
  EXPECT_NEAR(sum / replays, 0, 2e-4);
}

TEST(Replay, SharedCoresCostTheSameForEachChunkOfManyLanes) {
  const auto cost = [](const ReplaySetup& setup) {
    return static_cast<double>(Replay(setup, 1).steps) / static_cast<double>(setup.chunks.size());
  };
  const double few = cost(ManyLanes(2'000, 0.2, 1));
  EXPECT_LT(cost(ManyLanes(8'000, 0.2, 1)), 1.15 * few);
  EXPECT_LT(few, 2 * 256 * 6);  // of the begin and the end of a chunk, for each group
  // Days, if all hundred thousand lanes were gone through whenever a chunk begins or ends.
  ReplaySetup setup = LanesWith(100'000, {});
  setup.shared_cores = 25'000;
  setup.chunks.assign(200'000, {0, 1, 0});
  EXPECT_NEAR(Replay(setup, 1).wall_time, 8, 1e-6);
}

TEST(Replay, IsTheSameForTheSameSeed) {
  ReplaySetup setup = LanesWith(2, {3, 1, 1, 4, 2, 2, 1});
  setup.gaps = {0.1, 0.2, 0.7, 0.05};
  EXPECT_DOUBLE_EQ(Replay(setup, 5).wall_time, Replay(setup, 5).wall_time);
  EXPECT_NE(Replay(setup, 5).wall_time, Replay(setup, 6).wall_time);
}

}  // namespace
}  // namespace crema
