#include "collector/sources/record_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "collector/records/facts.h"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

std::string ProcessLine(const std::string& run, int pid) {
  return R"({"type":"process","schema":"crema.records/1","run_id":")" + run + R"(","host":"node","pid":)" +
         std::to_string(pid) + R"(,"start_ns":100,"recorder":0})" + "\n";
}
std::string FileLine(const std::string& file) { return R"({"type":"file","file":")" + file + "\"}\n"; }

LogReading ReadWhole(const RecordLog& log, bool running, const std::function<void(const Record&)>& on_record) {
  return JoinParts(log, {ReadLogPart(log, LogPart{}, running, on_record)});
}

class RecordLogTest : public ::testing::Test {
 protected:
  RecordLogTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    directory_ = fs::path(::testing::TempDir()) / ("record_log_" + name);
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~RecordLogTest() override { fs::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  absl::StatusOr<RecordLogs> Find(const std::string& run = "") { return FindRecordLogs({directory_.string()}, run); }

  // The file facts of a log, which are the simplest records.
  static LogReading Read(const RecordLog& log, std::vector<std::string>* files, bool running = false) {
    return ReadWhole(log, running, [&](const Record& record) {
      if (record.type == RecordType::kFile) files->emplace_back(record.file.file);
    });
  }
  LogReading ReadOnly(const std::string& text, std::vector<std::string>* files, bool running = false) {
    Write("a.jsonl", text);
    const auto logs = Find();
    EXPECT_TRUE(logs.ok()) << logs.status();
    return Read(logs->logs.at(0), files, running);
  }

  fs::path directory_;
};

TEST_F(RecordLogTest, ReadsEveryRecordOfALog) {
  std::vector<std::string> files;
  const LogReading reading = ReadOnly(ProcessLine("r", 1) + FileLine("f") + FileLine("g"), &files);
  EXPECT_THAT(files, ElementsAre("f", "g"));
  EXPECT_EQ(reading.records_read, 3);
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST_F(RecordLogTest, NamesAndCountsWhatCannotBeReadAndUsesTheRest) {
  std::vector<std::string> files;
  const LogReading reading =
      ReadOnly(ProcessLine("r", 1) + FileLine("f") + "garbage\n" + "{\"type\":\"file\",\"fi\n" + "\n" + FileLine("g") +
                   "{\"type\":\"hologram\"}\n" + "{\"type\":\"file\",\"file\":7}\n" + FileLine("h"),
               &files);
  EXPECT_THAT(files, ElementsAre("f", "g", "h"));
  EXPECT_EQ(reading.records_read, 4);
  EXPECT_EQ(reading.records_malformed, 2);
  EXPECT_EQ(reading.records_torn, 1);
  EXPECT_EQ(reading.records_unknown, 1);
  ASSERT_THAT(reading.warnings, SizeIs(3));
  EXPECT_THAT(reading.warnings[0], HasSubstr("a.jsonl:3: not a JSON object"));
  EXPECT_THAT(reading.warnings[1], HasSubstr("a.jsonl:4: the rest of this record was never written"));
  EXPECT_THAT(reading.warnings[2], HasSubstr("a.jsonl:8: `file` is not a string"));
}

TEST_F(RecordLogTest, LeavesTheCpuTimeOfChildrenToTheirOwnLogs) {
  const auto process = [](int pid, int parent, int start) {
    return R"({"type":"process","schema":"crema.records/1","run_id":"r","host":"node","pid":)" + std::to_string(pid) +
           R"(,"parent_pid":)" + std::to_string(parent) + R"(,"start_ns":)" + std::to_string(start) +
           R"(,"recorder":0})" + "\n" +
           R"({"type":"chunk","chunk":0,"start_ns":1000,"stop_ns":2000,"status":"ok","children_cpu_ns":)" +
           std::to_string(start) + "}\n";
  };
  Write("a_with_its_number_before.jsonl", process(4, 1, 100));
  Write("b_parent.jsonl", process(4, 1, 200));
  Write("c_child.jsonl", process(5, 4, 300));
  Write("d_child_of_another.jsonl", process(6, 7, 400));
  Write("e_with_its_number_after.jsonl", process(4, 1, 500));
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  std::vector<std::optional<int64_t>> children_ns;
  for (const RecordLog& log : logs->logs) {
    ReadWhole(log, false, [&](const Record& record) {
      if (record.type == RecordType::kChunk) children_ns.push_back(record.chunk.children_cpu_ns);
    });
  }
  EXPECT_THAT(children_ns, ElementsAre(100, std::nullopt, 300, 400, 500));
}

TEST_F(RecordLogTest, TakesALastLineWithoutNewlineWhenItIsWhole) {
  std::vector<std::string> files;
  const LogReading reading = ReadOnly(ProcessLine("r", 1) + R"({"type":"file","file":"f"})", &files);
  EXPECT_THAT(files, ElementsAre("f"));
  EXPECT_EQ(reading.records_torn, 0);
}

TEST_F(RecordLogTest, WaitsForTheUnfinishedLastLineOfARunningProcess) {
  const std::string text = ProcessLine("r", 1) + R"({"type":"file","fi)";
  std::vector<std::string> files;
  EXPECT_EQ(ReadOnly(text, &files, /*running=*/true).records_torn, 0);
  EXPECT_EQ(ReadOnly(text, &files, /*running=*/false).records_torn, 1);
  EXPECT_THAT(files, IsEmpty());
}

TEST_F(RecordLogTest, ReadsLinesOnEitherSideOfEveryBlockBorder) {
  std::string text = ProcessLine("r", 1);
  std::vector<std::string> expected;
  for (int i = 0; text.size() < (5u << 20); ++i) {
    expected.push_back("file" + std::to_string(i) + std::string(static_cast<size_t>(i * 37 % 4001), 'x'));
    text += FileLine(expected.back());
  }
  std::vector<std::string> files;
  const LogReading reading = ReadOnly(text, &files);
  EXPECT_EQ(files, expected);
  EXPECT_THAT(reading.warnings, IsEmpty());
}

TEST_F(RecordLogTest, CountsALineThatIsTooLongOnceAndReadsOn) {
  const std::string longest(kMaxLineBytes - FileLine("").size(), 'a');
  std::vector<std::string> files;
  const LogReading reading =
      ReadOnly(ProcessLine("r", 1) + FileLine(longest) + FileLine(std::string(3 << 20, 'b')) + FileLine("end"), &files);
  EXPECT_THAT(files, ElementsAre(longest, "end"));
  EXPECT_EQ(reading.records_malformed, 1);
  ASSERT_THAT(reading.warnings, SizeIs(1));
  EXPECT_THAT(reading.warnings[0], HasSubstr("a.jsonl:3: longer than"));
}

TEST_F(RecordLogTest, CapsItsWarningsAndCountsTheOthers) {
  std::string text = ProcessLine("r", 1);
  for (int i = 0; i < 30; ++i) text += "garbage\n";
  std::vector<std::string> files;
  const LogReading reading = ReadOnly(text, &files);
  EXPECT_THAT(reading.warnings, SizeIs(20));
  EXPECT_EQ(reading.more_warnings, 10);
  EXPECT_THAT(reading.stops, SizeIs(0));
}

TEST_F(RecordLogTest, SaysWhereItStoppedHoweverMuchThereIsToSay) {
  std::string text = ProcessLine("r", 1);
  for (int i = 0; i < 30; ++i) text += "garbage\n";
  text += R"({"type":"process","schema":"crema.records/2","host":"node","pid":1,"start_ns":1})";
  std::vector<std::string> files;
  const LogReading reading = ReadOnly(text + "\n" + FileLine("never read"), &files);
  EXPECT_THAT(files, SizeIs(0));
  EXPECT_THAT(reading.warnings, SizeIs(20));
  EXPECT_THAT(reading.stops, ElementsAre(HasSubstr("a.jsonl:32: the schema is crema.records/2")));
}

TEST_F(RecordLogTest, KnowsAProcessByTheLockOnItsLogAndLeavesTheLockAlone) {
  const std::string path = Write("a.jsonl", ProcessLine("r", 1));
  EXPECT_FALSE(IsHeldByItsProcess(path));
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0) << "the look before has left a lock behind";
  EXPECT_TRUE(IsHeldByItsProcess(path));
  close(fd);
  EXPECT_FALSE(IsHeldByItsProcess(path));
}

