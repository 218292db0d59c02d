// Whole measurements from literal records: what chunks say of themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using MeasureChunksTest = MeasureTest;

TEST_F(MeasureChunksTest, ConservesSectionTimeToTheNanosecond) {
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

TEST_F(MeasureChunksTest, CountsAttributesAndSaysWhyCountersAreMissing) {
  Line ok = ChunkLine(0, 1, 3), failed = ChunkLine(1, 3, 5), plain = ChunkLine(2, 5, 6), lost = BeginLine(3, 6);
  ok["attributes"] = {{"file_kind", "merged"}, {"perf_counters", "instructions: Permission denied"}};
  failed["attributes"] = {{"file_kind", "merged"}};
  failed["status"] = "failed";
  lost["attributes"] = {{"file_kind", "single"}};
  Write("a.jsonl", {ProcessLine(1, 0), ok, failed, plain, lost});
  const Document document = Take();
  ASSERT_EQ(document["attributes"].size(), 2u) << document["attributes"];
  EXPECT_EQ(document["attributes"][0], Document({{"name", "file_kind"}, {"value", "merged"}, {"chunks", 2}}));
  EXPECT_EQ(document["attributes"][1]["name"], "perf_counters");
  EXPECT_THAT(document["quality"]["warnings"].dump(),
              HasSubstr("the attribute perf_counters says: instructions: Permission denied (attempts: 1)"));
}

TEST_F(MeasureChunksTest, QuotesEachValueOfPerfCountersButNotTheRest) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 12; ++i) {
    lines.push_back(ChunkLine(i, i, i + 1));
    lines.back()["attributes"] = {{"perf_counters", "reason " + std::to_string(i)}};
  }
  Write("a.jsonl", lines);
  const std::string warnings = Take()["quality"]["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("says: reason 3 (attempts: 1)"));
  EXPECT_THAT(warnings, Not(HasSubstr("says: (other)")));
}

TEST_F(MeasureChunksTest, WarnsOfAttributesBeyondItsRoom) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 150; ++i) {
    lines.push_back(ChunkLine(i, i, i + 1));
    lines.back()["attributes"] = {{"name" + std::to_string(i), "x"}, {"perf_counters", "refused"}};
  }
  Write("a.jsonl", lines);
  const std::string warnings = Take()["quality"]["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("51 readings of attributes beyond 100 names are one row `(other)`"));
  EXPECT_THAT(warnings, HasSubstr("the attribute perf_counters says: refused (attempts: 150)"));
}

TEST_F(MeasureChunksTest, HasNoAttributesWhereNoChunkHasOne) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 3), EndLine(4)});
  EXPECT_FALSE(Take().contains("attributes"));
}

TEST_F(MeasureChunksTest, AddsUpWhatTheKernelDid) {
  Line one = ChunkLine(0, 1, 3), other = ChunkLine(1, 3, 5, "zjets"), old = ChunkLine(2, 5, 6, "zjets");
  one.update({{"system_cpu_ns", kSecondNs / 2}, {"minor_faults", 10}, {"major_faults", 1}});
  other.update({{"system_cpu_ns", kSecondNs / 4}, {"minor_faults", 20}, {"major_faults", 2}});
  Line sample = {{"type", "sample"}, {"time_ns", At(2)}, {"rss_bytes", 300}};
  sample.update({{"rss_peak_bytes", 400}, {"anonymous_bytes", 100}, {"file_bytes", 200}, {"throttled_ns", kSecondNs}});
  Line end = EndLine(6);
  end.update({{"rss_peak_bytes", 900},
              {"anonymous_bytes", 50},
              {"read_calls", 7},
              {"read_call_bytes", 70},
              {"throttled_ns", 2 * kSecondNs},
              {"shared_cpu_ns", 3 * kSecondNs}});
  Line process = ProcessLine(1, 0);
  process["cores"] = 0.3;
  Write("a.jsonl", {process, one, sample, other, old, end});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "system_cpu_time"), 0.75);
  EXPECT_EQ(Metric(document, "minor_faults"), 30);
  EXPECT_EQ(Metric(document, "chunk_major_faults"), 3);
  EXPECT_EQ(Metric(document, "process_read_calls"), 7);
  EXPECT_EQ(Metric(document, "process_read_call_bytes"), 70);
  EXPECT_DOUBLE_EQ(Metric(document, "throttled_time"), 2);
  EXPECT_DOUBLE_EQ(Metric(document, "shared_cpu_time"), 3);
  EXPECT_EQ(Metric(document, "peak_memory_bytes"), 900);
  const Document& zjets = Row(document["datasets"], "name", "zjets");
  EXPECT_EQ(zjets["system_cpu_sum"], 0.25);
  EXPECT_EQ(zjets["minor_faults"], 20);
  EXPECT_EQ(zjets["major_faults"], 2);
  const Document& worker = document["workers"][0];
  EXPECT_EQ(worker["peak_memory_bytes"], 900);
  EXPECT_EQ(worker["anonymous_memory_bytes"], 100);
  EXPECT_EQ(worker["file_memory_bytes"], 200);
  EXPECT_EQ(worker["allowed_cores"], 0.3);
  EXPECT_EQ(worker["throttled"], 2.0);
}

