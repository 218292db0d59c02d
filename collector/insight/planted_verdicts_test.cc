// What verdicts say of a document in which their cause was planted.
#include <functional>
#include <string>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/judged_document.h"
#include "collector/insight/planted_run.h"
#include "collector/insight/verdicts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Ids(const Json& document) {
  std::vector<std::string> ids;
  for (const Verdict& verdict : Judge(document)) ids.push_back(verdict.id);
  return ids;
}

Verdict Find(const Json& document, const std::string& id) {
  for (const Verdict& verdict : Judge(document)) {
    if (verdict.id == id) return verdict;
  }
  ADD_FAILURE() << id << " did not fire";
  return {};
}

TEST(PlantedVerdicts, AreNotInTheHealthyRun) {
  EXPECT_THAT(Ids(HealthyRun()), testing::ElementsAre("compute-bound", "healthy"));
}

struct Plant {
  std::string id;
  std::function<void(Json*, bool harmful)> set;  ///< harmful: beyond the threshold; else just short of it
};

void PrintTo(const Plant& plant, std::ostream* out) { *out << plant.id; }

void SetMetric(Json* document, const char* key, double value) { (*document)["metrics"][key] = value; }

/// What a dataset's chunks have is judged against the advice on them, which is no number of the table (for those:
/// verdict_bounds_test.cc).
const Plant kPlants[] = {
    {"chunks-too-large",
     [](Json* document, bool harmful) {
       // 0.1 x 94 s / 4 cores = 2.35 s for a chunk
       (*document)["chunk_fits"][0]["events_p50"] = harmful ? 23500 : 23000;
       (*document)["chunk_fits"][0]["events_max"] = 24000;
       SetBudget(document, {{"compute", 94}, {"tail", 6}});
     }},
    {"chunks-too-large",
     [](Json* document, bool harmful) {
       // (0.8 - 0.4) GB / 40 kB = 10,000 events
       SetMetric(document, "chunk_rss_delta_per_event_p95", 40000);
       SetMetric(document, "memory_utilization_max", 0.85);
       (*document)["chunk_fits"][0]["events_p50"] = harmful ? 10500 : 9500;
     }},
};

class PlantedVerdict : public testing::TestWithParam<Plant> {};

TEST_P(PlantedVerdict, FiresBeyondItsThresholdOnly) {
  Json document = HealthyRun();
  GetParam().set(&document, false);
  EXPECT_THAT(Ids(document), Not(Contains(GetParam().id)));
  document = HealthyRun();
  GetParam().set(&document, true);
  EXPECT_THAT(Ids(document), Contains(GetParam().id));
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedVerdict, testing::ValuesIn(kPlants));

TEST(SlowWorker, IsNamedWithWhatItCost) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  const Verdict verdict = Find(document, "slow-worker");
  EXPECT_THAT(verdict.sentence, HasSubstr("h:1 took 2.0 times as long"));
  EXPECT_NEAR(verdict.saving.value_or(0), 0.23, 1e-9);
}

TEST(SlowWorker, IsNotJudgedAloneNorOnAFewChunks) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  document["expected_time"][0]["attempts"] = 7;
  EXPECT_THAT(Ids(document), Not(Contains("slow-worker")));
  document["expected_time"][0]["attempts"] = 25;
  for (int row : {3, 2, 1}) document["expected_time"].erase(static_cast<size_t>(row));
  EXPECT_THAT(Ids(document), Not(Contains("slow-worker")));
}

TEST(SlowFile, IsNotBlamedForASlowWorker) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  document["expected_time"][5]["duration"] = 100.0;
  EXPECT_THAT(Ids(document), Contains("slow-worker"));
  EXPECT_THAT(Ids(document), Not(Contains("slow-file")));
}

TEST(ChunksTooSmall, SavesTheFixedCostBeyondWhatTheAdviceAllows) {
  Json document = HealthyRun();
  document["chunk_fits"][0]["fixed_seconds"] = 0.3;
  const Verdict verdict = Find(document, "chunks-too-small");
  EXPECT_EQ(verdict.severity, Severity::kBad);
  // 100 chunks x (0.3 s - 0.9 s x 5 / 95) of 100 core-seconds
  EXPECT_NEAR(verdict.saving.value_or(0), 0.3 - 0.9 * 5 / 95, 1e-9);
  EXPECT_THAT(verdict.suggestion, HasSubstr("By the fit of ttbar:"));
}

