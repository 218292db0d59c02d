// What changes bring, on runs whose answer is known.
#include "collector/prediction/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/records/facts.h"
#include "collector/sources/record_log.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// A run that is put together chunk by chunk: each goes onto the lane of its worker that is free first.
class MadeRun {
 public:
  explicit MadeRun(std::string section = "") : observer_(std::move(section)) {}

  void AddWorker(const std::string& name, int lanes, double joined = 0) {
    processes_.push_back({{"run", "host", 1, 0}, name});
    free_.emplace_back(static_cast<size_t>(lanes), joined);
  }

  void AddChunk(size_t worker, double seconds, double cpu, int64_t events, double section = 0, double gap = 0.001) {
    auto lane = std::min_element(free_[worker].begin(), free_[worker].end());
    if (goes_on_alone_) lane = std::max_element(free_[worker].begin(), free_[worker].end());
    const double start = *lane + gap;
    *lane = start + seconds;
    end_ = std::max(end_, *lane);
    ChunkFact fact;
    fact.number = number_++;
    fact.start_ns = kEpoch + std::llround(start * 1e9);
    fact.stop_ns = fact.start_ns + std::llround(seconds * 1e9);
    fact.cpu_ns = std::llround(cpu * 1e9);
    fact.cpu_wait_ns = std::llround(cpu_wait_ * 1e9);
    if (helpers_ > 0) fact.helper_cpu_ns = std::llround(helpers_ * seconds * 1e9);
    fact.events = events;
    fact.input.dataset = "d";
    fact.input.file = "f0";
    fact.input.pass = pass_;
    fact.sections.push_back({});
    fact.sections.back().path = "a/select";
    fact.sections.back().total_ns = std::llround(section * 1e9);
    if (section_cpu_ > 0) fact.sections.back().cpu_ns = std::llround(section_cpu_ * 1e9);
    fact.sections.push_back(fact.sections.back());
    fact.sections.back().path = "a/select/select";  // of the same name, inside it
    std::optional<GpuWork> gpu;
    if (gpu_wait_ > 0) gpu.emplace();
    if (gpu_wait_ > 0) gpu->wait_ns = std::llround(gpu_wait_ * 1e9), gpu->wait_cpu_ns = std::llround(gpu_spin_ * 1e9);
    observer_.Add({processes_[worker], AttemptState::kOk, fact, gpu});
    section_seconds_ += section;
  }

  /// What each chunk does from now on, in seconds, in "a/select": its thread waits, and spins for a part of it;
  /// kernels and copies run.
  void UseGpu(double wait, double spin, double work) {
    gpu_wait_ = wait, gpu_spin_ = spin;
    sections_ = {{{"path", "a/select"}, {"helper", false}},
                 {{"path", "a/select/select"}, {"helper", false}, {"total", 1000}},  // a part of it
                 {{"path", "a"}, {"helper", false}, {"total", 1000}, {"gpu_wait_seconds", 1000}}};
    gpu_work_ = work;
  }

  /// What each chunk waits for a CPU from now on, in seconds, and the run's core-seconds: computed, and waited because
  /// others used the cores.
  void WaitForCpu(double of_chunk, double computed, double waited) {
    cpu_wait_ = of_chunk;
    budget_ = {{{"part", "compute"}, {"group", "compute"}, {"core_seconds", computed}},
               {{"part", "cpu_wait"}, {"group", "waiting"}, {"core_seconds", waited}}};
  }

  /// The sections have rows, without a GPU.
  void SetSections() {
    sections_ = {{{"path", "a/select"}, {"helper", false}}};
    has_rows_ = true;
  }

  /// The guard of "a/select" measures so much CPU time in each chunk, in seconds.
  void MeasureCpuOfSections(double cpu) { section_cpu_ = cpu; }

  /// So many threads compute for each chunk, all the time, beside its own; each has a core.
  void Help(int helpers) { helpers_ = helpers; }

  /// From now on the lane that was busy last has all chunks: the other threads have no more work.
  void GoOnAlone() { goes_on_alone_ = true; }

  /// What chunks do from now on.
  void BeginPass(const char* name) { pass_ = name; }
  /// Each worker begins with the run.
  void StartWorkersWithTheRun() { starts_with_the_run_ = true; }
  void EndWith(int exit_status) { exit_status_ = exit_status; }
  /// Each worker ends after its own last chunk.
  void EndWorkersAlone() { ends_alone_ = true; }
  /// A GPU was busy, and nobody counted what it did for the chunks.
  void UseUncountedGpu() { uncounted_ = true; }

  /// The chunks were blocked for this share of their time; `kind`: what samples showed, empty for nothing.
  /// `section`: where; `seen`: the share of the blocked time for which they showed it.
  void Block(double share, const std::string& kind, const std::string& section = "", double seen = 1) {
    blocked_ = share, wait_ = kind, wait_section_ = section, wait_seen_ = seen;
  }

