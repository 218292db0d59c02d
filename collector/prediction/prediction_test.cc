// What changes bring, on runs whose answer is known.
#include "collector/prediction/prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "collector/records/facts.h"
#include "collector/sources/attempt_stream.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// A run that is put together chunk by chunk: each goes onto the lane of its worker that is free first.
class MadeRun {
 public:
  explicit MadeRun(std::string section = "") : observer_(std::move(section)) {}

  void AddWorker(const std::string& name, int lanes, double joined = 0) {
    processes_.push_back({"run", "host", 1, 0, name});
    free_.emplace_back(static_cast<size_t>(lanes), joined);
  }

  void AddChunk(size_t worker, double seconds, double cpu, int64_t events, double section = 0, double gap = 0.001) {
    auto lane = std::min_element(free_[worker].begin(), free_[worker].end());
    const double start = *lane + gap;
    *lane = start + seconds;
    end_ = std::max(end_, *lane);
    ChunkFact fact;
    fact.number = number_++;
    fact.start_ns = kEpoch + std::llround(start * 1e9);
    fact.stop_ns = fact.start_ns + std::llround(seconds * 1e9);
    fact.cpu_ns = std::llround(cpu * 1e9);
    fact.cpu_wait_ns = 0;
    fact.events = events;
    fact.input.dataset = "d";
    fact.input.file = "f0";
    fact.sections.push_back({});
    fact.sections.back().path = "a/select";
    fact.sections.back().total_ns = std::llround(section * 1e9);
    observer_.Add({processes_[worker], AttemptState::kOk, fact});
  }

  ObservedRun Finish(double wall_time_factor = 1) {
    Json workers = Json::array();
    for (size_t i = 0; i < processes_.size(); ++i) {
      workers.push_back({{"name", processes_[i].worker}, {"cores", free_[i].size()}, {"stop", end_}});
    }
    return observer_.Finish({{"run", {{"start_ns", kEpoch}}},
                             {"metrics", {{"wall_time", end_ * wall_time_factor}}},
                             {"workers", workers},
                             {"quality", {{"summed_chunks", 0}}}});
  }

 private:
  static constexpr int64_t kEpoch = 1'790'000'000'000'000'000;
  RunObserver observer_;
  std::vector<AttemptProcess> processes_;
  std::vector<std::vector<double>> free_;
  double end_ = 0;
  int64_t number_ = 0;
};

PredictedRow Only(const ObservedRun& run, const RunChange& change) {
  const Prediction prediction = Predict(run, {change});
  EXPECT_EQ(prediction.refused, "");
  return prediction.rows.empty() ? PredictedRow() : prediction.rows.front();
}

using Kind = RunChange::Kind;

TEST(Prediction, OfEqualChunksIsTheirNumberOverTheLanes) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 400; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(run.wall_time, 10.1, 0.01);
  EXPECT_NEAR(Predict(run, {}).replayed, run.wall_time, 0.01);
  for (const double cores : {1., 2., 8., 16.}) {
    const PredictedRow row = Only(run, {Kind::kCores, cores, ""});
    EXPECT_NEAR(row.wall_time, 400 / cores * 0.101, 0.11) << cores;
    EXPECT_LE(row.low, row.wall_time);
    EXPECT_GE(row.high, row.wall_time);
    EXPECT_NEAR(row.core_seconds, cores * row.wall_time, 0.1 * cores);
  }
}

TEST(Prediction, MoreLanesHelpWhatWaitsAndNotWhatComputes) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 400; ++i) made.AddChunk(0, 0.1, 0.02, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(Only(run, {Kind::kLanes, 8, ""}).wall_time, 5.05, 0.2);  // 1.6 of 4 cores busy
  // 32 lanes want 6.4 of the 4 cores: 400 x 0.02 core-seconds / 4.
  EXPECT_NEAR(Only(run, {Kind::kLanes, 32, ""}).wall_time, 2.0, 0.2);
  EXPECT_NEAR(Only(run, {Kind::kLanes, 128, ""}).wall_time, 2.0, 0.3);
}

TEST(Prediction, ASectionThatIsFasterTakesLess) {
  MadeRun made("select");
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0.06);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(Only(run, {Kind::kFaster, 2, "select"}).wall_time, 100 * 0.071, 0.1);
  EXPECT_NEAR(Only(run, {Kind::kFaster, 0.5, "select"}).wall_time, 100 * 0.161, 0.1);
}