TEST(ChunksTooSmall, IsNotJudgedWhereAllChunksAreOfOneSize) {
  Json document = HealthyRun();
  document["chunk_fits"][0]["fixed_seconds"] = 0.3;
  document["chunk_fits"][0]["events_min"] = 8500;
  EXPECT_THAT(Ids(document), Not(Contains("chunks-too-small")));
}

TEST(ChunkSizes, AreNotJudgedByTheTailOfARunningJob) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 70}, {"tail", 30}});
  document["metrics"]["num_chunks"] = 5;
  document["metrics"]["oversized_chunks"] = 1;
  EXPECT_THAT(Ids(document), testing::IsSupersetOf({"too-few-chunks", "oversized-chunks"}));
  document["run"]["state"] = "running";
  EXPECT_THAT(Ids(document), Not(Contains("too-few-chunks")));
  EXPECT_THAT(Ids(document), Not(Contains("oversized-chunks")));
}

TEST(TooFewClusters, IsWhyThereAreFewChunksAndNeedsTheMetricOfRootsTrees) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 70}, {"tail", 30}});
  document["metrics"]["num_chunks"] = 5;
  EXPECT_THAT(Ids(document), Not(Contains("too-few-clusters")));
  document["custom_metrics"] = {{{"name", "tree_clusters"}, {"unit", "count"}, {"sum", 5}}};
  EXPECT_NEAR(Find(document, "too-few-clusters").saving.value_or(0), 0.30, 1e-9);
  EXPECT_EQ(Find(document, "too-few-chunks").cause, "too-few-clusters");
  document["custom_metrics"][0]["sum"] = 500;  // the program took large parts of them
  EXPECT_THAT(Ids(document), Not(Contains("too-few-clusters")));
  EXPECT_THAT(Ids(document), Contains("too-few-chunks"));
}

TEST(SlowBatch, IsNamedByTheSectionOfRootsThreads) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 80}, {"idle", 20}});
  document["process_sections"] = {{{"path", "set up task"}, {"count", 9}, {"total", 15}}};
  EXPECT_THAT(Ids(document), Not(Contains("slow-batch")));
  document["process_sections"].push_back({{"path", "fit/wait for next files"}, {"count", 9}, {"total", 15}});
  const Verdict verdict = Find(document, "slow-batch");
  EXPECT_EQ(
      verdict.sentence,
      "Threads of ROOT waited 15.0 s for the slowest file of a batch of RNTuple files: 15 % of the core-seconds.");
  EXPECT_NEAR(verdict.saving.value_or(0), 0.15, 1e-9);
}

TEST(OversizedChunks, SaveAtMostTheTailAndAtMostWhatTheLargestTookLonger) {
  Json document = HealthyRun();
  document["metrics"]["oversized_chunks"] = 1;
  document["chunk_fits"][0]["oversized"] = 1;
  document["chunk_fits"][0]["events_max"] = 29000;
  SetBudget(&document, {{"compute", 80}, {"tail", 20}});
  // 20,000 events more than the median take 2 s, on each of 4 cores
  EXPECT_NEAR(Find(document, "oversized-chunks").saving.value_or(0), 0.08, 1e-9);
  document["chunk_fits"][0]["events_max"] = 290000;
  EXPECT_NEAR(Find(document, "oversized-chunks").saving.value_or(0), 0.20, 1e-9);
}

TEST(MemoryPressure, IsBadNearTheLimitAndNamesTheWorker) {
  Json document = HealthyRun();
  document["metrics"]["memory_utilization_max"] = 0.96;
  document["workers"][1]["peak_memory_bytes"] = 9.6e8;
  const Verdict verdict = Find(document, "memory-pressure");
  EXPECT_EQ(verdict.severity, Severity::kBad);
  EXPECT_EQ(verdict.sentence, "h:2 used 96 % of its memory limit.");
}