  /// `blocked_slope`: as the document's `contention` has it.
  ObservedRun Finish(double blocked_slope = 0) {
    Json workers = Json::array();
    for (size_t i = 0; i < processes_.size(); ++i) {
      const double stop = ends_alone_ ? *std::max_element(free_[i].begin(), free_[i].end()) : end_;
      workers.push_back({{"name", processes_[i].worker}, {"cores", free_[i].size() * (1 + helpers_)}, {"stop", stop}});
      if (starts_with_the_run_) workers.back()["start"] = 0;
    }
    const auto count = static_cast<double>(number_);
    if (has_rows_) sections_[0]["total"] = section_seconds_;
    if (gpu_wait_ > 0) {
      sections_[0]["total"] = section_seconds_;
      sections_[0]["gpu_wait_seconds"] = gpu_wait_ * count;
      sections_[1]["gpu_seconds"] = 0.75 * gpu_work_ * count;
      sections_[1]["gpu_copy_seconds"] = 0.25 * gpu_work_ * count;
    }
    return observer_.Finish(MeasurementOf(
        {{"run", {{"start_ns", kEpoch}, {"exit_status", exit_status_}}},
         {"metrics",
          {{"wall_time", end_},
           {"gpu_utilization", uncounted_ ? Json(0.5) : Json()},
           {"busy_time", 100},
           {"chunk_blocked", 100 * blocked_}}},
         {"waits",
          {{{"section", wait_section_},
            {"kind", wait_.empty() ? "not known" : wait_},
            {"seconds", 100 * blocked_ * wait_seen_},
            {"share", wait_seen_},
            {"low", wait_.empty() ? Json() : Json(0.9 * wait_seen_)},
            {"high", wait_.empty() ? Json() : Json(wait_seen_)},
            {"function", wait_seen_ < 1 ? Json("Wait") : Json()},
            {"samples", 100}},
           {{"kind", "not known"},
            {"seconds", 100 * blocked_ * (1 - wait_seen_)},
            {"share", 1 - wait_seen_},
            {"low", 0.9 * (1 - wait_seen_)},
            {"high", 1 - wait_seen_}}}},
         {"sections", sections_},
         {"budget", budget_},
         {"workers", workers},
         {"contention",
          {{{"slope", blocked_slope}, {"slope_low", 0.9 * blocked_slope}, {"slope_high", 1.1 * blocked_slope}}}},
         {"quality", {{"summed_chunks", 0}}}}));
  }

 private:
  static constexpr int64_t kEpoch = 1'790'000'000'000'000'000;
  RunObserver observer_;
  std::vector<AttemptProcess> processes_;
  std::vector<std::vector<double>> free_;
  double end_ = 0;
  bool goes_on_alone_ = false;
  bool starts_with_the_run_ = false, ends_alone_ = false, uncounted_ = false;
  double blocked_ = 0, wait_seen_ = 1;
  std::string wait_, wait_section_;
  const char* pass_ = "";
  Json sections_ = Json::array(), budget_ = Json::array();
  double cpu_wait_ = 0;
  double gpu_wait_ = 0, gpu_spin_ = 0, gpu_work_ = 0, section_seconds_ = 0, section_cpu_ = 0;
  int helpers_ = 0, exit_status_ = 0;
  int64_t number_ = 0;
  bool has_rows_ = false;
};

PredictedRow Only(const ObservedRun& run, const RunChange& change) {
  const Prediction prediction = Predict(run, {change});
  EXPECT_EQ(prediction.refused, "");
  return prediction.rows.empty() ? PredictedRow() : prediction.rows.front();
}

TEST(Prediction, OfEqualChunksIsTheirNumberOverTheLanes) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 400; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(run.wall_time, 10.1, 0.01);
  EXPECT_NEAR(Predict(run, {}).replayed, run.wall_time, 0.01);
  for (const double cores : {1., 2., 8., 16.}) {
    const PredictedRow row = Only(run, {ChangeKind::kCores, cores, ""});
    EXPECT_NEAR(row.wall_time.value, 400 / cores * 0.101, 0.11) << cores;
    EXPECT_LE(row.wall_time.low, row.wall_time.value);
    EXPECT_GE(row.wall_time.high, row.wall_time.value);
    EXPECT_NEAR(row.core_seconds.value, cores * row.wall_time.value, 0.1 * cores);
  }
}

TEST(Prediction, SaysHowManyChunksAtOnceARowAssumes) {
  MadeRun made;
  made.AddWorker("w", 3);
  for (int i = 0; i < 90; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  ObservedRun run = made.Finish();
  run.workers[0].cores = 2;
  EXPECT_EQ(Only(run, {ChangeKind::kCores, 8, ""}).lanes, 12);
  EXPECT_EQ(Only(run, {ChangeKind::kLongestFirst, 0, ""}).lanes, 3);
  const Prediction prediction = Predict(run, {{ChangeKind::kCores, 8, ""}});
  EXPECT_EQ(PredictionJson(prediction)["predicted"][0]["lanes"], 12);
  EXPECT_EQ(CoresWithLanes(8, 12), "8 cores with 12 chunks at once");
  EXPECT_EQ(CoresWithLanes(1, std::nullopt), "1 core");
}

TEST(Prediction, MoreLanesHelpWhatWaitsAndNotWhatComputes) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 400; ++i) made.AddChunk(0, 0.1, 0.02, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(Only(run, {ChangeKind::kLanes, 8, ""}).wall_time.value, 5.05, 0.2);  // 1.6 of 4 cores busy
  // 32 lanes want 6.4 of the 4 cores: 400 x 0.02 core-seconds / 4.
  EXPECT_NEAR(Only(run, {ChangeKind::kLanes, 32, ""}).wall_time.value, 2.0, 0.2);
  EXPECT_NEAR(Only(run, {ChangeKind::kLanes, 128, ""}).wall_time.value, 2.0, 0.3);
}

TEST(Prediction, ChunksWithHelpersNeedTheirCores) {
  MadeRun made;
  made.AddWorker("w", 2);
  made.Help(1);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 1, 1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_EQ(run.cores(), 4);
  const Prediction found = Predict(run, {{ChangeKind::kCores, 1, ""},
                                         {ChangeKind::kCores, 2, ""},
                                         {ChangeKind::kCores, 3, ""},
                                         {ChangeKind::kCores, 8, ""},
                                         {ChangeKind::kLanes, 4, ""}});
  const double expected[] = {80, 40, 80.0 / 3, 10, 20};
  for (size_t i = 0; i < found.rows.size(); ++i) {
    const PredictedRow& row = found.rows[i];
    EXPECT_NEAR(row.wall_time.value, expected[i], 0.03 * expected[i]) << row.change << row.why_not;
    EXPECT_NEAR(row.efficiency.value, 1, 0.03) << row.change;
  }
}

