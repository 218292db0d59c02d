// Runs on different numbers of cores, of which every figure is known.
#include "collector/scaling/scaling_study.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json MadeRun(const std::string& name, double cores, double wall_time, double events, double average = 0) {
  if (average == 0) average = cores;
  return {{"run", {{"name", name}, {"state", "finished"}, {"exit_status", 0}}},
          {"metrics",
           {{"wall_time", wall_time},
            {"total_cores", average},
            {"peak_cores", cores},
            {"core_seconds", average * wall_time},
            {"total_events", events},
            {"num_chunks", 1000},
            {"oversubscribed_core_seconds", 0}}},
          {"datasets", {{{"name", "ttbar"}}}}};
}

ScalingStudy Study(const std::vector<Json>& documents, const std::vector<std::string>& sources = {}) {
  std::vector<Measurement> measurements;
  std::vector<const Measurement*> pointers;
  for (const Json& document : documents) measurements.push_back(MeasurementOf(document));
  for (const Measurement& measurement : measurements) pointers.push_back(&measurement);
  return StudyScaling(pointers, sources);
}

double Amdahl(double n) { return 100 * (0.1 + 0.9 / n); }

TEST(ScalingStudy, NamesRunsOfOneNameByTheirSources) {
  const std::vector<Json> same = {MadeRun("ttbar", 1, 50, 1e6), MadeRun("ttbar", 2, 25, 1e6)};
  const std::vector<std::string> sources = {"runs/one core/crema", "runs/two cores/crema"};
  EXPECT_EQ(Study(same, sources).points[1].name, "two cores");
  EXPECT_EQ(Study(same).points[1].name, "ttbar");
}

TEST(ScalingStudy, SpeedUpEfficiencyAndCostAreAgainstTheFewestCores) {
  const ScalingStudy study = Study({MadeRun("b", 8, 25, 1e6), MadeRun("a", 2, 80, 1e6)});
  ASSERT_TRUE(study.refused.empty());
  EXPECT_EQ(study.kind, ScalingKind::kStrong);
  ASSERT_EQ(study.points.size(), 2u);
  EXPECT_EQ(study.points[0].name, "a");
  EXPECT_EQ(study.points[1].speedup, 3.2);
  EXPECT_EQ(study.points[1].efficiency, 0.8);
  EXPECT_EQ(study.points[1].cost, 200.0 / 160);
  EXPECT_EQ(study.best_measured, 8);
  EXPECT_EQ(study.why_no_law, "a law needs 4 different numbers of cores; there are 2");
}

TEST(ScalingStudy, AsMuchWorkForEachCoreIsWeakScalingByRates) {
  const ScalingStudy study = Study({MadeRun("a", 1, 100, 1e6), MadeRun("b", 4, 110, 4e6)});
  EXPECT_EQ(study.kind, ScalingKind::kWeak);
  EXPECT_NEAR(*study.points[1].speedup, 4 * 100.0 / 110, 1e-12);
  EXPECT_NEAR(*study.points[1].efficiency, 100.0 / 110, 1e-12);
  EXPECT_EQ(Study({MadeRun("a", 1, 100, 1e6), MadeRun("b", 4, 110, 2e6)}).kind, ScalingKind::kMixed);
}

TEST(ScalingStudy, FourNumbersOfCoresGiveLaws) {
  std::vector<Json> runs;
  for (const double n : {1, 2, 4, 8, 16}) runs.push_back(MadeRun("n", n, Amdahl(n), 1e6));
  const ScalingStudy study = Study(runs);
  ASSERT_EQ(study.laws.size(), 2u);
  EXPECT_NEAR(*study.laws[0].sigma.value, 0.1, 1e-5);
  const Json json = ScalingAsJson(study);
  EXPECT_EQ(json["fits"][1]["law"], "usl");
  EXPECT_TRUE(json["not_fitted"].is_null());
  EXPECT_EQ(json["best_cores"]["measured"], 16);
  EXPECT_EQ(json["best_cores"]["worthwhile"]["value"], *study.laws[1].worthwhile.value);
  EXPECT_NE(ScalingSentence(study).find("is the last that brings at least half"), std::string::npos);
}

