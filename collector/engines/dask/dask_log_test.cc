#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "collector/engines/dask/dask_engine.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCluster[] =
    R"({"type":"cluster","schema":"crema.dask/1","schema_minor":0,"epoch":"e1","time_ns":1000,"address":"tcp://s:1"})";

std::string Records(const std::string& source, int64_t offset, const std::string& bytes, const char* more = "") {
  return fmt::format(R"({{"type":"records","source":"{}","worker":"tcp://w:1","offset":{},"bytes":{}{}}})", source,
                     offset, bytes.size(), more) +
         "\n" + bytes;
}

std::string Line(const std::string& text) { return text + "\n"; }

class DaskLog : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(getenv("TEST_TMPDIR")) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(directory_ / "out");
  }
  std::string Write(const std::string& text) {
    std::string path = (directory_ / "run.ndjson").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(directory_ / "out" / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  absl::Status Split(const std::string& text) {
    return SplitDaskLog(Write(text), (directory_ / "out").string(), "run");
  }
  bool Exists(const std::string& name) { return fs::exists(directory_ / "out" / name); }

  fs::path directory_;
};

TEST_F(DaskLog, IsKnownByItsFirstLine) {
  EXPECT_TRUE(kDask.find_log(Write(Line(kCluster))).has_value());
  EXPECT_FALSE(kDask.find_log(Write(R"({"type":"process","schema":"crema.records/1"})")).has_value());
  EXPECT_FALSE(kDask.find_log((directory_ / "nowhere").string()).has_value());
}

TEST_F(DaskLog, TellsWorkersFromTheirJoinToTheirLeave) {
  const auto reading = ReadDaskLog(Write(
      Line(kCluster) + Line(R"({"type":"worker","event":"present","time_ns":1001,"worker":"a","threads":2,"pid":7})") +
      Line(R"({"type":"plugin","time_ns":1002,"worker":"a","hostname":"n1","pid":7,"start_ns":900})") +
      Line(R"({"type":"worker","event":"join","time_ns":1003,"worker":"b","threads":1})") +
      Line(
          R"({"type":"sample","time_ns":1004,"worker":"b","memory_bytes":5,"cpu_percent":50.5,"executing":null,"gil_contention":0.75})") +
      Line(R"({"type":"worker","event":"leave","time_ns":1005,"worker":"b"})")));
  ASSERT_TRUE(reading.ok()) << reading.status();
  ASSERT_EQ(reading->clusters.size(), 1u);
  const auto& workers = reading->clusters[0].workers;
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].joined_ns, 0);
  EXPECT_EQ(workers[0].hostname, "n1");
  EXPECT_EQ(workers[0].left_ns, std::nullopt);
  EXPECT_EQ(workers[1].joined_ns, 1003);
  EXPECT_EQ(workers[1].left_ns, 1005);
  ASSERT_EQ(workers[1].samples.size(), 1u);
  EXPECT_EQ(workers[1].samples[0].memory_bytes, 5);
  EXPECT_EQ(workers[1].samples[0].executing, std::nullopt);
  EXPECT_EQ(workers[1].samples[0].gil_contention, 0.75);
}

TEST_F(DaskLog, TellsHowAWorkerLeft) {
  struct Case {
    const char* reason;
    const char* status;  // JSON
    const char* text;
    bool is_lost;
    bool is_unreported;
  };
  const std::string broke = "its connection broke: killed, crashed, or out of memory";
  for (const Case& one : {Case{"retire-workers-1.5", "\"closing_gracefully\"", "retired", false, false},
                          Case{"retire-workers-1.5", "null", "retired", false, false},
                          Case{"handle-worker-cleanup-1.5", "\"closing\"", "closed", false, false},
                          Case{"handle-worker-cleanup-1.5", "\"restarting\"", "restarted", false, false},
                          Case{"handle-worker-cleanup-1.5", "\"running\"", broke.c_str(), true, false},
                          Case{"nanny-close-1.5", "\"paused\"", broke.c_str(), true, false},
                          Case{"check-worker-ttl-1.5", "null", "it stopped sending heartbeats", true, false},
                          Case{"handle-worker-cleanup-1.5", "null", "", false, true}}) {
    const auto reading = ReadDaskLog(
        Write(Line(kCluster) + Line(R"({"type":"worker","event":"join","time_ns":1003,"worker":"b","threads":1})") +
              Line(R"({"type":"worker","event":"leave","time_ns":1005,"worker":"b","reason":")" +
                   std::string(one.reason) + R"(","status":)" + one.status + "}")));
    ASSERT_TRUE(reading.ok()) << reading.status();
    const ClusterWorkerFact& worker = reading->clusters[0].workers.at(0);
    EXPECT_EQ(worker.left_reason, one.text) << one.reason << one.status;
    EXPECT_EQ(worker.is_lost, one.is_lost) << one.reason << one.status;
    EXPECT_EQ(worker.left_unreported, one.is_unreported) << one.reason << one.status;
  }
}