TEST_F(RecordLogTest, TakesHostAndPidFromTheNameWhereTheProcessLineIsLost) {
  Write("my-node-77-123456-2.jsonl", FileLine("f"));
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  EXPECT_THAT(logs->warnings, ElementsAre(HasSubstr("the first line is not a process record")));
  std::vector<std::string> hosts;
  ReadWhole(logs->logs[0], false, [&](const Record& record) {
    if (record.type == RecordType::kProcess) {
      hosts.emplace_back(record.process.host);
      EXPECT_EQ(record.process.pid, 77);
      EXPECT_EQ(record.process.start_ns, 123456);
      EXPECT_EQ(record.process.recorder, 2);
    }
  });
  EXPECT_THAT(hosts, ElementsAre("my-node"));
}

/// Fault [logs]: a `.jsonl` file that is not a record log, or has no line that can be read
/// Shown: one warning that names it; it adds no process and no time
TEST_F(RecordLogTest, LeavesOutAFileWithoutARecordAndNamesItOnce) {
  Write("a.jsonl", ProcessLine("r", 1));
  Write("notes.jsonl", "hello\n{\"type\":\"todo\"}\n[1]\n{\"type\":\"chunk\",\"ch");
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  EXPECT_EQ(logs->logs.size(), 1u);
  EXPECT_THAT(logs->warnings, ElementsAre(AllOf(HasSubstr("notes.jsonl: holds no record"), HasSubstr("left out"))));
}

