// An engine's workers, tasks and activities, from record lines and a scheduler's to the measurement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/metrics/measure_fixture.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kWorker[] = "tcp://w:1";

Line TaskLine(double start, double stop, const std::string& prefix = "process", const std::string& outcome = "memory") {
  return {{"type", "task"},    {"key", prefix + "-1"},  {"prefix", prefix},     {"group", nullptr},   {"span", "s1"},
          {"thread", 7},       {"start_ns", At(start)}, {"stop_ns", At(stop)},  {"outcome", outcome}, {"attempt", 0},
          {"worker", kWorker}, {"engine", "dask"},      {"queue_ns", 500000000}};
}

Line FineOf(const std::string& function, const std::string& activity, const std::string& unit, double value) {
  return Line::array({"execute", "s1", function, activity, unit, value});
}

Line FineLine(double seconds, const std::vector<Line>& rows) {
  return {{"type", "fine"}, {"time_ns", At(seconds)}, {"worker", kWorker}, {"engine", "dask"}, {"rows", rows}};
}

Line ClockLine(double offset, double uncertainty) {
  return {{"type", "clock"},
          {"time_ns", At(0)},
          {"reference", "tcp://s:1"},
          {"offset_ns", static_cast<int64_t>(offset * 1e9)},
          {"uncertainty_ns", static_cast<int64_t>(uncertainty * 1e9)}};
}

Line Cluster() {
  return {{"type", "cluster"}, {"schema", "crema.dask/1"}, {"schema_minor", 0}, {"epoch", "e1"}, {"time_ns", At(0)}};
}

Line Join(double seconds, const std::string& worker = kWorker, int64_t pid = 1) {
  return {{"type", "worker"}, {"event", "join"}, {"time_ns", At(seconds)}, {"worker", worker},
          {"pid", pid},       {"threads", 2},    {"host", "10.0.0.1"}};
}

Line Leave(double seconds) {
  return {{"type", "worker"}, {"event", "leave"}, {"time_ns", At(seconds)}, {"worker", kWorker}};
}

Line Session(const std::string& event, double seconds) {
  return {{"type", "session"}, {"id", "m"}, {"event", event}, {"time_ns", At(seconds)}, {"flushed_ns", At(seconds)}};
}

Line Account(double seconds, double compute) {
  const Line row = {{"prefix", "process"}, {"seconds", {{"compute", compute}}}};
  return {{"type", "account"}, {"time_ns", At(seconds)}, {"rows", Line::array({row})}};
}

class MeasureEngineTest : public MeasureTest {
 protected:
  static double Part(const Document& document, const std::string& part) {
    return Row(document["budget"], "part", part)["core_seconds"].get<double>();
  }
};

TEST_F(MeasureEngineTest, TakesATaskThatWasSeenBeforeItEndedOnce) {
  Write("a.jsonl", {ProcessLine(1), ChunkLine(0, 2, 4), TaskLine(1, 4.5, "process", "executing"),
                    TaskLine(1, 5, "process", "executing"), TaskLine(6, 7), TaskLine(7, 8, "process", "executing"),
                    TaskLine(1, 5), EndLine(10)});
  const Document document = Take();
  EXPECT_EQ(document["quality"]["tasks_read"], 3);
  EXPECT_EQ(document["quality"]["not_measured"]["num_tasks"],
            "crema does not know which tries in this engine's log are of one task");
  EXPECT_EQ(document["quality"]["chunks_joined_to_tasks"], 1);
  EXPECT_DOUBLE_EQ(Metric(document, "outside_chunk_time"), 2);
}

