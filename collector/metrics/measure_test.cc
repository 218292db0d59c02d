// Whole measurements from literal records: what a reader of measurement.json relies on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "collector/metrics/catalog.h"
#include "collector/metrics/measurement.h"
#include "collector/metrics/record_lines.h"

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    directory_ = fs::path(::testing::TempDir()) / ("measure_" + name);
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~MeasureTest() override { fs::remove_all(directory_); }

  void WriteText(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  void Write(const std::string& name, const std::vector<Line>& lines) {
    std::string text;
    for (const Line& line : lines) text += line.dump() + "\n";
    WriteText(name, text);
  }
  Document Take(MeasureOptions options = {}) {
    options.sources = {directory_.string()};
    const absl::StatusOr<Measurement> measurement = Measure(options);
    EXPECT_TRUE(measurement.ok()) << measurement.status();
    return measurement.ok() ? measurement->document : Document();
  }
  static double Metric(const Document& document, const std::string& key) {
    const Document& value = document["metrics"].at(key);
    EXPECT_TRUE(value.is_number()) << key << ": " << value << " " << document["quality"]["not_measured"].value(key, "");
    return value.is_number() ? value.get<double>() : -1;
  }
  static const Document& Row(const Document& table, const std::string& field, const std::string& value) {
    for (const Document& row : table) {
      if (row[field] == value) return row;
    }
    ADD_FAILURE() << "no row " << value;
    static const Document none;
    return none;
  }

  fs::path directory_;
};

TEST_F(MeasureTest, ComputesTheRunsFiguresByHand) {
  // Two processes of one core, 10 s: the first busy for 8 s, the second for 4 s of its 5 s.
  Write("a.jsonl",
        {ProcessLine(1, 0), BeginLine(0, 1), ChunkLine(0, 1, 5), BeginLine(1, 5), ChunkLine(1, 5, 9), EndLine(10)});
  Write("b.jsonl", {ProcessLine(2, 0), ChunkLine(2, 0.5, 4.5, "wjets"), EndLine(5)});
  const Document document = Take();
  EXPECT_EQ(document["run"]["boundary"], "processes");
  EXPECT_EQ(document["run"]["start_ns"], At(0));
  EXPECT_EQ(document["run"]["id"], "run");
  EXPECT_EQ(document["run"]["state"], "finished");
  EXPECT_EQ(document["run"]["cores_source"], "declared");
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 10);
  EXPECT_DOUBLE_EQ(Metric(document, "elapsed_time_seconds"), 10);
  EXPECT_DOUBLE_EQ(Metric(document, "busy_time"), 12);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_cpu_time"), 6);
  EXPECT_DOUBLE_EQ(Metric(document, "helper_cpu_time"), 0);
  EXPECT_EQ(document["metrics"]["num_chunks"], 3);
  EXPECT_EQ(document["metrics"]["num_attempts"], 3);
  EXPECT_EQ(document["metrics"]["total_events"], 300);
  EXPECT_EQ(document["metrics"]["bytes_read_compressed"], 3000);
  EXPECT_DOUBLE_EQ(Metric(document, "compression_ratio"), 3);
  EXPECT_DOUBLE_EQ(Metric(document, "overall_rate_mbs"), 3000 / 10.0 / 1e6);
  EXPECT_DOUBLE_EQ(Metric(document, "event_rate_wall_khz"), 0.03);
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 15);
  EXPECT_DOUBLE_EQ(Metric(document, "total_cores"), 1.5);
  EXPECT_DOUBLE_EQ(Metric(document, "event_rate_core_hz"), 20);
  EXPECT_DOUBLE_EQ(Metric(document, "ideal_wall_time"), 8);
  EXPECT_DOUBLE_EQ(Metric(document, "cpu_efficiency"), 6 / 15.0);
  EXPECT_DOUBLE_EQ(Metric(document, "core_efficiency"), 12 / 15.0);
  EXPECT_DOUBLE_EQ(Metric(document, "speedup_factor"), 1.2);
  EXPECT_DOUBLE_EQ(Metric(document, "io_overhead_pct"), 40);  // half on CPU, a tenth waiting for one
  EXPECT_DOUBLE_EQ(Metric(document, "allocated_cores"), 4);   // one host
  EXPECT_NEAR(Metric(document, "instrumentation_overhead"), 2000e-9 / 12, 1e-15);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_duration_mean"), 4);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_rss_delta_max"), 1000);
}