TEST_F(MeasureChunksTest, TakesThePeakOfAProcessThatWasKilledFromItsChunks) {
  Line chunk = ChunkLine(0, 1, 3);
  chunk["rss_peak_bytes"] = 213'000'000;
  Write("a.jsonl", {ProcessLine(1, 0), {{"type", "sample"}, {"time_ns", At(1)}, {"rss_bytes", 3'300'000}}, chunk});
  EXPECT_EQ(Metric(Take(), "peak_memory_bytes"), 213'000'000);
}

TEST_F(MeasureChunksTest, DoesNotUseSectionsThatClaimMoreThanTheirChunk) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["sections"] = Line::array({SectionRowLine("read", 2 * kSecondNs, 2 * kSecondNs)});
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(2)});
  const Document document = Take();
  ASSERT_EQ(document["sections"].size(), 1u);
  EXPECT_EQ(document["sections"][0]["self"], 1.0);
  EXPECT_THAT(document["quality"]["warnings"].dump(), HasSubstr("claim more than"));
}

TEST_F(MeasureChunksTest, TakesTheLatestWordOnSectionsOutsideChunks) {
  Line sample = {{"type", "sample"}, {"time_ns", At(1)}, {"rss_bytes", 1}};
  sample["sections"] = Line::array({SectionRowLine("setup", kSecondNs, kSecondNs)});
  Line end = EndLine(9);
  end["sections"] = {SectionRowLine("setup", kSecondNs, kSecondNs),
                     SectionRowLine("merge", 2 * kSecondNs, 2 * kSecondNs)};
  Write("a.jsonl", {ProcessLine(1, 0), sample, ChunkLine(0, 2, 3), end});
  Line other = EndLine(9);
  other["sections"] = Line::array({SectionRowLine("setup", 3 * kSecondNs, 3 * kSecondNs)});
  Write("b.jsonl", {ProcessLine(2, 0), other});
  const Document document = Take();
  ASSERT_EQ(document["process_sections"].size(), 2u);
  EXPECT_EQ(document["process_sections"][0]["path"], "setup");
  EXPECT_EQ(document["process_sections"][0]["total"], 4.0);
  EXPECT_EQ(document["process_sections"][0]["self_in_workers"], 1.0) << "the other process has no chunks";
  EXPECT_EQ(document["process_sections"][1]["path"], "merge");
}

TEST_F(MeasureChunksTest, TakesTheLatestWordOnMetricsOfProcesses) {
  const auto written = [](int64_t count, double sum) {
    return Line::array(
        {{{"name", "bytes_written"}, {"unit", "B"}, {"count", count}, {"sum", sum}, {"min", 1}, {"max", 9}}});
  };
  Line sample = {{"type", "sample"}, {"time_ns", At(1)}, {"rss_bytes", 1}, {"metrics", written(1, 4)}};
  Line end = EndLine(9);
  end["metrics"] = written(2, 10);
  Write("a.jsonl", {ProcessLine(1, 0), sample, ChunkLine(0, 2, 3), end});
  Write("b.jsonl", {ProcessLine(2, 0), sample});
  const Document document = Take();
  const Document& row = Row(document["custom_metrics"], "name", "bytes_written");
  EXPECT_EQ(row["count"], 3);
  EXPECT_EQ(row["sum"], 14);
  EXPECT_EQ(row["unit"], "B");
}