/// Fault [logs]: a log whose first line is lost, under a name that says nothing
/// Shown: one warning; its process begins with its first record
TEST_F(RecordLogTest, AProcessOfWhichNothingIsKnownBeganWithItsFirstRecord) {
  Write("notes.jsonl", "hello\n" + FileLine("f") +
                           R"({"type":"span","name":"s","start_ns":7000,"stop_ns":8000})"
                           "\n");
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_EQ(logs->logs.size(), 1u);
  EXPECT_EQ(logs->logs[0].start_ns, 7000);
}

/// Fault [logs]: processes of containers or of cloned machines, with the same host, pid and start
/// Shown: each of them; copies of one log count once
TEST_F(RecordLogTest, TellsProcessesOfContainersAndBootsApart) {
  const auto line = [](const std::string& more) {
    std::string text = ProcessLine("r", 1);
    return text.insert(text.rfind('}'), more);
  };
  Write("a.jsonl", line(R"(,"boot_id":"x","pid_namespace":1)"));
  Write("b.jsonl", line(R"(,"boot_id":"x","pid_namespace":2)"));
  Write("c.jsonl", line(R"(,"boot_id":"y","pid_namespace":1)"));
  Write("d.jsonl", line(R"(,"boot_id":"y","pid_namespace":1)"));
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  EXPECT_EQ(logs->logs.size(), 3u) << "the last two are copies of one log";
}

TEST_F(RecordLogTest, FindsLogsInAMeasurementAndTreeLogsBesideThem) {
  Write("measurement.json", "{}");
  Write("records/a.jsonl", ProcessLine("r", 1));
  Write("records/node-1-2.tree.ndjson", "{}\n");
  Write("records/notes.txt", "not a log");
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_THAT(logs->logs, SizeIs(1));
  EXPECT_EQ(logs->logs[0].run_id, "r");
  EXPECT_THAT(logs->tree_logs, ElementsAre(HasSubstr("node-1-2.tree.ndjson")));
}

TEST_F(RecordLogTest, AsksForTheRunWhereThereAreSeveral) {
  Write("a.jsonl", ProcessLine("r1", 1));
  Write("b.jsonl", ProcessLine("r2", 2));
  Write("c.jsonl", ProcessLine("r2", 3));
  const auto undecided = Find();
  ASSERT_FALSE(undecided.ok());
  EXPECT_THAT(std::string(undecided.status().message()), HasSubstr("2 runs: r1 (1 log), r2 (2 logs); choose one"));
  const auto chosen = Find("r2");
  ASSERT_TRUE(chosen.ok());
  EXPECT_THAT(chosen->logs, SizeIs(2));
  const auto all = Find("all");
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(all->logs, SizeIs(3));
  EXPECT_EQ(Find("r3").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RecordLogTest, ReadsALogThatIsThereTwiceOnce) {
  const std::string whole = ProcessLine("r", 1) + FileLine("f");
  const std::string path = Write("records/a.jsonl", whole);
  fs::create_hard_link(path, directory_ / "link.jsonl");
  Write("copy.jsonl", ProcessLine("r", 1));
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_THAT(logs->logs, SizeIs(1));
  EXPECT_EQ(logs->logs[0].bytes, static_cast<int64_t>(whole.size()));
}

TEST_F(RecordLogTest, LeavesOutALogOfAnotherMajorSchemaAndSaysSo) {
  Write("a.jsonl", ProcessLine("r", 1));
  Write("b.jsonl", R"({"type":"process","schema":"crema.records/2","host":"node","pid":1,"start_ns":1})");
  const auto logs = Find();
  ASSERT_TRUE(logs.ok());
  EXPECT_THAT(logs->logs, SizeIs(1));
  EXPECT_THAT(logs->warnings, ElementsAre(HasSubstr("b.jsonl:1: its schema is crema.records/2")));
}

TEST_F(RecordLogTest, SaysWhatIsWrongWithASourceWithoutLogs) {
  EXPECT_EQ(FindRecordLogs({(directory_ / "nowhere").string()}, "").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Find().status().message()), HasSubstr("holds no record log"));
  Write("a.jsonl", R"({"type":"process","schema":"crema.records/2","host":"node","pid":1,"start_ns":1})");
  EXPECT_THAT(std::string(Find().status().message()), HasSubstr("crema.records/2"));
}

