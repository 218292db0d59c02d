// Coffea's reports beside records, and alone (docs/metrics.md, "Rules").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/metrics/measure.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MeasureCoffeaTest : public MeasureTest {
 protected:
  std::string Save(const std::string& name, const std::string& text) {
    const fs::path folder = directory_ / "json";
    fs::create_directories(folder);
    WriteText("json/" + name, text);
    return (folder / name).string();
  }
  static Document TakeAlone(const MeasureOptions& options) {
    const absl::StatusOr<MeasuredRun> measured = Measure(options);
    EXPECT_TRUE(measured.ok()) << measured.status();
    return measured.ok() ? JsonOf(measured->measurement) : Document();
  }
  static std::string Warnings(const Document& document) { return document["quality"]["warnings"].dump(); }
};

constexpr char kReport[] =
    R"({"bytesread": 4000, "columns": ["b", "a"], "entries": 300, "processtime": 12.0, "chunks": 3})";

TEST_F(MeasureCoffeaTest, FillsTheRunFromAReportAlone) {
  MeasureOptions options;
  options.coffea_reports = {Save("ttbar.json", kReport)};
  const Document document = TakeAlone(options);
  EXPECT_EQ(document["metrics"]["busy_time"], 12.0);
  EXPECT_EQ(document["metrics"]["total_cpu_time"], 12.0);
  EXPECT_EQ(document["metrics"]["num_chunks"], 3);
  EXPECT_EQ(document["metrics"]["total_events"], 300);
  EXPECT_EQ(document["metrics"]["total_bytes_read_coffea"], 4000);
  EXPECT_EQ(document["metrics"]["total_bytes_read"], 4000);
  EXPECT_EQ(document["metrics"]["bytes_read_compressed"], 4000);
  EXPECT_TRUE(document["metrics"]["bytes_read_chunks"].is_null());
  EXPECT_EQ(document["metrics"]["columns"], Document({"a", "b"}));
  EXPECT_EQ(document["metrics"]["num_columns_read"], 2);
  EXPECT_DOUBLE_EQ(Metric(document, "busy_time_per_chunk"), 4);
  EXPECT_DOUBLE_EQ(Metric(document, "event_rate_agg_khz"), 0.025);
  for (const char* source :
       {"busy_time_source", "num_chunks_source", "total_events_source", "bytes_source", "columns_source"}) {
    EXPECT_EQ(document["run"][source], "coffea_report") << source;
  }
  EXPECT_EQ(document["run"]["name"], "ttbar");
  EXPECT_EQ(document["run"]["state"], "finished");
  EXPECT_TRUE(document["run"]["boundary"].is_null());
  EXPECT_EQ(document["provenance"]["sources"].size(), 1u);
}

TEST_F(MeasureCoffeaTest, SaysWhyAReportAloneGivesNoTimesAttemptsOrCores) {
  MeasureOptions options;
  options.coffea_reports = {Save("ttbar.json", kReport)};
  const Document document = TakeAlone(options);
  const Document& reasons = document["quality"]["not_measured"];
  EXPECT_THAT(reasons["wall_time"].get<std::string>(), HasSubstr("a Coffea report holds no times"));
  EXPECT_THAT(reasons["event_rate_wall_khz"].get<std::string>(), HasSubstr("wall_time is not known"));
  for (const char* key : {"num_attempts", "num_failed_attempts", "chunk_cpu_time", "core_seconds", "cpu_efficiency"}) {
    EXPECT_TRUE(document["metrics"][key].is_null()) << key;
    EXPECT_TRUE(reasons.contains(key)) << key;
  }
  EXPECT_TRUE(document["quality"]["event_coverage"].is_null());
}

TEST_F(MeasureCoffeaTest, GivesRatesOfAReportWithinBoundsThatTheCallerSets) {
  MeasureOptions options;
  options.coffea_reports = {Save("ttbar.json", kReport)};
  options.start_ns = At(0);
  options.stop_ns = At(6);
  const Document document = TakeAlone(options);
  EXPECT_EQ(document["run"]["boundary"], "context");
  EXPECT_DOUBLE_EQ(Metric(document, "event_rate_wall_khz"), 0.05);
  EXPECT_DOUBLE_EQ(Metric(document, "overall_rate_gbps"), 4000 * 8 / 6.0 / 1e9);
  EXPECT_DOUBLE_EQ(Metric(document, "speedup_factor"), 2);
}

