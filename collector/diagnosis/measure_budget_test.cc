// Runs with a planted trouble, from record lines to budget and verdict: each is found where it was planted, and the
// parts add up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

Line ProcessWithCores(int64_t pid, int64_t cores, double start = 0) {
  Line line = ProcessLine(pid, start);
  line["threads"] = cores;
  return line;
}

/// A chunk that spent so much on the CPU, and so much waiting for one; the rest it was blocked.
Line Chunk(int64_t number, double start, double stop, double cpu, double cpu_wait) {
  Line line = ChunkLine(number, start, stop);
  line["cpu_ns"] = Ns(cpu);
  line["cpu_wait_ns"] = Ns(cpu_wait);
  return line;
}

class PlantedRunTest : public MeasureTest {
 protected:
  /// Measures, and checks that the budget holds these parts, nothing else, and adds up.
  Document TakeAndExpect(const std::map<std::string, double>& expected) {
    Document document = Take();
    AddInsight(&document);
    double sum = 0;
    for (const Document& row : document["budget"]) {
      const auto wanted = expected.find(row["part"].get<std::string>());
      EXPECT_NEAR(row["core_seconds"].get<double>(), wanted == expected.end() ? 0 : wanted->second, 1e-9)
          << row["part"];
      sum += row["core_seconds"].get<double>();
    }
    double planted = 0;
    for (const auto& [part, core_seconds] : expected) {
      Row(document["budget"], "part", part);
      planted += core_seconds;
    }
    EXPECT_NEAR(sum, planted, 1e-9);
    EXPECT_NEAR(sum, Metric(document, "core_seconds"), 1e-9);
    double shares = 0;
    for (const Document& row : document["budget"]) shares += row["share"].get<double>();
    EXPECT_NEAR(shares, 1, 1e-12);
    return document;
  }
  static std::vector<std::string> Verdicts(const Document& document) {
    std::vector<std::string> ids;
    for (const Document& row : document["verdicts"]) ids.push_back(row["id"]);
    return ids;
  }
};

TEST_F(PlantedRunTest, HealthyOneIsComputeAlmostAlone) {
  Write("a.jsonl", {ProcessWithCores(1, 1), Chunk(0, 0, 10, 9.75, 0), Chunk(1, 10, 20, 9.75, 0), EndLine(20)});
  const Document document = TakeAndExpect({{"compute", 19.5}, {"blocked", 0.5}});
  EXPECT_THAT(Verdicts(document), UnorderedElementsAre("compute-bound", "healthy"));
}