TEST_F(MeasureChunksTest, SumsCutsOverResultsInTheirOrder) {
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

/// (flow, path, share of its input, of all) of each row.
std::vector<std::string> Shares(const Document& rows) {
  std::vector<std::string> shares;
  for (const auto& row : rows) {
    const auto text = [&row](const char* field) { return row[field].is_null() ? "-" : row[field].dump(); };
    shares.push_back(text("flow") + " " + text("path") + " " + text("step_efficiency") + " " +
                     text("total_efficiency"));
  }
  return shares;
}

TEST_F(MeasureChunksTest, CutsOfAFlowAreSharesOfTheirOwnInput) {
  const auto cut = [](const char* flow, const char* path, int64_t events, int64_t seen) {
    const std::string_view name(path);
    const std::string own(name.substr(name.rfind('/') + 1));
    return Line{{"name", own}, {"events", events}, {"seen", seen}, {"path", path}, {"flow", flow}};
  };
  Line first = ChunkLine(0, 0, 1);
  first["cuts"] = {cut("ttbar, loop 10", "all", 100, 100), cut("ttbar, loop 10", "all/MET", 30, 90),
                   cut("ttbar, loop 10", "all/jets", 40, 100), cut("ttbar, loop 10", "all/MET/mass", 3, 30),
                   cut("ttbar, loop 10", "all/jets/MET", 8, 40)};
  Line second = ChunkLine(1, 2, 3);
  second["cuts"] = {cut("ttbar, loop 2", "all", 100, 100), cut("ttbar, loop 2", "all/MET", 1, 100)};
  Line third = ChunkLine(2, 4, 5);
  third["cuts"] = {cut("ttbar, loop 2", "all", 100, 100), cut("ttbar, loop 2", "all/MET", 3, 60)};
  Write("a.jsonl", {ProcessLine(1, 0), first, second, third, EndLine(8)});
  EXPECT_THAT(Shares(Take()["cuts"]),
              ElementsAre(R"("ttbar, loop 2" "all" 1.0 1.0)", R"("ttbar, loop 2" "all/MET" 0.025 0.02)",
                          R"("ttbar, loop 10" "all" 1.0 1.0)", R"("ttbar, loop 10" "all/MET" 0.3333333333333333 0.3)",
                          R"("ttbar, loop 10" "all/MET/mass" 0.1 0.03)", R"("ttbar, loop 10" "all/jets" 0.4 0.4)",
                          R"("ttbar, loop 10" "all/jets/MET" 0.2 0.08)"));
}

TEST_F(MeasureChunksTest, ACutWithoutItsInputIsAShareOfItsParent) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["cuts"] = {{{"name", "all"}, {"events", 100}},
                   {{"name", "jets"}, {"events", 20}, {"path", "all/jets"}},
                   {{"name", "alone"}, {"events", 7}},
                   {{"name", "MET"}, {"events", 5}, {"path", "all/jets/MET"}},
                   {{"name", "more"}, {"events", 30}, {"path", "all/jets/more"}},
                   {{"name", "lost"}, {"events", 3}, {"path", "nobody/lost"}},
                   {{"name", "found"}, {"events", 3}, {"path", "nobody/found"}, {"seen", 4}}};
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(8)});
  EXPECT_THAT(Shares(Take()["cuts"]), ElementsAre("- - 1.0 1.0", R"(- "all" 1.0 1.0)", R"(- "all/jets" 0.2 0.2)",
                                                  R"(- "all/jets/MET" 0.25 0.05)", R"(- "all/jets/more" - -)",
                                                  R"(- "nobody/lost" - -)", R"(- "nobody/found" 0.75 -)"));
}

TEST_F(MeasureChunksTest, AListOfCutsThatAreNoStepsHasNoShares) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["cuts"] = {{{"name", "all"}, {"events", 100}},
                   {{"name", "control region"}, {"events", 10}},
                   {{"name", "signal region"}, {"events", 45}},
                   {{"name", "validation region"}, {"events", 5}}};
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(8)});
  EXPECT_THAT(Shares(Take()["cuts"]), ElementsAre("- - - -", "- - - -", "- - - -", "- - - -"));
}

