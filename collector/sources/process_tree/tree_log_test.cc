#include "collector/sources/process_tree/tree_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr char kRunLine[] =
    R"({"type":"run","schema":"crema.tree/1","schema_minor":0,"run_id":"r","name":"n","command":["c"],"host":"h","pid":7,"start_ns":100})"
    "\n";

TreeRunFact SomeRun() {
  TreeRunFact run;
  run.run_id = "20261121T140211Z-1";
  run.name = "a \"name\"\n";
  run.command = {"./ana", "--cut=\xff", "µ"};
  run.host = "h";
  run.pid = 7;
  run.start_ns = 100;
  run.interval_seconds = 0.5;
  run.allocated_cores = 1.5;
  run.allocated_cores_source = "cgroup";
  run.net_host_wide = false;
  return run;
}

TEST(TreeLog, WhatIsWrittenIsRead) {
  FakeRoot root;
  TreeSampleFact sample;
  sample.time_ns = 200;
  sample.rss_bytes = 4096;
  sample.cpu_user_ns = 30;
  sample.processes = 1;
  sample.threads = 2;
  sample.io = TreeIo{1, 2, 3, 4};
  sample.net = TreeNet{5, 6};
  sample.process_rows = {{7, 90, 4096, 30, 2}};
  int64_t value = 1000;
  for (const auto& [key, member] : kProcessCounts) sample.process_rows[0].counts.*member = ++value;
  TreeReapFact reaped;
  reaped.time_ns = 300;
  reaped.pid = 7;
  reaped.user_ns = 40;
  reaped.max_rss_bytes = 8192;
  TreeEndFact end;
  end.time_ns = 310;
  end.exit_status = 137;
  end.totals.cpu_user_ns = 40;
  end.totals.cpu_system_ns = 1;
  end.totals.process_peak_rss_bytes = 8192;
  end.totals.tree_peak_pss_bytes = 77;
  end.totals.io = TreeIo{11, 12, 13, 14};
  end.totals.net = TreeNet{5, 6};
  end.totals.tree_cpu_sampled = 3;
  end.totals.processes_left_running = 2;
  end.totals.oom_kills = 1;
  end.samples = 1;
  std::string path;
  {
    auto log = TreeLogWriter::Create(root.path(), "h", 7, 100);
    ASSERT_TRUE(log.ok());
    path = log->path();
    log->Write(SomeRun());
    log->Write(sample);
    log->Write(reaped);
    log->Write(end);
    EXPECT_EQ(log->dropped(), 0);
  }
  EXPECT_EQ(path, root.path() + "/h-7-100.tree.ndjson");
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);

  const auto reading = ReadTreeLog(path);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->lines, 4);
  EXPECT_EQ(reading->malformed + reading->torn + reading->unknown, 0);
  const TreeRun& run = reading->run;
  EXPECT_EQ(run.run.name, "a \"name\"\n");
  EXPECT_EQ(run.run.command.at(1), "--cut=\xef\xbf\xbd");  // mended to UTF-8
  EXPECT_EQ(run.run.command.at(2), "µ");
  EXPECT_EQ(run.run.allocated_cores, 1.5);
  EXPECT_FALSE(run.run.memory_limit_bytes.has_value());
  EXPECT_FALSE(run.run.net_host_wide);
  EXPECT_FALSE(run.running);
  ASSERT_TRUE(run.end.has_value());
  EXPECT_EQ(run.end->exit_status, 137);
  EXPECT_EQ(run.totals.cpu_user_ns, 40);
  EXPECT_EQ(run.totals.tree_peak_pss_bytes, 77);
  EXPECT_FALSE(run.totals.tree_peak_swap_bytes.has_value());
  EXPECT_EQ(run.totals.io->wchar_bytes, 14);
  EXPECT_EQ(run.totals.net->tx_bytes, 6);
  EXPECT_EQ(run.totals.tree_cpu_sampled, 3);
  EXPECT_EQ(run.totals.processes_left_running, 2);
  EXPECT_EQ(run.totals.oom_kills, 1);
  ASSERT_EQ(run.processes.count({7, 90}), 1u);
  EXPECT_EQ(run.processes.at({7, 90}).at(0).rss_bytes, 4096);
  for (const auto& [key, member] : kProcessCounts) {
    EXPECT_EQ(run.CountsOf({7, 90}).*member, sample.process_rows[0].counts.*member) << key;
  }
}