TEST_F(MeasureEngineTest, TasksAroundChunksAndTasksWithoutAreParts) {
  Write("a.jsonl", {ProcessLine(1), TaskLine(1, 5), TaskLine(5, 6, "reduce"),
                    FineLine(6, {FineOf("process", "executor", "seconds", 0.5)}), BeginLine(0, 2), ChunkLine(0, 2, 4),
                    EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Session("begin", 0), Session("end", 10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 20);
  EXPECT_DOUBLE_EQ(Part(document, "outside_chunk"), 2);
  EXPECT_DOUBLE_EQ(Part(document, "framework"), 1 + 0.5);  // a task, and what was taken out of idle time
  EXPECT_DOUBLE_EQ(Metric(document, "outside_chunk_time"), 2);
  EXPECT_DOUBLE_EQ(Metric(document, "outside_chunk_share"), 0.5);
  EXPECT_DOUBLE_EQ(Metric(document, "task_queue_seconds"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "task_slot_utilization_avg"), 5.0 / 20);
  double sum = 0;
  for (const Document& row : document["budget"]) sum += row["core_seconds"].get<double>();
  EXPECT_NEAR(sum, 20, 1e-9);
  EXPECT_EQ(document["quality"]["tasks_without_chunk"], 1);
  EXPECT_EQ(document["run"]["cores_source"], "scheduler");
  EXPECT_EQ(document["workers"][0]["name"], kWorker);
  ASSERT_EQ(document["phases"].size(), 2u);
  EXPECT_EQ(document["phases"][0]["phase"], "process");
  EXPECT_EQ(document["phases"][0]["task_seconds"], 4);
}

TEST_F(MeasureEngineTest, TakesNoMoreOutOfIdleThanThereIs) {
  Write("a.jsonl", {ProcessLine(1), TaskLine(0, 10), FineLine(10, {FineOf("process", "other", "seconds", 99)}),
                    ChunkLine(0, 0, 10), EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Session("begin", 0), Session("end", 10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Part(document, "framework"), 10);  // the second core's
  EXPECT_DOUBLE_EQ(Part(document, "idle"), 0);
}

TEST_F(MeasureEngineTest, FineMetricsAreSummedByWhatTheyMean) {
  Write("a.jsonl",
        {ProcessLine(1), TaskLine(1, 5), ChunkLine(0, 2, 4),
         FineLine(5, {FineOf("process", "thread-cpu", "seconds", 1), FineOf("process", "thread-noncpu", "seconds", 2),
                      FineOf("process", "mine", "seconds", 1), FineOf("process", "mine", "native-seconds", 50),
                      FineOf("reduce", "thread-cpu", "seconds", 8), FineOf("process", "disk-read", "bytes", 30),
                      FineOf("process", "memory-read", "bytes", 90), FineOf("process", "disk-read", "seconds", 4)}),
         FineLine(6, {FineOf("process", "thread-cpu", "seconds", 0.5)}), EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Account(9, 4.5)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "cpu_time_seconds"), 9.5);
  EXPECT_DOUBLE_EQ(Metric(document, "processor_cpu_time_seconds"), 1.5);
  EXPECT_DOUBLE_EQ(Metric(document, "overhead_cpu_time_seconds"), 8);
  EXPECT_DOUBLE_EQ(Metric(document, "memory_read_hit_ratio_bytes"), 0.75);
  EXPECT_DOUBLE_EQ(Metric(document, "disk_read_time_seconds"), 4);
  EXPECT_EQ(Metric(document, "disk_read_bytes"), 30);
  // in the task's call: CPU, the rest, and the user's own, in seconds; of the prefix that the scheduler counts
  EXPECT_DOUBLE_EQ(Metric(document, "fine_metrics_coverage"), 1);
  EXPECT_TRUE(document["metrics"]["memory_read_hit_ratio"].is_null());
}

TEST_F(MeasureEngineTest, FineMetricsCoverNoMoreThanTheEnginesOwnTime) {
  Write("a.jsonl",
        {ProcessLine(1), TaskLine(1, 5), ChunkLine(0, 2, 4),
         FineLine(5, {FineOf("process", "thread-cpu", "seconds", 4), FineOf("process", "mine", "seconds", 2)}),
         EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Account(9, 4)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "fine_metrics_coverage"), 1);
  EXPECT_NE(document["quality"]["warnings"].dump().find("more than its own compute time"), std::string::npos);
}

TEST_F(MeasureEngineTest, ASchedulerThatIsToldToRestartForgetsItsAccount) {
  Write("a.jsonl", {ProcessLine(1), TaskLine(1, 5), ChunkLine(0, 2, 4),
                    FineLine(5, {FineOf("process", "thread-cpu", "seconds", 4)}), EndLine(10)});
  Line leave = Leave(6);
  leave["status"] = "restarting";
  Write("run.dask.ndjson", {Cluster(), Join(0), Account(5, 4), leave, Join(7), Account(9, 0.5)});
  Document document = Take();
  EXPECT_TRUE(document["quality"]["fine_metrics_coverage"].is_null());
  EXPECT_EQ(document["quality"]["warnings"].dump().find("more than its own compute time"), std::string::npos);
  // a session that began after the restart
  Write("a.jsonl", {ProcessLine(1), TaskLine(8, 9), ChunkLine(0, 8, 9),
                    FineLine(9, {FineOf("process", "thread-cpu", "seconds", 0.5)}), EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Account(5, 4), leave, Join(7), Session("begin", 7.5), Account(9, 0.5),
                            Session("end", 10)});
  document = Take();
  EXPECT_EQ(document["quality"]["fine_metrics_coverage"], 1);
}

TEST_F(MeasureEngineTest, TasksOfOtherExecutorsAreNoGapOfFineMetrics) {
  const auto coverage = [this](const std::vector<Line>& rows) {
    Write("a.jsonl", {ProcessLine(1), TaskLine(1, 5), ChunkLine(0, 2, 4), FineLine(5, rows), EndLine(10)});
    Write("run.dask.ndjson", {Cluster(), Join(0), Account(9, 4)});
    return Take()["quality"]["fine_metrics_coverage"];
  };
  EXPECT_TRUE(coverage({FineOf("process", "executor", "seconds", 4)}).is_null());
  EXPECT_EQ(coverage({FineOf("process", "executor", "seconds", 1), FineOf("process", "thread-cpu", "seconds", 3)}),
            0.75);
  EXPECT_EQ(coverage({FineOf("other", "executor", "seconds", 4)}), 0) << "all that was metered of it is lost";
}

TEST_F(MeasureEngineTest, WhatBeganOutsideTheSessionIsNoneOfIt) {
  Write("a.jsonl", {ProcessLine(1), BeginLine(0, 1), ChunkLine(0, 1, 2), TaskLine(1, 2),
                    FineLine(2, {FineOf("process", "thread-cpu", "seconds", 5)}), BeginLine(1, 4), ChunkLine(1, 4, 5),
                    TaskLine(4, 5), FineLine(6, {FineOf("process", "thread-cpu", "seconds", 1)}), EndLine(10)});
  Write("run.dask.ndjson",
        {Cluster(), Join(0), Account(2.5, 100), Session("begin", 3), Account(6, 101), Session("end", 6)});
  const Document document = Take();
  EXPECT_EQ(Metric(document, "num_attempts"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "wall_time"), 3);
  EXPECT_DOUBLE_EQ(Metric(document, "cpu_time_seconds"), 1);
  EXPECT_DOUBLE_EQ(Metric(document, "fine_metrics_coverage"), 1);
  EXPECT_EQ(document["run"]["boundary"], "context");
}

TEST_F(MeasureEngineTest, ValuesOfNoChunkAreNoneOfASessionAmongOthers) {
  // They are sums since the process began.
  Line end = EndLine(10);
  end["metrics"] = Line::array(
      {{{"name", "bytes_written"}, {"unit", "B"}, {"count", 1}, {"sum", 11e9}, {"min", 11e9}, {"max", 11e9}}});
  Write("a.jsonl", {ProcessLine(1), BeginLine(0, 4), ChunkLine(0, 4, 5), TaskLine(4, 5), end});
  Write("run.dask.ndjson", {Cluster(), Join(0), Session("begin", 3), Session("end", 6)});
  const Document document = Take();
  for (const Document& row : document["custom_metrics"]) EXPECT_NE(row["name"], "bytes_written");
  EXPECT_THAT(document["quality"]["warnings"].dump(), ::testing::HasSubstr("values of no chunk"));
}

TEST_F(MeasureEngineTest, TimesOfAnotherHostAreOnTheSchedulersClock) {
  // The host is 100 s behind; of two estimates the one that is better known counts.
  Write("a.jsonl", {ProcessLine(1, -100), ClockLine(90, 20), ClockLine(100, 0.001), TaskLine(-99, -96),
                    ChunkLine(0, -98, -97), EndLine(-90)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Leave(10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(document["quality"]["clock_offset_max_s"].get<double>(), 100);
  EXPECT_EQ(document["run"]["start_ns"], At(2));
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 2);  // the chunk is within the worker's life
  EXPECT_EQ(document["quality"]["chunks_joined_to_tasks"], 1);
}

TEST_F(MeasureEngineTest, AnOffsetBelowItsUncertaintyIsNone) {
  Write("a.jsonl", {ProcessLine(1), ClockLine(0.01, 0.02), ChunkLine(0, 1, 2), EndLine(10)});
  EXPECT_EQ(Take()["quality"]["clock_offset_max_s"], 0);
}

TEST_F(MeasureEngineTest, AWorkerThatSentNothingIsCountedAndHasCores) {
  Line plugin = {{"type", "plugin"}, {"time_ns", At(0)}, {"worker", "tcp://w:2"}, {"pid", 2}};
  plugin["failure"] = "OSError: /full";
  Write("a.jsonl", {ProcessLine(1), TaskLine(1, 2), ChunkLine(0, 1, 2), EndLine(10)});
  Write("run.dask.ndjson",
        {Cluster(), Join(0), Join(0, "tcp://w:2", 2), plugin, Session("begin", 0), Session("end", 10)});
  const Document document = Take();
  EXPECT_EQ(document["quality"]["workers_unseen"], 1);
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 40);
  EXPECT_THAT(document["quality"]["warnings"].get<std::vector<std::string>>(),
              Contains(HasSubstr("tcp://w:2 records nothing: OSError: /full")));
}

constexpr char kVineHead[] = "# time manager_pid MANAGER manager_pid START|END time_from_origin\n";

std::string VineLine(double seconds, const std::string& text) {
  return std::to_string(At(seconds) / 1000) + " 7 " + text + "\n";
}

std::string VineJoin(double seconds) {
  return VineLine(seconds, "WORKER w1 CONNECTION 10.0.0.1:50912") +
         VineLine(seconds, R"(WORKER w1 RESOURCES {"disk":[10,"MB"],"cores":[2,"cores"]})");
}

TEST_F(MeasureEngineTest, AWorkerThatCameAgainIsThereOnceAtATime) {
  WriteText("run.taskvine.log", kVineHead + VineLine(0, "MANAGER 7 START 0") + VineJoin(1) +
                                    VineLine(3, "WORKER w1 DISCONNECTION FAILURE") + VineJoin(5) +
                                    VineLine(9, "WORKER w1 DISCONNECTION EXPLICIT") + VineLine(10, "MANAGER 7 END 10"));
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "core_seconds"), 2 * (2 + 4));
  ASSERT_FALSE(document["workers"].empty());
  const Document& lost = document["workers"][0];
  EXPECT_EQ(lost["state"], "lost");
  EXPECT_EQ(lost["left_reason"], "FAILURE");
  EXPECT_EQ(lost["disk_bytes"], 10 << 20);
}

TEST_F(MeasureEngineTest, JobsWithoutRecordsHaveRows) {
  const auto event = [](const std::string& code, const std::string& job, const std::string& text) {
    return code + " (" + job + ".000) 2026-11-25 20:10:4" + (code == "000" ? "0 " : "3 ") + text + "\n...\n";
  };
  std::string log;
  for (const auto& [job, status] : {std::pair("002.000", "0"), {"002.001", "3"}}) {
    log += event("000", job, "Job submitted from host: <127.0.0.1:9618>");
    log += event("001", job, "Job executing on host: <127.0.0.1:9618>");
    log += event("005", job, std::string("Job terminated.\n\t(1) Normal termination (return value ") + status + ")");
  }
  WriteText("run.htcondor.log", log);
  const Document workers = Take()["workers"];
  ASSERT_EQ(workers.size(), 2u) << workers.dump(1);
  EXPECT_EQ(workers[0]["left_reason"], "terminated, exit code 0");
  EXPECT_EQ(workers[1]["name"], "job 2.1");
  EXPECT_EQ(workers[1]["left_reason"], "terminated, exit code 3");
}

TEST_F(MeasureEngineTest, WhatAnEnginesTasksRecordedNamesTheLogThatIsMissing) {
  Line process = ProcessLine(1);
  process["engine"] = {{"name", "taskvine"}, {"job", "14"}};
  Write("a.jsonl", {process, ChunkLine(0, 1, 2), EndLine(10)});
  const auto warnings = [this] { return Take()["quality"]["warnings"].get<std::vector<std::string>>(); };
  EXPECT_THAT(warnings(),
              Contains(HasSubstr("one process was a task of TaskVine, and the manager's log was not given")));
  WriteText("run.taskvine.log", kVineHead + VineJoin(0));
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("log was not given"))));
}

