// Whole measurements from literal records: the run, its attempts, what may be wrong with them.
#include "collector/metrics/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/measurement/catalog.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_NEAR(sum, Metric(document, "core_seconds"), 1e-9);
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

TEST_F(MeasureTest, ComparesChunksBySizeWithThoseOfTheirPass) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int i = 0; i < 40; ++i) {
    Line line = ChunkLine(i % 20, 2 * i, 2 * i + (i < 20 ? 0.01 : 1));
    line["chunk"] = i;
    line["file"] = i % 4 < 2 ? "a.root" : "b.root";
    line["pass"] = i < 20 ? "weights" : "analysis";
    lines.push_back(line);
  }
  lines.push_back(EndLine(80));
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 40);
  EXPECT_EQ(document["metrics"]["straggler_chunks"], 0);
  ASSERT_EQ(document["chunk_fits"].size(), 2u);
  EXPECT_EQ(document["chunk_fits"][0]["attempts"], 20);
  for (const Document& row : document["expected_time"]) {
    EXPECT_NEAR(row["predicted"].get<double>(), row["duration"].get<double>(), 1e-6) << row;
  }
  for (const Document& verdict : document["verdicts"]) {
    EXPECT_NE(verdict["id"], "slow-file");
    EXPECT_NE(verdict["id"], "skewed-dataset");
  }
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

TEST_F(MeasureTest, ARunWhoseStopWasToldHasFinishedThoughItsProcessLivesOn) {
  Write("a.live.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2)});
  EXPECT_EQ(Take()["run"]["state"], "running");
  MeasureOptions options;
  options.stop_ns = At(5);
  EXPECT_EQ(Take(options)["run"]["state"], "finished");
}

TEST_F(MeasureTest, SaysWhichEventsWereStillToCome) {
  Line process = ProcessLine(1, 0);
  process["attributes"]["total_events"] = 400;
  Write("a.jsonl", {process, ChunkLine(0, 1, 2), EndLine(10)});
  EXPECT_DOUBLE_EQ(Take()["quality"]["event_coverage"].get<double>(), 0.25);
}

TEST_F(MeasureTest, AddsUpTheEventsToComeOfSeveralRunsWhereEachTellsThem) {
  const auto process = [](int64_t pid, const char* run, const Line& events) {
    Line line = ProcessLine(pid, 0);
    line["run_id"] = run;
    line["attributes"]["total_events"] = events;
    return line;
  };
  MeasureOptions all;
  all.run = "all";
  Write("a.jsonl", {process(1, "first", 400), ChunkLine(0, 1, 2), EndLine(10)});
  Write("b.jsonl", {process(2, "first", 400), ChunkLine(1, 1, 2), EndLine(10)});
  Write("c.jsonl", {process(3, "second", 100), ChunkLine(2, 1, 2), EndLine(10)});
  EXPECT_DOUBLE_EQ(Take(all)["quality"]["event_coverage"].get<double>(), 300 / 500.0);
  Write("c.jsonl", {process(3, "second", nullptr), ChunkLine(2, 1, 2), EndLine(10)});
  EXPECT_TRUE(Take(all)["quality"]["event_coverage"].is_null());
}

TEST_F(MeasureTest, SaysThatSumsOverSomeAttemptsAreTooLow) {
  Line silent = ChunkLine(1, 2, 3);
  silent["bytes_read"] = nullptr;
  silent["events"] = nullptr;
  silent["cpu_ns"] = nullptr;
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), silent, EndLine(10)});
  const std::string warnings = Take()["quality"]["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("bytes read are known of 1 of 2 ended attempts"));
  EXPECT_THAT(warnings, HasSubstr("events are known of 1 of 2 chunks"));
  EXPECT_THAT(warnings, HasSubstr("CPU time is known of 1 of 2 ended attempts"));
  Line failed = ChunkLine(1, 2, 3);
  failed["status"] = "failed";
  failed["bytes_read"] = nullptr;
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), failed, EndLine(10)});
  EXPECT_THAT(Take()["quality"]["warnings"].dump(), Not(HasSubstr("bytes read are known")));
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
