// What verdicts say of a document in which their cause was planted.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/diagnosis/synthetic_run_fixture.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/format/human_numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

TEST(PlantedVerdicts, AreNotInTheHealthyRun) {
  EXPECT_THAT(VerdictIds(HealthyRun()), testing::ElementsAre("largest-loss", "compute-bound", "healthy"));
}

struct Plant {
  std::string id;
  std::function<void(Json*, bool harmful)> set;  ///< harmful: beyond the threshold; else just short of it
};

void PrintTo(const Plant& plant, std::ostream* out) { *out << plant.id; }

void SetMetric(Json* document, const char* key, double value) { (*document)["metrics"][key] = value; }

/// What a dataset's chunks have is judged against the advice on them, which is not a number of the table (for those:
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
  EXPECT_THAT(VerdictIds(document), Not(Contains(GetParam().id)));
  document = HealthyRun();
  GetParam().set(&document, true);
  EXPECT_THAT(VerdictIds(document), Contains(GetParam().id));
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedVerdict, testing::ValuesIn(kPlants));

TEST(SlowWorker, IsNamedWithWhatItCost) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  const Verdict verdict = FindVerdict(document, "slow-worker");
  EXPECT_THAT(verdict.sentence, HasSubstr("h:1 took 2.0 times as long"));
  EXPECT_NEAR(verdict.saving.value_or(0), 0.23, 1e-9);
}

TEST(SlowWorker, AdvisesToLookAtWaitsUnlessNoProcessCanSeeThem) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  document["stragglers"] = {{{"worker", "h:1"}, {"duration", 46.0}, {"predicted", 23.0}, {"reason", "blocked"}}};
  EXPECT_THAT(FindVerdict(document, "slow-worker").suggestion, HasSubstr("crema run --waits"));
  document["quality"]["processes_without_waits"] = 1;
  EXPECT_THAT(FindVerdict(document, "slow-worker").suggestion, Not(HasSubstr("crema run --waits")));
  document["waits"] = {{{"kind", "read"}, {"section", "read"}, {"seconds", 5}, {"share", 1}, {"samples", 100}}};
  EXPECT_THAT(FindVerdict(document, "slow-worker").suggestion, HasSubstr("crema run --waits"));
}

TEST(SlowWorker, IsNotJudgedAloneNorOnAFewChunks) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  document["expected_time"][0]["attempts"] = 7;
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-worker")));
  document["expected_time"][0]["attempts"] = 25;
  for (int row : {3, 2, 1}) document["expected_time"].erase(static_cast<size_t>(row));
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-worker")));
}

TEST(SlowWorker, IsNoneWhereTheOthersAreAsSlow) {
  Json document = HealthyRun();
  for (int row : {0, 1, 2, 3}) document["expected_time"][row]["duration"] = row == 0 ? 36.0 : 34.0;
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-worker"))) << "slow chunks are everywhere";
  document["expected_time"][0]["duration"] = 60.0;
  EXPECT_THAT(VerdictIds(document), Contains("slow-worker"));
}

TEST(SlowWorker, IsNoneWithoutAName) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = document["expected_time"][5]["duration"] = 100.0;
  for (const char* name : {"", "(other)"}) {
    document["expected_time"][0]["name"] = document["expected_time"][5]["name"] = name;
    EXPECT_THAT(VerdictIds(document), AllOf(Not(Contains("slow-worker")), Not(Contains("slow-file")))) << name;
  }
}

TEST(SlowFile, IsNotBlamedForASlowWorker) {
  Json document = HealthyRun();
  document["expected_time"][0]["duration"] = 46.0;
  document["expected_time"][5]["duration"] = 100.0;
  EXPECT_THAT(VerdictIds(document), Contains("slow-worker"));
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-file")));
}

/// A worker and a file are slow, with as many chunks each. `stragglers`: their workers and files.
Json SlowTogether(const std::vector<std::pair<std::string, std::string>>& stragglers) {
  Json document = HealthyRun();
  for (size_t row : {0, 4}) {
    document["expected_time"][row]["duration"] = 3 * document["expected_time"][row]["predicted"].get<double>();
    document["expected_time"][row]["attempts"] = 25;
  }
  for (const auto& [worker, file] : stragglers) {
    document["stragglers"].push_back({{"worker", worker},
                                      {"file", file},
                                      {"duration", 31},
                                      {"predicted", 1},
                                      {"reason", "blocked"},
                                      {"section", "read"}});
  }
  return document;
}