/// By the Universal Scalability Law with a fastest number of some 14 cores, each number `times` times; a run is longer
/// or shorter by up to `scatter` of it.
ScalingStudy StudyOfOptimum(int times, double scatter, double kappa = 0.005) {
  std::vector<Json> runs;
  for (int i = 0; i < times; ++i) {
    for (const double n : {1, 2, 4, 8, 16, 32}) {
      const double off = scatter * ((static_cast<int>(7 * n) + 3 * i) % 5 - 2) / 2;
      runs.push_back(MadeRun("n", n, 100 * (1 + 0.02 * (n - 1) + kappa * n * (n - 1)) / n * (1 + off), 1e6));
    }
  }
  return Study(runs);
}

TEST(ScalingStudy, AFastestNumberOfCoresNeedsRepeatedRunsThatExcludeThatMoreAreFaster) {
  const auto fastest = [](const ScalingStudy& study) { return study.laws.at(1).fastest.value; };
  ASSERT_TRUE(fastest(StudyOfOptimum(2, 0.02)).has_value());
  EXPECT_NEAR(*fastest(StudyOfOptimum(2, 0.02)), 14, 3);
  EXPECT_FALSE(fastest(StudyOfOptimum(1, 0.02)).has_value()) << "one run of each may be slow by chance";
  EXPECT_FALSE(fastest(StudyOfOptimum(2, 0.02, /*kappa=*/0)).has_value()) << "each core still brings more";
  EXPECT_FALSE(fastest(StudyOfOptimum(2, 0.5, /*kappa=*/0.0002)).has_value()) << "the runs scatter by more";
  const Json json = ScalingAsJson(StudyOfOptimum(1, 0.02));
  EXPECT_TRUE(json["best_cores"]["fastest"]["value"].is_null());
}

TEST(ScalingStudy, CoresThatCameAndWentStandBesideTheLaw) {
  std::vector<Json> runs;
  for (const double n : {1, 2, 4, 8}) runs.push_back(MadeRun("n", n, Amdahl(n), 1e6));
  runs.push_back(MadeRun("auto", 16, 500, 1e6, 6));
  const ScalingStudy study = Study(runs);
  ASSERT_EQ(study.points.size(), 5u);
  EXPECT_TRUE(*study.points[3].cores_vary);
  EXPECT_EQ(study.points[3].cores, 6);
  EXPECT_NEAR(*study.laws[0].sigma.value, 0.1, 1e-5);
}

TEST(ScalingStudy, SaysThatCoresThatCameAndWentDoNotCountForALaw) {
  const ScalingStudy study = Study({MadeRun("fixed", 1, 100, 1e6), MadeRun("auto", 16, 500, 1e6, 6)});
  EXPECT_EQ(study.why_no_law,
            "a law needs 4 different numbers of cores; there is 1 (runs whose cores came and went do not count)");
}

TEST(ScalingStudy, TakesAllRunsOfANumberOfCoresInAnyOrder) {
  const Json one = MadeRun("one", 1, 100, 1e6), fast = MadeRun("fast", 2, 40, 1e6), slow = MadeRun("slow", 2, 80, 1e6);
  const ScalingStudy study = Study({one, fast, slow}), other = Study({slow, one, fast});
  EXPECT_EQ(ScalingSentence(study),
            "The same work: on 2 cores, events per second are 1.9 times those on 1 core, an efficiency of 94 %.");
  EXPECT_EQ(ScalingSentence(other), ScalingSentence(study));
  ASSERT_EQ(other.points.size(), 3u);
  EXPECT_EQ(ScalingAsJson(other)["points"], ScalingAsJson(study)["points"]);
  EXPECT_EQ(study.points.back().source, 2u);
  EXPECT_EQ(other.points.back().source, 0u);
}