TEST_F(MeasureEngineTest, ThePluginsWordOnAWorkersEndCounts) {
  Line plugin = ProcessLine(1);
  plugin["recorder"] = 1;
  Write("sdk.jsonl", {ProcessLine(1), BeginLine(0, 1)});  // what was sent of it holds no end
  Write("plugin.jsonl", {plugin, TaskLine(0, 0.5), EndLine(3)});
  const Document document = Take();
  EXPECT_EQ(document["quality"]["processes_ended"], 1);
  EXPECT_EQ(Metric(document, "num_lost_attempts"), 1);
}

TEST_F(MeasureEngineTest, ASessionThatGoesOnIsRunning) {
  Write("a.live.jsonl", {ProcessLine(1), TaskLine(1, 3), BeginLine(0, 1), ChunkLine(0, 1, 2)});
  Write("run.dask.ndjson", {Cluster(), Join(0), Session("begin", 0), Account(4, 2)});
  EXPECT_EQ(Take()["run"]["state"], "running");
  Write("run.dask.ndjson", {Cluster(), Join(0), Session("begin", 0), Account(4, 2), Session("end", 5)});
  EXPECT_EQ(Take()["run"]["state"], "finished");
}

TEST_F(MeasureEngineTest, WithoutChunksTheirCpuTimeIsThatOfTheProcessorsTasks) {
  Line begin = Session("begin", 0);
  begin["processor"] = "process";
  Write("a.jsonl",
        {ProcessLine(1), TaskLine(1, 5), FineLine(5, {FineOf("process", "thread-cpu", "seconds", 3)}), EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), begin, Session("end", 10)});
  const Document document = Take();
  EXPECT_DOUBLE_EQ(Metric(document, "chunk_cpu_time"), 3);
  EXPECT_DOUBLE_EQ(Metric(document, "cpu_efficiency"), 3.0 / 20);
  EXPECT_EQ(document["run"]["cpu_time_source"], "processor's tasks, with what Coffea does around it");
  EXPECT_FALSE(document["quality"]["not_measured"].contains("chunk_cpu_time"));
}

