// Switching recording on and off: Enable, Disable, Flush, and the environment.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "crema/crema.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

Options Into(const std::string& directory) {
  Options options;
  options.directory = directory;
  options.interval_seconds = 0;
  return options;
}

void UseEveryGuard() {
  Span span("process");
  TrackMetrics metrics({"ttbar", "f.root", 0, 10});
  metrics.SetEvents(10);
  metrics.AddBytesRead(1, 2);
  metrics.SetAttribute("a", "b");
  TrackHelper helper(metrics.handle());
  TrackSection section("read", kCpuTime);
  TrackMemory memory("jets");
  RecordMetric("m", 1);
  RecordCut("c", 1, 1.0);
  SetAttribute("c", "d");
  AddBytesRead(1);
  Flush();
}

bool IsEmpty(const std::string& directory) { return std::filesystem::is_empty(directory); }

TEST(Recording, IsOffUnlessAsked) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({}, [&] {
    if (chdir(directory.c_str()) != 0 || Enabled()) std::abort();
    UseEveryGuard();
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(child.errors, "");
  EXPECT_TRUE(IsEmpty(directory));
}

TEST(Recording, CremaOffWinsOverEverything) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_OFF", "1"}}, [&] {
    UseEveryGuard();
    if (Enable(Into(directory))) std::abort();
    if (Enabled()) std::abort();
    UseEveryGuard();
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(child.errors, "");
  EXPECT_TRUE(IsEmpty(directory));
}

TEST(Recording, CremaOffOfAnotherValueIsNotOff) {
  EXPECT_EQ(Recorded(UseEveryGuard, {{"CREMA_OFF", "0"}}).chunks.size(), 1u);
}

TEST(Recording, MakesItsDirectory) {
  const std::string directory = NewDirectory() + "/a/b";
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, UseEveryGuard);
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(ReadRecordLogs(directory).size(), 1u);
}

TEST(Recording, FollowsARelativeDirectoryFromWhereItBegan) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", "logs"}, {"CREMA_INTERVAL", "0"}}, [&] {
    if (chdir(directory.c_str()) != 0) std::abort();
    UseEveryGuard();
    if (chdir("/") != 0) std::abort();
    UseEveryGuard();
    const pid_t pid = fork();  // a child opens its own log, later
    if (pid == 0) {
      UseEveryGuard();
      std::exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
  });
  EXPECT_EQ(child.exit_status, 0) << child.errors;
  EXPECT_EQ(ReadRecordLogs(directory + "/logs").size(), 2u);
}

TEST(Enable, StartsRecordingFromCode) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({}, [&] {
    { TrackMetrics metrics("before"); }
    if (!Enable(Into(directory)) || !Enabled()) std::abort();
    TrackMetrics metrics("after");
  });
  EXPECT_EQ(child.exit_status, 0);
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 1u);
  ASSERT_EQ(logs[0].chunks.size(), 1u);
  EXPECT_EQ(logs[0].chunks[0].dataset, "after");
}

TEST(Enable, WithoutADirectoryTakesTheEnvironments) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_INTERVAL", "0"}}, [&] {
    if (Enable(Options())) std::abort();
    setenv("CREMA_DIR", directory.c_str(), 1);
    if (!Enable(Options())) std::abort();
    TrackMetrics metrics("ttbar");
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(ReadRecordLogs(directory).size(), 1u);
}

TEST(Enable, TellsWhoTheProcessIs) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_RUN_ID", "not this"}}, [&] {
    Options options = Into(directory);
    options.run_id = "run 7";
    options.pass = "second";
    options.threads = 4;
    options.total_events = 1000000;
    options.record_arguments = false;
    Enable(options);
    TrackMetrics metrics("ttbar");
  });
  EXPECT_EQ(child.exit_status, 0);
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].process->run_id, "run 7");
  EXPECT_EQ(logs[0].process->threads, 4);
  EXPECT_EQ(logs[0].process->total_events, 1000000);
  EXPECT_EQ(logs[0].process->arguments, std::nullopt);
  EXPECT_EQ(logs[0].chunks.at(0).pass, "second");
}