TEST(Prediction, ASectionThatIsFasterTakesLess) {
  MadeRun made("select");
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0.06);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(Only(run, {ChangeKind::kFaster, 2, "select"}).wall_time.value, 100 * 0.071, 0.1);
  EXPECT_NEAR(Only(run, {ChangeKind::kFaster, 0.5, "select"}).wall_time.value, 100 * 0.161, 0.1);
}

/// Two lanes, chunks of 0.1 s, of which 0.08 s are in the section, and 0.06 s of these wait for the GPU.
ObservedRun RunOnGpu(bool spins, double work) {
  MadeRun made("select");
  made.UseGpu(0.06, spins ? 0.06 : 0, work);
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, spins ? 0.1 : 0.04, 1000, 0.08);
  return made.Finish();
}

TEST(Prediction, ASectionThatWaitsForTheGpuIsFasterByItsKernels) {
  for (const bool spins : {true, false}) {
    const auto chunk_after = [&](ChangeKind kind, double number, double work) {
      return Only(RunOnGpu(spins, work), {kind, number, "select"}).wall_time.value / 100 - 0.001;
    };
    constexpr double kNear = 1e-3;
    // The section takes 0.08 s, its code 0.02 s of them.
    EXPECT_NEAR(chunk_after(ChangeKind::kFaster, 2, 0.06), 0.09, kNear);
    EXPECT_NEAR(chunk_after(ChangeKind::kFaster, 1000, 0.06), 0.08, kNear);
    EXPECT_NEAR(chunk_after(ChangeKind::kFaster, 0.5, 0.06), 0.12, kNear);
    EXPECT_NEAR(chunk_after(ChangeKind::kFaster, 1000, 0.08), 0.1, kNear) << "kernels ran all the time";
    EXPECT_NEAR(chunk_after(ChangeKind::kFasterGpu, 2, 0.06), 0.07, kNear);
    EXPECT_NEAR(chunk_after(ChangeKind::kFasterGpu, 2, 0.08), 0.07, kNear) << "some of it ran beside the code";
    EXPECT_NEAR(chunk_after(ChangeKind::kFasterGpu, 2, 0.02), 0.09, kNear) << "it waited for more than its own kernels";
  }
}

TEST(Prediction, TheCpuTimeOfAFasterSectionIsThatOfItsCode) {
  // 0.04 s of CPU time in a chunk do not spin: half of that is the section's, 0.02 of the 0.04 s without waiting.
  EXPECT_NEAR(Only(RunOnGpu(false, 0.06), {ChangeKind::kFaster, 2, "select"}).cpu.value, 200 * 0.03, 0.01);
  EXPECT_NEAR(Only(RunOnGpu(true, 0.06), {ChangeKind::kFaster, 2, "select"}).cpu.value, 200 * 0.09, 0.01);
  EXPECT_NEAR(Only(RunOnGpu(false, 0.06), {ChangeKind::kFasterGpu, 2, "select"}).cpu.value, 200 * 0.04, 0.01);
  EXPECT_NEAR(Only(RunOnGpu(true, 0.06), {ChangeKind::kFasterGpu, 2, "select"}).cpu.value, 200 * 0.07, 0.01);
}

TEST(Prediction, WithoutWaitingTheGpuTakesItsTime) {
  for (const bool spins : {true, false}) {
    const ObservedRun run = RunOnGpu(spins, 0.06);
    EXPECT_NEAR(Only(run, {ChangeKind::kWithoutWaiting, 0, ""}).wall_time.value, run.wall_time, 0.01);
  }
}

TEST(Prediction, HowMoreChunksShareAGpuIsNotKnown) {
  const ObservedRun run = RunOnGpu(true, 0.06);
  for (const ChangeKind kind : {ChangeKind::kCores, ChangeKind::kLanes}) {
    EXPECT_NE(Only(run, {kind, 4, ""}).why_not.find("waited for a GPU for 60 %"), std::string::npos);
    EXPECT_EQ(Only(run, {kind, 1, ""}).why_not, "");
  }
  EXPECT_EQ(Only(run, {ChangeKind::kWorkers, 2, ""}).why_not, "") << "a worker brings its own";
}

ObservedRun BlockedRun(double share, const std::string& kind, double slope = 0, double seen = 1) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.05, 1000);
  made.Block(share, kind, "", seen);
  return made.Finish(slope);
}

TEST(Prediction, HowAnotherNumberOfChunksSharesALockIsNotKnown) {
  const ObservedRun run = BlockedRun(0.5, "lock or condition");
  for (const double lanes : {1, 4}) {
    const std::string why = Only(run, {ChangeKind::kLanes, lanes, ""}).why_not;
    EXPECT_EQ(why.find("chunks waited at locks or conditions for 50 %"), 0u) << why;
  }
  EXPECT_EQ(Only(run, {ChangeKind::kLanes, 2, ""}).why_not, "");
  EXPECT_EQ(Only(run, {ChangeKind::kLongestFirst, 0, ""}).why_not, "");
  const ObservedRun seen = BlockedRun(0.5, "lock or condition", 0.01);
  EXPECT_EQ(Only(seen, {ChangeKind::kLanes, 4, ""}).why_not, "") << "it was seen with fewer of them";
}

