// Whole measurements from literal records: what the process tree of `crema run` adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::HasSubstr;

using MeasureTreeTest = MeasureTest;

TEST_F(MeasureTreeTest, TakesBoundsCoresAndMemoryFromTheProcessTree) {
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
                {"cpu_user_ns", kSecondNs},
                {"cpu_system_ns", 0},
                {"processes", 1},
                {"threads", 1},
                {"process_rows",
                 {{{"pid", 1}, {"start_ns", At(1)}, {"rss_bytes", rss_bytes}, {"cpu_ns", kSecondNs}, {"threads", 1}}}}};
  };
  const Line end = {{"type", "run_end"},
                    {"time_ns", At(10)},
                    {"exit_status", 3},
                    {"tree_cpu_user_ns", 4 * kSecondNs},
                    {"tree_cpu_system_ns", kSecondNs},
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

/// A chunk of 30 s writes nothing before its end. Who is killed in it lived until then, not until the chunk before.
TEST_F(MeasureTreeTest, AProcessWithoutAnEndLivesUntilItsLastSample) {
  const Line run = {{"type", "run"},   {"schema", "crema.tree/1"}, {"schema_minor", 0},
                    {"run_id", "run"}, {"command", {"./a"}},       {"host", "node"},
                    {"pid", 1},        {"start_ns", At(0)},        {"interval_seconds", 1.0}};
  const auto sample = [](double time) {
    const Line row = {{"pid", 1}, {"start_ns", At(1)}, {"rss_bytes", 1}, {"cpu_ns", kSecondNs}, {"threads", 1}};
    return Line{{"type", "tree_sample"}, {"time_ns", At(time)}, {"rss_bytes", 1}, {"cpu_user_ns", kSecondNs},
                {"cpu_system_ns", 0},    {"processes", 1},      {"threads", 1},   {"process_rows", {row}}};
  };
  Write("node-1-1.tree.ndjson", {run, sample(2), sample(30)});
  Write("a.jsonl", {ProcessLine(1, 1), ChunkLine(0, 2, 6)});
  EXPECT_DOUBLE_EQ(Take()["workers"][0]["stop"].get<double>(), 30);
  Write("a.jsonl", {ProcessLine(1, 1), ChunkLine(0, 2, 6), EndLine(9)});
  EXPECT_DOUBLE_EQ(Take()["workers"][0]["stop"].get<double>(), 9) << "the log has its end";
}

TEST_F(MeasureTreeTest, MeasuresACommandThatRecordsNothing) {
  Write("node-1-1.tree.ndjson", {{{"type", "run"},
                                  {"schema", "crema.tree/1"},
                                  {"schema_minor", 0},
                                  {"run_id", "run"},
                                  {"command", {"sleep"}},
                                  {"host", "node"},
                                  {"pid", 1},
                                  {"start_ns", At(0)},
                                  {"interval_seconds", 1.0}},
                                 {{"type", "run_end"},
                                  {"time_ns", At(10)},
                                  {"exit_status", 0},
                                  {"tree_cpu_user_ns", kSecondNs},
                                  {"tree_cpu_system_ns", 0}}});
  MeasureOptions options;
  options.run = "run";
  const Document document = Take(options);
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 10);
  EXPECT_DOUBLE_EQ(Metric(document, "tree_cpu_user"), 1);
  EXPECT_TRUE(document["metrics"]["num_chunks"].is_null()) << "nobody counted";
  EXPECT_THAT(document["quality"]["not_measured"]["num_chunks"].get<std::string>(), HasSubstr("no record log"));
  options.run = "another";
  options.sources = {directory_.string()};
  EXPECT_EQ(Measure(options).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(MeasureTreeTest, CountsSharedPagesOnceAndTakesPeaksOfTheKernel) {
  const auto process = [](int64_t pid) {
    return Line{{"pid", pid},
                {"start_ns", At(0)},
                {"rss_bytes", 300},
                {"cpu_ns", kSecondNs},
                {"threads", 1},
                {"name", "pool"},
                {"rss_peak_bytes", 320},
                {"anonymous_bytes", 40},
                {"file_bytes", 260},
                {"run_delay_ns", kSecondNs / 2}};
  };
  const Line run = {{"type", "run"}, {"schema", "crema.tree/1"}, {"run_id", "run"}, {"host", "node"},
                    {"pid", 1},      {"start_ns", At(0)}};
  const Line sample = {{"type", "tree_sample"},
                       {"time_ns", At(2)},
                       {"rss_bytes", 600},
                       {"pss_bytes", 310},
                       {"cpu_user_ns", 2 * kSecondNs},
                       {"cpu_system_ns", 0},
                       {"processes", 2},
                       {"threads", 2},
                       {"process_rows", {process(1), process(2)}}};
  Write("node-1-1.tree.ndjson", {run, sample});
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 3), EndLine(4)});
  Write("b.jsonl", {ProcessLine(2, 0), ChunkLine(0, 1, 3), EndLine(4)});
  const Document document = Take();
  EXPECT_EQ(Metric(document, "tree_peak_rss_bytes"), 600);
  EXPECT_EQ(Metric(document, "tree_peak_memory_bytes"), 320);
  EXPECT_EQ(Metric(document, "peak_memory_bytes"), 320);
  EXPECT_EQ(Metric(document, "peak_total_memory_bytes"), 320) << "not 600: they share pages";
  const Document& row = document["processes"][0];
  EXPECT_EQ(row["peak_memory_bytes"], 320);
  EXPECT_EQ(row["anonymous_memory_bytes"], 40);
  EXPECT_EQ(row["file_memory_bytes"], 260);
  EXPECT_EQ(row["cpu_wait"], 0.5);
  EXPECT_EQ(document["workers"][0]["anonymous_memory_bytes"], 40);
}