TEST_F(MeasureChunksTest, ACutOfAListIsFoundAsParentWhateverItsName) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["cuts"] = {{{"name", "MET/HT"}, {"events", 100}},
                   {{"name", "jets"}, {"events", 20}, {"path", "MET%2FHT/jets"}}};
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(8)});
  EXPECT_THAT(Shares(Take()["cuts"]), ElementsAre(R"(- "MET%2FHT" 1.0 1.0)", R"(- "MET%2FHT/jets" 0.2 0.2)"));
}

TEST_F(MeasureChunksTest, SumsCustomMetricsAndDerivesReadRates) {
  Line first = ChunkLine(0, 0, 2);
  first["metrics"] = {{{"name", "jets"}, {"unit", "count"}, {"count", 2}, {"sum", 10.0}, {"min", 4.0}, {"max", 6.0}},
                      {{"name", "bytes_read"}, {"unit", "B"}, {"count", 1}, {"sum", 4e6}, {"min", 4e6}, {"max", 4e6}},
                      {{"name", "bytes_read"}, {"unit", "kB"}, {"count", 1}, {"sum", 8.0}, {"min", 8.0}, {"max", 8.0}},
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
  EXPECT_EQ(jets["quantiles_of"], "chunk means");  // two values, of which the line tells no sketch
  EXPECT_TRUE(jets["histogram"].is_null());
  const Document& mass = Row(document["custom_metrics"], "name", "mass");
  EXPECT_EQ(mass["invalid"], 3);
  EXPECT_TRUE(mass["sum"].is_null());
  EXPECT_DOUBLE_EQ(Metric(document, "read_rate_mbs"), 2);
}

TEST_F(MeasureChunksTest, QuantilesOfCustomMetricsAreOfTheirValues) {
  // 90 values of 1 and 10 of 1000 in one chunk, whose mean nobody recorded; all of 2 in the other.
  Line first = ChunkLine(0, 0, 2);
  first["metrics"] = {{{"name", "hits"},
                       {"unit", ""},
                       {"count", 100},
                       {"sum", 10090.0},
                       {"min", 1.0},
                       {"max", 1000.0},
                       {"sketch", {65472, 90, 66109, 10}}}};
  Line second = ChunkLine(1, 2, 4);
  second["metrics"] = {{{"name", "hits"}, {"unit", ""}, {"count", 20}, {"sum", 40.0}, {"min", 2.0}, {"max", 2.0}}};
  Write("a.jsonl", {ProcessLine(1, 0), first, second, EndLine(8)});
  const Document document = Take();
  const Document& hits = Row(document["custom_metrics"], "name", "hits");
  EXPECT_EQ(hits["quantiles_of"], "values");
  EXPECT_NEAR(hits["p50"].get<double>(), 1, 1 / 64.0);
  EXPECT_NEAR(hits["p95"].get<double>(), 1000, 1000 / 64.0);
  const Document& counts = hits["histogram"]["counts"];
  EXPECT_EQ(hits["histogram"]["edges"].size(), counts.size() + 1);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0,
                            [](int sum, const Document& count) { return sum + count.get<int>(); }),
            120);
  EXPECT_EQ(counts.back(), 10);
}

TEST_F(MeasureChunksTest, ASketchThatDoesNotFitItsRowIsNotUsed) {
  const auto p95_with = [&](const Line& sketch, int64_t shift) {
    Line chunk = ChunkLine(0, 0, 2);
    chunk["metrics"] = {{{"name", "x"},
                         {"unit", ""},
                         {"count", 4},
                         {"sum", 8.0},
                         {"min", 1.0},
                         {"max", 4.0},
                         {"sketch", sketch},
                         {"sketch_shift", shift}}};
    Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(8)});
    const Document document = Take();
    EXPECT_EQ(Row(document["custom_metrics"], "name", "x")["count"], 4);
    return Row(document["custom_metrics"], "name", "x")["quantiles_of"].get<std::string>();
  };
  EXPECT_EQ(p95_with({65472, 3, 65600, 1}, 0), "values");
  EXPECT_EQ(p95_with({32736, 3, 32800, 1}, 1), "values");
  EXPECT_EQ(p95_with({65472, 3, 65600, 2}, 0), "chunk means");  // one too many
  EXPECT_EQ(p95_with({65472, 3, 65600}, 0), "chunk means");
  EXPECT_EQ(p95_with({65472, 5, 65600, -1}, 0), "chunk means");
  EXPECT_EQ(p95_with({65472, 3, 65600, 1}, 60), "chunk means");
}

