#include "collector/engines/htcondor/htcondor_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "collector/engines/engines.h"
#include "collector/idioms/units.h"

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSampleLog[] = "collector/engines/testdata/htcondor/jobs.log";
constexpr int64_t kMebibyte = 1 << 20;

/// Times are UTC.
class HtcondorTest : public ::testing::Test {
 protected:
  void SetUp() override { setenv("TZ", "UTC", 1); }
  void TearDown() override { unsetenv("TZ"); }

  static EngineReading Read(const std::string& text) {
    const std::string path = ::testing::TempDir() + "/condor.log";
    std::ofstream(path, std::ios::binary) << text;
    const std::optional<EngineLog> log = FindEngineLog(path);
    EXPECT_TRUE(log.has_value() && log->engine == &kHtcondor);
    auto reading = kHtcondor.read(path);
    EXPECT_TRUE(reading.ok()) << reading.status();
    return *std::move(reading);
  }
};

constexpr char kRun[] =
    "000 (012.000.000) 2026-11-25 03:00:00 Job submitted from host: <10.0.0.1:9618?addrs=10.0.0.1-9618&alias=ce>\n...\n"
    "001 (012.000.000) 2026-11-25 03:00:10 Job executing on host: <10.0.0.2:9618?addrs=10.0.0.2-9618&alias=n2&x=1>\n"
    "\tSlotName: slot1_2@n2\n\tCpus = 2\n\tMemory = 2048\n...\n";

TEST_F(HtcondorTest, AnExecutionIsAWorkerWithWhatItWasGivenAndUsed) {
  const auto reading = kHtcondor.read(kSampleLog);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed + reading->torn + reading->unknown, 0);
  ASSERT_EQ(reading->clusters.size(), 3u) << "as many as were submitted and executed";
  const ClusterFact& cluster = reading->clusters[0];
  ASSERT_EQ(cluster.workers.size(), 1u);
  const ClusterWorkerFact& worker = cluster.workers[0];
  EXPECT_EQ(worker.address, "job 41.0");
  EXPECT_EQ(worker.host, "n2.example");
  EXPECT_EQ(worker.threads, 1);
  EXPECT_EQ(*worker.left_ns - worker.joined_ns, 300 * kSecondNs);
  EXPECT_EQ(worker.left_reason, "terminated, exit code 0");
  EXPECT_FALSE(worker.is_lost);
  EXPECT_EQ(worker.cpu_ns, (4 * 60 + 20 + 5) * kSecondNs);
  EXPECT_EQ(worker.memory_limit_bytes, 2048 * kMebibyte);
  EXPECT_EQ(worker.peak_memory_bytes, 812 * kMebibyte);
  ASSERT_EQ(worker.samples.size(), 2u);
  EXPECT_EQ(worker.samples[1].memory_bytes, 830'000 * 1024);
  ASSERT_EQ(cluster.tasks.size(), 1u);
  EXPECT_EQ(cluster.tasks[0].job, "htcondor 41.0");
  EXPECT_EQ(cluster.tasks[0].queue_ns, 10 * kSecondNs);
  EXPECT_FALSE(cluster.tasks[0].failed);
}

TEST_F(HtcondorTest, AJobThatWasEvictedHeldAndReleasedHasSeveralExecutions) {
  const auto reading = kHtcondor.read(kSampleLog);
  ASSERT_TRUE(reading.ok());
  const ClusterFact& cluster = reading->clusters[1];
  ASSERT_EQ(cluster.workers.size(), 3u);
  EXPECT_EQ(cluster.workers[0].left_reason, "evicted");
  EXPECT_TRUE(cluster.workers[0].is_lost);
  EXPECT_EQ(cluster.workers[1].address, "job 41.1, run 2");
  EXPECT_THAT(cluster.workers[1].left_reason, HasSubstr("held, out of memory: Error from slot1_1@n2.example"));
  EXPECT_TRUE(cluster.workers[1].is_lost);
  EXPECT_EQ(cluster.workers[2].left_reason, "terminated, exit code 0");
  EXPECT_FALSE(cluster.workers[2].is_lost);
  ASSERT_EQ(cluster.tasks.size(), 3u);
  EXPECT_FALSE(cluster.tasks[0].is_repeat);
  EXPECT_TRUE(cluster.tasks[2].is_repeat);
  EXPECT_EQ(cluster.tasks[2].queue_ns, 20 * kSecondNs) << "since its release";
}