std::string ChunkLine(int number) {
  const std::string begin = std::to_string(1000 + 10 * number);
  return R"({"type":"chunk","chunk":)" + std::to_string(number) + R"(,"start_ns":)" + begin + R"(,"stop_ns":)" + begin +
         R"(,"status":"failed","dataset":")" + std::string(100, 'd') + R"(","error":"e)" + std::to_string(number) +
         "\"}\n";
}

/// The attempts that a second reading hands out for these begins, as `pid number error`.
std::vector<std::string> ReadAgain(const RecordLogs& logs, std::vector<int64_t> begins) {
  ChunkPlaces places;
  ForEachAttempt(
      logs, [](const Attempt&) {}, &places);
  places.begins = std::move(begins);
  std::vector<std::string> found;
  const auto add = [&found](const Attempt& attempt) {
    found.push_back(std::to_string(attempt.process.pid) + " " + std::to_string(attempt.chunk.number) + " " +
                    std::string(attempt.chunk.error));
  };
  ForEachAttempt(logs, add, &places);
  return found;
}

TEST_F(RecordLogTest, GivesAnAttemptWithoutAnEndTheAttributesOfItsBegin) {
  const std::string begin = R"({"type":"begin","chunk":)", end = R"(,"attributes":{"file_kind":"merged"}})"
                                                                 "\n";
  Write("a.jsonl", ProcessLine("r", 1) + begin + R"(1,"time_ns":1000)" + end + begin + R"(2,"time_ns":2000)" + end +
                       R"({"type":"chunk","chunk":1,"start_ns":1000,"stop_ns":1500,"status":"ok","attributes":{}})"
                       "\n");
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  std::vector<std::string> found;
  ForEachAttempt(*logs, [&found](const Attempt& attempt) {
    found.push_back(std::to_string(attempt.chunk.number) + std::string(attempt.chunk.attributes));
  });
  EXPECT_THAT(found, ElementsAre("1", R"(2{"file_kind":"merged"})"));
}

TEST_F(RecordLogTest, FindsAFewAttemptsAgainWithoutReadingAll) {
  constexpr int kChunks = 3000;
  for (const int pid : {1, 2}) {
    std::string text = ProcessLine("r", pid);
    for (int number = 0; number < kChunks; ++number) text += ChunkLine(number);
    Write(std::to_string(pid) + ".jsonl", text);
  }
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  const std::vector<std::string> found = ReadAgain(*logs, {1000 + 10 * 1500, 1000 + 10 * 2999});
  EXPECT_LT(found.size(), kChunks / 4);
  for (const char* attempt : {"1 1500 e1500", "1 2999 e2999", "2 1500 e1500", "2 2999 e2999"}) {
    EXPECT_THAT(found, Contains(attempt));
  }
}

TEST_F(RecordLogTest, FindsAttemptsAgainWhereALogHasSeveralProcesses) {
  std::string text;
  for (const int pid : {1, 2}) {
    text += ProcessLine("r", pid);
    for (int number = 0; number < 1000; ++number) text += ChunkLine(number);
  }
  Write("a.jsonl", text);
  const auto logs = Find();
  ASSERT_TRUE(logs.ok()) << logs.status();
  const std::vector<std::string> found = ReadAgain(*logs, {1000 + 10 * 999});
  EXPECT_THAT(found, Contains("1 999 e999"));
  EXPECT_THAT(found, Contains("2 999 e999"));
}

}  // namespace
}  // namespace crema
