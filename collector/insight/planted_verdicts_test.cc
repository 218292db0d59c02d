// Each verdict fires on a document in which its cause was planted, and not just below its threshold.
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

const Plant kPlants[] = {
    {"opening-bound",
     [](Json* document, bool harmful) {
       const double share = harmful ? 16 : 14;
       SetBudget(document, {{"compute", 100 - share}, {"outside_chunk", share}});
     }},
    {"framework-overhead",
     [](Json* document, bool harmful) {
       const double share = harmful ? 5.1 : 4.9;
       SetBudget(document, {{"compute", 100 - share}, {"framework", share}});
     }},
    {"retry-waste",
     [](Json* document, bool harmful) {
       const double share = harmful ? 2.1 : 1.9;
       SetBudget(document, {{"compute", 100 - share}, {"failed", share}});
     }},
    {"too-few-chunks",
     [](Json* document, bool harmful) {
       SetBudget(document, {{"compute", 80}, {"idle", 9}, {"tail", 11}});
       SetMetric(document, "num_chunks", harmful ? 15 : 16);
     }},
    {"chunks-too-small",
     [](Json* document, bool harmful) { (*document)["chunk_fits"][0]["fixed_seconds"] = harmful ? 0.051 : 0.047; }},
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
    {"oversized-chunks",
     [](Json* document, bool harmful) {
       SetMetric(document, "oversized_chunks", harmful ? 1 : 0);
       (*document)["chunk_fits"][0]["oversized"] = 1;
       (*document)["chunk_fits"][0]["events_max"] = 60000;
       SetBudget(document, {{"compute", 97}, {"tail", 3}});
     }},
    {"oversized-chunks",
     [](Json* document, bool harmful) {
       SetMetric(document, "oversized_chunks", 3);
       SetBudget(document, {{"compute", harmful ? 97.9 : 98.1}, {"tail", harmful ? 2.1 : 1.9}});
     }},
    {"slow-worker",
     [](Json* document, bool harmful) { (*document)["expected_time"][0]["duration"] = harmful ? 34.6 : 34.4; }},
    {"slow-file",
     [](Json* document, bool harmful) { (*document)["expected_time"][5]["duration"] = harmful ? 92.1 : 91.9; }},
    {"skewed-dataset",
     [](Json* document, bool harmful) { (*document)["datasets"][0]["duration_p95"] = 0.92 * (harmful ? 4.1 : 3.9); }},
    {"hot-section", [](Json* document, bool harmful) { (*document)["sections"][1]["share"] = harmful ? 0.41 : 0.39; }},
    {"memory-pressure",
     [](Json* document, bool harmful) { SetMetric(document, "memory_utilization_max", harmful ? 0.81 : 0.79); }},
    {"memory-pressure",  // under Dask
     [](Json* document, bool harmful) {
       (*document)["run"]["engine"] = "Dask 2025.11.0";
       SetMetric(document, "memory_utilization_max", harmful ? 0.71 : 0.69);
     }},
    {"memory-growth",
     [](Json* document, bool harmful) {
       // over 225,000 events against a limit of 1 GB
       SetMetric(document, "rss_slope", 5e5);
       SetMetric(document, "rss_slope_low", harmful ? 4.5e5 : 4.4e5);
     }},
    {"scaling-lag",
     [](Json* document, bool harmful) {
       SetMetric(document, "wall_time", 100);
       const double late = harmful ? 14 : 13;  // three of four workers are missing until then
       (*document)["timelines"]["worker_counts"] = {{0.0, 1}, {late, 4}, {100.0, 4}};
     }},
    {"spilling",
     [](Json* document, bool harmful) { SetMetric(document, "disk_write_time_seconds", harmful ? 1.1 : 0.9); }},
    {"serialization-heavy",
     [](Json* document, bool harmful) {
       SetMetric(document, "total_serialization_overhead_seconds", harmful ? 5.1 : 4.9);
     }},
    {"compression-heavy",
     [](Json* document, bool harmful) {
       SetMetric(document, "total_compression_overhead_seconds", harmful ? 5.1 : 4.9);
     }},
    {"compression-heavy",
     [](Json* document, bool harmful) {
       (*document)["custom_metrics"] = {{{"name", "unzip_wall"}, {"unit", "s"}, {"sum", harmful ? 31 : 29}},
                                        {{"name", "read_wall"}, {"unit", "s"}, {"sum", 20}}};
     }},
    {"low-compression",
     [](Json* document, bool harmful) {
       SetBudget(document, {{"compute", 80}, {"blocked", 20}});
       SetMetric(document, "compression_ratio", harmful ? 1.1 : 1.3);
     }},
    {"worker-loss",
     [](Json* document, bool harmful) { (*document)["workers"][2]["state"] = harmful ? "lost" : "ended"; }},
    {"instrumentation-heavy",
     [](Json* document, bool harmful) { SetMetric(document, "instrumentation_overhead", harmful ? 0.011 : 0.009); }},
    {"incomplete-measurement",
     [](Json* document, bool harmful) {
       const double share = harmful ? 11 : 9;
       SetBudget(document, {{"compute", 100 - share}, {"unmeasured", share}});
     }},
};

class PlantedVerdict : public testing::TestWithParam<Plant> {};

TEST_P(PlantedVerdict, FiresBeyondItsThresholdOnly) {
  Json document = HealthyRun();
  GetParam().set(&document, false);
  EXPECT_THAT(Ids(document), Not(Contains(GetParam().id)));
  document = HealthyRun();
  GetParam().set(&document, true);
  const Verdict verdict = Find(document, GetParam().id);
  EXPECT_FALSE(verdict.evidence.empty());
  EXPECT_FALSE(verdict.suggestion.empty());
  EXPECT_THAT(verdict.sentence, testing::EndsWith("."));
  if (verdict.saving.has_value()) {
    EXPECT_GE(*verdict.saving, 0);
    EXPECT_LE(*verdict.saving, 1);
  }
}

TEST_P(PlantedVerdict, IsNoAlarmWhereTooLittleWasMeasured) {
  Json document = HealthyRun();
  GetParam().set(&document, true);
  if (GetParam().id == "incomplete-measurement" || GetParam().id == "worker-loss") return;  // they need no shares
  SetBudget(&document, {{"compute", 0.5}});
  EXPECT_THAT(Ids(document), Not(Contains(GetParam().id)));
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedVerdict, testing::ValuesIn(kPlants));

TEST(PlantedVerdicts, CoverTheTable) {
  std::vector<std::string> planted;
  for (const Plant& plant : kPlants) planted.push_back(plant.id);
  // tested where the budget and the failures are (verdicts_test.cc)
  for (const char* id : {"compute-bound", "waiting-bound", "cpu-contention", "stragglers", "long-tail", "idle-workers",
                         "startup-dominated", "failing-chunks", "oversubscribed", "healthy"}) {
    planted.emplace_back(id);
  }
  for (const VerdictRule& rule : VerdictTable()) {
    if (rule.not_measured.empty()) {
      EXPECT_THAT(planted, Contains(std::string(rule.id)));
    }
  }
  EXPECT_FALSE(RuleOf("gil-contention").not_measured.empty());
}

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
  document["run"]["state"] = "killed";
  EXPECT_THAT(Ids(document), Not(Contains("worker-loss")));
}

}  // namespace
}  // namespace crema
