// Charts that need the document only: their figures are the document's.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "collector/charts/chart.h"
#include "collector/charts/charts_fixture.h"
#include "collector/idioms/normal_distribution.h"

namespace crema {
namespace {

Chart ChartOfDocument(const std::string& name, const Json& document, const Json* baseline = nullptr) {
  const Measurement measurement = MeasurementOf(document);
  const Measurement other = baseline == nullptr ? Measurement() : MeasurementOf(*baseline);
  ChartInput input;
  input.measurement = &measurement;
  if (baseline != nullptr) input.baseline = &other;
  const absl::StatusOr<Chart> chart = MakeChart(name, input);
  EXPECT_TRUE(chart.ok()) << chart.status();
  EXPECT_FALSE(chart->spec.is_null()) << chart->reason;
  return *chart;
}

double SumOf(const std::vector<Json>& rows, const std::string& field) {
  double sum = 0;
  for (const Json& row : rows) sum += row[field].get<double>();
  return sum;
}

TEST(BudgetCharts, PartsAddUpToTheCoreSeconds) {
  const Chart chart = ChartOfDocument("activity_breakdown", MadeDocument());
  const std::vector<Json> rows = RowsWith(chart.spec, "part");
  EXPECT_DOUBLE_EQ(SumOf(rows, "seconds"), 36);
  EXPECT_NEAR(SumOf(rows, "share"), 100, 1e-3);
  EXPECT_EQ(Value(rows, "part", "waiting for a CPU", "group"), "Waiting in your code");
}

TEST(BudgetCharts, TheBaselineIsATickInEachPart) {
  Json other = MadeDocument();
  other["budget"][0]["core_seconds"] = 54;
  const Chart chart = ChartOfDocument("activity_breakdown", MadeDocument(), &other);
  EXPECT_NEAR(Value(RowsWith(chart.spec, "part"), "part", "CPU", "baseline").get<double>(), 75, 1e-3);
}

TEST(BudgetCharts, BulletsAreJudgedByTheBandsOfTheSummary) {
  const Chart chart = ChartOfDocument("efficiency_summary", MadeDocument());
  const std::vector<Json> rows = RowsWith(chart.spec, "words");
  EXPECT_EQ(Value(rows, "figure", "CPU efficiency", "share"), 50.0);
  EXPECT_EQ(Value(rows, "figure", "CPU efficiency", "words"), "50.0 % · watch (good ≥ 70 %)");
  EXPECT_NEAR(Value(rows, "figure", "failed or lost, of attempts", "share").get<double>(), 100 * 2.0 / 12, 1e-3);
  EXPECT_EQ(Value(rows, "figure", "failed or lost, of attempts", "sign"), "✕");
}

TEST(BudgetCharts, AFigureThatWasNotMeasuredHasNoBar) {
  Json document = MadeDocument();
  document["metrics"]["cpu_efficiency"] = nullptr;
  const Chart chart = ChartOfDocument("efficiency_summary", document);
  EXPECT_EQ(Value(RowsWith(chart.spec, "figure"), "figure", "CPU efficiency", "share"), nullptr);
}

TEST(SectionCharts, InnerSectionsStandInsideWhatEnclosesThem) {
  const Chart chart = ChartOfDocument("section_icicle", MadeDocument());
  const std::vector<Json> rows = RowsWith(chart.spec, "level");
  EXPECT_EQ(Value(rows, "path", "load", "level"), 0);
  EXPECT_EQ(Value(rows, "path", "load/read", "level"), 1);
  EXPECT_GE(Value(rows, "path", "load/read", "from"), Value(rows, "path", "load", "from"));
  EXPECT_LE(Value(rows, "path", "load/read", "to"), Value(rows, "path", "load", "to"));
  EXPECT_EQ(Value(rows, "path", "load", "kind"), "mostly waiting");
  EXPECT_EQ(Value(rows, "path", "analyse", "kind"), "mostly CPU");
  EXPECT_EQ(Value(rows, "path", "fill", "from"), nullptr) << "a helper's time is not inside its owner's";
  // the outermost ones fill the width
  double width = 0;
  for (const Json& row : rows) {
    if (row["level"] == 0) width += row["to"].get<double>() - row["from"].get<double>();
  }
  EXPECT_NEAR(width, 100, 1e-3);
}

/// Fault [shown]: sections without a name, inside one another
/// Shown: each in its place
TEST(SectionCharts, SectionsWithoutANameStandWhereTheyWere) {
  // `TrackSection("")`, twice inside itself, and once inside a section that has a name.
  Json document = MadeDocument();
  const Json row = document["sections"][0];
  document["sections"] = Json::array();
  for (const auto& [path, total] : {std::pair("", 6.0), {"/", 4.0}, {"//", 1.0}, {"read", 2.0}, {"read/", 1.0}}) {
    document["sections"].push_back(row);
    document["sections"].back()["path"] = path;
    document["sections"].back()["total"] = document["sections"].back()["self"] = total;
    document["sections"].back()["helper"] = false;
  }
  const Chart chart = ChartOfDocument("section_icicle", document);
  const std::vector<Json> rows = RowsWith(chart.spec, "level");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(Value(rows, "path", "//", "level"), 2);
  EXPECT_EQ(Value(rows, "path", "//", "to"), 12.5);
  EXPECT_EQ(Value(rows, "path", "read/", "level"), 1);
  EXPECT_EQ(Value(rows, "path", "read/", "from"), 75);
}

TEST(SectionCharts, SelfTimesAreTheDocuments) {
  const Chart chart = ChartOfDocument("section_self_time", MadeDocument());
  const std::vector<Json> rows = RowsWith(chart.spec, "self");
  EXPECT_EQ(Value(rows, "section", "load", "self"), 2.0);
  EXPECT_EQ(Value(rows, "section", "fill (helper)", "self"), 3.0);
  EXPECT_EQ(Value(rows, "section", "load", "words"), "2.00 s · 10 %");
  EXPECT_EQ(rows.front()["section"], "analyse") << "largest first";
}

TEST(FineCharts, WorkersAreSummedAndWhatBelongsToNoTaskIsLeftOut) {
  const Chart chart = ChartOfDocument("fine_by_function", MadeDocument());
  double cpu = 0, all = 0;
  for (const Json& row : RowsWith(chart.spec, "activity")) {
    all += row["v"].get<double>();
    if (row["activity"] == "thread-cpu") cpu += row["v"].get<double>();
  }
  EXPECT_DOUBLE_EQ(cpu, 18);
  EXPECT_DOUBLE_EQ(all, 23);
  EXPECT_NE(chart.subtitle.find("covers 98 % of task time"), std::string::npos);
}

TEST(FineCharts, TransfersStandApart) {
  const Chart chart = ChartOfDocument("fine_by_activity", MadeDocument());
  EXPECT_EQ(Value(RowsWith(chart.spec, "place"), "activity", "network", "place"), "between workers");
}

TEST(WorkerCharts, OpenChunksAreSummedOverWorkers) {
  const Chart chart = ChartOfDocument("concurrency_timeline", MadeDocument());
  // 2 for 8 s, and 1 for 6 s, of 2 x 10 + 2 x 8 core-seconds
  EXPECT_EQ(chart.subtitle, "made · 2.20 chunks open on average, of 3.60 cores");
}

TEST(WorkerCharts, AWorkerThatIsNotThereHasNoCells) {
  const Chart chart = ChartOfDocument("cpu_heatmap", MadeDocument());
  const auto rows = RowsWith(chart.spec, "v");
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    const bool comes_later = row["name"] == "2";
    EXPECT_GE(row["from"].get<double>(), comes_later ? 1.9 : 0) << row;
    EXPECT_NEAR(row["v"].get<double>(), comes_later ? 25 : 50, 1e-3);
  }
}

TEST(WorkerCharts, BalanceAddsUpToTheCoresOfEachWorker) {
  double first = 0;
  for (const Json& row : RowsWith(ChartOfDocument("worker_balance", MadeDocument()).spec, "part")) {
    if (row["worker"] == "1") first += row["seconds"].get<double>();
  }
  EXPECT_DOUBLE_EQ(first, 20);
}

TEST(WorkerCharts, TasksNeedAScheduler) {
  Json document = MadeDocument();
  document["timelines"]["worker_active_tasks"] = nullptr;
  const Measurement measurement = MeasurementOf(document);
  ChartInput input;
  input.measurement = &measurement;
  EXPECT_NE(MakeChart("total_active_tasks_timeline", input)->reason.find("no scheduler"), std::string::npos);
}

TEST(DatasetCharts, FilesAreSortedFromTheSlowest) {
  const std::vector<Json> rows = RowsWith(ChartOfDocument("file_read_rates", MadeDocument()).spec, "words");
  EXPECT_EQ(rows.front()["name"], "b.root");
  EXPECT_DOUBLE_EQ(rows.front()["v"].get<double>(), 0.1);
}

TEST(DatasetCharts, FilesOfOneNameHaveABarEach) {
  Json document = MadeDocument();
  document["files"][1]["name"] = "other/a.root";
  document["files"][0]["name"] = "run/a.root";
  const std::vector<Json> rows = RowsWith(ChartOfDocument("file_read_rates", document).spec, "words");
  EXPECT_EQ(rows[0]["name"], "other/a.root");
  EXPECT_EQ(rows[1]["name"], "run/a.root");
}

TEST(CustomCharts, AHistogramHasBarsFromZero) {
  const Json layer = ChartOfDocument("custom_jets", MadeDocument()).spec["vconcat"][0]["layer"][0];
  EXPECT_EQ(layer["encoding"]["y2"], (Json{{"datum", 0}}));
  EXPECT_EQ(layer["encoding"]["y"]["scale"], (Json{{"zero", true}}));
}

TEST(CustomCharts, FiguresAreByDataset) {
  const std::vector<Json> rows = RowsWith(ChartOfDocument("custom_jets", MadeDocument()).spec, "min");
  EXPECT_EQ(Value(rows, "name", "all datasets", "sum"), 50.0);
  EXPECT_EQ(Value(rows, "name", "ttbar", "p50"), 6.0);
}

TEST(TreeCharts, BytesHaveAPanelWhereThereWereAny) {
  Json document = MadeDocument();
  Json& timelines = document["timelines"];
  EXPECT_EQ(ChartOfDocument("process_timeline", document).spec.dump().find("calls [MB/s]"), std::string::npos);
  timelines["tree_rchar_bps"] = {{"node:7", {{0, 5e6}, {8, 0}}}};
  timelines["tree_net_rx_bps"] = {{"node:7", {{0, 0}}}};
  const Chart chart = ChartOfDocument("process_timeline", document);
  EXPECT_NE(chart.spec.dump().find("calls [MB/s]"), std::string::npos) << "a page cache serves what no device does";
  EXPECT_EQ(chart.spec.dump().find("network [MB/s]"), std::string::npos) << "nothing came";
  timelines["tree_net_rx_bps"] = {{"node:7", {{0, 2e6}, {8, 0}}}};
  document["run"]["net_host_wide"] = true;
  EXPECT_NE(ChartOfDocument("process_timeline", document).spec.dump().find("received by the whole host"),
            std::string::npos);
}

TEST(TreeCharts, WhatWasUsedOutsideTheSamplesIsNobodys) {
  Json document = MadeDocument();
  Json& timelines = document["timelines"];
  timelines["process_cpu"] = {{"sort:11", {{2, 1}, {8, 0}}}};
  timelines["process_memory"] = timelines["tree_memory"] = nullptr;
  for (int i = 0; i < 7; ++i) {
    timelines["process_cpu"]["w:" + std::to_string(20 + i)] = {{4, 0.02}, {8, 0}};
  }
  std::map<std::string, double> first, later;
  for (const Json& row : RowsWith(ChartOfDocument("process_timeline", document).spec["vconcat"][0], "process")) {
    if (row["t"] == 1.0) first[row["process"]] = row["v"];
    if (row["t"] == 5.0) later[row["process"]] = row["v"];
  }
  EXPECT_EQ(first, (std::map<std::string, double>{{"not known by process", 1.5}})) << "no process was sampled yet";
  EXPECT_NEAR(later["other processes"], 2 * 0.02, 1e-9) << "six have a colour of their own";
  EXPECT_NEAR(later["not known by process"], 1.5 - 1 - 7 * 0.02, 1e-9);
}

TEST(TreeCharts, OverTheProcessesStandTheKernelAndProportionalMemory) {
  Json document = MadeDocument();
  document["timelines"]["tree_cpu_system"] = {{"node:7", {{0, 0.5}, {8, 0}}}};
  document["timelines"]["tree_pss"] = {{"node:7", {{0, 2097152}, {8, 0}}}};
  const Chart chart = ChartOfDocument("process_timeline", document);
  EXPECT_EQ(chart.spec["vconcat"][0]["layer"][1]["data"]["values"][0]["v"], 0.5);
  const Json& memory = chart.spec["vconcat"][1]["layer"][1];
  EXPECT_EQ(memory["mark"]["type"], "point") << "it is read now and then";
  EXPECT_EQ(memory["data"]["values"], (Json{{{"t", 0.0}, {"v", 2.0}}})) << "an end has no value";
  EXPECT_NE(chart.subtitle.find("line: CPU in the kernel; diamonds: proportional memory"), std::string::npos);
}

TEST(CustomCharts, CutsThatCanBeSeenAreBarsFromZero) {
  const Chart chart = ChartOfDocument("cut_flow", MadeDocument());
  EXPECT_EQ(chart.spec["layer"][0]["mark"]["type"], "bar");
  EXPECT_FALSE(chart.spec["layer"][0]["encoding"]["x"].contains("scale"));
  EXPECT_EQ(Value(RowsWith(chart.spec, "cut"), "cut", "impossible", "drawn"), 0.0);
  EXPECT_NE(chart.subtitle.find("0 of 1 000 events are left"), std::string::npos);
}

TEST(CustomCharts, CutsOfManyMagnitudesArePointsOnALogarithmicAxis) {
  Json document = MadeDocument();
  document["cuts"][1]["events"] = 9;
  const Chart chart = ChartOfDocument("cut_flow", document);
  const Json& layer = chart.spec["layer"][0];
  EXPECT_EQ(layer["mark"]["type"], "point");
  EXPECT_EQ(layer["encoding"]["x"]["scale"]["type"], "log");
  EXPECT_EQ(layer["encoding"]["x"]["title"], "events after the cut (logarithmic)");
  const std::vector<Json> rows = RowsWith(chart.spec, "cut");
  EXPECT_EQ(Value(rows, "cut", "impossible", "events"), 0.0);
  EXPECT_GT(Value(rows, "cut", "impossible", "drawn").get<double>(), 0);
}

TEST(ComparisonCharts, AMeanHasTheIntervalOfItsChunks) {
  Json other = MadeDocument();
  other["metrics"]["chunk_duration_mean"] = 1.6;
  const Chart chart = ChartOfDocument("compare_chunk_duration_mean", MadeDocument(), &other);
  const std::vector<Json> rows = RowsWith(chart.spec, "role");
  // 10 attempts ended well
  EXPECT_NEAR(Value(rows, "role", "this run", "high").get<double>(), 2 + kSigmasTo975 * 0.5 / std::sqrt(10.0), 1e-9);
  EXPECT_NE(chart.subtitle.find("+25.0 % against the baseline"), std::string::npos);
}

TEST(ComparisonCharts, ASingleValueHasNoInterval) {
  const Json other = MadeDocument();
  const Chart chart = ChartOfDocument("compare_wall_time", MadeDocument(), &other);
  EXPECT_TRUE(RowsWith(chart.spec, "low").empty());
}

Json DocumentOfEvents() {
  Json document = MadeDocument();
  const Json edges = {0.1, 1.0, 10.0};
  document["events"] = {{{"dataset", "few"},
                         {"events", 2},
                         {"latency_seconds", 4},
                         {"active_seconds", 1},
                         {"queued_seconds", 1},
                         {"external_seconds", 1},
                         {"rest_seconds", 1},
                         {"histogram", {{"edges", edges}, {"counts", {1u, 1u}}}}},
                        {{"dataset", "many"},
                         {"events", 8},
                         {"latency_seconds", 6},
                         {"active_seconds", 6},
                         {"queued_seconds", 0},
                         {"external_seconds", 0},
                         {"rest_seconds", 0},
                         {"p50_seconds", 0.5},
                         {"max_seconds", 1.5},
                         {"histogram", {{"edges", edges}, {"counts", {6u, 2u}}}}}};
  for (const char* part : {"active", "queued", "external", "rest"}) {
    document["timelines"]["event_latency"][part] = {{0, 0.25}, {5, 0.5}, {10, nullptr}};
  }
  return document;
}

TEST(EventCharts, DatasetsAreStackedLargestFirst) {
  const Chart chart = ChartOfDocument("event_latencies", DocumentOfEvents());
  const std::vector<Json> rows = RowsWith(chart.spec, "above");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["dataset"], "many");
  EXPECT_EQ(rows[0]["above"], 6.0);
  EXPECT_EQ(rows[2]["dataset"], "few");
  EXPECT_EQ(rows[2]["below"], 6.0);
  EXPECT_EQ(rows[2]["above"], 7.0);
  EXPECT_NE(chart.subtitle.find("many: 8 events, median 500 ms"), std::string::npos) << chart.subtitle;
}

TEST(EventCharts, TheFourPartsOfTheLatencyAreStackedOverTime) {
  const Chart chart = ChartOfDocument("event_latency_timeline", DocumentOfEvents());
  double first = 0;
  for (const Json& row : RowsWith(chart.spec, "part")) {
    if (row["t"] == 0.0) first += row["seconds"].get<double>();
    if (row["t"] == 10.0) {
      EXPECT_EQ(row["seconds"], 0.0) << "no event ended after that";
    }
  }
  EXPECT_EQ(first, 1.0);
  EXPECT_NE(chart.subtitle.find("at work 70 %, queued 10 %"), std::string::npos) << chart.subtitle;
}

TEST(EventCharts, ARunWithoutEventsHasNone) {
  const Measurement measurement = MeasurementOf(MadeDocument());
  ChartInput input;
  input.measurement = &measurement;
  for (const char* name : {"event_latencies", "event_latency_timeline"}) {
    EXPECT_NE(MakeChart(name, input)->reason.find("TrackEvent"), std::string::npos);
  }
}

}  // namespace
}  // namespace crema