TEST_F(MeasureTest, BudgetAddsUpToTheCoreSeconds) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 5), ChunkLine(1, 6, 9), EndLine(10)});
  const Document document = Take();
  double sum = 0;
  for (const Document& row : document["budget"]) sum += row["core_seconds"].get<double>();
  EXPECT_NEAR(sum, Metric(document, "core_seconds") + Metric(document, "oversubscribed_core_seconds"), 1e-9);
  EXPECT_EQ(Row(document["budget"], "part", "startup")["core_seconds"], 1.0);
  EXPECT_EQ(Row(document["budget"], "part", "compute")["core_seconds"], 3.5);
}

TEST_F(MeasureTest, HoldsEveryKeyAndAReasonForEachNull) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 5), EndLine(10)});
  const Document document = Take();
  for (const MetricDefinition& definition : MetricCatalog()) {
    for (const std::string& key : {definition.key, definition.alias}) {
      if (key.empty()) continue;
      ASSERT_TRUE(document["metrics"].contains(key)) << key;
      ASSERT_TRUE(document["definitions"].contains(key)) << key;
      EXPECT_EQ(document["metrics"][key].is_null(), document["quality"]["not_measured"].contains(key)) << key;
    }
  }
  EXPECT_EQ(document["definitions"]["total_cpu_time"]["alias_of"], "busy_time");
  EXPECT_EQ(document["quality"]["not_measured"]["disk_read_bytes"], "no Dask scheduler was observed");
}

TEST_F(MeasureTest, CountsResultsOnceAndCostAlways) {
  Line failed = ChunkLine(0, 0, 2);
  failed["status"] = "failed";
  failed["events"] = 40;
  Line again = ChunkLine(0, 3, 4);
  again["chunk"] = 1;
  Line repeated = ChunkLine(0, 5, 7);
  repeated["chunk"] = 2;
  Write("a.jsonl", {ProcessLine(1, 0), failed, again, repeated, EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_attempts"], 3);
  EXPECT_EQ(document["metrics"]["num_failed_attempts"], 1);
  EXPECT_EQ(document["metrics"]["num_retried_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_recomputed_chunks"], 1);
  EXPECT_EQ(document["metrics"]["total_events"], 100);
  EXPECT_DOUBLE_EQ(Metric(document, "busy_time"), 5);
  EXPECT_EQ(document["metrics"]["bytes_read_chunks"], 3000);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_duration_mean"), 1.5) << "distributions are of ok attempts";
  const Document& row = document["datasets"][0];
  EXPECT_EQ(row["name"], "ttbar");
  EXPECT_EQ(row["chunks"], 1);
  EXPECT_EQ(row["attempts"], 3);
  EXPECT_EQ(row["events"], 100);
  EXPECT_DOUBLE_EQ(row["duration_sum"].get<double>(), 5);
}

TEST_F(MeasureTest, KeepsPassesApart) {
  Line first = ChunkLine(0, 0, 1);
  first["pass"] = "nominal";
  Line second = ChunkLine(0, 2, 3);
  second["chunk"] = 1;
  second["pass"] = "systematics";
  Write("a.jsonl", {ProcessLine(1, 0), first, second, EndLine(4)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 2);
  EXPECT_EQ(document["metrics"]["num_recomputed_chunks"], 0);
  EXPECT_EQ(document["metrics"]["total_events"], 200);
}

TEST_F(MeasureTest, NeverTakesChunksWithoutFileOrRangeForRepetitions) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 4; ++i) {
    Line line = ChunkLine(0, i, i + 1);
    line["chunk"] = i;
    line[i % 2 == 0 ? "file" : "entry_stop"] = nullptr;
    lines.push_back(line);
  }
  lines.push_back(EndLine(5));
  Write("a.jsonl", lines);
  EXPECT_EQ(Take()["metrics"]["num_chunks"], 4);
}

TEST_F(MeasureTest, CountsABegunChunkOfADeadProcessAsLost) {
  Write("a.jsonl", {ProcessLine(1, 0), BeginLine(0, 1), ChunkLine(0, 1, 2), BeginLine(1, 3)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_attempts"], 2);
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 1);
  EXPECT_EQ(document["metrics"]["num_unfinished_chunks"], 1);
  EXPECT_EQ(document["quality"]["processes_lost"], 1);
  EXPECT_EQ(document["run"]["state"], "killed");
  EXPECT_EQ(document["datasets"][0]["lost"], 1);
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 3) << "to the latest time stamp on any line";
}

TEST_F(MeasureTest, CountsALostAttemptThatAnotherProcessRepeatedAsRetried) {
  Write("a.jsonl", {ProcessLine(1, 0), BeginLine(7, 1)});
  Write("b.jsonl", {ProcessLine(2, 0), ChunkLine(7, 3, 4), EndLine(5)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_retried_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_unfinished_chunks"], 0);
}

TEST_F(MeasureTest, ConservesSectionTimeToTheNanosecond) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["start_ns"] = kEpoch;
  chunk["stop_ns"] = kEpoch + 1'000'000'007;
  chunk["sections"] = {SectionRowLine("read", 600'000'003, 500'000'002),
                       SectionRowLine("read/unzip", 100'000'001, 100'000'001)};
  chunk["sections"].push_back(SectionRowLine("work", 5'000'000'000, 5'000'000'000));
  chunk["sections"][2]["helper"] = true;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(2)});
  const Document document = Take();
  ASSERT_EQ(document["sections"].size(), 4u);
  EXPECT_EQ(document["sections"][0]["path"], "read");
  EXPECT_EQ(document["sections"][1]["path"], "read/unzip");
  EXPECT_EQ(document["sections"][2]["helper"], true);
  EXPECT_EQ(document["sections"][3]["path"], "(other)");
  EXPECT_DOUBLE_EQ(document["sections"][3]["self"].get<double>(), 0.400000004);
  EXPECT_NEAR(Metric(document, "section_coverage"), 1 - 0.400000004 / 1.000000007, 1e-12);
  EXPECT_DOUBLE_EQ(document["sections"][0]["mean_per_chunk"].get<double>(), 0.600000003);
}