TEST_F(DaskLog, TakesAWorkersOwnWordForItsEndAlsoAfterItsConnectionBroke) {
  const std::string leave = R"({"type":"worker","event":"leave","worker":"b","time_ns":)";
  const std::string broke = Line(leave + R"(1005,"reason":"handle-worker-cleanup-1.5","status":"running"})");
  const std::string closes = Line(leave + R"(1006,"reason":null,"status":"closing"})");
  const auto reading = ReadDaskLog(
      Write(Line(kCluster) + Line(R"({"type":"worker","event":"join","time_ns":1003,"worker":"b","threads":1})") +
            broke + closes + broke));
  ASSERT_TRUE(reading.ok()) << reading.status();
  const ClusterWorkerFact& worker = reading->clusters[0].workers.at(0);
  EXPECT_EQ(worker.left_reason, "closed");
  EXPECT_FALSE(worker.is_lost);
  EXPECT_EQ(worker.left_ns, 1005);
}

TEST_F(DaskLog, NamesWhatItCannotReadAndUsesTheRest) {
  const auto reading = ReadDaskLog(
      Write(Line(kCluster) + Line("not json") + Line(R"({"type":"new"})") + R"({"type":"worker","event":"jo)"));
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed, 1);
  EXPECT_EQ(reading->torn, 1);
  EXPECT_EQ(reading->unknown, 1);
  ASSERT_EQ(reading->problems.size(), 2u);
  EXPECT_THAT(reading->problems[0], HasSubstr("run.ndjson:2: "));
}

TEST_F(DaskLog, RefusesAnotherMajorSchema) {
  const auto reading = ReadDaskLog(Write(Line(R"({"type":"cluster","schema":"crema.dask/2"})")));
  ASSERT_FALSE(reading.ok());
  EXPECT_THAT(std::string(reading.status().message()), HasSubstr("run.ndjson:1: its schema is crema.dask/2"));
}

/// Fault [logs]: a Dask log is truncated while it is read
/// Shown: what was read until then
TEST_F(DaskLog, MayBeTruncatedWhileItIsRead) {
  std::string text = Line(kCluster);
  for (int i = 0; i < 3000; ++i) text += Line(R"({"type":"other","text":")" + std::string(1000, 'x') + R"("})");
  const std::string path = Write(text);
  int64_t lines = 0;
  int64_t torn = 0;
  const absl::Status status = ForEachDaskLine(
      path,
      [&](const DaskLine&) {
        if (lines++ == 0) fs::resize_file(path, 100);
      },
      [&](const DaskLineFault& fault) { torn += fault.torn ? 1 : 0; });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GE(lines, 1);
  EXPECT_LT(lines, 3001);
}

TEST_F(DaskLog, ReadsRecordsLargerThanWhatIsReadAtOnce) {
  const std::string records(std::size_t{3} << 20, 'r');
  const std::string path = Write(Line(kCluster) + Records("a", 0, records) + Line(R"({"type":"last"})"));
  std::string last;
  ASSERT_TRUE(ForEachDaskLine(
                  path,
                  [&](const DaskLine& line) {
                    last = line.fields["type"];
                    if (last != "records") return;
                    EXPECT_EQ(line.bytes, records);
                    EXPECT_EQ(line.text.rfind("{\"type\":\"records\"", 0), 0u);
                  },
                  [](const DaskLineFault&) { ADD_FAILURE(); })
                  .ok());
  EXPECT_EQ(last, "last");
}

