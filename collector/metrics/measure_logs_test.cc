// Whole measurements from literal records: whose records they are, and what is known where some are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::HasSubstr;

using MeasureLogsTest = MeasureTest;

// Two threads of one process, each with chunks of a second; `left_out`: the lines of these are missing.
std::vector<Line> TwoThreads(const std::set<int64_t>& left_out) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  lines[0]["threads"] = 2;
  for (int64_t number = 0; number < 20; ++number) {
    const int64_t start_s = number / 2;
    const auto start = static_cast<double>(start_s);
    Line begin = BeginLine(number, start);
    Line chunk = ChunkLine(number, start, start + 0.9);
    begin["tid"] = chunk["tid"] = 8 + number % 2;
    lines.push_back(begin);
    if (left_out.count(number) == 0) lines.push_back(chunk);
  }
  return lines;
}

TEST_F(MeasureLogsTest, AForeignFileAddsNoProcess) {
  Write("a.jsonl", {ProcessLine(1, 0), ChunkLine(0, 0, 2), EndLine(4)});
  WriteText("notes.jsonl", "hello\n");
  const Document document = Take();
  EXPECT_EQ(Metric(document, "wall_time"), 4);
  EXPECT_EQ(document["quality"]["processes_lost"], 0);
  EXPECT_THAT(document["quality"]["warnings"].dump(), HasSubstr("notes.jsonl: holds no record"));
}

TEST_F(MeasureLogsTest, AChunkInsideOneOfAnotherLogOfTheProcessCountsOnce) {
  Line other = ProcessLine(1, 0);
  other["recorder"] = 1;
  Line outer = ChunkLine(0, 0, 8);
  outer["cpu_ns"] = 8000000000;
  outer["cpu_wait_ns"] = 0;
  outer["sections"] = {SectionRowLine("read", 1000000000, 1000000000)};
  Line inner = ChunkLine(0, 2, 7, "plug-in");
  inner["cpu_ns"] = 5000000000;
  inner["cpu_wait_ns"] = 0;
  Line apart = ChunkLine(1, 8, 10, "plug-in");
  apart["tid"] = 9;
  Write("a.jsonl", {ProcessLine(1, 0), outer, EndLine(10)});
  Write("b.jsonl", {other, inner, apart, EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(Metric(document, "busy_time"), 10);
  EXPECT_EQ(Metric(document, "chunk_cpu_time"), 9);
  EXPECT_EQ(Metric(document, "chunk_blocked"), 0.8);
  EXPECT_EQ(Row(document["datasets"], "name", "ttbar")["duration_sum"], 3.0);
  EXPECT_EQ(Row(document["datasets"], "name", "plug-in")["duration_sum"], 7.0);
  EXPECT_EQ(Row(document["sections"], "path", "(other)")["self"], 9.0);
  EXPECT_EQ(Row(document["sections"], "path", "read")["share"], 0.1);
}

TEST_F(MeasureLogsTest, ProcessesOfTwoContainersAreTwo) {
  for (const int64_t name_space : {10, 11}) {
    Line process = ProcessLine(1, 0);
    process["pid_namespace"] = name_space;
    process["boot_id"] = "b";
    Line chunk = ChunkLine(0, 0, 2);  // without entries each is a chunk of its own
    chunk["entry_start"] = nullptr;
    Write(std::to_string(name_space) + ".jsonl", {process, chunk, EndLine(4)});
  }
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 2);
  EXPECT_EQ(document["quality"]["processes_ended"], 2);
}

/// Fault [logs]: two writers in one process, of which one does not know its namespace of pids
/// Shown: one process
TEST_F(MeasureLogsTest, AWriterThatKnowsLessOfItsProcessIsStillOneOfIts) {
  Line process = ProcessLine(1, 0);
  process["boot_id"] = "b";
  Line plugin = process;
  plugin["recorder"] = 1;
  process["pid_namespace"] = 10;
  Write("a.jsonl", {process, ChunkLine(0, 0, 2), EndLine(4)});
  Write("b.jsonl", {plugin, EndLine(4)});
  EXPECT_EQ(Take()["quality"]["processes_ended"], 1);
}

/// Fault [logs]: lines of chunks are lost (a disk that was full for a while, a damaged log), and the process ended well
/// Shown: `records_lost`, and a warning; no attempt is failed or lost. The time is `unmeasured` until the thread begins
/// its next chunk, at most
TEST_F(MeasureLogsTest, ALostLineIsNoLostAttempt) {
  std::vector<Line> lines = TwoThreads({3, 8, 19});
  Line end = EndLine(10);
  end["chunks"] = 20;
  end["failed"] = end["open"] = 0;
  lines.push_back(end);
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_attempts"], 20);
  EXPECT_EQ(document["metrics"]["num_chunks"], 17);
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 0);
  EXPECT_EQ(document["metrics"]["num_unfinished_chunks"], 0);
  EXPECT_EQ(document["quality"]["records_lost"], 3);
  EXPECT_NE(document["quality"]["warnings"].dump().find("the records of 3 chunks that ended are lost"),
            std::string::npos);
  // Each was open until its thread began the next, or the process ended: nobody knows what for.
  EXPECT_EQ(Row(document["budget"], "part", "failed")["core_seconds"], 0);
  EXPECT_DOUBLE_EQ(Row(document["budget"], "part", "unmeasured")["core_seconds"].get<double>(), 3);
}

