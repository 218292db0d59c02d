#include "collector/sources/prmon/prmon_reader.h"

#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/sources/prmon_paths.h"
#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::HasSubstr;

constexpr char kSample[] = "collector/sources/prmon/testdata";

TEST(ReadPrmon, ReadsARealJobInBaseUnits) {
  const std::vector<PrmonPaths> jobs = FindPrmonFiles(kSample);
  ASSERT_EQ(jobs.size(), 1u);
  std::vector<TreeSampleFact> samples;
  const auto reading = ReadPrmon(jobs[0], [&](const TreeSampleFact& sample) { samples.push_back(sample); });
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed + reading->torn, 0);
  const TreeRun& run = reading->run;
  EXPECT_EQ(run.run.start_ns, 1795280245 * kSecondNs);
  EXPECT_EQ(run.end->time_ns, 1795280259 * kSecondNs);
  EXPECT_EQ(run.totals.cpu_user_ns, 9 * kSecondNs);
  EXPECT_EQ(run.totals.cpu_system_ns, 8 * kSecondNs);
  EXPECT_EQ(run.totals.tree_peak_rss_bytes, 1141716 * 1024);
  EXPECT_EQ(run.totals.tree_peak_pss_bytes, 1118329 * 1024);
  EXPECT_EQ(run.totals.tree_peak_swap_bytes, 0);
  EXPECT_EQ(run.totals.io->rchar_bytes, 1714661);
  EXPECT_EQ(run.totals.io->wchar_bytes, 988808864);  // and not the average times 14 s
  EXPECT_EQ(run.totals.io->read_bytes, 983040);
  EXPECT_EQ(run.totals.io->write_bytes, 988811264);
  EXPECT_EQ(run.totals.max_processes, 3);
  EXPECT_FALSE(run.totals.net.has_value());
  EXPECT_FALSE(run.totals.process_peak_rss_bytes.has_value());
  ASSERT_EQ(samples.size(), 8u);
  EXPECT_EQ(samples[1].time_ns, 1795280247 * kSecondNs);
  EXPECT_EQ(samples[1].rss_bytes, 303080 * 1024);
  EXPECT_EQ(samples[1].io->wchar_bytes, 49284768);
  EXPECT_EQ(run.largest_gap_ns, 2 * kSecondNs);
}

TEST(ReadPrmon, TheSummaryAloneTellsTotalsAndHowLong) {
  FakeRoot root;
  root.Write("/memory_monitor_summary.json", R"({"Max":{"utime":5,"stime":1,"wtime":30,"pss":7,"rss":9}})");
  const std::vector<PrmonPaths> jobs = FindPrmonFiles(root.path());
  ASSERT_EQ(jobs.size(), 1u);
  const auto reading = ReadPrmon(jobs[0]);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->run.totals.cpu_user_ns, 5 * kSecondNs);
  EXPECT_EQ(reading->run.end->time_ns - reading->run.run.start_ns, 30 * kSecondNs);
  EXPECT_FALSE(reading->run.totals.io.has_value());  // the monitor was off
  EXPECT_FALSE(reading->run.totals.max_processes.has_value());
}

TEST(ReadPrmon, RowsWithoutASummaryHaveNoEnd) {
  FakeRoot root;
  root.Write("/memory_monitor_output.txt", "Time\twtime\tutime\tstime\n100\t10\t3\t1\n130\t40\t2\t5\n");
  const auto reading = ReadPrmon(FindPrmonFiles(root.path()).at(0));
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_FALSE(reading->run.end.has_value());
  EXPECT_EQ(reading->run.run.start_ns, 90 * kSecondNs);
  EXPECT_EQ(reading->run.last_ns, 130 * kSecondNs);
  EXPECT_EQ(reading->run.totals.cpu_user_ns, 3 * kSecondNs);  // counters never fall
  EXPECT_EQ(reading->run.totals.cpu_system_ns, 5 * kSecondNs);
  EXPECT_FALSE(reading->run.totals.tree_peak_rss_bytes.has_value());
}

TEST(ReadPrmon, BadRowsAreNamedAndTheRestIsUsed) {
  FakeRoot root;
  root.Write("/job.txt", "Time wtime rss\n100 0 5\n101 1\n102 2 x\n103 3 -7\n104 4 nan\n105 5 1e300\n106 6 8\n107 7");
  const auto reading = ReadPrmon(*PrmonFilesOf(root.path() + "/job.txt"));
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed, 5);
  EXPECT_EQ(reading->torn, 1);
  EXPECT_THAT(reading->problems.at(0), HasSubstr("job.txt:3: "));
  EXPECT_EQ(reading->run.samples, 2);
  EXPECT_EQ(reading->run.totals.tree_peak_rss_bytes, 8 * 1024);
}

TEST(ReadPrmon, RefusesOtherFilesInOneLine) {
  FakeRoot root;
  root.Write("/notes.txt", "Dear diary,\ntoday\n");
  root.Write("/empty.txt", "");
  root.Write("/prmon.json", "[1, 2");
  for (const char* name : {"/notes.txt", "/empty.txt", "/prmon.json"}) {
    const PrmonPaths paths =
        std::string(name) == "/prmon.json" ? PrmonPaths{"", root.path() + name} : PrmonPaths{root.path() + name, ""};
    const auto reading = ReadPrmon(paths);
    EXPECT_FALSE(reading.ok()) << name;
    EXPECT_THAT(std::string(reading.status().message()), HasSubstr(name));
  }
  EXPECT_FALSE(PrmonFilesOf(root.path() + "/notes.txt").has_value()) << "a name alone says nothing";
  EXPECT_FALSE(PrmonFilesOf("data.root").has_value());
}

TEST(FindPrmonFiles, PairsTheFilesOfEachJob) {
  FakeRoot root;
  for (const char* name : {"/prmon.txt", "/prmon.json", "/prmon~2.txt", "/prmon~2.json", "/memory_monitor_output.txt",
                           "/memory_monitor_summary.json", "/prmon.json_snapshot", "/prmon_old.txt", "/x.json"}) {
    root.Write(name, "");
  }
  const std::vector<PrmonPaths> jobs = FindPrmonFiles(root.path());
  ASSERT_EQ(jobs.size(), 3u);
  for (const PrmonPaths& job : jobs) {
    EXPECT_FALSE(job.text.empty());
    EXPECT_FALSE(job.summary.empty());
    EXPECT_EQ(job.text.find('~') == std::string::npos, job.summary.find('~') == std::string::npos);
  }
}

TEST(IsPrmonSnapshot, IsAskedOfTheNameBeforeCompression) {
  for (const char* name : {"prmon.json_snapshot", "prmon.json_snapshot.gz", "prmon.json_snapshot.zst"}) {
    EXPECT_TRUE(IsPrmonSnapshot(name)) << name;
  }
  EXPECT_FALSE(IsPrmonSnapshot("prmon.json.gz"));
}

}  // namespace
}  // namespace crema