TEST_F(HtcondorTest, SaysWhyAJobWasLost) {
  const std::string at = " (012.000.000) 2026-11-25 03:05:00 ";
  const auto why = [&](const std::string& events) {
    const EngineReading reading = Read(kRun + events);
    const ClusterWorkerFact& worker = reading.clusters.at(0).workers.at(0);
    EXPECT_EQ(worker.left_ns.value_or(0) - worker.joined_ns, 290 * kSecondNs) << events;
    return (worker.is_lost ? "lost: " : "left: ") + worker.left_reason;
  };
  EXPECT_EQ(why("004" + at + "Job was evicted.\n\t(0) CPU times\n...\n"), "lost: evicted");
  EXPECT_EQ(why("004" + at + "Job was evicted.\n\t(1) Job terminated and was requeued\n...\n"),
            "left: terminated, and queued again");
  EXPECT_EQ(why("004" + at + "Job was evicted.\n...\n012" + at + "Job was held.\n\tBy me\n\tCode 1 Subcode 0\n...\n"),
            "left: held: By me")
      << "by its user";
  EXPECT_EQ(why("012" + at + "Job was held.\n\tGone over\n\tCode 34 Subcode 0\n...\n"),
            "lost: held, out of memory: Gone over");
  const auto held = [&](const std::string& reason, int code) {
    return why("012" + at + "Job was held.\n\t" + reason + "\n\tCode " + std::to_string(code) + " Subcode 0\n...\n");
  };
  EXPECT_THAT(held("The job attribute PeriodicHold expression 'MemoryUsage > 2000' evaluated to TRUE", 3),
              HasSubstr("held, out of memory: "));
  EXPECT_THAT(held("Memory usage is above what was asked for", 26), HasSubstr("held, out of memory: "));
  EXPECT_THAT(held("Docker job has gone over memory limit of 2048 Mb", 0), HasSubstr("held, out of memory: "));
  EXPECT_EQ(held("reading from file /x/out_memory.root: no such file", 12),
            "lost: held: reading from file /x/out_memory.root: no such file");
  EXPECT_EQ(held("Failed to execute '/x/memory/run.sh'", 6), "lost: held: Failed to execute '/x/memory/run.sh'");
  EXPECT_EQ(held("Failed to execute '/x/memory/run.sh'", 0), "lost: held: Failed to execute '/x/memory/run.sh'");
  EXPECT_EQ(held("'(RemoteWallClockTime > 3600) || (MemoryUsage > RequestMemory)' is true", 3),
            "lost: held: '(RemoteWallClockTime > 3600) || (MemoryUsage > RequestMemory)' is true");
  EXPECT_EQ(why("007" + at + "Shadow exception!\n\tAssertion\n\t0  -  Run Bytes Sent By Job\n...\n"),
            "lost: shadow exception: Assertion");
  EXPECT_EQ(why("009" + at + "Job was aborted.\n\tvia condor_rm (by user ana)\n...\n"),
            "left: removed: via condor_rm (by user ana)");
  for (const std::string by : {"wrong input (by user ana)", "Python-initiated action. (by user ana)",
                               "removed because <OtherJobRemoveRequirements = DAGManJobId =?= 7> fired when job (7.0)",
                               "DAG Removed: User removed scheduler universe job"}) {
    EXPECT_EQ(why("009" + at + "Job was aborted.\n\t" + by + "\n...\n"), "left: removed: " + by);
  }
  EXPECT_THAT(why("009" + at + "Job was aborted.\n\t" + std::string(200, 'x') + " (by user ana)\n...\n"),
              HasSubstr("left: removed: xxx"));
  EXPECT_EQ(why("009" + at + "Job was aborted.\n\tThe job attribute PeriodicRemove evaluated to TRUE\n...\n"),
            "lost: removed: The job attribute PeriodicRemove evaluated to TRUE");
  EXPECT_EQ(why("005" + at + "Job terminated.\n\t(0) Abnormal termination (signal 9)\n...\n"),
            "lost: terminated, signal 9");
  EXPECT_EQ(why("005" + at + "Job terminated.\n\t(1) Normal termination (return value 3)\n...\n"),
            "left: terminated, exit code 3");
  EXPECT_EQ(why("022" + at + "Job disconnected, attempting to reconnect\n...\n024" + at +
                "Job reconnection failed\n\tJob not found\n...\n"),
            "lost: the connection to its node was lost");
}