TEST(Prediction, SaysThatNobodyKnowsWhetherChunksWaitForOneAnother) {
  const auto is_known = [](const ObservedRun& run, double lanes) {
    return Predict(run, {{ChangeKind::kLanes, lanes, ""}}).not_known.empty();
  };
  EXPECT_TRUE(is_known(BlockedRun(0.04, ""), 4)) << "they were hardly blocked";
  EXPECT_FALSE(is_known(BlockedRun(0.5, ""), 4));
  EXPECT_TRUE(is_known(BlockedRun(0.5, ""), 1)) << "fewer wait less";
  EXPECT_TRUE(is_known(BlockedRun(0.5, "sleep"), 4));
  EXPECT_TRUE(is_known(BlockedRun(0.5, "sleep", 0, 0.95), 4)) << "of 2.5 % of their time it is not known";
  const ObservedRun hardly_seen = BlockedRun(0.5, "sleep", 0, 0.3);
  EXPECT_NE(Predict(hardly_seen, {{ChangeKind::kLanes, 4, ""}}).not_known.find("run for longer"), std::string::npos);
}

TEST(Prediction, AGpuThatNobodyCountedIsNotPredicted) {
  MadeRun made("select");
  made.UseUncountedGpu();
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0.08);
  const ObservedRun run = made.Finish();
  for (const ChangeKind kind :
       {ChangeKind::kFaster, ChangeKind::kFasterGpu, ChangeKind::kCores, ChangeKind::kWithoutWaiting}) {
    EXPECT_NE(Only(run, {kind, 4, "select"}).why_not.find("nobody counted"), std::string::npos);
  }
  EXPECT_EQ(Only(run, {ChangeKind::kLongestFirst, 0, ""}).why_not, "");
}