TEST_F(MeasureChunksTest, SumsActivitiesByWorkerSpanAndUnitAsNativeFineRows) {
  const auto activity = [](const char* label, const char* unit, double value) {
    return Line{{"label", label}, {"unit", unit}, {"value", value}};
  };
  Line first = ChunkLine(0, 0, 1);
  first["activities"] = {activity("fit", "seconds", 0.25), activity("fit", "count", 2),
                         Line{{"label", "fit"}, {"unit", "count"}, {"value", nullptr}}};
  Line second = ChunkLine(1, 1, 2);
  second["activities"] = Line::array({activity("fit", "seconds", 0.5)});
  second["span"] = "systematics/up";
  Line failed = ChunkLine(2, 2, 3);
  failed["status"] = "failed";
  failed["activities"] = Line::array({activity("fit", "seconds", 0.125)});
  Write("a.jsonl", {ProcessLine(1, 0), first, second, failed, EndLine(4)});
  Line other = ChunkLine(3, 0, 1);
  other["activities"] = Line::array({activity("fit", "seconds", 8)});
  Write("b.jsonl", {ProcessLine(2, 0), other, EndLine(4)});
  const Document rows = Take()["fine"];
  const auto row = [](const Document& span, const char* worker, const char* unit, double value) {
    return Document{{"context", "native"}, {"span", span}, {"worker", worker}, {"function", nullptr},
                    {"activity", "fit"},   {"unit", unit}, {"value", value}};
  };
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], row(nullptr, "node:1", "count", 2));
  EXPECT_EQ(rows[1], row(nullptr, "node:1", "seconds", 0.375)) << "over ended attempts, failed ones too";
  EXPECT_EQ(rows[2], row("systematics/up", "node:1", "seconds", 0.5));
  EXPECT_EQ(rows[3], row(nullptr, "node:2", "seconds", 8));
}

TEST_F(MeasureChunksTest, CountsActivitiesBeyondTheRowsThatAreKept) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 150; ++i) {
    Line chunk = ChunkLine(i, i, i + 1);
    for (int k = 0; k < 100; ++k) {
      chunk["activities"].push_back({{"label", std::to_string(100 * i + k)}, {"unit", ""}, {"value", 1}});
    }
    lines.push_back(chunk);
  }
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["fine"].size(), 10000u);
  const Document& other = Row(document["fine"], "activity", "(other)");
  EXPECT_EQ(other["value"], 5001) << "what stands for the others takes a row too";
  EXPECT_EQ(other["worker"], "(other)");
  EXPECT_NE(document["quality"]["warnings"].dump().find(
                "5001 readings of activities were not finite, or are in `(other)`, beyond 10000 rows"),
            std::string::npos);
}

TEST_F(MeasureChunksTest, CountsTaskLinesAndRefusesNone) {
  const Line task = {{"type", "task"},    {"key", "('process', 1)"}, {"prefix", "process"},
                     {"start_ns", At(0)}, {"stop_ns", At(2)},        {"outcome", "memory"},
                     {"attempt", 1},      {"worker", "tcp://x:1"},   {"engine", "dask"}};
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), task, task, EndLine(4)});
  const Document document = Take();
  EXPECT_EQ(document["quality"]["records_read"], 5);
  EXPECT_EQ(document["quality"]["records_malformed"], 0);
  EXPECT_EQ(document["quality"]["records_unknown"], 0);
  EXPECT_EQ(document["quality"]["tasks_read"], 2);
  EXPECT_EQ(document["run"]["boundary"], "chunks") << "an engine's worker does not bound the run";
}