TEST_F(PlantedRunTest, ASuspendedChunkOccupiesNoCoreAndIsNotBlocked) {
  // Two coroutines take turns on one thread.
  Line one = Chunk(0, 0, 10, 4.5, 0);
  Line other = Chunk(1, 0, 10, 5, 0);
  for (Line* line : {&one, &other}) (*line)["suspended_ns"] = Ns(5);
  Write("a.jsonl", {ProcessWithCores(1, 1), one, other, EndLine(10)});
  const Document document = TakeAndExpect({{"compute", 9.5}, {"blocked", 0.5}});
  EXPECT_DOUBLE_EQ(Metric(document, "busy_time"), 10);
  EXPECT_DOUBLE_EQ(Metric(document, "core_efficiency"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked"), 0.5);
  EXPECT_EQ(Metric(document, "oversubscribed_core_seconds"), 0);
  EXPECT_TRUE(document["metrics"]["load_imbalance"].is_null());
}

TEST_F(PlantedRunTest, FailedAndSuspendedTimeBeyondTheChunkIsClipped) {
  Line failed = Chunk(0, 0, 4, 1, 0);
  failed["status"] = "failed";
  failed["suspended_ns"] = Ns(3);
  Line contradiction = Chunk(1, 4, 10, 2, 0);
  contradiction["suspended_ns"] = Ns(60);
  Write("a.jsonl", {ProcessWithCores(1, 1), failed, contradiction, EndLine(10)});
  const Document document = TakeAndExpect({{"failed", 1}, {"idle", 9}});
  EXPECT_DOUBLE_EQ(Metric(document, "busy_time"), 1);
}

TEST_F(PlantedRunTest, IdleCoresAreFoundBetweenChunks) {
  Write("a.jsonl", {ProcessWithCores(1, 2), Chunk(0, 2, 6, 4, 0), Chunk(1, 10, 14, 4, 0), EndLine(20)});
  const Document document = TakeAndExpect({{"compute", 8}, {"startup", 4}, {"idle", 16}, {"shutdown", 12}});
  EXPECT_THAT(Verdicts(document), UnorderedElementsAre("idle-workers", "shutdown-dominated", "startup-dominated"));
  EXPECT_TRUE(document["metrics"]["tail_time"].is_null());
}

TEST_F(PlantedRunTest, BlockedCodeIsFoundInEachOfItsProcesses) {
  for (int pid = 1; pid <= 4; ++pid) {
    Write(std::to_string(pid) + ".jsonl", {ProcessWithCores(pid, 1), Chunk(pid, 0, 10, 2, 0), EndLine(10)});
  }
  const Document document = TakeAndExpect({{"compute", 8}, {"blocked", 32}});
  EXPECT_THAT(Verdicts(document), UnorderedElementsAre("waiting-bound"));
  EXPECT_DOUBLE_EQ(Metric(document, "io_overhead_pct"), 80);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_blocked"), 32);
}

TEST_F(PlantedRunTest, ContendedCpuIsNotCalledBlocked) {
  Write("a.jsonl", {ProcessWithCores(1, 2), Chunk(0, 0, 10, 4, 6), Chunk(1, 0, 10, 5, 5), EndLine(10)});
  const Document document = TakeAndExpect({{"compute", 9}, {"cpu_wait", 11}});
  EXPECT_THAT(Verdicts(document), UnorderedElementsAre("cpu-contention"));
  EXPECT_DOUBLE_EQ(Metric(document, "io_overhead_pct"), 0);
}

TEST_F(PlantedRunTest, WaitingIsOnePartWhereTheKernelDoesNotTellTheRunDelay) {
  Line chunk = Chunk(0, 0, 10, 4, 0);
  chunk["cpu_wait_ns"] = nullptr;
  Write("a.jsonl", {ProcessWithCores(1, 1), chunk, EndLine(10)});
  const Document document = TakeAndExpect({{"compute", 4}, {"waiting", 6}});
  EXPECT_TRUE(document["metrics"]["chunk_blocked"].is_null());
  EXPECT_TRUE(document["metrics"]["io_overhead_pct"].is_null());
}

TEST_F(PlantedRunTest, FailedRepeatedAndLostAttemptsAreFailed) {
  Line failed = Chunk(0, 0, 3, 1, 1);
  failed["status"] = "failed";
  Line again = Chunk(0, 3, 5, 2, 0);
  again["chunk"] = 1;
  Line repeated = Chunk(0, 5, 9, 4, 0);  // stops last: the result
  repeated["chunk"] = 2;
  Write("a.jsonl", {ProcessWithCores(1, 1), failed, again, repeated, EndLine(10)});
  // Killed in its chunk, last heard of by its sampler.
  Write("b.jsonl", {ProcessWithCores(2, 1), BeginLine(7, 2), {{"type", "sample"}, {"time_ns", At(8)}}});
  const Document document = TakeAndExpect({{"compute", 4}, {"failed", 3 + 2 + 6}, {"startup", 2}, {"shutdown", 1}});
  EXPECT_THAT(Verdicts(document), Contains("failing-chunks"));
  EXPECT_EQ(document["metrics"]["num_attempts"], 4);
  EXPECT_EQ(document["metrics"]["num_failed_attempts"], 1);
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 1);
  EXPECT_EQ(document["metrics"]["num_retried_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_recomputed_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_unfinished_chunks"], 1);
  EXPECT_EQ(document["metrics"]["num_chunks"], 1);
}

TEST_F(PlantedRunTest, HelpersComputeWhileTheirOwnerJoins) {
  Line chunk = Chunk(0, 0, 10, 1, 0);
  chunk["helper_cpu_ns"] = Ns(24);
  chunk["helper_wait_ns"] = Ns(3);
  chunk["helper_scope_ns"] = Ns(27);
  chunk["helper_union_ns"] = Ns(9);
  Write("a.jsonl", {ProcessWithCores(1, 4), chunk, EndLine(10)});
  const Document document = TakeAndExpect({{"compute", 25}, {"cpu_wait", 3}, {"joined", 9}, {"idle", 3}});
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_cpu_time"), 25);
  EXPECT_DOUBLE_EQ(Metric(document, "helper_cpu_time"), 24);
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_joined"), 9);
  EXPECT_DOUBLE_EQ(Metric(document, "cpu_efficiency"), 25 / 40.0);
  EXPECT_THAT(Verdicts(document), Not(Contains("waiting-bound")));
}

TEST_F(PlantedRunTest, LanesBeyondTheCoresAreOversubscribed) {
  Write("a.jsonl", {ProcessWithCores(1, 2), Chunk(0, 0, 10, 5, 5), Chunk(1, 0, 10, 5, 5), Chunk(2, 0, 10, 5, 5),
                    Chunk(3, 0, 10, 5, 5), EndLine(10)});
  const Document document = TakeAndExpect({{"compute", 20}});
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 20);
  EXPECT_DOUBLE_EQ(Metric(document, "oversubscribed_core_seconds"), 20);
  EXPECT_THAT(Verdicts(document), UnorderedElementsAre("compute-bound", "oversubscribed"));
  EXPECT_DOUBLE_EQ(Metric(document, "balance"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "ideal_wall_time"), 10);
}