TEST(Prediction, WithoutTheSlowWorkerOthersDoItsChunksAtTheirPace) {
  MadeRun made;
  made.AddWorker("quick", 1);
  made.AddWorker("slow", 1);
  for (int i = 0; i < 90; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 30; ++i) made.AddChunk(1, 0.3, 0.3, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(run.wall_time, 9.1, 0.1);
  const PredictedValue without = Only(run, {ChangeKind::kWithoutWorker, 0, "slow"}).wall_time;
  EXPECT_NEAR(without.value, 120 * 0.101, 0.1);
  EXPECT_GT(without.low, 0.95 * without.value);
  EXPECT_LT(without.high, 1.05 * without.value);
  EXPECT_EQ(Only(run, {ChangeKind::kWithoutWorker, 0, "nobody"}).why_not, "no worker `nobody`");
}

TEST(Prediction, ChunksThatTookNoTimeTakeNoneElsewhere) {
  MadeRun made;
  made.AddWorker("quick", 1);
  made.AddWorker("other", 1);
  for (int i = 0; i < 120; ++i) made.AddChunk(static_cast<size_t>(i % 2), 0.1, 0.1, 1000);
  made.BeginPass("loop 2");
  made.AddChunk(0, 0.1, 0.1, 1000);
  made.AddChunk(1, 0, 0, 1000);
  const PredictedRow row = Only(made.Finish(), {ChangeKind::kWithoutWorker, 0, "other"});
  EXPECT_EQ(row.why_not, "");
  EXPECT_NEAR(row.wall_time.value, 121 * 0.101, 0.2);
}

TEST(Prediction, AWorkerThatHadAnotherPassIsNoSlowOne) {
  MadeRun made;
  made.AddWorker("quick", 1);
  made.AddWorker("other", 1);
  for (int i = 0; i < 90; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  made.BeginPass("loop 2");
  for (int i = 0; i < 30; ++i) made.AddChunk(1, 0.3, 0.3, 1000);
  EXPECT_EQ(Only(made.Finish(), {ChangeKind::kWithoutWorker, 0, "other"}).why_not,
            "no other worker had a chunk of `d, loop 2`");
}

TEST(Prediction, AWorkerThatEndedWithNothingLeftToBeginWouldHaveStayedForMore) {
  MadeRun made;
  made.AddWorker("quick", 1);
  made.AddWorker("slow", 1);
  for (int i = 0; i < 90; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 31; ++i) made.AddChunk(1, 0.3, 0.3, 1000);  // began the last one before the other ended
  made.EndWorkersAlone();
  const PredictedRow row = Only(made.Finish(), {ChangeKind::kWithoutWorker, 0, "slow"});
  EXPECT_EQ(row.why_not, "");
  EXPECT_NEAR(row.wall_time.value, 121 * 0.101, 0.1);
}

// Where each worker looked through the rows of all, this took minutes.
TEST(Prediction, OfVeryManyWorkersEachHasItsOwnRow) {
  MadeRun made;
  constexpr size_t kWorkers = 30'000;
  for (size_t i = 0; i < kWorkers; ++i) made.AddWorker("worker " + std::to_string(i), 1, 1e-3 * static_cast<double>(i));
  for (size_t i = 0; i < kWorkers; ++i) made.AddChunk(i, i % 100 == 7 ? 50 : 40, 10, 1000);
  made.EndWorkersAlone();
  const ObservedRun run = made.Finish();
  ASSERT_EQ(run.workers.size(), kWorkers);
  for (size_t i = 0; i < kWorkers; i += 1000) {
    EXPECT_NEAR(run.workers[i].joined, 1e-3 * static_cast<double>(i + 1), 1e-6);
    EXPECT_NEAR(run.workers[i].after, run.wall_time - run.workers[i].joined - 40, 1e-6);
    EXPECT_EQ(run.workers[i].lanes, 1);
  }
  EXPECT_NEAR(run.workers[7].after, run.wall_time - run.workers[7].joined - 50, 1e-6);
}

TEST(Prediction, AWorkerThatLeftWhileOthersBeganChunksDoesNoMore) {
  MadeRun made;
  made.AddWorker("quick", 1);
  made.AddWorker("slow", 1);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 31; ++i) made.AddChunk(1, 0.3, 0.3, 1000);
  made.EndWorkersAlone();
  const PredictedRow row = Only(made.Finish(), {ChangeKind::kWithoutWorker, 0, "slow"});
  EXPECT_EQ(row.why_not, "all workers had left before the work was done");
}

TEST(Prediction, LargerChunksPayTheirFixedCostLessOften) {
  MadeRun made;
  made.AddWorker("w", 2);
  // 0.05 s + 0.1 ms an event, of 500 and 1000 events
  for (int i = 0; i < 200; ++i) made.AddChunk(0, i % 2 == 0 ? 0.1 : 0.15, 0.1, i % 2 == 0 ? 500 : 1000);
  const ObservedRun run = made.Finish();
  const double events = 100 * 1500;
  const PredictedRow row = Only(run, {ChangeKind::kChunkEvents, 5000, ""});
  EXPECT_NEAR(row.wall_time.value, events / 5000 * 0.55 / 2, 0.3);
}

/// Fault [many]: a prediction is asked for more cores, workers or chunks than there can be
/// Shown: that so many are not replayed; no memory is taken for them
TEST(Prediction, MoreLanesAndChunksThanThereCanBeAreNotReplayed) {
  MadeRun made;
  made.AddWorker("one", 2);
  made.AddWorker("two", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(i % 2, i % 4 < 2 ? 0.1 : 0.15, 0.1, i % 4 < 2 ? 500 : 1000);
  const ObservedRun run = made.Finish();
  const std::string lanes = "more than 100,000 chunks at once are not replayed";
  EXPECT_EQ(Only(run, {ChangeKind::kLanes, 100'001, ""}).why_not, lanes);
  EXPECT_EQ(Only(run, {ChangeKind::kCores, 100'001, ""}).why_not, lanes);
  EXPECT_EQ(Only(run, {ChangeKind::kWorkers, 50'001, ""}).why_not, lanes);
  EXPECT_EQ(Only(run, {ChangeKind::kChunkEvents, 0.07, ""}).why_not, "more than 2,000,000 chunks are not replayed");
  EXPECT_EQ(Only(run, {ChangeKind::kCores, 1000, ""}).why_not, "");
}

TEST(Prediction, WithoutWaitingChunksTakeTheirCpuTime) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.03, 1000);
  EXPECT_NEAR(Only(made.Finish(), {ChangeKind::kWithoutWaiting, 0, ""}).wall_time.value, 3.1, 0.1);
}

TEST(Prediction, WithoutWaitingChunksStillWaitForACpuThatOthersUse) {
  MadeRun made;
  made.AddWorker("w", 2);
  made.WaitForCpu(0.05, 6, 10);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.03, 1000);
  EXPECT_NEAR(Only(made.Finish(), {ChangeKind::kWithoutWaiting, 0, ""}).wall_time.value, 100 * 0.08, 0.2);
}

TEST(Prediction, WhereOthersUsedTheCpusTheRangeBeginsWithoutThem) {
  MadeRun made;
  made.AddWorker("w", 2);
  made.WaitForCpu(0.06, 8, 12);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.1, 0.04, 1000);
  const ObservedRun run = made.Finish();
  for (const RunChange& change : {RunChange{ChangeKind::kLanes, 1, ""}, {ChangeKind::kCores, 1, ""}}) {
    const Prediction prediction = Predict(run, {change});
    EXPECT_NEAR(prediction.rows[0].wall_time.value, 20, 0.5) << change.Text();
    EXPECT_NEAR(prediction.rows[0].wall_time.low, 8, 0.5) << change.Text();
    EXPECT_NEAR(prediction.rows[0].wall_time.high, 20.5, 0.5) << change.Text();
    EXPECT_NE(prediction.not_known.find("For 60 % of the time in which"), std::string::npos) << prediction.not_known;
  }
}

TEST(Prediction, OfARunThatEndedWithAFaultSaysSo) {
  MadeRun made;
  made.AddWorker("w", 2);
  made.EndWith(1);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  EXPECT_EQ(Predict(made.Finish(), {{ChangeKind::kCores, 4, ""}}).not_known,
            "The run ended with a fault (exit status 1): what would have come then is not in the times.");
}

TEST(Prediction, OfOneLaneSaysWhatItCannotKnow) {
  MadeRun made;
  made.AddWorker("w", 1);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NE(Predict(run, {{ChangeKind::kCores, 4, ""}}).not_known.find("two chunks at once"), std::string::npos);
  EXPECT_EQ(Predict(run, {{ChangeKind::kLongestFirst, 0, ""}}).not_known, "");
}

TEST(Prediction, FasterCodeShortensNoSleep) {
  for (const double blocked : {0.0, 0.9}) {
    MadeRun made("a/select");
    made.AddWorker("w", 1);
    made.SetSections();
    made.Block(blocked, "sleep", "a/select");
    for (int i = 0; i < 100; ++i) made.AddChunk(0, 1, 1 - blocked, 1000, 1);
    const double shorter = 100 * (1 - blocked) / 2;
    EXPECT_NEAR(Only(made.Finish(), {ChangeKind::kFaster, 2, "a/select"}).wall_time.value, 100 - shorter, 1) << blocked;
  }
}

TEST(Prediction, FasterCodeShortensNoBlockedTimeThatNobodySampled) {
  MadeRun made("a/select");
  made.AddWorker("w", 1);
  made.SetSections();
  made.Block(0.95, "");
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 1, 0.05, 1000, 0.98);
  const Prediction prediction = Predict(made.Finish(), {{ChangeKind::kFaster, 2, "a/select"}});
  EXPECT_NEAR(prediction.rows[0].wall_time.value, 97.5, 0.5);
  EXPECT_GT(prediction.rows[0].wall_time.low, 94);
  EXPECT_EQ(prediction.not_known, "") << "it is known to 2 %";
}

TEST(Prediction, WhereChunksWereBlockedIsARange) {
  MadeRun made("a/select");
  made.AddWorker("w", 1);
  made.SetSections();
  made.Block(0.4, "");
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 1, 0.6, 1000, 0.5);
  const ObservedRun run = made.Finish();
  const Prediction prediction = Predict(run, {{ChangeKind::kFaster, 2, "a/select"}});
  const PredictedRow& row = prediction.rows[0];
  EXPECT_NEAR(row.wall_time.value, 85, 1) << "as much of the section as of the chunk";
  EXPECT_NEAR(row.wall_time.low, 75, 3) << "none of it was blocked";
  EXPECT_NEAR(row.wall_time.high, 95, 3) << "0.4 of its 0.5 s";
  EXPECT_NE(prediction.not_known.find("Of the section's time, 0 % to 80 % was blocked"), std::string::npos)
      << prediction.not_known;
  EXPECT_EQ(UsualChanges(run, "a/select")[2].kind, ChangeKind::kFaster);
}

TEST(Prediction, AGuardThatMeasuresCpuTimeSaysHowMuchOfASectionCanBeFaster) {
  MadeRun made("a/select");
  made.AddWorker("w", 1);
  made.SetSections();
  made.Block(0.4, "");
  made.MeasureCpuOfSections(0.1);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 1, 0.6, 1000, 0.5);
  const Prediction prediction = Predict(made.Finish(), {{ChangeKind::kFaster, 2, "a/select"}});
  EXPECT_NEAR(prediction.rows[0].wall_time.value, 95, 1);
  EXPECT_NEAR(prediction.rows[0].wall_time.low, 95, 3);
  EXPECT_EQ(prediction.not_known, "");
}

TEST(Prediction, LateWorkersWouldHaveHelped) {
  MadeRun made;
  made.AddWorker("early", 1);
  made.AddWorker("late", 1, 6);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 40; ++i) made.AddChunk(1, 0.1, 0.1, 1000);
  EXPECT_NEAR(Only(made.Finish(), {ChangeKind::kAllFromStart, 0, ""}).wall_time.value, 7.1, 0.1);
}

TEST(Prediction, LongestFirstShortensTheTail) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  made.AddChunk(0, 2, 2, 20000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(run.wall_time, 4.0, 0.1);
  EXPECT_NEAR(Only(run, {ChangeKind::kLongestFirst, 0, ""}).wall_time.value, 3.0, 0.12);
}

TEST(Prediction, WhereOnlyTheEndIsReplayedDrawsAreThoseOfWholeReplays) {
  MadeRun made;
  made.AddWorker("quick", 4);
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> noise(0, 0.3);
  for (int i = 0; i < 20'000; ++i) {
    const auto events = static_cast<int64_t>(1000 + random() % 9000);
    const double seconds = (0.01 + 1e-5 * static_cast<double>(events)) * noise(random);
    made.AddChunk(0, seconds, 0.8 * seconds, events);
  }
  const ObservedRun run = made.Finish();
  for (const double cores : {2.0, 16.0}) {
    const RunChange change = {ChangeKind::kCores, cores, ""};
    std::vector<double> whole;
    for (uint64_t seed = 2; seed < 42; ++seed) {
      whole.push_back(Replay(Apply(run, change, seed)->setup, seed).wall_time);
    }
    absl::StatusOr<ChangedRun> changed = Apply(run, change, 0);
    std::vector<double> late;
    for (const ReplayResult& result : ReplayLateDraws(run, change, 4e5, &*changed)) {
      EXPECT_TRUE(result.finished);
      late.push_back(result.wall_time);
    }
    ASSERT_GE(late.size(), kFewestReplays);
    const auto mean_of = [](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    };
    const auto deviation_of = [&](const std::vector<double>& values) {
      double squares = 0;
      for (const double value : values) squares += std::pow(value - mean_of(values), 2);
      return std::sqrt(squares / static_cast<double>(values.size()));
    };
    EXPECT_NEAR(mean_of(late), mean_of(whole), 0.002 * mean_of(whole));
    EXPECT_GT(deviation_of(late), 0.5 * deviation_of(whole));
    EXPECT_LT(deviation_of(late), 2 * deviation_of(whole));
  }
  absl::StatusOr<ChangedRun> changed = Apply(run, {ChangeKind::kLongestFirst, 0, ""}, 0);
  EXPECT_TRUE(ReplayLateDraws(run, {ChangeKind::kLongestFirst, 0, ""}, 4e5, &*changed).empty());
}

TEST(Prediction, OfVeryManyDatasetsEachVariesAsAllDo) {
  // A copy of all 80,000 ratios for each of the 40,000 datasets would be 26 GB.
  MadeRun made;
  made.AddWorker("w", 4);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> vary(0.5, 1.5);
  for (int i = 0; i < 80'000; ++i) made.AddChunk(0, 0.1 * vary(random), 0.05, 1000);
  ObservedRun run = made.Finish();
  const Prediction one = Predict(run, {{ChangeKind::kCores, 8, ""}, {ChangeKind::kLongestFirst, 0, ""}});
  for (size_t i = 0; i < run.chunks.size(); ++i) run.chunks[i].dataset = static_cast<uint32_t>(i / 2);
  run.datasets.assign(40'000, "d");
  const Prediction many = Predict(run, {{ChangeKind::kCores, 8, ""}, {ChangeKind::kLongestFirst, 0, ""}});
  ASSERT_EQ(many.refused, "");
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(many.rows[i].wall_time.value, one.rows[i].wall_time.value) << many.rows[i].change;
    EXPECT_NEAR(many.rows[i].wall_time.low, one.rows[i].wall_time.low, 0.01 * many.rows[i].wall_time.value);
    EXPECT_NEAR(many.rows[i].wall_time.high, one.rows[i].wall_time.high, 0.01 * many.rows[i].wall_time.value);
  }
}

TEST(Prediction, RefusesARunWhoseTimeIsNotInItsChunks) {
  MadeRun made;
  made.AddWorker("w", 2);
  // Two lanes were there, and half of the time only one of them had a chunk: others were not released.
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0, i % 2 == 0 ? 0.001 : 0.1);
  const ObservedRun run = made.Finish();
  const Prediction prediction = Predict(run, {{ChangeKind::kCores, 4, ""}});
  EXPECT_LE(std::abs(prediction.replayed / run.wall_time - 1), 0.05) << "gaps are part of the replay";

  MadeRun same;
  same.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) same.AddChunk(0, 0.1, 0.1, 1000);
  ObservedRun longer = same.Finish();
  for (ObservedChunk& chunk : longer.chunks) chunk.duration *= 1.5;  // as if they had overlapped
  EXPECT_NE(Predict(longer, {{ChangeKind::kCores, 4, ""}}).refused, "");
}

TEST(Prediction, RefusesWhereChunksAreMissing) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  ObservedRun run = made.Finish();
  run.coverage = 0.98;
  EXPECT_NE(Predict(run, {{ChangeKind::kCores, 4, ""}}).refused.find("98"), std::string::npos);
  EXPECT_TRUE(PredictionJson(Predict(run, {{ChangeKind::kCores, 4, ""}}))["predicted"].empty());
}

TEST(Prediction, OfARunWithoutChunksIsRefused) {
  RunObserver observer("");
  const Prediction prediction = Predict(observer.Finish(MeasurementOf({{"metrics", {{"wall_time", 3}}}})), {});
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
  EXPECT_NEAR(Only(run, {ChangeKind::kCores, 80, ""}).wall_time.value, 0.2 + 1.0, 0.05);
}

TEST(Prediction, ChunksOfOneSizeDoNotTellWhatAChunkTakesBesidesItsEvents) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.2, 0.2, 1000);
  const ObservedRun run = made.Finish();
  for (const double events : {500., 2000.}) {
    EXPECT_NE(Only(run, {ChangeKind::kChunkEvents, events, ""}).why_not.find("nearly equal numbers of events"),
              std::string::npos);
  }
  EXPECT_NEAR(Only(run, {ChangeKind::kChunkEvents, 1000, ""}).wall_time.value, run.wall_time, 0.1) << "as it was";
}