TEST_F(MeasureTest, DoesNotUseSectionsThatClaimMoreThanTheirChunk) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["sections"] = {SectionRowLine("read", 2 * kSecond, 2 * kSecond)};
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(2)});
  const Document document = Take();
  ASSERT_EQ(document["sections"].size(), 1u);
  EXPECT_EQ(document["sections"][0]["self"], 1.0);
  EXPECT_THAT(document["quality"]["warnings"].dump(), HasSubstr("claim more than"));
}

TEST_F(MeasureTest, TakesTheLatestWordOnSectionsOutsideChunks) {
  Line sample = {{"type", "sample"}, {"time_ns", At(1)}, {"rss_bytes", 1}};
  sample["sections"] = {SectionRowLine("setup", kSecond, kSecond)};
  Line end = EndLine(9);
  end["sections"] = {SectionRowLine("setup", kSecond, kSecond), SectionRowLine("merge", 2 * kSecond, 2 * kSecond)};
  Write("a.jsonl", {ProcessLine(1, 0), sample, ChunkLine(0, 2, 3), end});
  Line other = EndLine(9);
  other["sections"] = {SectionRowLine("setup", 3 * kSecond, 3 * kSecond)};
  Write("b.jsonl", {ProcessLine(2, 0), other});
  const Document document = Take();
  ASSERT_EQ(document["process_sections"].size(), 2u);
  EXPECT_EQ(document["process_sections"][0]["path"], "setup");
  EXPECT_EQ(document["process_sections"][0]["total"], 4.0);
  EXPECT_EQ(document["process_sections"][1]["path"], "merge");
}

TEST_F(MeasureTest, SumsCutsOverResultsInTheirOrder) {
  const auto cuts = [](int64_t all, int64_t trigger, int64_t jets) {
    return Line::array({{{"name", "all"}, {"events", all}, {"weights", 0.5}},
                        {{"name", "trigger"}, {"events", trigger}, {"weights", -0.25}},
                        {{"name", "jets"}, {"events", jets}}});
  };
  Line failed = ChunkLine(0, 0, 1);
  failed["status"] = "failed";
  failed["cuts"] = cuts(1000, 1000, 1000);
  Line first = ChunkLine(0, 2, 3);
  first["chunk"] = 1;
  first["cuts"] = cuts(100, 50, 10);
  Line repeated = ChunkLine(0, 4, 5);
  repeated["chunk"] = 2;
  repeated["cuts"] = cuts(100, 40, 20);
  Line other = ChunkLine(3, 6, 7);
  other["cuts"] = cuts(300, 60, 30);
  Write("a.jsonl", {ProcessLine(1, 0), failed, first, repeated, other, EndLine(8)});
  const Document rows = Take()["cuts"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["name"], "all");
  EXPECT_EQ(rows[0]["events"], 400);
  EXPECT_EQ(rows[0]["weights"], 1.0);
  EXPECT_EQ(rows[1]["name"], "trigger");
  EXPECT_EQ(rows[1]["events"], 100);
  EXPECT_EQ(rows[1]["weights"], -0.5);
  EXPECT_EQ(rows[1]["step_efficiency"], 0.25);
  EXPECT_EQ(rows[2]["name"], "jets");
  EXPECT_EQ(rows[2]["step_efficiency"], 0.5);
  EXPECT_EQ(rows[2]["total_efficiency"], 0.125);
  EXPECT_TRUE(rows[2]["weights"].is_null());
}