TEST_F(DaskLog, PassesOverTheRecordsAmongItsLines) {
  const auto reading =
      ReadDaskLog(Write(Line(kCluster) + Records("h-1-2-0.jsonl", 0, "{\"type\":\"worker\"}\nbad\n") + Line("bad")));
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed, 1);
  EXPECT_THAT(reading->problems, ElementsAre(HasSubstr("run.ndjson:5: ")));
}

TEST_F(DaskLog, PutsLogsTogetherAndTakesWhatCameTwiceOnce) {
  ASSERT_TRUE(Split(Line(kCluster) + Records("h-1-2-0.jsonl", 0, "one\ntwo\n") +
                    Records("h-1-2-0.jsonl", 4, "two\nthree\n") + Records("h-1-2-0.jsonl", 0, "one\n"))
                  .ok());
  EXPECT_EQ(Read("h-1-2-0.jsonl"), "one\ntwo\nthree\n");
  EXPECT_EQ(Read("run.dask.ndjson"), Line(kCluster));
}

TEST_F(DaskLog, CountsBytesThatNeverCame) {
  ASSERT_TRUE(Split(Line(kCluster) + Records("h-1-2-0.jsonl", 10, "late\n")).ok());
  const auto reading = ReadDaskLog((directory_ / "out" / "run.dask.ndjson").string());
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->clusters[0].lost_bytes.at("h-1-2-0.jsonl"), 10);
}

TEST_F(DaskLog, ALogOfAWorkerThatIsThereIsALiveCopy) {
  const std::string join = Line(R"({"type":"worker","event":"join","time_ns":1,"worker":"tcp://w:1"})");
  const std::string leave = Line(R"({"type":"worker","event":"leave","time_ns":2,"worker":"tcp://w:1"})");
  ASSERT_TRUE(Split(Line(kCluster) + join + Records("h-1-2-0.jsonl", 0, "x\n") +
                    Records("h-1-2-1.jsonl", 0, "{\"type\":\"end\",}\n") +
                    Records("h-9-2-0.jsonl", 0, "x\n", ",\"adopted\":true"))
                  .ok());
  EXPECT_TRUE(Exists("h-1-2-0.live.jsonl"));
  EXPECT_TRUE(Exists("h-1-2-1.jsonl"));  // it said that it ended
  EXPECT_TRUE(Exists("h-9-2-0.jsonl"));  // its process is gone: another one sent it
  fs::remove_all(directory_ / "out");
  fs::create_directories(directory_ / "out");
  ASSERT_TRUE(Split(Line(kCluster) + join + Records("h-1-2-0.jsonl", 0, "x\n") + leave).ok());
  EXPECT_TRUE(Exists("h-1-2-0.jsonl"));
}

TEST_F(DaskLog, NoNameLeadsOutOfTheDirectory) {
  ASSERT_TRUE(Split(Line(kCluster) + Records("../h-1-2-0.jsonl", 0, "x\n")).ok());
  EXPECT_FALSE(fs::exists(directory_ / "h-1-2-0.jsonl"));
  const auto reading = ReadDaskLog((directory_ / "out" / "run.dask.ndjson").string());
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed, 1);
}

TEST_F(DaskLog, RefusesOffsetsThatNoLogReaches) {
  const std::string far = Records("h-1-2-0.jsonl", std::numeric_limits<int64_t>::max(), "x\n");
  ASSERT_TRUE(Split(Line(kCluster) + far + Records("h-1-2-0.jsonl", 0, "y\n")).ok());
  EXPECT_EQ(Read("h-1-2-0.jsonl"), "y\n");
  const auto reading = ReadDaskLog((directory_ / "out" / "run.dask.ndjson").string());
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed, 1);
  EXPECT_TRUE(reading->clusters[0].lost_bytes.empty());
}

TEST_F(DaskLog, DoesNotKnowWholeNumbersBeyond64Bits) {
  const auto sample = [](const char* number) {
    return Line(fmt::format(R"({{"type":"sample","time_ns":2,"worker":"a","memory_bytes":{}}})", number));
  };
  const auto reading = ReadDaskLog(Write(Line(kCluster) + Line(R"({"type":"worker","event":"join","worker":"a"})") +
                                         sample("1e300") + sample("18446744073709551615") + sample("5.0")));
  ASSERT_TRUE(reading.ok()) << reading.status();
  const auto& samples = reading->clusters[0].workers.at(0).samples;
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].memory_bytes, std::nullopt);
  EXPECT_EQ(samples[1].memory_bytes, std::nullopt);
  EXPECT_EQ(samples[2].memory_bytes, 5);
}