TEST(SlowFile, IsBlamedWhereOtherWorkersAreSlowInItToo) {
  const Json run = SlowTogether({});
  const std::string worker = run["expected_time"][0]["name"], file = run["expected_time"][4]["name"];
  const auto which = [&](const std::vector<std::pair<std::string, std::string>>& stragglers) {
    std::vector<std::string> slow;
    for (const std::string& id : VerdictIds(SlowTogether(stragglers))) {
      if (absl::StartsWith(id, "slow-")) slow.push_back(id);
    }
    return slow;
  };
  EXPECT_THAT(which({{worker, file}, {worker, file}, {"h:2", file}, {"h:3", file}, {"h:4", file}}),
              ElementsAre("slow-file"));
  EXPECT_THAT(which({{worker, file}, {worker, "a"}, {worker, "b"}, {worker, file}, {worker, "c"}}),
              ElementsAre("slow-worker"));
  EXPECT_THAT(which({{worker, "a"}, {worker, "b"}, {"h:2", file}, {"h:3", file}}),
              UnorderedElementsAre("slow-worker", "slow-file"));
}

TEST(SlowFile, AndAWorkerWithTheSameChunksAreNamedTogether) {
  Json document = SlowTogether({{"w", "f"}});
  const std::string worker = document["expected_time"][0]["name"], file = document["expected_time"][4]["name"];
  document = SlowTogether({{worker, file}, {worker, file}});
  const Verdict verdict = FindVerdict(document, "slow-worker");
  EXPECT_THAT(verdict.sentence, HasSubstr("more, most of it in section read, blocked, over 25 chunks; most of these "
                                          "chunks are of " +
                                          file + ", so either may be slow."));
  EXPECT_THAT(verdict.suggestion, AllOf(HasSubstr("crema run --waits"), HasSubstr("at other workers")));
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-file")));
  document["expected_time"][0]["attempts"] = 40;  // others of its chunks are not slow
  EXPECT_THAT(VerdictIds(document), Contains("slow-file"));
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-worker")));
  document["expected_time"][0]["attempts"] = 25;
  document["expected_time"][4]["attempts"] = 40;  // others of its chunks are slow, too: this worker did not do that
  EXPECT_THAT(VerdictIds(document), AllOf(Contains("slow-file"), Not(Contains("slow-worker"))));
  document["expected_time"][4]["duration"] = 2.1 * document["expected_time"][4]["predicted"].get<double>();
  EXPECT_THAT(FindVerdict(document, "slow-worker").sentence, Not(HasSubstr("either")));
}

TEST(SlowWorker, HasTheReasonOfItsStragglersOnlyIfTheyAreMostOfIt) {
  Json document = SlowTogether({});
  document["expected_time"][4]["duration"] = document["expected_time"][4]["predicted"];
  const std::string worker = document["expected_time"][0]["name"];
  document["stragglers"].push_back(
      {{"worker", worker}, {"duration", 31}, {"predicted", 1}, {"reason", "blocked"}, {"section", "read"}});
  EXPECT_THAT(FindVerdict(document, "slow-worker").sentence, HasSubstr("in section read, blocked"));
  document["stragglers"][0]["duration"] = 11;  // of the 46 s
  EXPECT_THAT(FindVerdict(document, "slow-worker").sentence, HasSubstr("46.0 s more, over 25 chunks."));
}