TEST_F(HtcondorTest, TheLastTryIsOneThatNobodyWaitsFor) {
  const std::string at = " (012.000.000) 2026-11-25 03:05:00 ";
  const auto is_last = [&](const std::string& events) {
    return Read(kRun + events).clusters.at(0).tasks.at(0).is_last;
  };
  const std::string evicted = "004" + at + "Job was evicted.\n\t(0) CPU times\n...\n";
  const std::string held = "012" + at + "Job was held.\n\tGone over\n\tCode 34 Subcode 0\n...\n";
  EXPECT_FALSE(is_last("")) << "it runs";
  EXPECT_FALSE(is_last(evicted)) << "it is queued again";
  EXPECT_TRUE(is_last(evicted + held));
  EXPECT_TRUE(is_last(held + evicted));
  EXPECT_FALSE(is_last(held + "013" + at + "Job was released.\n\tvia condor_release\n...\n"));
  const std::string removed = "009" + at + "Job was aborted.\n\tvia condor_rm (by user ana)\n...\n";
  EXPECT_FALSE(is_last(removed)) << "cancelled";
  EXPECT_TRUE(is_last(held + removed)) << "it had failed before";
  EXPECT_FALSE(is_last("012" + at + "Job was held.\n\tBy me\n\tCode 1 Subcode 0\n...\n")) << "its user holds it";
  EXPECT_TRUE(is_last("009" + at + "Job was aborted.\n\tPeriodicRemove evaluated to TRUE\n...\n")) << "by policy";
  EXPECT_TRUE(is_last("005" + at + "Job terminated.\n\t(1) Normal termination (return value 3)\n...\n"));
}

TEST_F(HtcondorTest, AnExecutionHasTheCoresOfItsJobsOthersAndElseOne) {
  const std::string job = " (012.000.000) 2026-11-25 03:";
  const std::string once = "001" + job + "00:10 Job executing on host: <10.0.0.2:9618>\n...\n";
  const std::string again = "007" + job + "05:00 Shadow exception!\n...\n001" + job +
                            "06:00 Job executing on host: <10.0.0.2:9618>\n...\n005" + job +
                            "07:00 Job terminated.\n\t(1) Normal termination (return value 0)\n";
  const EngineReading unknown = Read(once + again + "...\n");
  EXPECT_EQ(unknown.clusters.at(0).workers.at(1).threads, 1);
  const EngineReading known = Read(once + again + "\tPartitionable Resources :  Usage  Request Allocated\n" +
                                   "\t   Cpus                 :                8         8\n...\n");
  EXPECT_EQ(known.clusters.at(0).workers.at(0).threads, 8);
  EXPECT_EQ(known.clusters.at(0).workers.at(1).threads, 8);
}

TEST_F(HtcondorTest, AnAdNestsWhatAnExecutionWasGiven) {
  const EngineReading reading =
      Read(R"({"EventTypeNumber": 1, "EventTime": "2026-11-25T03:00:10", "Cluster": 12, "Proc": 0,)"
           R"( "ExecuteHost": "<10.0.0.2:9618>", "ExecuteProps": {"Cpus": 4, "Memory": 4096}})");
  const ClusterWorkerFact& worker = reading.clusters.at(0).workers.at(0);
  EXPECT_EQ(worker.threads, 4);
  EXPECT_EQ(worker.memory_limit_bytes, 4096 * kMebibyte);
}

