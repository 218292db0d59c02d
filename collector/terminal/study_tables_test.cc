// What `crema predict`, `crema scaling` and `crema history` print for people.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "collector/history/run_history.h"
#include "collector/scaling/scaling_study.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

constexpr TerminalStyle kWide = {140, false, false};

Prediction MadePrediction() {
  Prediction prediction;
  prediction.measured = 10;
  prediction.replayed = 9.9;
  prediction.rows.resize(4);
  prediction.rows[0].change = "--cores 8";
  prediction.rows[0].wall_time = {5, 4, 6};
  prediction.rows[0].core_seconds.value = 40;
  prediction.rows[0].cpu.value = 30;
  prediction.rows[0].free.value = 10;
  prediction.rows[0].efficiency.value = 0.5;
  prediction.rows[0].lanes = 12;
  prediction.rows[1].change = "--workers 2";
  prediction.rows[1].why_not = "it has one worker";
  prediction.rows[2].change = "--workers 4";
  prediction.rows[2].why_not = "it has one worker";
  prediction.rows[3] = prediction.rows[0];
  prediction.rows[3].change = "--cores 2";
  prediction.rows[3].cpu_known = false;
  return prediction;
}

TEST(PredictionTable, HasARowForEachAnswerAndASentenceForEachReason) {
  const std::string text = RenderPrediction(MadePrediction(), kWide);
  EXPECT_EQ(text,
            "The run took 10.0 s. Its chunks, replayed with nothing changed, take 9.90 s.\n"
            "with       chunks at once  wall time  change   90 % of runs      core time  CPU efficiency  chunks open\n"
            "--cores 8              12     5.00 s  -50.0 %  4.00 s to 6.00 s     40.0 s          50.0 %       75.0 %\n"
            "--cores 2              12     5.00 s  -50.0 %  4.00 s to 6.00 s     40.0 s               –       75.0 %\n"
            "not predicted for --workers 2, --workers 4: it has one worker\n");
}

TEST(PredictionTable, SaysThatWithoutWaitingMeansNeverBlocked) {
  Prediction prediction = MadePrediction();
  EXPECT_FALSE(absl::StrContains(RenderPrediction(prediction, kWide), "--without-waiting"));
  prediction.rows[3].change = "--without-waiting";
  EXPECT_TRUE(absl::StrContains(RenderPrediction(prediction, kWide),
                                "--without-waiting: nothing blocks chunks, but they still wait for GPUs and for a CPU "
                                "that others use\n"));
}