TEST(NoWorkers, AreNamedWithTheTimeThatCoreSecondsDoNotInclude) {
  Json document = HealthyRun();
  document["metrics"]["wall_time"] = 100;
  document["timelines"]["worker_counts"] = {{0.0, 0}, {20.0, 1}, {50.0, 0}, {60.0, 1}, {90.0, 0}};
  const Verdict verdict = FindVerdict(document, "no-workers");
  EXPECT_EQ(verdict.sentence,
            "No worker lived for 40.0 s of 1 m 40 s (40 %); the core-seconds do not include this time.");
  EXPECT_EQ(verdict.severity, Severity::kBad);
  document["timelines"]["worker_counts"] = {{0.0, 0}, {5.0, 1}, {98.0, 0}};
  EXPECT_THAT(VerdictIds(document), Not(Contains("no-workers")));
  document["timelines"]["worker_counts"] = {{0.0, 0}, {30.0, 4}};  // scaling-lag says this
  EXPECT_THAT(VerdictIds(document), AllOf(Contains("scaling-lag"), Not(Contains("no-workers"))));
  document["timelines"]["worker_counts"] = {{0.0, 0}, {30.0, 4}, {60.0, 0}, {90.0, 4}};
  EXPECT_THAT(FindVerdict(document, "no-workers").sentence,
              testing::StartsWith("After 30.0 s, no worker lived for 30.0 s of 1 m 40 s (30 %); the core-seconds"));
}

TEST(NoWorkers, NameOtherProcessesOnlyIfTheyRanThen) {
  Json document = HealthyRun();
  document["metrics"]["wall_time"] = 100;
  document["timelines"]["worker_counts"] = {{0.0, 1}, {40.0, 0}, {80.0, 1}, {90.0, 0}};
  document["processes"] = {
      {{"name", "rootcling"}, {"host", "h"}, {"pid", 8}, {"start", 41}, {"stop", 79}, {"cpu", 37}, {"cpu_wait", 0}}};
  EXPECT_THAT(FindVerdict(document, "no-workers").sentence,
              HasSubstr("do not include this time; other processes of the run computed for 37.0 s (rootcling)."));
  document["processes"][0].update({{"start", 1}, {"stop", 39}});
  EXPECT_THAT(FindVerdict(document, "no-workers").sentence, Not(HasSubstr("rootcling")));
}

TEST(ScalingLag, IsNoneWhereOnePoolReplacesAnother) {
  Json document = HealthyRun();
  document["metrics"]["wall_time"] = 100;
  document["timelines"]["worker_counts"] = {{0.0, 4}, {50.0, 8}, {52.0, 4}, {100.0, 0}};
  EXPECT_THAT(VerdictIds(document), Not(Contains("scaling-lag")));
  document["timelines"]["worker_counts"] = {{0.0, 4}, {50.0, 8}, {70.0, 4}, {100.0, 0}};
  EXPECT_THAT(FindVerdict(document, "scaling-lag").sentence, HasSubstr("the 8 workers"));
}

TEST(ChunksTooSmall, SavesTheFixedCostBeyondWhatTheAdviceAllows) {
  Json document = HealthyRun();
  document["chunk_fits"][0]["fixed_seconds"] = 0.3;
  const Verdict verdict = FindVerdict(document, "chunks-too-small");
  EXPECT_EQ(verdict.severity, Severity::kBad);
  // 100 chunks x (0.3 s - 0.9 s x 5 / 95) of 100 core-seconds
  EXPECT_NEAR(verdict.saving.value_or(0), 0.3 - 0.9 * 5 / 95, 1e-9);
  EXPECT_THAT(verdict.suggestion, HasSubstr("By the fit of ttbar:"));
}

TEST(ChunksTooSmall, IsNotJudgedWhereAllChunksAreOfOneSize) {
  Json document = HealthyRun();
  document["chunk_fits"][0]["fixed_seconds"] = 0.3;
  document["chunk_fits"][0]["events_min"] = 8500;
  EXPECT_THAT(VerdictIds(document), Not(Contains("chunks-too-small")));
}

TEST(ChunkSizes, AreNotJudgedByTheTailOfARunningJob) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 70}, {"tail", 30}});
  document["metrics"]["num_chunks"] = 5;
  document["metrics"]["oversized_chunks"] = 1;
  EXPECT_THAT(VerdictIds(document), testing::IsSupersetOf({"too-few-chunks", "oversized-chunks"}));
  document["run"]["state"] = "running";
  EXPECT_THAT(VerdictIds(document), Not(Contains("too-few-chunks")));
  EXPECT_THAT(VerdictIds(document), Not(Contains("oversized-chunks")));
}