TEST(TreeLog, IsLockedWhileItsWriterLives) {
  FakeRoot root;
  auto log = TreeLogWriter::Create(root.path(), "h", 7, 100);
  ASSERT_TRUE(log.ok());
  log->Write(SomeRun());
  EXPECT_TRUE(ReadTreeLog(log->path())->run.running);
}

TEST(TreeLog, NeverOverwritesAnother) {
  FakeRoot root;
  const auto first = TreeLogWriter::Create(root.path(), "h", 7, 100);
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(TreeLogWriter::Create(root.path(), "h", 7, 100).ok());
}

TEST(TreeLog, CutShortGivesWhatItHad) {
  FakeRoot root;
  root.Write("/x.tree.ndjson",
             std::string(kRunLine) +
                 "{\"type\":\"tree_sample\",\"time_ns\":200,\"rss_bytes\":10,\"cpu_user_ns\":5,\"processes\":1}\n"
                 "{\"type\":\"reaped\",\"time_ns\":250,\"pid\":9,\"user_ns\":8,\"max_rss_bytes\":99}\n"
                 "{\"type\":\"tree_sample\",\"time_ns\":300,\"rss_by");
  const auto reading = ReadTreeLog(root.path() + "/x.tree.ndjson");
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->torn, 1);
  EXPECT_EQ(reading->malformed, 0);
  EXPECT_FALSE(reading->run.end.has_value());
  EXPECT_EQ(reading->run.last_ns, 250);
  EXPECT_EQ(reading->run.totals.cpu_user_ns, 8);
  EXPECT_EQ(reading->run.totals.process_peak_rss_bytes, 99);
}

TEST(TreeLog, BadLinesAreNamedAndTheRestIsUsed) {
  FakeRoot root;
  const std::string path = root.path() + "/x.tree.ndjson";
  root.Write("/x.tree.ndjson", std::string(kRunLine) +
                                   "nonsense\n"
                                   "{\"time_ns\":3}\n"
                                   "{\"type\":\"from_the_future\"}\n"
                                   "[1,2]\n"
                                   "{\"type\":\"tree_sample\",\"time_ns\":\"text\",\"rss_bytes\":-1e99,"
                                   "\"process_rows\":[7,null,{}]}\n"
                                   "{\"type\":\"tree_sample\",\"time_ns\":200,\"rss_bytes\":10}\n");
  const auto reading = ReadTreeLog(path);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->lines, 7);
  EXPECT_EQ(reading->malformed, 3);
  EXPECT_EQ(reading->unknown, 1);
  EXPECT_EQ(reading->run.samples, 2);
  EXPECT_EQ(reading->run.totals.tree_peak_rss_bytes, 10);
  ASSERT_EQ(reading->problems.size(), 3u);
  EXPECT_EQ(reading->problems[0].rfind(path + ":2: ", 0), 0u) << reading->problems[0];
}

TEST(TreeLog, AnotherFormatIsAnErrorWithItsPlace) {
  FakeRoot root;
  for (const char* text :
       {"", "hello\n", "{\"type\":\"process\"}\n", "{\"type\":\"run\",\"schema\":\"crema.tree/2\"}\n"}) {
    root.Write("/x.tree.ndjson", text);
    const auto reading = ReadTreeLog(root.path() + "/x.tree.ndjson");
    ASSERT_FALSE(reading.ok()) << text;
    EXPECT_NE(std::string(reading.status().message()).find("x.tree.ndjson:1:"), std::string::npos);
  }
  EXPECT_FALSE(ReadTreeLog(root.path() + "/missing").ok());
}

}  // namespace
}  // namespace crema