TEST_F(MeasureChunksTest, DerivesDecompressionAndReadOverheadFromWellKnownMetrics) {
  const auto metric = [](const char* name, const char* unit, double sum) {
    return Line{{"name", name}, {"unit", unit}, {"count", 1}, {"sum", sum}, {"min", sum}, {"max", sum}};
  };
  Line first = ChunkLine(0, 0, 4);
  first["metrics"] = {metric("bytes_read", "B", 3e6),  metric("read_calls", "count", 10),
                      metric("read_wall", "s", 0.5),   metric("read_overhead_bytes", "B", 6e5),
                      metric("unzip_bytes", "B", 9e6), metric("unzip_wall", "s", 1.5)};
  Line second = ChunkLine(1, 4, 8);
  second["metrics"] = {metric("bytes_read", "B", 1e6), metric("read_calls", "count", 10)};
  Write("a.jsonl", {ProcessLine(1, 0), first, second, EndLine(8)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "read_rate_mbs"), 8);
  EXPECT_DOUBLE_EQ(Metric(document, "bytes_per_read"), 2e5);
  EXPECT_DOUBLE_EQ(Metric(document, "read_overhead_share"), 0.15);
  EXPECT_DOUBLE_EQ(Metric(document, "decompression_rate_mbs"), 6);
  EXPECT_DOUBLE_EQ(Metric(document, "decompression_share"), 1.5 / 8);
}

TEST_F(MeasureChunksTest, TellsOversizedChunksLanesAndMemoryGrowth) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 40; ++i) {
    Line chunk = ChunkLine(i, i, i + (i == 39 ? 1.0 : 2.0));  // two lanes
    chunk["rss_stop_bytes"] = 1000000 + 1000 * i;
    if (i == 7) chunk["events"] = 301;
    lines.push_back(chunk);
  }
  lines.push_back(EndLine(60));
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["oversized_chunks"], 1);
  EXPECT_EQ(document["metrics"]["max_open_chunks"], 2);
  EXPECT_NEAR(Metric(document, "load_imbalance"), 40 / 39.5 - 1, 1e-12);
  const double events_per_chunk = 100;  // chunk 7, which is larger, is at the edge: 1 of the 36 after the warm-up
  EXPECT_NEAR(Metric(document, "rss_slope"), 1000 * 1000 / ((35 * events_per_chunk + 301) / 36), 1e-6);
  EXPECT_LE(Metric(document, "rss_slope_low"), Metric(document, "rss_slope"));
  EXPECT_GE(Metric(document, "rss_slope_high"), Metric(document, "rss_slope"));
}