TEST(TooFewChunks, NeedChunksSideBySideThatEndUnevenly) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 65}, {"idle", 35}});
  document["metrics"]["num_chunks"] = 5;
  EXPECT_THAT(VerdictIds(document), Contains("too-few-chunks")) << "5 chunks for 4 cores";
  document["metrics"]["num_chunks"] = 8;
  EXPECT_THAT(VerdictIds(document), Not(Contains("too-few-chunks"))) << "two for each core, and no tail";
  SetBudget(&document, {{"compute", 65}, {"idle", 15}, {"tail", 20}});
  EXPECT_THAT(VerdictIds(document), Contains("too-few-chunks")) << "one took longer";
  document["metrics"]["num_chunks"] = 5;
  document["metrics"]["peak_workers"] = 1;
  document["metrics"]["max_open_chunks"] = 1;
  EXPECT_THAT(VerdictIds(document), Not(Contains("too-few-chunks"))) << "one thread has all";
  document["metrics"]["num_chunks"] = 3;
  EXPECT_THAT(VerdictIds(document), Contains("too-few-chunks")) << "not one for each core";
}

TEST(TooFewClusters, IsWhyThereAreFewChunksAndNeedsTheMetricOfRootsTrees) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 70}, {"tail", 30}});
  document["metrics"]["num_chunks"] = 5;
  EXPECT_THAT(VerdictIds(document), Not(Contains("too-few-clusters")));
  document["custom_metrics"] = {{{"name", "tree_clusters"}, {"unit", "count"}, {"sum", 5}}};
  EXPECT_NEAR(FindVerdict(document, "too-few-clusters").saving.value_or(0), 0.30, 1e-9);
  EXPECT_EQ(FindVerdict(document, "too-few-chunks").cause, "too-few-clusters");
  document["metrics"]["total_cores"] = 3.978;
  EXPECT_THAT(FindVerdict(document, "too-few-clusters").sentence,
              testing::HasSubstr("have 5 clusters for 4 cores, and"));
  document["custom_metrics"][0]["sum"] = 500;  // the program took large parts of them
  EXPECT_THAT(VerdictIds(document), Not(Contains("too-few-clusters")));
  EXPECT_THAT(VerdictIds(document), Contains("too-few-chunks"));
}

TEST(SlowBatch, IsNamedByTheSectionOfRootsThreads) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 80}, {"idle", 20}});
  document["process_sections"] = {{{"path", "set up task"}, {"count", 9}, {"total", 15}}};
  EXPECT_THAT(VerdictIds(document), Not(Contains("slow-batch")));
  document["process_sections"].push_back({{"path", "fit/wait for next files"}, {"count", 9}, {"total", 15}});
  const Verdict verdict = FindVerdict(document, "slow-batch");
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
  EXPECT_NEAR(FindVerdict(document, "oversized-chunks").saving.value_or(0), 0.08, 1e-9);
  document["chunk_fits"][0]["events_max"] = 290000;
  EXPECT_NEAR(FindVerdict(document, "oversized-chunks").saving.value_or(0), 0.20, 1e-9);
}

TEST(MemoryPressure, IsBadNearTheLimitAndNamesTheWorker) {
  Json document = HealthyRun();
  document["metrics"]["memory_utilization_max"] = 0.96;
  document["workers"][1]["peak_memory_bytes"] = 9.6e8;
  const Verdict verdict = FindVerdict(document, "memory-pressure");
  EXPECT_EQ(verdict.severity, Severity::kBad);
  EXPECT_EQ(verdict.sentence, "h:2 used 96 % of its memory limit.");
}

TEST(MemoryPressure, SaysHowSoonTheLimitIsReachedWhereMemoryStillGrows) {
  Json document = HealthyRun();
  document["metrics"]["memory_utilization_max"] = 0.9;
  document["workers"][1].update({{"start", 0}, {"stop", 300}, {"peak_memory_bytes", 9e8}});
  Json& memory = document["timelines"]["worker_memory"]["h:2"];
  for (int second = 0; second <= 300; ++second) memory.push_back({second, 6e8 + 1e6 * second});
  EXPECT_EQ(FindVerdict(document, "memory-pressure").sentence,
            "h:2 used 90 % of its memory limit; at its end it gained " + HumanMemory(6e7) +
                " a minute, and was 1 m 40 s from it.");
  document["run"]["state"] = "running";
  EXPECT_THAT(FindVerdict(document, "memory-pressure").sentence, HasSubstr("; it gains "));
  // the same growth, then rest: a timeline has changes only
  document["workers"][1]["stop"] = 400;
  EXPECT_EQ(FindVerdict(document, "memory-pressure").sentence, "h:2 used 90 % of its memory limit.");
}