/// Fault [logs]: lines of chunks are lost, and the process was killed
/// Shown: the last attempt of each thread is lost, those before in `records_lost`
TEST_F(MeasureLogsTest, AKilledProcessLosesTheAttemptsThatItsThreadsWereAt) {
  Write("a.jsonl", TwoThreads({3, 18, 19}));
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 2) << "the last ones of both threads";
  EXPECT_EQ(document["metrics"]["num_unfinished_chunks"], 2);
  EXPECT_EQ(document["quality"]["records_lost"], 1);
}

/// Fault [logs]: a process that suspends chunks (coroutines) was killed
/// Shown: all that were open are lost, though their thread had begun others
TEST_F(MeasureLogsTest, AKilledProcessLosesItsSuspendedChunks) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int number = 0; number < 4; ++number) {
    lines.push_back(BeginLine(number, number));
    if (number > 0) lines.back()["suspended"] = number;
  }
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 4);
  EXPECT_EQ(document["quality"]["records_lost"], 0);
}

/// Fault [logs]: a process with chunks inside others was killed
/// Shown: all that were open are lost
TEST_F(MeasureLogsTest, AKilledProcessLosesTheChunksAroundOthers) {
  std::vector<Line> lines = {ProcessLine(1, 0)};
  for (int number = 0; number < 4; ++number) {
    lines.push_back(BeginLine(number, number));
    if (number > 0) lines.back()["inside"] = number - 1;
  }
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 4);
  EXPECT_EQ(document["quality"]["records_lost"], 0);
}

TEST_F(MeasureLogsTest, ATableOfChunksWithoutANameIsLeftOutWhateverTheirBeginsNamed) {
  Line chunk = ChunkLine(0, 0, 1);
  chunk["dataset"] = chunk["file"] = nullptr;
  Write("a.jsonl", {ProcessLine(1, 0), BeginLine(0, 0), chunk, EndLine(2)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_chunks"], 1);
  EXPECT_TRUE(document["datasets"].empty()) << document["datasets"];
  EXPECT_TRUE(document["files"].empty()) << document["files"];
}

TEST_F(MeasureLogsTest, TheEndOfALogSaysHowManyWereStillOpen) {
  std::vector<Line> lines = TwoThreads({18, 19});
  Line end = EndLine(10);
  end["chunks"] = 19;
  end["failed"] = 0;
  end["open"] = 1;
  lines.push_back(end);
  Write("a.jsonl", lines);
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 1);
  EXPECT_EQ(document["quality"]["records_lost"], 1);
}

/// Fault [logs]: all lines of a chunk are lost
/// Shown: the log's `end` says how many chunks there were: the difference is in `records_lost`
TEST_F(MeasureLogsTest, AChunkOfWhichNoLineIsLeftIsCountedByTheEndOfItsLog) {
  Line end = EndLine(4);
  end["chunks"] = 5;
  end["open"] = 0;
  Write("a.jsonl", {ProcessLine(1, 0), BeginLine(0, 0), ChunkLine(0, 0, 2), end});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_attempts"], 1);
  EXPECT_EQ(document["quality"]["records_lost"], 4);
}

TEST_F(MeasureLogsTest, TakesALineThatIsThereTwiceOnce) {
  Line first = ChunkLine(0, 0, 2);
  first["cuts"] = {{{"name", "all"}, {"events", 100}, {"weights", nullptr}}};
  const Line second = ChunkLine(70, 2, 3);
  Write("a.jsonl", {ProcessLine(1, 0), BeginLine(0, 0), first, BeginLine(0, 0), first, second, EndLine(4)});
  const Document document = Take();
  EXPECT_EQ(document["metrics"]["num_attempts"], 2);
  EXPECT_EQ(document["metrics"]["num_lost_attempts"], 0);
  EXPECT_EQ(document["metrics"]["total_events"], 200);
  EXPECT_EQ(Row(document["cuts"], "name", "all")["events"], 100);
  EXPECT_EQ(document["quality"]["records_read"], 5);
  EXPECT_EQ(document["quality"]["records_malformed"], 2);
  EXPECT_NE(document["quality"]["warnings"].dump().find("2 lines of chunks that had ended before"), std::string::npos);
}

}  // namespace
}  // namespace crema