TEST_F(MeasureCoffeaTest, PrefersRecordsButForBytesAndKeepsBothValues) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 0, 4), ChunkLine(1, 4, 8), ChunkLine(2, 8, 12), EndLine(12)});
  MeasureOptions options;
  options.coffea_reports = {Save("ttbar.json", kReport)};
  const Document document = Take(options);
  EXPECT_EQ(document["metrics"]["total_events"], 300);
  EXPECT_EQ(document["run"]["total_events_source"], "records");
  EXPECT_EQ(document["run"]["busy_time_source"], "records");
  EXPECT_EQ(document["run"]["num_chunks_source"], "records");
  EXPECT_EQ(document["run"]["bytes_source"], "coffea_report");
  EXPECT_EQ(document["metrics"]["bytes_read_compressed"], 4000);
  EXPECT_EQ(document["metrics"]["total_bytes_read_coffea"], 4000);
  EXPECT_EQ(document["metrics"]["bytes_read_chunks"], 3000);
  EXPECT_DOUBLE_EQ(Metric(document, "overall_rate_mbs"), 4000 / 12.0 / 1e6);
  EXPECT_EQ(document["run"]["coffea_report"]["bytesread"], 4000);
  EXPECT_EQ(document["run"]["coffea_report"]["entries"], 300);
  EXPECT_EQ(document["run"]["coffea_report"]["processtime"], 12.0);
  EXPECT_EQ(document["run"]["coffea_report"]["chunks"], 3);
  EXPECT_EQ(document["quality"]["event_coverage"], 1.0);
  EXPECT_THAT(Warnings(document), HasSubstr("bytes read: 4 000 in the Coffea report, 3 000 in the records (25 %"));
  EXPECT_THAT(Warnings(document), HasSubstr("Coffea counts the bytes of opening files, too"));
  EXPECT_THAT(Warnings(document), Not(HasSubstr("events:"))) << "equal values give no warning";
}

TEST_F(MeasureCoffeaTest, WarnsOfADifferenceOfOverOnePercent) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 100; ++i) lines.push_back(ChunkLine(i, i, i + 1));
  lines.push_back(EndLine(100));
  Write("a.jsonl", lines);
  MeasureOptions options;
  options.coffea_reports = {Save("r.json", R"({"entries": 10101, "processtime": 101.5, "chunks": 99})")};
  const Document document = Take(options);
  EXPECT_THAT(Warnings(document), HasSubstr("busy time in s: 100 in the records, 101.5 in the Coffea report"));
  EXPECT_THAT(Warnings(document), Not(HasSubstr("events:"))) << "10000 of 10101 are 1.0 % apart, not over it";
  EXPECT_THAT(Warnings(document), Not(HasSubstr("chunks:")));
  EXPECT_NEAR(document["quality"]["event_coverage"].get<double>(), 10000 / 10101.0, 1e-12);
}

TEST_F(MeasureCoffeaTest, AddsUpTheReportsOfSeveralRunnerCalls) {
  MeasureOptions options;
  options.coffea_reports = {Save("a.json", kReport), Save("b.json", R"({"entries": 50, "columns": ["c", "a"]})")};
  const Document document = TakeAlone(options);
  EXPECT_EQ(document["metrics"]["total_events"], 350);
  EXPECT_EQ(document["metrics"]["num_chunks"], 3);
  EXPECT_EQ(document["metrics"]["num_columns_read"], 3);
  EXPECT_EQ(document["run"]["coffea_report"]["reports"], 2);
}

TEST_F(MeasureCoffeaTest, CoverageIsUnknownWhereSeveralReportsCountChunksThatWereComputedAgain) {
  MeasureOptions options;
  options.coffea_reports = {Save("a.json", R"({"entries": 200, "processtime": 2.0})"),
                            Save("b.json", R"({"entries": 200, "processtime": 1.9})")};
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 4; ++i) {
    Line line = ChunkLine(i % 2, i, i + 1);
    line["chunk"] = i;
    lines.push_back(line);
  }
  Write("a.jsonl", lines);
  const Document document = Take(options);
  EXPECT_EQ(document["metrics"]["total_events"], 200);
  EXPECT_EQ(document["metrics"]["num_recomputed_chunks"], 2);
  EXPECT_TRUE(document["quality"]["event_coverage"].is_null());
  options.coffea_reports.pop_back();
  EXPECT_EQ(Take(options)["quality"]["event_coverage"], 1.0);
  options.coffea_reports = {
      Save("twice.json", R"({"entries": 400})")};  // Coffea counts a chunk as often as it computed it
  EXPECT_EQ(Take(options)["quality"]["event_coverage"], 1.0);
  options.coffea_reports = {Save("a.json", R"({"entries": 300})"), Save("b.json", R"({"entries": 301})")};
  EXPECT_DOUBLE_EQ(Take(options)["quality"]["event_coverage"].get<double>(), 200 / 601.0);
}