TEST(ScalingStudy, LeavesOutRunsThatDidNotFinish) {
  Json failed = MadeRun("failed", 2, 10, 1e6), endless = MadeRun("endless", 2, 10, 1e6);
  failed["run"]["exit_status"] = 137;
  endless["run"] = {{"name", "endless"}, {"stop_ns", 1'790'000'000'000'000'000}};
  const ScalingStudy study = Study({MadeRun("a", 1, 10, 1e6), failed, endless, MadeRun("b", 2, 5, 1e6)});
  ASSERT_EQ(study.points.size(), 2u);
  ASSERT_EQ(study.left_out.size(), 2u);
  EXPECT_EQ(study.left_out[0].reason, "it failed: exit status 137, as after signal 9 (killed)");
  EXPECT_EQ(study.left_out[1].reason, "no end was recorded");
  EXPECT_TRUE(study.notes.empty());
}

TEST(ScalingStudy, RunsThatTellNothingAreLeftOutWithTheReason) {
  Json killed = MadeRun("killed", 4, 10, 1e6), unknown = MadeRun("unknown", 4, 10, 1e6);
  killed["run"]["state"] = "killed";
  unknown["metrics"]["total_cores"] = nullptr;
  unknown["quality"]["not_measured"]["total_cores"] = "no worker told its cores";
  const ScalingStudy study = Study({MadeRun("a", 1, 10, 1e6), killed, unknown});
  EXPECT_EQ(study.refused, "fewer than two runs can be compared");
  ASSERT_EQ(study.left_out.size(), 2u);
  EXPECT_EQ(study.left_out[0].reason, "it was killed");
  EXPECT_EQ(study.left_out[1].reason, "no worker told its cores");
  EXPECT_EQ(ScalingAsJson(study)["refused"], study.refused);
}

TEST(ScalingStudy, WhatMakesRunsHardToCompareIsNoted) {
  Json other = MadeRun("other", 4, 10, 1e6), few = MadeRun("few", 8, 10, 1e6), many = MadeRun("many", 2, 10, 1e6);
  other["datasets"][0]["name"] = "zjets";
  few["metrics"]["num_chunks"] = 3;
  many["metrics"]["oversubscribed_core_seconds"] = 30;
  few["budget"] = {{{"part", "compute"}, {"group", "compute"}, {"core_seconds", 40}},
                   {{"part", "cpu_wait"}, {"group", "waiting"}, {"core_seconds", 40}}};
  const ScalingStudy study = Study({MadeRun("a", 1, 10, 1e6), many, other, few});
  EXPECT_EQ(study.notes,
            (std::vector<std::string>{
                "many had more chunks open than the 2 cores that crema counted",
                "other processed other datasets than a",
                "few had only 3 chunks for 8 cores: the other cores had nothing to do",
                "few had no CPU for 50 % of the time in which chunks were ready to compute: others used its "
                "cores, or more threads ran than it had. So its rate is not that of its cores",
            }));
}

TEST(ScalingStudy, WithoutEventsChunksAreTheWork) {
  Json a = MadeRun("a", 1, 10, 1e6), b = MadeRun("b", 2, 5, 1e6);
  b["metrics"]["total_events"] = nullptr;
  EXPECT_EQ(Study({a, b}).work, "chunks");
  EXPECT_EQ(Study({a, b}).points[1].speedup, 2);
}

TEST(ScalingStudy, RunsOnEquallyManyCoresTellNothingOfOthers) {
  const ScalingStudy study = Study({MadeRun("a", 4, 10, 1e6), MadeRun("b", 4, 11, 1e6)});
  EXPECT_EQ(ScalingSentence(study), "All runs had 4 cores: nothing is known of others.");
}

}  // namespace
}  // namespace crema