TEST_F(MeasureEngineTest, WithoutChunksWhatTheyWaitedIsThatOfTheProcessorsTasks) {
  Line begin = Session("begin", 0);
  const std::vector<Line> rows = {
      FineOf("process", "thread-cpu", "seconds", 3), FineOf("process", "thread-noncpu", "seconds", 1),
      FineOf("merge", "thread-cpu", "seconds", 1), FineOf("merge", "thread-noncpu", "seconds", 3)};
  Write("a.jsonl", {ProcessLine(1), TaskLine(1, 5), FineLine(5, rows), EndLine(10)});
  Write("run.dask.ndjson", {Cluster(), Join(0), begin, Session("end", 10)});
  const Document of_all = Take();
  EXPECT_DOUBLE_EQ(Metric(of_all, "io_overhead_pct"), 50);
  EXPECT_DOUBLE_EQ(Metric(of_all, "io_overhead"), 0.5);
  EXPECT_EQ(of_all["run"]["io_overhead_source"], "tasks");
  begin["processor"] = "process";
  Write("run.dask.ndjson", {Cluster(), Join(0), begin, Session("end", 10)});
  EXPECT_DOUBLE_EQ(Metric(Take(), "io_overhead_pct"), 25);
}

TEST_F(MeasureEngineTest, WithoutTasksNothingIsSaidOfJoins) {
  Write("a.jsonl", {ProcessLine(1), ChunkLine(0, 1, 2), EndLine(3)});
  const Document document = Take();
  for (const char* key : {"chunks_joined_to_tasks", "chunks_unjoined", "workers_unseen", "records_lost_bytes"}) {
    EXPECT_TRUE(document["quality"][key].is_null()) << key;
  }
  EXPECT_EQ(document["quality"]["not_measured"]["outside_chunk_time"], "no engine's tasks were observed");
}

}  // namespace
}  // namespace crema