TEST_F(MeasureCoffeaTest, TakesAReportWhereProcessesRecordedNoChunk) {
  Write("a.jsonl", {ProcessLine(1, 0), EndLine(10)});
  MeasureOptions options;
  options.coffea_reports = {Save("r.json", kReport)};
  const Document document = Take(options);
  EXPECT_EQ(document["metrics"]["num_chunks"], 3);
  EXPECT_EQ(document["metrics"]["num_attempts"], 0);
  EXPECT_DOUBLE_EQ(Metric(document, "event_rate_wall_khz"), 0.03);
  EXPECT_TRUE(document["quality"]["event_coverage"].is_null()) << "no guard was there to record an event";
}

constexpr char kByDataset[] =
    R"({"wjets": {"entries": 500, "duration": 20.0, "performance_counters": {"num_requested_bytes": 2000}},
        "ttbar": {"entries": 100, "duration": 30.0, "performance_counters": {"num_requested_bytes": 3000}}})";

TEST_F(MeasureCoffeaTest, FillsDatasetRowsAndTotalsFromMetricsByDataset) {
  MeasureOptions options;
  options.metrics_by_dataset = {Save("d.json", kByDataset)};
  const Document document = TakeAlone(options);
  ASSERT_EQ(document["datasets"].size(), 2u);
  const Document& row = document["datasets"][0];
  EXPECT_EQ(row["name"], "ttbar");
  EXPECT_EQ(row["events"], 100);
  EXPECT_EQ(row["bytes_read"], 3000);
  EXPECT_EQ(row["duration_sum"], 30.0);
  EXPECT_DOUBLE_EQ(row["event_rate"].get<double>(), 100 / 30.0);
  for (const char* field : {"chunks", "attempts", "failed", "lost", "duration_mean", "cpu_sum"}) {
    EXPECT_TRUE(row[field].is_null()) << field;
  }
  EXPECT_EQ(document["metrics"]["total_events"], 600);
  EXPECT_EQ(document["metrics"]["busy_time"], 50.0);
  EXPECT_EQ(document["metrics"]["bytes_read_compressed"], 5000);
  EXPECT_TRUE(document["metrics"]["total_bytes_read_coffea"].is_null()) << "there is no report";
  EXPECT_TRUE(document["metrics"]["num_chunks"].is_null()) << "never chunk records";
  EXPECT_EQ(document["run"]["datasets_source"], "metrics_by_dataset");
  EXPECT_EQ(document["run"]["total_events_source"], "metrics_by_dataset");
}

TEST_F(MeasureCoffeaTest, KeepsRecordedDatasetsAndAddsThoseThatNoRecordNames) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 0, 30), EndLine(30)});
  MeasureOptions options;
  options.metrics_by_dataset = {Save("d.json", kByDataset)};
  const Document document = Take(options);
  ASSERT_EQ(document["datasets"].size(), 2u);
  EXPECT_EQ(document["datasets"][0]["name"], "ttbar");
  EXPECT_EQ(document["datasets"][0]["bytes_read"], 1000) << "the records'";
  EXPECT_EQ(document["datasets"][1]["name"], "wjets");
  EXPECT_TRUE(document["datasets"][1]["attempts"].is_null());
  EXPECT_EQ(document["run"]["datasets_source"], "mixed");
  EXPECT_EQ(document["metrics"]["total_events"], 100) << "the records'";
  EXPECT_THAT(Warnings(document), HasSubstr("dataset wjets: only in the metrics by dataset"));
  EXPECT_THAT(Warnings(document),
              HasSubstr("dataset ttbar, bytes read: 1 000 in the records, 3 000 in the metrics by"));
  EXPECT_THAT(Warnings(document), Not(HasSubstr("dataset ttbar, events")));
  EXPECT_THAT(Warnings(document), HasSubstr("events: 100 in the records, 600 in the metrics by dataset"));
}

TEST_F(MeasureCoffeaTest, RefusesABadFileAndTakesTheRestOfOneWithABadEntry) {
  MeasureOptions options;
  options.coffea_reports = {Save("bad.json", "{")};
  const absl::Status status = Measure(options).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("bad.json:1: is not JSON"));
  options.coffea_reports.clear();
  options.metrics_by_dataset = {Save("d.json", R"({"a": {"entries": 3}, "b": 4})")};
  const Document document = TakeAlone(options);
  EXPECT_EQ(document["metrics"]["total_events"], 3);
  EXPECT_THAT(Warnings(document), HasSubstr("`b`: is not an object; it was left out"));
}

}  // namespace
}  // namespace crema