TEST_F(MeasureTest, SumsCustomMetricsAndDerivesReadRates) {
  Line first = ChunkLine(0, 0, 2);
  first["metrics"] = {{{"name", "jets"}, {"unit", "count"}, {"count", 2}, {"sum", 10.0}, {"min", 4.0}, {"max", 6.0}},
                      {{"name", "bytes_read"}, {"unit", "B"}, {"count", 1}, {"sum", 4e6}, {"min", 4e6}, {"max", 4e6}},
                      {{"name", "read_wall"}, {"unit", "s"}, {"count", 1}, {"sum", 2.0}, {"min", 2.0}, {"max", 2.0}}};
  Line second = ChunkLine(1, 2, 4, "wjets");
  second["metrics"] = {{{"name", "jets"}, {"unit", "count"}, {"count", 1}, {"sum", 1.0}, {"min", 1.0}, {"max", 1.0}},
                       {{"name", "mass"}, {"unit", ""}, {"count", 3}, {"sum", nullptr}}};
  Write("a.jsonl", {ProcessLine(1, 0), first, second, EndLine(8)});
  const Document document = Take();
  const Document& jets = Row(document["custom_metrics"], "name", "jets");
  EXPECT_EQ(jets["count"], 3);
  EXPECT_EQ(jets["sum"], 11.0);
  EXPECT_EQ(jets["min"], 1.0);
  EXPECT_EQ(jets["max"], 6.0);
  EXPECT_EQ(jets["by_dataset"]["wjets"]["sum"], 1.0);
  const Document& mass = Row(document["custom_metrics"], "name", "mass");
  EXPECT_EQ(mass["invalid"], 3);
  EXPECT_TRUE(mass["sum"].is_null());
  EXPECT_DOUBLE_EQ(Metric(document, "read_rate_mbs"), 2);
}

TEST_F(MeasureTest, TellsTheShareOfColumnsAndBytesPerFile) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["columns"] = {"pt", "eta"};
  Line again = ChunkLine(1, 1, 2);
  again["columns"] = {"pt", "phi"};
  const Line file = {{"type", "file"}, {"file", "ttbar.root"}, {"branches", 30}, {"bytes", 8000}};
  Write("a.jsonl", {ProcessLine(1, 0), file, chunk, again, EndLine(3)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["columns"], Document({"eta", "phi", "pt"}));
  EXPECT_EQ(document["metrics"]["num_columns_read"], 3);
  EXPECT_DOUBLE_EQ(Metric(document, "branches_read_share"), 0.1);
  EXPECT_DOUBLE_EQ(Metric(document, "bytes_read_share"), 0.25);
}

TEST_F(MeasureTest, FindsPhasesInSpans) {
  const auto span = [](const char* name, double start, double stop) {
    return Line{{"type", "span"}, {"name", name}, {"path", name}, {"start_ns", At(start)}, {"stop_ns", At(stop)}};
  };
  Write("a.jsonl", {ProcessLine(1, 0), span("process", 1, 3), span("process", 2, 4), span("process", 6, 7),
                    span("plots", 7, 8), ChunkLine(0, 1, 2), EndLine(9)});
  const Document document = Take();
  ASSERT_EQ(document["phases"].size(), 1u);
  EXPECT_EQ(document["phases"][0]["wall_time"], 4.0);
  EXPECT_EQ(document["phases"][0]["start"], 1.0);
  EXPECT_EQ(document["phases"][0]["stop"], 7.0);
  EXPECT_EQ(document["run"]["spans"].size(), 4u);
}