std::vector<Line> TreeOf(const std::string& run_id, int64_t start_ns, int64_t sampled_ns) {
  return {{{"type", "run"},
           {"schema", "crema.tree/1"},
           {"schema_minor", 0},
           {"run_id", run_id},
           {"host", "node"},
           {"pid", 7},
           {"start_ns", start_ns}},
          {{"type", "tree_sample"}, {"time_ns", sampled_ns}, {"rss_bytes", 1}, {"cpu_user_ns", kSecondNs}}};
}

TEST_F(MeasureTreeTest, ProcessesOfOtherRunsBesideTheCommandWidenTheBounds) {
  std::vector<Line> tree = TreeOf("run", At(0), At(4));
  tree.push_back({{"type", "run_end"}, {"time_ns", At(5)}, {"exit_status", 0}, {"tree_cpu_user_ns", 2 * kSecondNs}});
  Write("node-7-1.tree.ndjson", tree);
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 4), EndLine(5)});
  Line other = ProcessLine(2, 30);
  other["run_id"] = nullptr;  // only CREMA_DIR was set
  Write("b.jsonl", {other, ChunkLine(0, 31, 34), EndLine(35)});
  MeasureOptions options;
  options.run = "all";
  const Document document = Take(options);
  EXPECT_EQ(document["run"]["boundary"], "processes");
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 35);
  EXPECT_EQ(document["workers"].size(), 2u);
  EXPECT_DOUBLE_EQ(Metric(document, "event_rate_wall_khz"), 200 / 35.0 / 1000);
  for (const char* key : {"job_cpu_efficiency", "cpu_outside_chunks_share"}) {
    EXPECT_TRUE(document["metrics"][key].is_null()) << key;
    EXPECT_EQ(document["quality"]["not_measured"][key], "processes of other runs are not in the process tree");
  }
  for (const Document& warning : document["quality"]["warnings"]) {
    EXPECT_THAT(warning.get<std::string>(), ::testing::Not(HasSubstr("outside the run's bounds")));
  }
}

TEST_F(MeasureTreeTest, TakesARunThatHasOnlyAProcessTreeAndNotTheTreeOfAnother) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), EndLine(3)});  // of the run `run`
  Write("node-7-1.tree.ndjson", TreeOf("other", At(0), At(4)));
  MeasureOptions options;
  options.run = "other";
  const Document of_tree = Take(options);
  EXPECT_DOUBLE_EQ(Metric(of_tree, "tree_cpu_user"), 1);
  EXPECT_EQ(of_tree["quality"]["records_read"], 0);
  options.run = "run";
  const Document of_records = Take(options);
  EXPECT_EQ(of_records["metrics"]["num_chunks"], 1);
  EXPECT_TRUE(of_records["metrics"]["tree_cpu_user"].is_null());
  options.run = "third";
  options.sources = {directory_.string()};
  EXPECT_EQ(Measure(options).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(MeasureTreeTest, TheCommandGoesOnWhereOnlyCremaRunWasKilled) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 1, 2), EndLine(10)});
  Write("node-7-1.tree.ndjson", TreeOf("run", At(0), At(4)));
  const Document document = Take();
  EXPECT_EQ(document["run"]["boundary"], "command");
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 10);
}

}  // namespace
}  // namespace crema