/// 60 chunks of 500 to 1500 events: 0.02 s + 0.1 ms an event, times noise.
ObservedRun NoisyRun(uint32_t seed, double noise) {
  std::mt19937 random(seed);
  std::normal_distribution<double> scatter(1, noise);
  MadeRun made;
  made.AddWorker("w", 2);
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t events = 500 + 1000 * (i * 7 % 60) / 59;
    const double seconds = std::max(0.001, (0.02 + 1e-4 * static_cast<double>(events)) * scatter(random));
    made.AddChunk(0, seconds, seconds, events);
  }
  return made.Finish();
}

TEST(Prediction, OfLargerChunksTheRangeHoldsTheErrorOfTheSlope) {
  int covered = 0, reported = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    const ObservedRun run = NoisyRun(seed, 0.15);
    double events = 0;
    for (const ObservedChunk& chunk : run.chunks) events += chunk.events;
    const PredictedRow row = Only(run, {ChangeKind::kChunkEvents, 300, ""});
    if (!row.why_not.empty()) continue;
    const double truth = events / 300 * (0.02 + 1e-4 * 300) / 2;
    covered += row.wall_time.low <= truth && truth <= row.wall_time.high;
    ++reported;
  }
  EXPECT_GE(reported, 35);
  EXPECT_GE(covered, 0.8 * reported) << "of " << reported;
  EXPECT_NE(Only(NoisyRun(1, 3), {ChangeKind::kChunkEvents, 300, ""}).why_not, "") << "noise tells no slope";
}

