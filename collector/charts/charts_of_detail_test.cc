// Charts of single chunks: their figures are the detail's.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "collector/charts/chart.h"
#include "collector/charts/charts_fixture.h"
#include "collector/charts/families.h"

namespace crema {
namespace {

Chart Drawn(const std::string& name, const RunDetail& detail) {
  const Measurement measurement = MeasurementOf(MadeDocument());
  ChartInput input;
  input.measurement = &measurement;
  input.detail = &detail;
  const absl::StatusOr<Chart> chart = MakeChart(name, input);
  EXPECT_TRUE(chart.ok()) << chart.status();
  EXPECT_FALSE(chart->spec.is_null()) << chart->reason;
  return *chart;
}

TEST(RateCharts, TheAreaUnderTheRateIsTheEvents) {
  const std::vector<Json> rows = RowsWith(Drawn("throughput_timeline", MadeDetail()).spec["vconcat"][0], "t");
  ASSERT_GE(rows.size(), 3u);
  EXPECT_EQ(rows[0], (Json{{"t", 0.0}, {"v", 360.0}}));  // 1800 events in 5 s
  EXPECT_EQ(rows[1], (Json{{"t", 5.0}, {"v", 0.0}}));
}

TEST(RateCharts, DataHasAPanelOfItsOwn) {
  const Chart chart = Drawn("throughput_timeline", MadeDetail());
  ASSERT_EQ(chart.spec["vconcat"].size(), 2u);
  const std::vector<Json> rows = RowsWith(chart.spec["vconcat"][1], "t");
  EXPECT_EQ(rows[0]["v"], 8.0);  // 5 GB in 5 s
}

TEST(RateCharts, ActivitiesAddUpToTheCores) {
  double first = 0, cpu = 0;
  for (const Json& row : RowsWith(Drawn("activity_timeline", MadeDetail()).spec, "cores")) {
    if (row["t"] == 0.0) first += row["cores"].get<double>();
    if (row["t"] == 0.0 && row["part"] == "CPU in your code") cpu = row["cores"];
  }
  EXPECT_NEAR(first, 3, 1e-6);
  EXPECT_NEAR(cpu, 4.8 / 5, 1e-6);
}

TEST(RateCharts, CoresWithoutAChunkAreNotCalledIdle) {
  const Chart chart = Drawn("activity_timeline", MadeDetail());
  for (const Json& row : RowsWith(chart.spec, "cores")) EXPECT_NE(row["part"], "Idle");
  EXPECT_NE(chart.spec.dump().find("No chunk open"), std::string::npos);
}

TEST(RateCharts, TheTailBeginsWhereTheBudgetSaysSo) {
  EXPECT_NE(
      Drawn("progress_tail", MadeDetail()).subtitle.find("the tail began 6.00 s before the end (60 % of the run)"),
      std::string::npos);
}

TEST(ChunkCharts, TheHistogramCountsEveryChunkOnce) {
  const Chart chart = Drawn("runtime_distribution", MadeDetail());
  int64_t count = 0;
  for (const Json& row : RowsWith(chart.spec, "below")) count += row["count"].get<int64_t>();
  EXPECT_EQ(count, 3);
  EXPECT_EQ(Value(RowsWith(chart.spec, "words"), "words", "p95 3.00 s", "v"), 3.0);
}

TEST(ChunkCharts, WordsOfMarksNearTheEndStandOnTheirLeft) {
  std::map<std::string, std::string> sides;
  const Chart chart = Drawn("runtime_distribution", MadeDetail());
  for (const Json& layer : chart.spec["layer"]) {
    if (layer["mark"]["type"] != "text") continue;
    for (const Json& row : layer["data"]["values"]) sides[row["words"]] = layer["mark"]["align"];
  }
  // bins from 1 s to 5 s: 3 s is at 68 % of the logarithmic axis, 2 s at 43 %
  EXPECT_EQ(sides["median 2.00 s"], "left");
  EXPECT_EQ(sides["p95 3.00 s"], "right");
  EXPECT_EQ(sides["longest 4.00 s"], "right");
}

TEST(ChunkCharts, FewChunksArePointsAndStragglersStandOut) {
  const std::vector<Json> rows = RowsWith(Drawn("runtime_vs_events", MadeDetail()).spec, "kind");
  ASSERT_EQ(rows.size(), 3u) << "a failed attempt has no place here";
  EXPECT_EQ(rows[0]["kind"], "straggler");
  EXPECT_EQ(rows[0]["seconds"], 4.0);
  EXPECT_EQ(rows[0]["events"], 1000);
}

TEST(ChunkCharts, EachFitHasTheColourOfItsDatasetAndSaysWhatItTells) {
  RunDetail detail = MadeDetail();
  detail.fits = {{1, 0.25, 0.001, true, 4, 100, 300}, {0, 0.5, 0.003, true, 9, 500, 1000}};
  const Chart chart = Drawn("runtime_vs_events", detail);
  const Json& colour = chart.spec["layer"].back()["encoding"]["color"];
  const Json lines = {"ttbar: 500 ms + 3.00 ms per event", "zjets: 250 ms + 1.00 ms per event"};
  EXPECT_EQ(colour["scale"]["domain"], lines);
  EXPECT_EQ(colour["scale"]["range"], (Json{{{"expr", "dataset1Colour"}}, {{"expr", "dataset2Colour"}}}));
  const std::vector<Json> rows = RowsWith(chart.spec, "line");
  EXPECT_EQ(Value(rows, "line", lines[1], "events"), 100) << "a line says nothing beyond its own chunks";
  EXPECT_EQ(rows.back()["events"], 300);
}

TEST(ChunkCharts, AFitWithLessTimeForMoreEventsIsNoLine) {
  RunDetail detail = MadeDetail();
  detail.fits = {{0, 0.5, -0.003, true, 9, 500, 1000}};
  EXPECT_TRUE(RowsWith(Drawn("runtime_vs_events", detail).spec, "line").empty());
}

TEST(ChunkCharts, AFitThatBeginsBelowZeroStatesNoFixedTime) {
  RunDetail detail = MadeDetail();
  detail.fits = {{0, -0.09, 0.003, true, 9, 500, 1000}};
  const Chart chart = Drawn("runtime_vs_events", detail);
  EXPECT_EQ(chart.spec["layer"].back()["encoding"]["color"]["scale"]["domain"], Json{"ttbar: 3.00 ms per event"});
}

TEST(ChunkCharts, FitsAreOfDatasetsWhoseColoursAreToldApart) {
  RunDetail detail = MadeDetail();
  while (detail.datasets.size() < 20) detail.datasets.push_back(detail.datasets.back());
  detail.fits = {{0, 0.5, 0.003, true, 4, 500, 1000}, {18, 0.25, 0.001, true, 90, 100, 300}};
  const Chart chart = Drawn("runtime_vs_events", detail);
  EXPECT_EQ(chart.spec["layer"].back()["encoding"]["color"]["scale"]["domain"].size(), 1u);
}

TEST(ChunkCharts, ManyChunksAreCountedInCells) {
  RunDetail detail = MadeDetail();
  detail.is_exact = false;
  const Chart chart = Drawn("runtime_vs_events", detail);
  int64_t count = 0;
  for (const Json& row : RowsWith(chart.spec, "y2")) count += row["count"].get<int64_t>();
  EXPECT_EQ(count, 3);
  EXPECT_EQ(RowsWith(chart.spec, "kind").size(), 1u) << "the straggler stays";
}

TEST(ChunkCharts, TheSlowestAreSplitIntoWhatTheyDid) {
  double first = 0;
  for (const Json& row : RowsWith(Drawn("slowest_chunks", MadeDetail()).spec, "part")) {
    if (row["chunk"].get<std::string>().rfind("1. ", 0) == 0) first += row["seconds"].get<double>();
  }
  EXPECT_NEAR(first, 4, 1e-6);
}

TEST(AttemptCharts, EachAttemptHasABoxAndAFailureACross) {
  const Chart chart = Drawn("chunk_timeline", MadeDetail());
  EXPECT_EQ(RowsWith(chart.spec, "dataset").size(), 4u);
  const Json& crosses = chart.spec["layer"].back()["data"]["values"];
  ASSERT_EQ(crosses.size(), 1u);
  EXPECT_EQ(crosses[0]["from"], 3.0);
}

TEST(AttemptCharts, WaitingIsDrawnWhereItIsMoreThanAThird) {
  const Chart chart = Drawn("chunk_timeline", MadeDetail());
  EXPECT_EQ(chart.spec["layer"].size(), 3u) << "boxes, waiting, failures";
  EXPECT_NE(chart.subtitle.find("pale left part: waiting, above 32 %"), std::string::npos) << chart.subtitle;
  RunDetail detail = MadeDetail();
  for (DetailAttempt& attempt : detail.attempts) attempt.blocked_ns = 0;
  EXPECT_EQ(Drawn("chunk_timeline", detail).spec["layer"].size(), 2u);
}

TEST(AttemptCharts, FailuresSayWhatBecameOfThem) {
  const Chart chart = Drawn("failures_timeline", MadeDetail());
  EXPECT_EQ(chart.subtitle, "made · 1 failed, 0 lost, 1 repeated with success");
  EXPECT_EQ(Value(RowsWith(chart.spec, "kind"), "kind", "failed", "error"), "bad basket");
}

TEST(AttemptCharts, WithoutAFailureThereIsNothingToDraw) {
  RunDetail detail = MadeDetail();
  detail.attempts.resize(1);
  const Measurement measurement = MeasurementOf(MadeDocument());
  ChartInput input;
  input.measurement = &measurement;
  input.detail = &detail;
  EXPECT_EQ(MakeChart("failures_timeline", input)->reason, "no attempt failed, was lost or repeated");
}

TEST(InputCharts, TheProfileHasEveryValueOfAFewChunks) {
  const std::vector<Json> rows = RowsWith(Drawn("bytes_accessed_per_chunk", MadeDetail()).spec, "rank");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_DOUBLE_EQ(rows.back()["v"].get<double>(), 4e-6);
}

TEST(LaneCells, ATimelineOfManyAttemptsKeepsItsBusyTime) {
  RunDetail detail = MadeDetail();
  detail.attempts.clear();
  constexpr int kAttempts = 30'000;
  for (int i = 0; i < kAttempts; ++i) {
    detail.attempts.push_back(MadeAttempt(0, i * 10.0 / kAttempts, 10.0 / kAttempts, 1, AttemptState::kOk));
    detail.attempts.back().dataset = i < kAttempts / 2 ? 0 : 1;
  }
  const LaneCells lanes = LaneCellsOf(detail, 100);
  EXPECT_FALSE(lanes.is_exact);
  ASSERT_EQ(lanes.cells.size(), 2u) << "equal neighbours are one cell";
  EXPECT_NEAR(lanes.cells[0].stop_seconds, 5, 0.02);
  EXPECT_NEAR(lanes.cells[1].stop_seconds, 10, 0.02);
  EXPECT_EQ(lanes.cells[1].slot, 1u);
}

TEST(LaneCells, RunsOfALargeTimelineAreTakenAsTheyAre) {
  RunDetail detail = MadeDetail();
  detail.timeline_is_exact = false;
  detail.bins = 10;
  detail.bin_seconds = 1;
  DetailRun run;
  run.row = 1;
  run.first_bin = 2;
  run.bins = 4;
  run.slot = 1;
  run.busy = 8;
  detail.runs = {run};
  const LaneCells lanes = LaneCellsOf(detail, 100);
  ASSERT_EQ(lanes.cells.size(), 1u);
  EXPECT_EQ(lanes.cells[0].row, 1u);
  EXPECT_NEAR(lanes.cells[0].start_seconds, 2, 0.02);
  EXPECT_NEAR(lanes.cells[0].stop_seconds, 6, 0.02);
}

}  // namespace
}  // namespace crema