TEST(MemoryPressure, SaysHowSoonTheLimitIsReachedWhereMemoryStillGrows) {
  Json document = HealthyRun();
  document["metrics"]["memory_utilization_max"] = 0.9;
  document["workers"][1].update({{"start", 0}, {"stop", 300}, {"peak_memory_bytes", 9e8}});
  Json& memory = document["timelines"]["worker_memory"]["h:2"];
  for (int second = 0; second <= 300; ++second) memory.push_back({second, 6e8 + 1e6 * second});
  EXPECT_EQ(Find(document, "memory-pressure").sentence, "h:2 used 90 % of its memory limit; at its end it gained " +
                                                            HumanMemory(6e7) + " a minute, and was 1 m 40 s from it.");
  document["run"]["state"] = "running";
  EXPECT_THAT(Find(document, "memory-pressure").sentence, HasSubstr("; it gains "));
  // the same growth, then rest: a timeline has changes only
  document["workers"][1]["stop"] = 400;
  EXPECT_EQ(Find(document, "memory-pressure").sentence, "h:2 used 90 % of its memory limit.");
}

TEST(MemoryGrowth, SaysWhichWorkerIsFullestAndHowSoonItIsFull) {
  Json document = HealthyRun();
  document["metrics"]["rss_slope"] = 1e6;
  document["metrics"]["rss_slope_low"] = 9e5;
  document["workers"][1].update({{"start", 5}, {"stop", 20}, {"peak_memory_bytes", 7e8}});
  // 1 kB an event, 225,000 events in 15 s
  EXPECT_EQ(Find(document, "memory-growth").sentence,
            "Memory grows by " + HumanMemory(1e6) + " with every 1 000 events, and does not come back; at that rate " +
                "h:2, the fullest worker, gains " + HumanMemory(9e8) + " a minute and was 20.0 s from its limit of " +
                HumanMemory(1e9) + ".");
  document["run"]["state"] = "running";
  EXPECT_THAT(Find(document, "memory-growth").sentence, HasSubstr("is 20.0 s from"));
  document["workers"][1]["peak_memory_bytes"] = 1e9;
  EXPECT_THAT(Find(document, "memory-growth").sentence, HasSubstr("and reached its limit of"));
  for (Json& worker : document["workers"]) worker.erase("memory_limit_bytes");
  EXPECT_THAT(Find(document, "memory-growth").sentence, testing::EndsWith("does not come back."));
}

TEST(ComputeBound, PromisesNothingFromCoresToChunksThatRunOneByOne) {
  Json document = HealthyRun();
  EXPECT_THAT(Find(document, "compute-bound").suggestion, HasSubstr("or more cores, shortens the run"));
  document["metrics"]["peak_workers"] = 1;
  document["metrics"]["lane_time"] = 94;
  EXPECT_THAT(Find(document, "compute-bound").suggestion, HasSubstr("only if chunks run side by side"));
  document["metrics"]["lane_time"] = 180;  // helpers
  EXPECT_THAT(Find(document, "compute-bound").suggestion, HasSubstr("or more cores, shortens the run"));
}

TEST(Oversubscribed, IsCuredByWhereTheCoresComeFrom) {
  Json document = HealthyRun();
  auto& metrics = document["metrics"];
  metrics["core_efficiency"] = 1;
  metrics["oversubscribed_core_seconds"] = metrics["chunk_cpu_time"] = metrics["lane_cpu_wait"] = 80;
  EXPECT_EQ(Find(document, "oversubscribed").suggestion, "Set CREMA_THREADS to the cores each process was given.");
  document["run"]["cores_source"] = "declared";
  EXPECT_EQ(Find(document, "oversubscribed").suggestion,
            "Run as many threads as were declared (CREMA_THREADS), or declare those that run.");
}

TEST(WorkerLoss, IsNotSaidOfARunThatWasKilledAsAWhole) {
  Json document = HealthyRun();
  document["workers"][1]["state"] = "lost";
  document["workers"][1]["lost"] = 1;
  document["run"]["state"] = "killed";
  EXPECT_THAT(Ids(document), Not(Contains("worker-loss")));
}

}  // namespace
}  // namespace crema