TEST_F(DaskLog, RemembersFaultsWhenItIsTakenApart) {
  ASSERT_TRUE(Split(Line(kCluster) + Line("bad")).ok());
  const auto reading = ReadDaskLog((directory_ / "out" / "run.dask.ndjson").string());
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed, 1);
  EXPECT_EQ(reading->unknown, 0);
}

TEST_F(DaskLog, MayHoldMoreLogsThanAProcessMayHaveOpen) {
  constexpr int kLogs = 100;
  std::string text = Line(kCluster);
  for (const auto& [offset, bytes] : {std::pair(0, "one\n"), std::pair(4, "two\n")}) {
    for (int i = 0; i < kLogs; ++i) text += Records(fmt::format("h-{}-2-0.jsonl", i), offset, bytes);
  }
  rlimit usual = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit few = {kLogs / 2, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const absl::Status split = Split(text);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ASSERT_TRUE(split.ok()) << split;
  for (int i = 0; i < kLogs; ++i) EXPECT_EQ(Read(fmt::format("h-{}-2-0.jsonl", i)), "one\ntwo\n");
}

TEST_F(DaskLog, SaysWhyALogCannotBeWritten) {
  fs::create_directories(directory_ / "out" / "h-1-2-0.jsonl");
  EXPECT_THAT(Split(Line(kCluster) + Records("h-1-2-0.jsonl", 0, "x\n") + Records("h-1-2-1.jsonl", 0, "x\n")).message(),
              HasSubstr("cannot be written (Is a directory)"));
}

TEST_F(DaskLog, ASessionThatEndedMayBeginAgain) {
  const auto session = [](const char* event, int64_t time_ns) {
    return Line(fmt::format(R"({{"type":"session","id":"s","event":"{}","time_ns":{}}})", event, time_ns));
  };
  const auto reading = ReadDaskLog(Write(Line(kCluster) + session("begin", 1) + session("begin", 2) +
                                         session("end", 3) + session("begin", 4) + session("end", 5)));
  ASSERT_TRUE(reading.ok()) << reading.status();
  const auto& sessions = reading->clusters[0].sessions;
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].begin_ns, 2);
  EXPECT_EQ(sessions[0].end_ns, 3);
  EXPECT_EQ(sessions[1].id, "s");
  EXPECT_EQ(sessions[1].begin_ns, 4);
  EXPECT_EQ(sessions[1].end_ns, 5);
}

// Takes minutes if each line looks through all that came before it.
TEST_F(DaskLog, MayNameManyWorkersSpansAndSessions) {
  constexpr size_t kMany = 100'000;
  std::string text = Line(kCluster);
  for (const char* line :
       {R"({{"type":"worker","event":"join","time_ns":1,"worker":"tcp://worker:{}"}})",
        R"({{"type":"sample","time_ns":2,"worker":"tcp://worker:{}"}})", R"({{"type":"span","id":"{}","done":false}})",
        R"({{"type":"span","id":"{}","done":true}})", R"({{"type":"session","id":"{}","event":"begin","time_ns":1}})",
        R"({{"type":"session","id":"{}","event":"end","time_ns":2}})"}) {
    for (size_t i = 0; i < kMany; ++i) text += Line(fmt::format(fmt::runtime(line), i));
  }
  const auto reading = ReadDaskLog(Write(text));
  ASSERT_TRUE(reading.ok()) << reading.status();
  const ClusterFact& cluster = reading->clusters[0];
  ASSERT_EQ(cluster.workers.size(), kMany);
  ASSERT_EQ(cluster.spans.size(), kMany);
  ASSERT_EQ(cluster.sessions.size(), kMany);
  for (size_t i = 0; i < kMany; ++i) {
    EXPECT_EQ(cluster.workers[i].samples.size(), 1u);
    EXPECT_TRUE(cluster.spans[i].done);
    EXPECT_EQ(cluster.sessions[i].end_ns, 2);
  }
}

}  // namespace
}  // namespace crema