TEST(MemoryPressure, IsJudgedAtTheEndOfAllTimes) {
  Json document = HealthyRun();
  document["metrics"]["memory_utilization_max"] = 0.96;
  document["workers"][1].update({{"stop", 9223372036.854776}, {"peak_memory_bytes", 9.6e8}});
  document["timelines"]["worker_memory"]["h:2"] = {{9223372036.854776, 9.6e8}};
  EXPECT_EQ(FindVerdict(document, "memory-pressure").sentence, "h:2 used 96 % of its memory limit.");
}

TEST(MemoryGrowth, SaysHowMuchComesWithEvents) {
  Json document = HealthyRun();
  document["metrics"]["rss_slope"] = 1e6;
  document["metrics"]["rss_slope_low"] = 9e5;
  EXPECT_EQ(FindVerdict(document, "memory-growth").sentence,
            "Memory grows by " + HumanMemory(1e6) + " with every 1 000 events, and does not come back.");
}

TEST(ComputeBound, PromisesNothingFromCoresToChunksThatRunOneByOne) {
  Json document = HealthyRun();
  EXPECT_THAT(FindVerdict(document, "compute-bound").suggestion, HasSubstr("or more cores, shortens the run"));
  document["metrics"]["peak_workers"] = 1;
  document["metrics"]["lane_time"] = 94;
  EXPECT_THAT(FindVerdict(document, "compute-bound").suggestion, HasSubstr("only if chunks run side by side"));
  document["metrics"]["lane_time"] = 180;  // helpers
  EXPECT_THAT(FindVerdict(document, "compute-bound").suggestion, HasSubstr("or more cores, shortens the run"));
}

TEST(Oversubscribed, IsCuredByWhereTheCoresComeFrom) {
  Json document = HealthyRun();
  auto& metrics = document["metrics"];
  metrics["core_efficiency"] = 1;
  metrics["oversubscribed_core_seconds"] = metrics["chunk_cpu_time"] = metrics["lane_cpu_wait"] = 80;
  EXPECT_EQ(FindVerdict(document, "oversubscribed").suggestion,
            "Set CREMA_THREADS to the cores each process was given.");
  document["run"]["cores_source"] = "declared";
  EXPECT_EQ(FindVerdict(document, "oversubscribed").suggestion,
            "Run as many threads as were declared (CREMA_THREADS), or declare those that run.");
}

/// So many workers, each between its first and its last chunk.
void SetChunkTimes(Json* document, const std::vector<std::pair<double, double>>& times) {
  (*document)["workers"] = Json::array();
  for (size_t i = 0; i < times.size(); ++i) {
    (*document)["workers"].push_back({{"name", "h:" + std::to_string(i)},
                                      {"state", "ended"},
                                      {"first_chunk", times[i].first},
                                      {"last_chunk", times[i].second}});
  }
}

TEST(LastWorker, IsNamedWhereTheRunWaitedForItAlone) {
  Json document = HealthyRun();
  SetChunkTimes(&document, {{0, 15}, {0, 25}, {0, 15}, {0, 15}});
  const Verdict verdict = FindVerdict(document, "last-worker");
  EXPECT_EQ(verdict.sentence,
            "For 10.0 s of 25.0 s the run waited for h:1 alone: all others had ended their last "
            "chunks.");
  EXPECT_FALSE(verdict.saving.has_value()) << "the run would be shorter, with as many core-seconds";
  SetChunkTimes(&document, {{0, 15}, {0, 25}, {0, 15}, {0, 25}});
  EXPECT_EQ(FindVerdict(document, "last-worker").sentence,
            "Workers ran out of chunks at different times: sharing the rest would have saved up to 5.00 s of 25.0 s, "
            "if it did not need their results.");
}

TEST(LastWorker, IsNotAWorkerOfSeveralThatCameOneAfterAnother) {
  Json document = HealthyRun();
  // jobs in two slots
  SetChunkTimes(&document, {{0, 8}, {0, 9}, {8, 17}, {9, 17}, {17, 25}, {17, 24}});
  EXPECT_THAT(VerdictIds(document), Not(Contains("last-worker")));
  SetChunkTimes(&document, {{0, 15}, {0, 25}});
  document["workers"][0]["state"] = "lost";
  EXPECT_THAT(VerdictIds(document), Not(Contains("last-worker")));
}