TEST_F(HtcondorTest, AJobThatReconnectedGoesOn) {
  const std::string at = " (012.000.000) 2026-11-25 03:05:00 ";
  const EngineReading reading =
      Read(kRun + ("022" + at + "Job disconnected\n...\n023" + at + "Job reconnected to slot1_2@n2\n...\n"));
  const ClusterFact& cluster = reading.clusters.at(0);
  ASSERT_EQ(cluster.workers.size(), 1u);
  EXPECT_FALSE(cluster.workers[0].left_ns.has_value());
  EXPECT_FALSE(cluster.closed);
  EXPECT_EQ(cluster.last_ns - cluster.first_ns, 300 * kSecondNs);
  EXPECT_EQ(cluster.workers[0].host, "n2");
  EXPECT_EQ(cluster.workers[0].threads, 2);
}

TEST_F(HtcondorTest, AJobThatWasEvictedIsNotOverBeforeItEndsForGood) {
  const std::string at = " (012.000.000) 2026-11-25 03:05:00 ";
  const std::string evicted = "004" + at + "Job was evicted.\n\t(0) CPU times\n...\n";
  const std::string removed = "009" + at + "Job was aborted.\n\tvia condor_rm (by user ana)\n...\n";
  EXPECT_FALSE(Read(kRun + evicted).clusters.at(0).closed) << "it waits to be executed again";
  EXPECT_TRUE(Read(kRun + evicted + removed).clusters.at(0).closed);
  EXPECT_TRUE(Read(kRun + evicted + removed).clusters.at(0).is_removed);
}

TEST_F(HtcondorTest, OfALogThatBeginsInTheMiddleItIsNotSaidThatAJobNeverBegan) {
  const std::string at = " (012.000.000) 2026-11-25 03:05:00 ";
  const std::string removed = "009" + at + "Job was aborted.\n\tvia condor_rm (by user ana)\n...\n";
  EXPECT_EQ(Read(removed).clusters.at(0).never_began, "");
  EXPECT_TRUE(Read(removed).clusters.at(0).workers.empty());
  const EngineReading ran = Read("006" + at + "Image size of job updated: 9\n...\n" + removed);
  EXPECT_EQ(ran.clusters.at(0).workers.size(), 1u) << "the size of its image was seen";
  EXPECT_THAT(ran.clusters.at(0).complaints.at(0), HasSubstr("counted from its first event"));
}

TEST_F(HtcondorTest, CutEventsAreCountedAndTheRestIsUsed) {
  const EngineReading reading =
      Read(kRun + std::string("nonsense\n"
                              "006 (012.000.000) 2026-11-25 03:01:00 Image size of job updated: 9\n"
                              "099 (012.000.000) 2026-11-25 03:02:00 New in some version\n...\n"
                              "005 (012.000.000) 2026-11-25 03:05:00 Job termin"));
  EXPECT_EQ(reading.malformed, 1);
  EXPECT_EQ(reading.torn, 2) << "one without its end, and the last";
  EXPECT_EQ(reading.unknown, 1);
  EXPECT_EQ(reading.problems.size(), 3u);
  ASSERT_EQ(reading.clusters.size(), 1u);
  EXPECT_FALSE(reading.clusters[0].workers.at(0).left_ns.has_value());
}

TEST_F(HtcondorTest, OfTimesThatGoBackBothCausesAreNamed) {
  const EngineReading reading = Read(kRun + std::string("000 (013.000.000) 2026-11-25 02:00:00 Job submitted\n...\n"));
  ASSERT_EQ(reading.problems.size(), 1u);
  EXPECT_THAT(reading.problems[0], HasSubstr("go back by 60 min; set TZ to the log's time zone, unless it was joined"));
}