TEST(Disable, EndsOpenChunksWithoutALineAndEnableGoesOnInTheSameLog) {
  const RecordLog log = Recorded([] {
    {
      TrackMetrics metrics("open");
      TrackSection section("read");
      Disable();
      TrackSection not_recorded("select");
      RecordMetric("jets", 1);
    }
    { TrackMetrics metrics("while off"); }
    if (Enabled() || !Enable(Options())) std::abort();
    TrackMetrics metrics("on again");
    TrackSection section("select");
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(ChunkOf(log, "on again").status, "ok");
  EXPECT_EQ(Paths(ChunkOf(log, "on again").sections), std::vector<std::string>{"select"});
  EXPECT_EQ(log.end->chunks, 2);
  EXPECT_EQ(log.end->open, 0);
  EXPECT_EQ(log.end->misused, 0);
}

TEST(Disable, MeasuresOpenGuardsThatOutliveTheTimeWithoutRecording) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    TrackSection section("read");
    Disable();
    if (!Enable(Options())) std::abort();
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(Section(log.chunks[0].sections, "read").count, 1);
  EXPECT_EQ(log.end->open, 0);
}

TEST(Enable, AfterDisableNeedsNoDirectoryAgain) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({}, [&] {
    Enable(Into(directory));
    Disable();
    if (!Enable(Options())) std::abort();
    TrackMetrics metrics("on again");
  });
  EXPECT_EQ(child.exit_status, 0);
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].chunks.size(), 1u);
}

TEST(Flush, WritesTheProcessNow) {
  const SharedValue<std::int64_t> threads;
  const auto flushes = [&] {
    *threads = Threads();
    { TrackSection section("set up"); }
    TrackMetrics metrics("ttbar");
    Flush();
    Flush();
  };
  const RecordLog log = Recorded(flushes, {{"CREMA_WAITS", "off"}});  // which have a thread of ours
  ASSERT_EQ(log.samples.size(), 2u);
  EXPECT_EQ(Section(log.samples[0].sections, "set up").count, 1);
  EXPECT_EQ(log.samples[0].open_chunks, 1);
  EXPECT_EQ(log.samples[0].threads, *threads);
  EXPECT_GT(log.samples[0].rss_bytes, 0);
  EXPECT_GE(log.samples[1].cpu_ns, log.samples[0].cpu_ns);
  EXPECT_EQ(log.samples[1].realtime_offset_ns, 0);
}

TEST(Environment, TellsWhoTheProcessIs) {
  const SharedValue<std::int64_t> pid;
  const RecordLog log = Recorded(
      [&] {
        *pid = getpid();
        TrackMetrics metrics("ttbar");
      },
      {{"CREMA_RUN_ID", "run 7"}, {"CREMA_THREADS", "8"}, {"CREMA_TOTAL_EVENTS", "12"}, {"CREMA_NO_ARGUMENTS", "1"}});
  EXPECT_EQ(log.process->run_id, "run 7");
  EXPECT_EQ(log.process->threads, 8);
  EXPECT_EQ(log.process->total_events, 12);
  EXPECT_EQ(log.process->arguments, std::nullopt);
  EXPECT_EQ(log.process->pid, *pid);
  EXPECT_EQ(log.process->parent_pid, getpid());
  EXPECT_NE(log.path.find("-" + std::to_string(*pid) + "-" + std::to_string(log.process->start_ns) + "-0.jsonl"),
            std::string::npos);
}

TEST(Environment, LongNamesAreCutOnACodePoint) {
  const std::string kept(4095, 'a');
  const RecordLog log =
      Recorded([] { TrackMetrics metrics("ttbar"); }, {{"CREMA_RUN_ID", kept + "äb"}, {"CREMA_PASS", kept + "äb"}});
  EXPECT_EQ(log.process->run_id, kept);
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.chunks[0].pass, kept);
}

TEST(Environment, ValuesThatMakeNoSenseAreNotGiven) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory},
                                        {"CREMA_THREADS", "many"},
                                        {"CREMA_TOTAL_EVENTS", "-3"},
                                        {"CREMA_RUN_ID", ""},
                                        {"CREMA_NO_ARGUMENTS", "no"}},
                                       [] { TrackMetrics metrics("ttbar"); });
  EXPECT_EQ(child.errors, "crema: CREMA_NO_ARGUMENTS=no makes no sense, and counts as not set\n");
  const RecordLog log = ReadRecordLogs(directory).at(0);
  EXPECT_EQ(log.process->threads, std::nullopt);
  EXPECT_EQ(log.process->total_events, std::nullopt);
  EXPECT_EQ(log.process->run_id, std::nullopt);
  EXPECT_NE(log.process->arguments, std::nullopt);
}

}  // namespace
}  // namespace testing
}  // namespace crema