TEST(LastWorker, IsNotOneThatStayedAsAClusterWasScaledDown) {
  Json document = HealthyRun();
  SetChunkTimes(&document, {{0, 5}, {0, 5}, {0, 15}, {0, 15}, {16, 25}, {16, 25}});
  for (int i = 0; i < 4; ++i) document["workers"][i]["left_reason"] = "retired";
  EXPECT_THAT(VerdictIds(document), Not(Contains("last-worker")));
  document["workers"][3]["left_reason"] = nullptr;  // it waited while two others worked
  EXPECT_EQ(FindVerdict(document, "last-worker").sentence,
            "Workers ran out of chunks at different times: sharing the rest would have saved up to 3.00 s of 25.0 s, "
            "if it did not need their results.");
}

TEST(StartupDominated, NamesTheSectionAndTheWorkersThatWereLate) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 80}, {"startup", 20}});
  document["metrics"]["peak_workers"] = 4;
  SetChunkTimes(&document, {{5, 25}, {5, 25}, {5, 25}, {5, 25}});
  document["process_sections"] = {{{"path", "set up"}, {"total", 19.6}, {"max", 4.9}},
                                  {{"path", "set up/calibrate {}"}, {"total", 16}, {"max", 4}},
                                  {{"path", "analysis"}, {"total", 100}, {"max", 25}}};
  EXPECT_EQ(FindVerdict(document, "startup-dominated").sentence,
            "20 % of the core-seconds went to free cores before the first chunk; section set up/calibrate {}, outside "
            "chunks, took 4.00 s.");
  document["process_sections"] = Json::array();
  SetChunkTimes(&document, {{0, 25}, {0, 25}, {9, 25}, {8, 25}});
  EXPECT_EQ(
      FindVerdict(document, "startup-dominated").sentence,
      "20 % of the core-seconds went to free cores before the first chunk; 2 of 4 workers began their first chunk "
      "8.00 s after the run's start or later.");
}

TEST(StartupDominated, DoesNotCallCoresFreeWhereOtherProcessesAreBusy) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 80}, {"startup", 20}});
  SetChunkTimes(&document, {{9, 25}});
  document["workers"][0]["process"] = "node1:7";
  const auto process = [](const char* name, int pid, double start, double stop, double cpu, double wait) {
    return Json{{"name", name}, {"host", "node1"}, {"pid", pid},      {"start", start},
                {"stop", stop}, {"cpu", cpu},      {"cpu_wait", wait}};
  };
  document["processes"] = {process("make", 6, 0, 9, 0.1, 0), process("cc1plus", 8, 1, 7, 5, 1),
                           process("python", 7, 0, 25, 20, 0)};  // a worker
  const Verdict found = FindVerdict(document, "startup-dominated");
  EXPECT_EQ(found.sentence,
            "20 % of the core-seconds went to cores that no chunk used before the first chunk; other processes of the "
            "run computed for 5.10 s and waited for a CPU for 1.00 s (cc1plus).");
  EXPECT_THAT(found.suggestion, HasSubstr("a compiler"));
  document["processes"][1] = process("cc1plus", 8, 10, 16, 5, 1);  // beside chunks
  EXPECT_EQ(FindVerdict(document, "startup-dominated").sentence,
            "20 % of the core-seconds went to free cores before the first chunk.");
}

TEST(ShutdownDominated, NamesTheSectionAfterTheLastChunk) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 80}, {"shutdown", 20}});
  SetChunkTimes(&document, {{0, 20}, {0, 19}});
  document["process_sections"] = {{{"path", "merge"}, {"total", 4.5}, {"max", 4.5}}};
  EXPECT_EQ(
      FindVerdict(document, "shutdown-dominated").sentence,
      "20 % of the core-seconds went to free cores after the last chunk; section merge, outside chunks, took 4.50 s.");
  document["process_sections"][0]["max"] = document["process_sections"][0]["total"] = 20;  // it did not fit there
  EXPECT_EQ(FindVerdict(document, "shutdown-dominated").sentence,
            "20 % of the core-seconds went to free cores after the last chunk.");
}