TEST_F(MeasureTest, AddsHelpersToTheChunksCpuAndLeavesThemOutOfBlocked) {
  Line chunk = ChunkLine(0, 0, 10);
  chunk["cpu_ns"] = 2 * kSecond;
  chunk["cpu_wait_ns"] = 0;
  chunk["helper_cpu_ns"] = 12 * kSecond;
  chunk["helper_wait_ns"] = 0;
  chunk["helper_scope_ns"] = 14 * kSecond;
  chunk["helper_union_ns"] = 7 * kSecond;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_cpu_time"), 14);
  EXPECT_DOUBLE_EQ(Metric(document, "helper_cpu_time"), 12);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_joined"), 7);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked_max"), 1);
}

TEST_F(MeasureTest, TellsNotMeasuredFromZero) {
  Line chunk = ChunkLine(0, 0, 1);
  for (const char* field : {"events", "bytes_read", "bytes_uncompressed", "cpu_ns", "cpu_wait_ns", "rss_start_bytes"}) {
    chunk[field] = nullptr;
  }
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(2)});
  const Document document = Take();
  for (const char* key : {"total_events", "bytes_read_chunks", "compression_ratio", "chunk_cpu_time", "cpu_efficiency",
                          "chunk_blocked_mean", "chunk_rss_delta_mean", "io_overhead_pct", "event_rate_wall_khz"}) {
    EXPECT_TRUE(document["metrics"][key].is_null()) << key;
    EXPECT_TRUE(document["quality"]["not_measured"].contains(key)) << key;
  }
  EXPECT_EQ(document["metrics"]["num_failed_attempts"], 0);
  EXPECT_EQ(document["quality"]["chunks_without_events"], 1);
  EXPECT_EQ(document["quality"]["missing_values"]["chunk_cpu"], 1);
  EXPECT_EQ(document["datasets"][0]["cpu_sum"], Document());
}

TEST_F(MeasureTest, UsesTheRestWhenLinesAreDirty) {
  std::string text = ProcessLine(1, 0).dump() + "\n" + ChunkLine(0, 0, 1).dump() + "\n";
  text += "garbage\n";
  text += ChunkLine(1, 1, 2).dump().substr(0, 60) + "\n\n";
  text += R"({"type":"from the future","x":1})"
          "\n";
  Line backwards = ChunkLine(2, 3, 4);
  backwards["stop_ns"] = At(2);
  text += backwards.dump() + "\n" + EndLine(5).dump() + "\n";
  WriteText("a.jsonl", text);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 1);
  EXPECT_EQ(document["quality"]["records_read"], 3);
  EXPECT_EQ(document["quality"]["records_malformed"], 2);
  EXPECT_EQ(document["quality"]["records_torn"], 1);
  EXPECT_EQ(document["quality"]["records_unknown"], 1);
  EXPECT_THAT(document["quality"]["warnings"].dump(), HasSubstr("a.jsonl:3: not a JSON object"));
}

TEST_F(MeasureTest, LetsTheCallerSetTheBounds) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), EndLine(10)});
  MeasureOptions options;
  options.start_ns = At(1);
  options.stop_ns = At(5);
  const Document document = Take(options);
  EXPECT_EQ(document["run"]["boundary"], "context");
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 4);
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 4);
}