TEST(PredictionTable, OfEventsSaysWhatLimitsThem) {
  Prediction prediction = MadePrediction();
  for (PredictedRow& row : prediction.rows) row.lanes = std::nullopt;
  prediction.basis = "Events came.";
  prediction.rows[0].limited_by = "module fit";
  const std::string text = RenderPrediction(prediction, kWide);
  EXPECT_TRUE(absl::StrContains(text, "The run took 10.0 s. Events came.\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "  range             limited by  core time")) << text;
  EXPECT_TRUE(absl::StrContains(text, "  4.00 s to 6.00 s  module fit")) << text;
  EXPECT_TRUE(absl::StrContains(text, "tasks at work")) << text;
  EXPECT_FALSE(absl::StrContains(text, "chunks at once")) << text;
}

ScalingStudy MadeStudy() {
  ScalingStudy study;
  study.points.resize(2);
  study.points[0].name = "on two";
  study.points[1].name = "on eight";
  for (ScalingPoint& point : study.points) {
    point.cores = 2;
    point.wall_time = 10;
    point.throughput = 1000;
    point.speedup = 1;
    point.efficiency = 1;
    point.core_seconds = 20;
    point.cost = 1;
  }
  study.points[1].cores = 8;
  study.points[1].cores_vary = true;
  return study;
}

TEST(ScalingTable, OfMeasuredRunsHasNoRangeAndNoEvents) {
  ScalingStudy study = MadeStudy();
  study.why_no_law = "too few";
  EXPECT_EQ(RenderScaling(study, kWide),
            ScalingSentence(study) +
                "\n"
                "run       cores         wall time   rate  speed-up  efficiency  core-seconds  cost\n"
                "on two    2                10.0 s  1 k/s         1     100.0 %            20     1\n"
                "on eight  on average 8     10.0 s  1 k/s         1     100.0 %            20     1\n"
                "no fit: too few\n");
}

TEST(ScalingTable, OfAPredictionHasTheRange) {
  ScalingStudy study = MadeStudy();
  study.is_predicted = true;
  study.points[1].predicted = true;
  study.points[1].low = 9;
  study.points[1].high = 11;
  study.points[0].lanes = 3;
  study.points[1].lanes = 12;
  const std::string text = RenderScaling(study, kWide);
  EXPECT_TRUE(absl::StrContains(text, "wall time  90 % of runs       rate")) << text;
  EXPECT_TRUE(absl::StrContains(text, "10.0 s  9.00 s to 11.0 s")) << text;
  EXPECT_TRUE(absl::StrContains(text, "10.0 s  –  ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "chunks at once")) << text;
  EXPECT_TRUE(absl::StrContains(ScalingSentence(study),
                                "on 8 cores with 12 chunks at once, events per second are 1.0 times those on 2 cores "
                                "with 3 chunks at once"));
}

TEST(ScalingTable, OfRunsWithEventsSaysHowManyWereOpen) {
  ScalingStudy study = MadeStudy();
  study.points[0].streams = 3;
  study.points[0].latency = 0.5;
  EXPECT_TRUE(absl::StrContains(RenderScaling(study, kWide), "cost  events open  latency\n"));
}

TEST(ScalingTable, FitsHaveTheirIntervals) {
  ScalingStudy study = MadeStudy();
  study.laws.resize(2);
  study.laws[0].law = "amdahl";
  study.laws[0].sigma = {0.1, 0.05, 0.2};
  study.laws[0].error = 0.01;
  study.laws[1] = study.laws[0];
  study.laws[1].law = "usl";
  study.laws[1].kappa = {0.01, 0, std::nullopt};
  study.laws[1].fastest = {std::nullopt, 40, std::nullopt};
  study.laws[1].worthwhile = {12, 10, 15};
  const std::string text = RenderScaling(study, kWide);
  EXPECT_TRUE(absl::StrContains(text, "Amdahl  10 % (5.0 % to 20 %)  –                    –                  none  "))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "  none (40 or more)  12 (10 to 15)")) << text;
}

RunHistory MadeHistory() {
  RunHistory history;
  history.metric = "wall_time";
  history.unit = "s";
  history.runs.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    history.runs[i].directory = "runs/" + std::to_string(i);
    history.runs[i].start_ns = static_cast<int64_t>(i) * 60'000'000'000;
    history.runs[i].values["wall_time"] = i == 0 ? 1 : 2;
  }
  history.runs[1].commit = "0123456789abcdef";
  history.levels.resize(2);
  history.levels[0].place = {0, 1, 0, 0, 0};
  history.levels[0].value = 1;
  history.levels[1].place = {1, 3, 1, 2, 0};
  history.levels[1].value = 2;
  history.levels[1].since_before = {1, 0.5, 1.5};
  return history;
}

TEST(HistoryTables, MarkTheRunAtWhichALevelBegan) {
  RunHistory history = MadeHistory();
  history.notes = {"no run has a host"};
  history.left_out.assign(6, {"runs/9", "it was killed"});
  const std::string text = RenderHistory(history, 2, kWide);
  EXPECT_TRUE(absl::StrContains(text,
                                "wall_time of the latest 2 of 3 runs\n"
                                "began (UTC)       run     commit        value   change\n"
                                "1970-01-01 00:01  runs/1  0123456789ab  2.00 s  +100.0 %\n"
                                "1970-01-01 00:02  runs/2  –             2.00 s\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text,
                                "levels, with 90 % ranges\n"
                                "since (UTC)       runs  level   change    range                first with\n"
                                "1970-01-01 00:00     1  1.00 s  –         –                    –\n"
                                "1970-01-01 00:01     2  2.00 s  +100.0 %  +50.0 % to +150.0 %  0123456789ab\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "note: no run has a host\nleft out: runs/9: it was killed\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "left out: 1 more (--json)\n")) << text;
}

TEST(HistoryTables, CutTheDigitsOfAHashAndNoOtherNameOfACommit) {
  RunHistory history = MadeHistory();
  history.runs[2].commit = "analysis-v1.2";
  EXPECT_TRUE(absl::StrContains(RenderHistory(history, 2, kWide), "  analysis-v1.2  2.00 s"));
}

}  // namespace
}  // namespace crema