TEST(Prediction, TwiceTheWorkersTakeHalfTheTime) {
  MadeRun made;
  for (const char* name : {"one", "two"}) made.AddWorker(name, 2);
  for (int i = 0; i < 200; ++i) made.AddChunk(static_cast<size_t>(i % 2), 0.1, 0.1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(Only(run, {ChangeKind::kWorkers, 4, ""}).wall_time.value, 200 * 0.101 / 8, 0.15);
  EXPECT_NEAR(Only(run, {ChangeKind::kWorkers, 1, ""}).wall_time.value, 200 * 0.101 / 2, 0.15);
}

/// 4 lanes share what serves 1000 events a second: an event is blocked 1 ms for each of them.
ObservedRun BlockedRun(double reported_slope) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 400; ++i) made.AddChunk(0, 0.04, 0, 10, 0, 0);
  return made.Finish(reported_slope);
}

TEST(Prediction, BlockedTimeGrowsWithLanesWhereTheRunShowsSo) {
  const ObservedRun run = BlockedRun(1e-3);
  EXPECT_NEAR(run.wall_time, 4, 0.01);
  const PredictedRow more = Only(run, {ChangeKind::kCores, 8, ""});
  EXPECT_NEAR(more.wall_time.value, 4, 0.15);
  EXPECT_LT(more.wall_time.low, 3.9) << "the slope is known to 10 %";
  EXPECT_NEAR(Only(run, {ChangeKind::kCores, 2, ""}).wall_time.value, 4, 0.15);
  EXPECT_NEAR(Only(BlockedRun(0), {ChangeKind::kCores, 8, ""}).wall_time.value, 2, 0.1)
      << "of a run that shows nothing";
}