TEST_F(HtcondorTest, TheSameNumberOfTwoSchedulersIsTwoJobs) {
  std::string other = kRun;
  other.replace(other.find("alias=ce"), 8, "alias=cf");
  const EngineReading reading = Read(kRun + other);
  ASSERT_EQ(reading.clusters.size(), 2u);
  EXPECT_NE(reading.clusters[0].epoch, reading.clusters[1].epoch);
  EXPECT_EQ(reading.clusters[0].workers.size(), 1u);
}

TEST_F(HtcondorTest, TimesAreReadInEachOfItsForms) {
  const int64_t latest_ns = 1'795'576'800 * kSecondNs;  // 2026-11-25 03:20:00
  const auto time_of = [&](const std::string& text) {
    CondorYears years;
    const std::string line = "005 (1.0.0) " + text + " Job terminated.";
    ParseCondorEvent(line, &years);
    if (years.last() > 0) years.EndAt(latest_ns);
    const auto event = ParseCondorEvent(line, &years);
    return event.has_value() ? event->time_ns : -1;
  };
  EXPECT_EQ(time_of("2026-11-25 03:20:00"), latest_ns);
  EXPECT_EQ(time_of("2026-11-25T03:20:00"), latest_ns);
  EXPECT_EQ(time_of("2026-11-25T03:20:00Z"), latest_ns);
  EXPECT_EQ(time_of("2026-11-25 03:20:00.250"), latest_ns + kSecondNs / 4);
  EXPECT_EQ(time_of("11/25 03:20:00"), latest_ns);
  EXPECT_EQ(time_of("12/31 03:20:00"), latest_ns - int64_t{365 - 36} * 86400 * kSecondNs) << "of the year before";
  setenv("TZ", "UTC-2", 1);
  EXPECT_EQ(time_of("2026-11-25 05:20:00"), latest_ns);
  EXPECT_EQ(time_of("2026-11-25T03:20:00Z"), latest_ns);
  for (const char* none : {"005 (1.0) 2026-11-25 03:20:00 x", "5 (1.0.0) 2026-11-25 03:20:00 x", "005 (1.0.0) now x",
                           "005 (1.0.0) 2026-11-25 03:20:00x", "...", ""}) {
    CondorYears years;
    EXPECT_FALSE(ParseCondorEvent(none, &years).has_value()) << none;
  }
}

TEST_F(HtcondorTest, DaysWithoutAYearNeverGoBack) {
  const auto years_of = [](const std::vector<std::pair<int, int>>& days, int64_t latest_seconds) {
    CondorYears years;
    for (const auto& [month, day] : days) years.YearOf(month - 1, day);
    years.EndAt(latest_seconds * kSecondNs);
    std::vector<int> found;
    for (const auto& [month, day] : days) found.push_back(years.YearOf(month - 1, day));
    return found;
  };
  const int64_t june_2022 = 1'654'041'600;
  EXPECT_THAT(years_of({{12, 30}, {12, 31}, {1, 1}, {3, 5}}, june_2022), ElementsAre(2021, 2021, 2022, 2022));
  EXPECT_THAT(years_of({{5, 25}, {6, 6}}, june_2022), ElementsAre(2021, 2021)) << "the file is older than its last day";
  EXPECT_THAT(years_of({{11, 1}, {2, 1}, {1, 15}}, june_2022), ElementsAre(2020, 2021, 2022));
  EXPECT_THAT(years_of({{2, 29}, {3, 1}}, june_2022), ElementsAre(2020, 2020)) << "a leap year";
  EXPECT_THAT(years_of({{3, 1}, {2, 28}, {3, 1}}, june_2022), ElementsAre(2022, 2022, 2022)) << "out of order";
  EXPECT_THAT(years_of({{12, 31}, {1, 1}, {12, 31}, {1, 1}}, june_2022), ElementsAre(2021, 2022, 2021, 2022));
}

}  // namespace
}  // namespace crema