TEST_F(MeasureTest, TakesBoundsCoresAndMemoryFromTheProcessTree) {
  Write("a.jsonl", {ProcessLine(1, 1), ChunkLine(0, 2, 6), EndLine(9)});
  const Line run = {{"type", "run"},
                    {"schema", "crema.tree/1"},
                    {"schema_minor", 0},
                    {"run_id", "run"},
                    {"name", "my analysis"},
                    {"command", {"./a", "b"}},
                    {"host", "node"},
                    {"pid", 1},
                    {"start_ns", At(0)},
                    {"interval_seconds", 1.0},
                    {"allocated_cores", 2.0},
                    {"allocated_cores_source", "slurm"},
                    {"memory_limit_bytes", 1000000},
                    {"net_host_wide", true}};
  const auto sample = [](double time, int64_t rss_bytes) {
    return Line{{"type", "tree_sample"},
                {"time_ns", At(time)},
                {"rss_bytes", rss_bytes},
                {"cpu_user_ns", kSecond},
                {"cpu_system_ns", 0},
                {"processes", 1},
                {"threads", 1},
                {"process_rows",
                 {{{"pid", 1}, {"start_ns", At(1)}, {"rss_bytes", rss_bytes}, {"cpu_ns", kSecond}, {"threads", 1}}}}};
  };
  const Line end = {{"type", "run_end"},
                    {"time_ns", At(10)},
                    {"exit_status", 3},
                    {"tree_cpu_user_ns", 4 * kSecond},
                    {"tree_cpu_system_ns", kSecond},
                    {"process_peak_rss_bytes", 700000}};
  Write("node-1-1.tree.ndjson", {run, sample(2, 300000), sample(5, 500000), end});
  const Document document = Take();
  EXPECT_EQ(document["run"]["boundary"], "command");
  EXPECT_EQ(document["run"]["name"], "my analysis");
  EXPECT_EQ(document["run"]["command"], Document({"./a", "b"}));
  EXPECT_EQ(document["run"]["exit_status"], 3);
  EXPECT_EQ(document["run"]["allocated_cores_source"], "slurm");
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 10);
  EXPECT_DOUBLE_EQ(Metric(document, "job_cpu_efficiency"), 0.25);
  EXPECT_DOUBLE_EQ(Metric(document, "cpu_outside_chunks_share"), 1 - 2 / 5.0);
  EXPECT_EQ(document["metrics"]["peak_memory_bytes"], 500000);
  EXPECT_DOUBLE_EQ(Metric(document, "memory_utilization_max"), 0.5);
  EXPECT_EQ(document["workers"][0]["peak_memory_bytes"], 500000);
  EXPECT_EQ(document["workers"][0]["memory_limit_bytes"], 1000000);
  EXPECT_DOUBLE_EQ(document["quality"]["sampling_gap_max_s"].get<double>(), 3);
}

TEST_F(MeasureTest, SaysWhichEventsWereStillToCome) {
  Line process = ProcessLine(1, 0);
  process["attributes"]["total_events"] = 400;
  Write("a.jsonl", {process, ChunkLine(0, 1, 2), EndLine(10)});
  EXPECT_DOUBLE_EQ(Take()["quality"]["event_coverage"].get<double>(), 0.25);
}

TEST_F(MeasureTest, TakesTwoRecordersOfOneProcessForOneWorker) {
  Line second = ProcessLine(1, 0);
  second["recorder"] = 1;
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), EndLine(10)});
  Line chunk = ChunkLine(5, 3, 4);
  chunk["chunk"] = 0;
  Write("b.jsonl", {second, chunk, EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 2);
  EXPECT_EQ(document["workers"].size(), 1u);
  EXPECT_EQ(document["workers"][0]["name"], "node:1");
  EXPECT_EQ(document["metrics"]["peak_workers"], 1);
  EXPECT_NEAR(Metric(document, "instrumentation_overhead"), 2000e-9 / 2, 1e-15);
}

TEST_F(MeasureTest, TellsTheEntryRangeOfStragglers) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 20; ++i) lines.push_back(ChunkLine(i, 100 * i, 100 * i + (i == 13 ? 90 : 10 + 0.01 * i)));
  lines.push_back(EndLine(3000));
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["straggler_chunks"], 1);
  ASSERT_EQ(document["stragglers"].size(), 1u);
  EXPECT_EQ(document["stragglers"][0]["chunk"], 13);
  EXPECT_EQ(document["stragglers"][0]["entry_start"], 1300);
  EXPECT_EQ(document["stragglers"][0]["entry_stop"], 1400);
  EXPECT_EQ(document["stragglers"][0]["dataset"], "ttbar");
}

TEST_F(MeasureTest, NeedsNoChunkToMakeAMeasurement) {
  Write("a.jsonl", {ProcessLine(1, 0), EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 0);
  EXPECT_EQ(document["metrics"]["busy_time"], 0.0);
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 10);
  EXPECT_TRUE(document["metrics"]["cpu_efficiency"].is_null());
  EXPECT_TRUE(document["sections"].empty());
}

TEST_F(MeasureTest, RefusesSeveralRunsUnlessAsked) {
  Line other = ProcessLine(2, 0);
  other["run_id"] = "other";
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), EndLine(3)});
  Write("b.jsonl", {other, ChunkLine(0, 1, 2), EndLine(3)});
  MeasureOptions options;
  options.sources = {directory_.string()};
  EXPECT_FALSE(Measure(options).ok());
  options.run = "other";
  EXPECT_EQ(Take(options)["metrics"]["num_chunks"], 1);
  options.run = "all";
  const Document both = Take(options);
  EXPECT_EQ(both["metrics"]["num_chunks"], 2) << "the same chunk of another run is another chunk";
  EXPECT_TRUE(both["run"]["id"].is_null());
}

}  // namespace
}  // namespace crema