TEST(IdleWorkers, NameTheSectionThatFillsTheGaps) {
  Json document = HealthyRun();
  SetBudget(&document, {{"blocked", 58}, {"process_cpu", 5}, {"idle", 37}});
  document["metrics"]["wall_time"] = 25;
  document["process_sections"] = {{{"path", "just-in-time compilation"}, {"total", 9.0}, {"max", 9.0}}};
  EXPECT_EQ(FindVerdict(document, "idle-workers").sentence,
            "37 % of the core-seconds went to free cores between chunks; section just-in-time compilation, outside "
            "chunks, took 9.00 s.");
}

TEST(IdleWorkers, SayThatGuardsAreCompiledOnce) {
  Json document = HealthyRun();
  SetBudget(&document, {{"blocked", 58}, {"process_cpu", 5}, {"idle", 37}});
  document["metrics"]["wall_time"] = 25;
  document["process_sections"] = {{{"path", "set up/compile guards"}, {"total", 9.0}, {"max", 9.0}}};
  const Verdict found = FindVerdict(document, "idle-workers");
  EXPECT_THAT(found.sentence, testing::EndsWith("compile guards of crema, outside chunks, took 9.00 s."));
  EXPECT_THAT(found.suggestion, testing::StartsWith("crema compiles its guards for PyROOT once on a machine"));
  EXPECT_THAT(found.suggestion, testing::Not(testing::HasSubstr("Let these processes")));
}

TEST(OpeningBound, NamesTheSectionThatFillsTheTimeAroundChunks) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 60}, {"outside_chunk", 40}});
  document["metrics"]["outside_chunk_time"] = 40;
  document["process_sections"] = {{{"path", "just-in-time compilation"}, {"self_in_workers", 30}}};
  EXPECT_EQ(FindVerdict(document, "opening-bound").sentence,
            "Tasks spent 40 % of the core-seconds around your chunks, where section just-in-time compilation took "
            "30.0 s.");
}

TEST(InstrumentationHeavy, NamesTheCompilationOfTheGuards) {
  Json document = HealthyRun();
  document["metrics"]["instrumentation_overhead"] = 0.2;
  document["process_sections"] = {{{"path", "set up/compile guards"}, {"total", 1000}}};
  EXPECT_THAT(FindVerdict(document, "instrumentation-heavy").sentence,
              testing::EndsWith(": section compile guards took 16 m 40 s."));
}

TEST(IdleWorkers, SayWhetherCoresWereFreeInsideChunks) {
  Json document = HealthyRun();
  SetBudget(&document, {{"blocked", 63}, {"idle", 37}});
  EXPECT_THAT(FindVerdict(document, "idle-workers").sentence, testing::HasSubstr("free cores between chunks"));
  auto& metrics = document["metrics"];
  metrics["peak_workers"] = 1;
  metrics["cores_per_worker"] = 2;
  metrics["busy_time"] = 50;
  metrics["lane_time"] = 63;
  document["sections"] = {{{"path", "fit"}, {"self", 12.0}},
                          {{"path", "fit"}, {"helper", true}, {"self", 13.0}},
                          {{"path", "unpack"}, {"self", 38.0}}};
  EXPECT_EQ(
      FindVerdict(document, "idle-workers").sentence,
      "37 % of the core-seconds went to cores without a helper, inside chunks; no helper joins section unpack, which "
      "took 38.0 s.");
  // helpers work as long as the owner waits for them
  metrics["lane_time"] = 50;
  metrics["chunk_joined"] = 13;
  EXPECT_THAT(FindVerdict(document, "idle-workers").sentence, testing::HasSubstr("inside chunks"));
  metrics["max_open_chunks"] = 2;
  EXPECT_THAT(FindVerdict(document, "idle-workers").sentence, testing::HasSubstr("between chunks, or inside them"));
}