TEST(Prediction, TheBudgetOfTheLanesAddsUp) {
  MadeRun made("select");
  made.AddWorker("w", 2);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.04, 1000, 0.05);
  const ObservedRun run = made.Finish();
  for (const RunChange& change :
       {RunChange{ChangeKind::kCores, 4, ""}, {ChangeKind::kFaster, 2, "select"}, {ChangeKind::kLanes, 4, ""}}) {
    const PredictedRow row = Only(run, change);
    const double lanes = change.kind == ChangeKind::kFaster ? 2 : 4;
    EXPECT_NEAR(row.cpu.value + row.waiting.value + row.free.value, lanes * row.wall_time.value, 0.01);
    EXPECT_NEAR(row.efficiency.value, row.cpu.value / row.core_seconds.value, 1e-9);
    EXPECT_LE(row.cpu.low, row.cpu.value);
    EXPECT_GE(row.cpu.high, row.cpu.value);
  }
  EXPECT_NEAR(Only(run, {ChangeKind::kFaster, 2, "select"}).cpu.value, 100 * 0.04 * 0.75, 0.01);
}

TEST(Prediction, WithoutWaitingChunksStillShareTheCores) {
  MadeRun made;
  made.AddWorker("w", 4);
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.4, 0.1, 1000);
  ObservedRun run = made.Finish();
  run.workers[0].cores = 2;  // for four threads
  const PredictedRow row = Only(run, {ChangeKind::kWithoutWaiting, 0, ""});
  EXPECT_NEAR(row.wall_time.value, 200 * 0.1 / 2, 0.3);
  EXPECT_LE(row.efficiency.value, 1.0001);
}

TEST(Prediction, OthersKeepTheirShareOfCoresThatLanesShare) {
  MadeRun made;
  made.AddWorker("w", 4);
  made.WaitForCpu(0.35, 10, 30);  // two of four lanes at a time were ready for a core, and had it for a quarter of this
  for (int i = 0; i < 200; ++i) made.AddChunk(0, 0.4, 0.05, 1000);
  ObservedRun run = made.Finish();
  run.workers[0].cores = 2;
  for (const RunChange& change :
       {RunChange{ChangeKind::kWithoutWaiting, 0, ""}, RunChange{ChangeKind::kLanes, 8, ""}}) {
    EXPECT_NEAR(Only(run, change).wall_time.value, 200 * 0.05 * 4 / 2, 0.6) << change.Text();
  }
}

TEST(Prediction, CoresAreThereFromTheStartOfTheirWorkers) {
  MadeRun made;
  made.AddWorker("w", 2, 10);
  made.StartWorkersWithTheRun();
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  const ObservedRun run = made.Finish();
  EXPECT_NEAR(Only(run, {ChangeKind::kLongestFirst, 0, ""}).core_seconds.value, 2 * run.wall_time, 0.1);
  const PredictedRow row = Only(run, {ChangeKind::kCores, 4, ""});
  EXPECT_NEAR(row.wall_time.value, 12.5, 0.2);
  EXPECT_NEAR(row.core_seconds.value, 4 * row.wall_time.value, 0.1);
}

TEST(Prediction, FewChunksLeaveNoRangeSoNoNumber) {
  for (const int chunks : {1, 7}) {
    MadeRun made;
    made.AddWorker("w", 1);
    for (int i = 0; i < chunks; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
    const Prediction prediction = Predict(made.Finish(), {{ChangeKind::kCores, 2, ""}});
    EXPECT_NE(prediction.refused.find("it has only " + std::to_string(chunks)), std::string::npos);
  }
}

TEST(Prediction, OneCoreIsPredictedForMore) {
  MadeRun made;
  made.AddWorker("w", 1);
  for (int i = 0; i < 40; ++i) made.AddChunk(0, 0.1, 0.1, 1000);
  EXPECT_NEAR(Only(made.Finish(), {ChangeKind::kCores, 2, ""}).wall_time.value, 2.02, 0.1);
}

TEST(Prediction, AnOverlapByClocksIsNoLane) {
  MadeRun made;
  made.AddWorker("w", 2);
  for (int i = 0; i < 100; ++i) made.AddChunk(0, 0.1, 0.1, 1000, 0, i % 3 == 2 ? -0.0005 : 0.0005);
  const ObservedRun run = made.Finish();
  EXPECT_EQ(run.lanes(), 2);
  EXPECT_TRUE(std::all_of(run.gaps.begin(), run.gaps.end(), [](double gap) { return gap >= 0; }));
  EXPECT_EQ(run.gaps.size(), 98u);
  EXPECT_EQ(Predict(run, {}).refused, "");
}

TEST(ObservedRun, HasNoGapsOfALaneThatHasNoMoreWork) {
  MadeRun made;
  made.AddWorker("host:1", 2);
  for (int i = 0; i < 20; ++i) made.AddChunk(0, 0.1, 0.1, 100);
  made.GoOnAlone();
  for (int i = 0; i < 20; ++i) made.AddChunk(0, 0.1, 0.1, 100);
  const ObservedRun run = made.Finish();
  ASSERT_FALSE(run.gaps.empty());
  for (const double gap : run.gaps) EXPECT_LT(gap, 0.01);
}

}  // namespace
}  // namespace crema