TEST_F(MeasureChunksTest, TellsTheShareOfColumnsAndBytesPerFile) {
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

TEST_F(MeasureChunksTest, FindsPhasesInSpans) {
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

TEST_F(MeasureChunksTest, AddsHelpersToTheChunksCpuAndLeavesThemOutOfBlocked) {
  Line chunk = ChunkLine(0, 0, 10);
  chunk["cpu_ns"] = 2 * kSecondNs;
  chunk["cpu_wait_ns"] = 0;
  chunk["helper_cpu_ns"] = 12 * kSecondNs;
  chunk["helper_wait_ns"] = 0;
  chunk["helper_scope_ns"] = 14 * kSecondNs;
  chunk["helper_union_ns"] = 7 * kSecondNs;
  Write("a.jsonl", {ProcessLine(1, 0), chunk, EndLine(10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_cpu_time"), 14);
  EXPECT_DOUBLE_EQ(Metric(document, "helper_cpu_time"), 12);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_joined"), 7);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked_max"), 1);
}

TEST_F(MeasureChunksTest, TellsTheEntryRangeOfStragglers) {
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
  EXPECT_EQ(document["stragglers"][0]["section"], nullptr);
}

TEST_F(MeasureChunksTest, NameTheSectionOfAStragglerThatTookMoreThanTheChunkShould) {
  for (const double seconds : {55, 45}) {  // of 90 s, where 10 are predicted: more or less than half of the excess
    std::vector<Line> lines = {ProcessLine(1, 0)};
    for (int i = 0; i < 20; ++i) lines.push_back(ChunkLine(i, 100 * i, 100 * i + (i == 13 ? 90 : 10 + 0.01 * i)));
    const auto ns = static_cast<int64_t>(seconds * static_cast<double>(kSecondNs));
    lines[14]["sections"] = {SectionRowLine("write", ns, ns)};
    lines.push_back(EndLine(3000));
    Write("a.jsonl", lines);
    const Document document = Take();
    EXPECT_EQ(document["stragglers"][0]["section"], seconds > 50 ? Document("write") : Document()) << seconds;
    EXPECT_EQ(document["workers"][0]["first_chunk"], 0);
    EXPECT_EQ(document["workers"][0]["last_chunk"], 1910.19);
  }
}

TEST_F(MeasureChunksTest, TellsTheEntryRangeOfAStragglerInALogsSecondProcess) {
  std::vector<Line> lines = {ProcessLine(1, 0), ChunkLine(13, 0, 10), EndLine(20), ProcessLine(2, 20)};
  for (int i = 0; i < 20; ++i) lines.push_back(ChunkLine(i, 100 * i + 20, 100 * i + (i == 13 ? 110 : 30 + 0.01 * i)));
  lines.push_back(EndLine(3000));
  Write("a.jsonl", lines);
  const Document document = Take();
  ASSERT_EQ(document["stragglers"].size(), 1u);
  EXPECT_EQ(document["stragglers"][0]["chunk"], 13);
  EXPECT_EQ(document["stragglers"][0]["entry_start"], 1300);
}

Line Request(const char* server, const char* operation, int64_t count, int64_t bytes, int64_t total_ns,
             int64_t max_ns) {
  return {{"server", server}, {"operation", operation}, {"count", count},
          {"bytes", bytes},   {"total_ns", total_ns},   {"max_ns", max_ns}};
}

TEST_F(MeasureChunksTest, AddsUpRequestsByServerAndOperationOverAllEndedAttempts) {
  Line one = ChunkLine(0, 0, 1);
  Line other = ChunkLine(1, 1, 2);
  Line failed = ChunkLine(2, 2, 3);
  failed["status"] = "failed";
  one["requests"] = {Request("b", "read", 2, 100, 300'000'000, 200'000'000),
                     Request("(other)", "(other)", 5, 1, 1'000'000, 1'000'000)};
  other["requests"] = {Request("a", "read", 1, 7, 10'000'000, 10'000'000),
                       Request("b", "read", 1, 50, 500'000'000, 500'000'000)};
  failed["requests"] = {Request("b", "open", 1, 0, 2'000'000'000, 2'000'000'000)};
  failed["requests"][0]["errors"] = 1;
  Write("a.jsonl", {ProcessLine(1, 0), one, other, failed, EndLine(10)});
  const Document rows = Take()["requests"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["server"], "a");
  EXPECT_EQ(rows[1]["operation"], "open");
  EXPECT_EQ(rows[1]["errors"], 1);
  EXPECT_EQ(rows[1]["max_seconds"], 2);
  EXPECT_EQ(rows[2]["server"], "b");
  EXPECT_EQ(rows[2]["calls"], 3);
  EXPECT_EQ(rows[2]["bytes"], 150);
  EXPECT_NEAR(rows[2]["seconds"].get<double>(), 0.8, 1e-12);
  EXPECT_NEAR(rows[2]["max_seconds"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(rows[2]["errors"], 0);
  EXPECT_EQ(rows[3]["server"], "(other)");
  EXPECT_EQ(rows[3]["calls"], 5);
}

TEST_F(MeasureChunksTest, HasNoSumBeyondTheRangeOfAnInteger) {
  Line one = ChunkLine(0, 0, 1);
  Line other = ChunkLine(1, 1, 2);
  const int64_t most = std::numeric_limits<int64_t>::max();
  one["bytes_read"] = other["bytes_read"] = most;
  one["memory_sections"] = other["memory_sections"] = {{{"path", "jets"}, {"count", 1}, {"delta_bytes", most}}};
  Write("a.jsonl", {ProcessLine(1, 0), one, other, EndLine(10)});
  const Document document = Take();
  EXPECT_TRUE(document["metrics"]["bytes_read_chunks"].is_null());
  EXPECT_EQ(document["quality"]["not_measured"]["bytes_read_chunks"], "the sum is beyond 64 bits");
  EXPECT_EQ(document["quality"]["not_measured"]["bytes_read_compressed"], "the sum is beyond 64 bits");
  EXPECT_EQ(document["memory_sections"][0]["count"], 2);
  EXPECT_TRUE(document["memory_sections"][0]["delta_bytes"].is_null());
}

}  // namespace
}  // namespace crema