TEST(Prediction, WithoutTheSlowWorkerOthersDoItsChunksAtTheirPace) {
  MadeRun made;
  made.AddWorker("quick", 1);
  made.AddWorker("slow", 1);
  for (int i = 0; i < 90; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 30; ++i) made.AddChunk(1, 0.3, 0.3, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(run.wall_time, 9.1, 0.1);
  EXPECT_NEAR(Only(run, {Kind::kWithoutWorker, 0, "slow"}).wall_time, 120 * 0.101, 0.1);
  EXPECT_EQ(Only(run, {Kind::kWithoutWorker, 0, "nobody"}).why_not, "no worker `nobody`");
}

TEST(Prediction, LargerChunksPayTheirFixedCostLessOften) {
  MadeRun made;
  made.AddWorker("w", 2);
  // 0.05 s + 0.1 ms an event, of 500 and 1000 events
  for (int i = 0; i < 200; ++i) made.AddChunk(0, i % 2 == 0 ? 0.1 : 0.15, 0.1, i % 2 == 0 ? 500 : 1000);
  const ObservedRun run = made.Finish();
  const double events = 100 * 1500;
  const PredictedRow row = Only(run, {Kind::kChunkEvents, 5000, ""});
  EXPECT_NEAR(row.wall_time, events / 5000 * 0.55 / 2, 0.3);
}

TEST(Prediction, WithoutWaitingChunksTakeTheirCpuTime) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.03, 1000);
  EXPECT_NEAR(Only(made.Finish(), {Kind::kWithoutWaiting, 0, ""}).wall_time, 3.1, 0.1);
}

TEST(Prediction, LateWorkersWouldHaveHelped) {
  MadeRun made;
  made.AddWorker("early", 1);
  made.AddWorker("late", 1, 6);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 40; ++i) made.AddChunk(1, 0.1, 0.1, 1000);
  EXPECT_NEAR(Only(made.Finish(), {Kind::kAllFromStart, 0, ""}).wall_time, 7.1, 0.1);
}

TEST(Prediction, LongestFirstShortensTheTail) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  made.AddChunk(0, 2, 2, 20000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(run.wall_time, 4.0, 0.1);
  EXPECT_NEAR(Only(run, {Kind::kLongestFirst, 0, ""}).wall_time, 3.0, 0.12);
}

TEST(Prediction, RefusesARunWhoseTimeIsNotInItsChunks) {
  MadeRun made;
  made.AddWorker("w", 2);
  // Two lanes were there, and half of the time only one of them had a chunk: others were not released.
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0, i % 2 == 0 ? 0.001 : 0.1);
  const ObservedRun run = made.Finish();
  const Prediction prediction = Predict(run, {{Kind::kCores, 4, ""}});
  EXPECT_LE(std::abs(prediction.replayed / run.wall_time - 1), 0.05) << "gaps are part of the replay";

  MadeRun same;
  same.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) same.AddChunk(0, 0.1, 0.1, 1000);
  ObservedRun longer = same.Finish();
  for (ObservedChunk& chunk : longer.chunks) chunk.duration *= 1.5;  // as if they had overlapped
  EXPECT_NE(Predict(longer, {{Kind::kCores, 4, ""}}).refused, "");
}

TEST(Prediction, RefusesWhereChunksAreMissing) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  ObservedRun run = made.Finish();
  run.coverage = 0.98;
  EXPECT_NE(Predict(run, {{Kind::kCores, 4, ""}}).refused.find("98"), std::string::npos);
  EXPECT_TRUE(PredictionJson(Predict(run, {{Kind::kCores, 4, ""}}))["predicted"].empty());
}

TEST(Prediction, OfARunWithoutChunksIsRefused) {
  RunObserver observer("");
  const Prediction prediction = Predict(observer.Finish({{"metrics", {{"wall_time", 3}}}}), {});
  EXPECT_EQ(prediction.refused, "no chunk of it ended");
  EXPECT_TRUE(PredictionJson(prediction)["replayed"]["wall_time"].is_null());
}

TEST(Prediction, ARunOfPhasesKeepsItsBarriers) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 2; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0, 1.0);  // after a second in which nobody worked
  for (int i = 0; i < 38; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_EQ(run.between.size(), 1u);
  EXPECT_NEAR(Only(run, {Kind::kCores, 80, ""}).wall_time, 0.2 + 1.0, 0.05);
}

}  // namespace
}  // namespace crema