TEST_F(PlantedRunTest, OneLongChunkMakesATail) {
  std::vector<Line> lines = {ProcessWithCores(1, 10)};
  for (int i = 0; i < 9; ++i) lines.push_back(Chunk(i, 0, 10, 10, 0));
  lines.push_back(Chunk(9, 0, 40, 40, 0));
  lines.push_back(EndLine(40));
  Write("a.jsonl", lines);
  const Document document = TakeAndExpect({{"compute", 130}, {"tail", 270}});
  EXPECT_DOUBLE_EQ(Metric(document, "tail_time"), 30);
  EXPECT_DOUBLE_EQ(Metric(document, "balance"), 1);
  EXPECT_THAT(Verdicts(document), Contains("long-tail"));
  EXPECT_DOUBLE_EQ(Metric(document, "load_imbalance"), 40 / 13.0 - 1);
}

TEST_F(PlantedRunTest, TroublesOfAllKindsAreToldApartInOneRun) {
  // Two cores: late, blocked, contended and failing; then one core alone for a long time.
  Line failed = Chunk(2, 6, 8, 2, 0);
  failed["status"] = "failed";
  Write("a.jsonl", {ProcessWithCores(1, 1), Chunk(0, 1, 4, 1, 0), Chunk(1, 4, 6, 1, 1), failed, EndLine(12)});
  Line helped = Chunk(3, 2, 20, 10, 1);
  helped["helper_cpu_ns"] = Ns(3);
  helped["helper_wait_ns"] = Ns(1);
  helped["helper_scope_ns"] = Ns(4.5);  // a quarter of a lane
  helped["helper_union_ns"] = Ns(4);
  Line unfinished = BeginLine(2, 10);
  unfinished["chunk"] = 8;
  Write("b.jsonl", {ProcessWithCores(2, 2, 1), helped, EndLine(20)});
  Write("c.jsonl", {ProcessWithCores(3, 1, 9), unfinished, EndLine(15)});
  const Document document = TakeAndExpect({{"compute", 1 + 1 + 10 + 3},
                                           {"cpu_wait", 1 + 1 + 1},
                                           {"blocked", 2 + (18 - 10 - 1 - 4) + 0.5},
                                           {"failed", 2 + 5},
                                           {"joined", 4},
                                           {"startup", 1 + 2 * 1 + 1},
                                           {"idle", 4 + 0.75 * 18}});
  EXPECT_THAT(Verdicts(document), Contains("failing-chunks"));
}

}  // namespace
}  // namespace crema