TEST(Stragglers, NameTheirSectionAndTheFirstChunksOfThreads) {
  Json document = HealthyRun();
  auto& metrics = document["metrics"];
  metrics["straggler_chunks"] = 2;
  metrics["chunk_duration_p50"] = 1;
  SetChunkTimes(&document, {{0.5, 25}, {0.5, 25}});
  const auto straggler = [](const char* worker, double start, const char* section) {
    return Json{{"worker", worker}, {"start", start}, {"duration", 3}, {"predicted", 1}, {"section", section}};
  };
  document["stragglers"] = {straggler("h:0", 9, "write"), straggler("h:1", 14, "write")};
  EXPECT_EQ(FindVerdict(document, "stragglers").sentence,
            "2 stragglers took 4.00 s longer than chunks of the same size do, 4.0 % of the core-seconds, most of it in "
            "section write.");
  EXPECT_EQ(FindVerdict(document, "stragglers").severity, Severity::kWarning);
  metrics["straggler_chunks"] = 1000;  // the table has two of them
  EXPECT_THAT(FindVerdict(document, "stragglers").sentence, HasSubstr("1 000 stragglers took at least 4.00 s longer"));
  metrics["straggler_chunks"] = 2;
  for (Json& row : document["stragglers"]) row["file"] = "lzma.root";
  document["files"] = {{{"name", "lzma.root"}}, {{"name", "zstd.root"}}};
  EXPECT_THAT(FindVerdict(document, "stragglers").sentence,
              HasSubstr("most of it in section write and in file lzma.root"));
  document["stragglers"] = {straggler("h:0", 0.5, "load"), straggler("h:1", 0.6, "load")};
  EXPECT_THAT(FindVerdict(document, "stragglers").sentence, HasSubstr("in the first chunks of threads"));
  EXPECT_EQ(FindVerdict(document, "stragglers").severity, Severity::kInfo);
}

TEST(FailingChunks, NameTheFileThatHoldsThemAll) {
  Json document = HealthyRun();
  document["metrics"]["num_failed_attempts"] = 20;
  document["files"] = {{{"name", "a.root"}, {"attempts", 50}, {"failed", 0}},
                       {{"name", "b.root"}, {"attempts", 30}, {"failed", 20}}};
  EXPECT_EQ(FindVerdict(document, "failing-chunks").sentence, "20 of 100 attempts failed, all of them of file b.root.");
  document["files"][0]["failed"] = 1;
  document["files"][1]["failed"] = 19;
  EXPECT_EQ(FindVerdict(document, "failing-chunks").sentence, "20 of 100 attempts failed.");
}

TEST(CostlyDataset, SaysWhichShareOfTheTimeItTakesForItsEvents) {
  Json document = HealthyRun();
  document["datasets"] = {{{"name", "wjets"}, {"events", 25e6}, {"duration_sum", 60}},
                          {{"name", "ttbar"}, {"events", 75e6}, {"duration_sum", 30}}};
  EXPECT_EQ(
      FindVerdict(document, "costly-dataset").sentence,
      "Events of wjets take 6.0 times as long as those of other datasets: 67 % of the chunks' time for 25 % of the "
      "events.");
  document["quality"]["chunks_without_events"] = 1;  // whose time is in these shares
  EXPECT_THAT(VerdictIds(document), Not(Contains("costly-dataset")));
  document["quality"]["chunks_without_events"] = 0;
  document["datasets"][1].erase("events");
  EXPECT_THAT(VerdictIds(document), Not(Contains("costly-dataset")));
}

TEST(WaitingBound, NamesTheSectionThatHoldsItWhateverItsCpuTime) {
  Json document = HealthyRun();
  SetBudget(&document, {{"compute", 10}, {"blocked", 90}});
  document["metrics"]["busy_time"] = 100;
  document["metrics"]["chunk_blocked"] = 90;
  document["sections"] = {{{"path", "select"}, {"self", 40.0}}, {{"path", "fill"}, {"self", 60.0}}};
  EXPECT_THAT(FindVerdict(document, "waiting-bound").sentence, HasSubstr("(most of it in section fill)"));
  document["sections"][1]["self"] = 54;  // 10 s of it may have been CPU
  EXPECT_THAT(FindVerdict(document, "waiting-bound").sentence, Not(HasSubstr("in section")));
}

TEST(WorkerLoss, IsNotSaidOfARunThatWasKilledAsAWhole) {
  Json document = HealthyRun();
  document["workers"][1]["state"] = "lost";
  document["workers"][1]["lost"] = 1;
  document["run"]["state"] = "killed";
  EXPECT_THAT(VerdictIds(document), Not(Contains("worker-loss")));
}

}  // namespace
}  // namespace crema
