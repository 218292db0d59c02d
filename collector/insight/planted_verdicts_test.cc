// What verdicts say of a document in which their cause was planted.
#include <functional>
#include <string>
#include <vector>

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
  EXPECT_EQ(verdict.sentence, "h:2 came to 96 % of its memory limit.");
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
