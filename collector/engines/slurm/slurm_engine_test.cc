#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "collector/engines/engines.h"
#include "collector/engines/slurm/sacct_table.h"
#include "collector/idioms/units.h"
#include "fmt/format.h"

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
constexpr char kColumns[] =
    "JobID|JobIDRaw|JobName|State|ExitCode|Start|End|NodeList|AllocNodes|AllocCPUS|NTasks|"
    "ReqMem|MaxRSS|Timelimit|TotalCPU\n";

std::string Write(const std::string& text) {
  std::string path = ::testing::TempDir() + "/jobs.txt";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

EngineReading Read(const std::string& text) {
  const std::string path = Write(text);
  const std::optional<EngineLog> log = FindEngineLog(path);
  EXPECT_TRUE(log.has_value() && log->engine == &kSlurm);
  auto reading = kSlurm.read(path);
  EXPECT_TRUE(reading.ok()) << reading.status();
  return *std::move(reading);
}

/// A job of one node and one core from second 100 to 160, of this state, that used 90 MiB.
std::string Job(int id, const std::string& state, const std::string& exit, const std::string& step_state,
                int peak_mebibytes = 90) {
  const std::string number = std::to_string(id), times = "|100|160|n1|1|1|";
  return number + "|" + number + "|ana|" + state + "|" + exit + times + "|100M||00:01:00|00:30\n" + number + ".batch|" +
         number + ".batch|batch|" + step_state + "|" + exit + times + "1||" + std::to_string(peak_mebibytes) +
         "M||00:30\n";
}

TEST(Slurm, AJobIsAWorkerWithWhatItAskedForAndUsed) {
  const EngineReading reading = Read(kColumns + Job(7, "COMPLETED", "0:0", "COMPLETED"));
  ASSERT_EQ(reading.clusters.size(), 1u);
  const ClusterFact& cluster = reading.clusters[0];
  ASSERT_EQ(cluster.workers.size(), 1u);
  const ClusterWorkerFact& worker = cluster.workers[0];
  EXPECT_EQ(worker.address, "job 7");
  EXPECT_EQ(worker.host, "n1");
  EXPECT_EQ(worker.threads, 1);
  EXPECT_EQ(worker.joined_ns, 100 * kSecondNs);
  EXPECT_EQ(worker.left_ns, 160 * kSecondNs);
  EXPECT_EQ(worker.left_reason, "COMPLETED");
  EXPECT_FALSE(worker.is_lost);
  EXPECT_EQ(worker.memory_limit_bytes, 100 * kMiB);
  EXPECT_EQ(worker.peak_memory_bytes, 90 * kMiB);
  EXPECT_EQ(worker.time_limit_ns, 60 * kSecondNs);
  EXPECT_EQ(worker.cpu_ns, 30 * kSecondNs);
  ASSERT_EQ(cluster.tasks.size(), 1u);
  EXPECT_EQ(cluster.tasks[0].job, "slurm 7");
  EXPECT_FALSE(cluster.tasks[0].failed || cluster.tasks[0].is_script);
  EXPECT_EQ(cluster.sessions.at(0).end_ns, 160 * kSecondNs);
}

TEST(Slurm, SaysWhyAJobWasLost) {
  const EngineReading reading =
      Read(kColumns + Job(1, "TIMEOUT", "0:0", "CANCELLED") + Job(2, "OUT_OF_MEMORY", "0:125", "OUT_OF_MEMORY") +
           Job(3, "NODE_FAIL", "0:0", "CANCELLED") + Job(4, "PREEMPTED", "0:0", "CANCELLED") +
           Job(5, "CANCELLED by 1000", "0:0", "CANCELLED") + Job(6, "FAILED", "0:9", "CANCELLED by 0", 130) +
           Job(7, "FAILED", "139:0", "FAILED") + Job(8, "FAILED", "3:0", "FAILED") +
           Job(9, "COMPLETED", "0:0", "OUT_OF_MEMORY") + Job(10, "FAILED", "1:0", "OUT_OF_MEMORY") +
           Job(11, "FAILED", "255:0", "FAILED"));
  std::vector<std::string> reasons;
  std::string lost;
  for (const ClusterFact& cluster : reading.clusters) {
    reasons.push_back(cluster.workers.at(0).left_reason);
    lost += cluster.workers.at(0).is_lost ? 'L' : '-';
    EXPECT_TRUE(cluster.tasks.at(0).failed) << reasons.back();
  }
  EXPECT_EQ(lost, "LLLL-LL-LL-") << "one was cancelled by its user, and 255 is not a signal";
  EXPECT_THAT(reasons,
              ElementsAre("TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "CANCELLED by 1000",
                          "FAILED, signal 9, beyond its memory limit", "FAILED, signal 11", "FAILED, exit code 3",
                          "step batch OUT_OF_MEMORY", "step batch OUT_OF_MEMORY", "FAILED, exit code 255"));
}

TEST(Slurm, StepsAreTheTasksOfAJobOnEachOfItsNodes) {
  const EngineReading reading = Read(std::string(kColumns) +
                                     "9|9|ana|COMPLETED|0:0|100|200|n[1-2]|2|8||4G|||00:01:00\n"
                                     "9.batch|9.batch|batch|COMPLETED|0:0|100|200|n1|1|4|1||10M||00:01:00\n"
                                     "9.extern|9.extern|extern|COMPLETED|0:0|100|200|n[1-2]|2|8|2||||\n"
                                     "9.0|9.0|fill|COMPLETED|0:0|110|150|n[1-2]|2|8|8||700M||\n"
                                     "9.1|9.1|merge|COMPLETED|0:0|150|190|n2|1|1|1||300M||\n");
  ASSERT_EQ(reading.clusters.size(), 1u) << "a job is one, whatever it has";
  const ClusterFact& cluster = reading.clusters[0];
  ASSERT_EQ(cluster.workers.size(), 2u);
  EXPECT_EQ(cluster.workers[1].address, "job 9 on n2");
  EXPECT_EQ(cluster.workers[1].threads, 4);
  EXPECT_EQ(cluster.workers[1].memory_limit_bytes, 2048 * kMiB);
  ASSERT_EQ(cluster.tasks.size(), 4u);
  EXPECT_EQ(cluster.tasks[0].job, "slurm 9");
  EXPECT_EQ(cluster.tasks[0].worker, "job 9 on n1");
  EXPECT_TRUE(cluster.tasks[0].is_script) << "beside its steps";
  EXPECT_EQ(cluster.tasks[1].job, "slurm 9.0");
  EXPECT_EQ(cluster.tasks[1].worker, "job 9 on n1");
  EXPECT_EQ(cluster.tasks[2].worker, "job 9 on n2");
  EXPECT_EQ(cluster.tasks[3].job, "slurm 9.1");
  EXPECT_EQ(cluster.tasks[3].worker, "job 9 on n2");
  EXPECT_FALSE(cluster.tasks[1].is_script || cluster.tasks[2].is_script || cluster.tasks[3].is_script);
  EXPECT_FALSE(cluster.workers[0].peak_memory_bytes.has_value()) << "of several tasks MaxRSS is that of one";
  EXPECT_FALSE(cluster.workers[0].cpu_ns.has_value()) << "of both nodes together";
}

TEST(Slurm, StepsThatAreThereAtOnceAddUp) {
  const EngineReading reading = Read(std::string(kColumns) +
                                     "9|9|ana|COMPLETED|0:0|100|200|n1|1|8||4G|||00:01:00\n"
                                     "9.batch|9.batch|batch|COMPLETED|0:0|100|200|n1|1|8|1||10M||\n"
                                     "9.0|9.0|a|COMPLETED|0:0|110|150|n1|1|1|1||300M||\n"
                                     "9.1|9.1|b|COMPLETED|0:0|120|140|n1|1|1|1||200M||\n"
                                     "9.2|9.2|c|COMPLETED|0:0|150|190|n1|1|1|1||400M||\n");
  EXPECT_EQ(reading.clusters.at(0).workers.at(0).peak_memory_bytes, (10 + 300 + 200) * kMiB);
}

TEST(Slurm, MemoryOfACoreOrANodeIsThatOfTheNode) {
  const auto limit_of = [](const std::string& memory) {
    const EngineReading reading =
        Read(std::string(kColumns) + "9|9|ana|COMPLETED|0:0|100|200|n[1-2]|2|8||" + memory + "|||00:01:00\n");
    return reading.clusters.at(0).workers.at(0).memory_limit_bytes.value_or(0) / kMiB;
  };
  EXPECT_EQ(limit_of("1Gc"), 4096);
  EXPECT_EQ(limit_of("1Gn"), 1024);
  EXPECT_EQ(limit_of("1G"), 512);
}

TEST(Slurm, ARequeuedJobIsAWorkerForEachRun) {
  const EngineReading reading = Read(std::string(kColumns) +
                                     "4|4|ana|NODE_FAIL|0:0|100|130|n1|1|1||1G|||\n"
                                     "4.batch|4.batch|batch|CANCELLED|0:0|100|130|n1|1|1|1||||\n"
                                     "4|4|ana|COMPLETED|0:0|140|200|n2|1|1||1G|||\n"
                                     "4.batch|4.batch|batch|COMPLETED|0:0|140|200|n2|1|1|1||||\n");
  const ClusterFact& cluster = reading.clusters.at(0);
  ASSERT_EQ(cluster.workers.size(), 2u);
  EXPECT_TRUE(cluster.workers[0].is_lost);
  EXPECT_EQ(cluster.workers[1].address, "job 4, run 2");
  EXPECT_FALSE(cluster.workers[1].is_lost);
  ASSERT_EQ(cluster.tasks.size(), 2u);
  EXPECT_TRUE(cluster.tasks[0].failed);
  EXPECT_FALSE(cluster.tasks[0].is_repeat);
  EXPECT_TRUE(cluster.tasks[1].is_repeat);
  EXPECT_EQ(cluster.tasks[1].start_ns, 140 * kSecondNs);
}

TEST(Slurm, JobsOfAnArrayAreKnownByTheirRawNumbers) {
  const EngineReading reading = Read(std::string(kColumns) +
                                     "1_2|4|ana|COMPLETED|0:0|100|130|n1|1|1||1G|||\n"
                                     "1_[3-9]|1|ana|PENDING|0:0|Unknown|Unknown|None assigned|1|1||1G|||\n");
  ASSERT_EQ(reading.clusters.size(), 2u);
  EXPECT_EQ(reading.clusters[1].never_began, "PENDING");
  EXPECT_EQ(reading.clusters[1].never_began_jobs, 7);
  EXPECT_TRUE(reading.clusters[1].workers.empty());
  EXPECT_EQ(reading.clusters[0].workers.at(0).address, "job 1_2");
  EXPECT_EQ(reading.clusters[0].tasks.at(0).job, "slurm 4");
  EXPECT_EQ(reading.clusters[0].complaints.size(), 0u);
  const EngineReading without = Read("JobID|State|Start|End\n1_2|COMPLETED|100|130\n");
  EXPECT_EQ(without.clusters.at(0).tasks.at(0).job, "slurm 1_2") << "which no process says";
  EXPECT_THAT(without.clusters[0].complaints.at(0), HasSubstr("JobIDRaw"));
}

TEST(Slurm, PlacesOfAnArrayMayHaveAStepOrBeCut) {
  const auto waiting = [](const std::string& places) {
    const std::string row = "|PENDING|Unknown|Unknown\n";
    return Read("JobID|State|Start|End\n40_1|COMPLETED|100|130\n40_[" + places + "]" + row).clusters.at(1);
  };
  EXPECT_EQ(waiting("3-9:2").never_began_jobs, 4);
  EXPECT_EQ(waiting("0-20:5%2").never_began_jobs, 5);
  EXPECT_EQ(waiting("3-9:2").complaints.size(), 0u);
  for (const char* cut : {"3-10,12,14,...", "3-10,12,14,...%4"}) {
    EXPECT_EQ(waiting(cut).never_began_jobs, 10) << cut;
    EXPECT_THAT(waiting(cut).complaints.at(0), HasSubstr("sacct cut the list of its places")) << cut;
  }
}

TEST(Slurm, ARunningJobHasNotLeft) {
  const EngineReading reading = Read("JobID|State|Start|End|Elapsed|AllocCPUS\n5|RUNNING|100|Unknown|00:00:50|2\n");
  const ClusterFact& cluster = reading.clusters.at(0);
  EXPECT_FALSE(cluster.workers.at(0).left_ns.has_value());
  EXPECT_FALSE(cluster.closed);
  EXPECT_FALSE(cluster.sessions.at(0).end_ns.has_value());
  EXPECT_EQ(cluster.last_ns, 150 * kSecondNs);
}

TEST(Slurm, OfTwoClustersTheSameNumbersAreTwoJobs) {
  const EngineReading reading =
      Read("Cluster|JobID|State|Start|End\nnorth|5|COMPLETED|100|130\nsouth|5|COMPLETED|100|130\n");
  ASSERT_EQ(reading.clusters.size(), 2u);
  EXPECT_NE(reading.clusters[0].epoch, reading.clusters[1].epoch);
}

TEST(Slurm, StepsMayStandBeforeTheirJob) {
  const EngineReading reading = Read(std::string(kColumns) +
                                     "4.batch|4.batch|batch|COMPLETED|0:0|140|200|n2|1|1|1||||\n"
                                     "4.batch|4.batch|batch|CANCELLED|0:0|100|130|n1|1|1|1||||\n"
                                     "4.0|4.0|x|CANCELLED||Unknown|Unknown|None assigned|||||||\n"
                                     "4|4|ana|COMPLETED|0:0|140|200|n2|1|1||1G|||\n"
                                     "4|4|ana|NODE_FAIL|0:0|100|130|n1|1|1||1G|||\n");
  const ClusterFact& cluster = reading.clusters.at(0);
  ASSERT_EQ(cluster.workers.size(), 2u);
  EXPECT_EQ(cluster.workers[0].left_reason, "NODE_FAIL");
  EXPECT_EQ(cluster.workers[1].left_reason, "COMPLETED");
  ASSERT_EQ(cluster.tasks.size(), 2u) << "a step that never began is none";
  EXPECT_EQ(cluster.tasks[1].start_ns, 140 * kSecondNs);
}

TEST(Slurm, CpuThatWasNotGatheredIsUnknown) {
  const auto cpu_of = [](const std::string& row) {
    return Read("JobID|State|Start|End|TotalCPU\n" + row).clusters.at(0).workers.at(0).cpu_ns;
  };
  EXPECT_EQ(cpu_of("5|COMPLETED|100|130|00:00.022\n"), 22'000'000);
  EXPECT_FALSE(cpu_of("5|NODE_FAIL|100|130|00:00:00\n").has_value());
  EXPECT_FALSE(cpu_of("5|RUNNING|100|Unknown|00:07\n").has_value()) << "that of the steps that ended";
}

TEST(Slurm, PlacesOfAnArrayThatBeganNoLongerWait) {
  const EngineReading reading = Read(
      "JobID|State|Start|End\n9_[1-4]|PENDING|Unknown|Unknown\n9_1|RUNNING|100|Unknown\n"
      "9_[2-4%2]|PENDING|Unknown|Unknown\n9_2|COMPLETED|110|130\n");
  int64_t waiting = 0;
  for (const ClusterFact& cluster : reading.clusters) {
    if (!cluster.never_began.empty()) waiting += cluster.never_began_jobs;
  }
  EXPECT_EQ(waiting, 2);
}

TEST(Slurm, WithoutAHeaderAColumnIsWhatNothingElseCanBe) {
  const std::string rows =
      "9|fit|COMPLETED|0:0|1795569500|1795569600|1795569700|1\n"
      "9.batch|batch|COMPLETED|0:0|1795569600|1795569600|1795569700|1\n"
      "10|fit|TIMEOUT|0:0|1795569500|1795569620|1795569720|1\n"
      "10.0|x|CANCELLED|0:15|1795569620|1795569620|1795569730|1\n"
      "11|fit|PENDING|0:0|1795569500|Unknown|Unknown|1\n";
  const EngineReading reading = Read(rows);
  ASSERT_EQ(reading.clusters.size(), 3u);
  EXPECT_EQ(reading.malformed, 0);
  EXPECT_EQ(reading.clusters[0].workers.at(0).joined_ns, 1795569600 * kSecondNs);
  EXPECT_EQ(reading.clusters[1].workers.at(0).left_reason, "TIMEOUT");
  EXPECT_EQ(reading.clusters[1].workers.at(0).threads, 0) << "the last column may be anything";
  EXPECT_EQ(reading.clusters[2].never_began, "PENDING");
  EXPECT_THAT(reading.problems.at(0), HasSubstr("without --noheader"));
}

TEST(Slurm, WithoutAHeaderWhatIsNotCertainIsNotRead) {
  const std::string steps = "9.batch|batch|COMPLETED|0:0|2026-11-25T03:20:00|2026-11-25T03:30:00\n";
  const std::vector<std::string> doubts = {// Is it the start, or the submission?
                                           "9|fit|COMPLETED|0:0|2026-11-25T03:20:00|2026-11-25T03:30:00\n",
                                           // It is the submission.
                                           "9|fit|COMPLETED|0:0|2026-11-25T03:19:00|2026-11-25T03:30:00\n" + steps,
                                           // No job has the other time.
                                           "9|fit|COMPLETED|0:0|2026-11-25T03:20:00|Unknown\n" + steps,
                                           // Two columns hold states, or none does.
                                           ("9|FAILED|COMPLETED|0:0|2026-11-25T03:20:00|2026-11-25T03:30:00\n"
                                            "9.0|COMPLETED|COMPLETED|0:0|2026-11-25T03:20:00|2026-11-25T03:30:00\n"),
                                           ("9|fit|done|0:0|2026-11-25T03:20:00|2026-11-25T03:30:00\n"
                                            "9.0|fit|done|0:0|2026-11-25T03:20:00|2026-11-25T03:30:00\n")};
  for (const std::string& doubt : doubts) {
    EXPECT_FALSE(kSlurm.find_log(Write(doubt)).has_value()) << doubt;
  }
}

TEST(Slurm, CutAndStrangeLinesAreCountedAndTheRestIsUsed) {
  const EngineReading reading =
      Read("State|End|JobID|Start\nCOMPLETED|130|5|100\nsacct: error: no\nCOMPLETED|140|6|100|more\nCOMPLETED|15");
  EXPECT_EQ(reading.clusters.size(), 1u);
  EXPECT_EQ(reading.lines, 4);
  EXPECT_EQ(reading.malformed, 2);
  EXPECT_EQ(reading.torn, 1);
  ASSERT_EQ(reading.problems.size(), 3u);
  EXPECT_THAT(reading.problems[0], HasSubstr("jobs.txt:3: "));
  EXPECT_EQ(reading.clusters[0].workers.at(0).threads, 0) << "no column tells";
}

TEST(Slurm, ASpecialExitIsAnEndThatFailed) {
  const EngineReading reading = Read(kColumns + Job(7, "SPECIAL_EXIT", "3:0", "FAILED"));
  EXPECT_EQ(reading.malformed, 0);
  EXPECT_TRUE(reading.clusters.at(0).tasks.at(0).failed);
  EXPECT_FALSE(reading.clusters[0].workers.at(0).is_lost);
}

TEST(Slurm, OfAHeaderAloneItIsSaidThatNoJobWasListed) {
  const EngineReading reading = Read(kColumns);
  EXPECT_TRUE(reading.clusters.empty());
  EXPECT_THAT(reading.problems, ElementsAre(HasSubstr("sacct listed no job")));
}

TEST(Slurm, WithoutTimesNothingCanBeRead) {
  const auto reading = kSlurm.read(Write("JobID|State|MaxRSS\n5|COMPLETED|3M\n"));
  EXPECT_THAT(std::string(reading.status().message()), HasSubstr("ask it for the columns"));
  for (const char* other : {"", "JobID|x", "State|Start\n1|2\n", "a,b\n", "{\"JobID\":1}\n"}) {
    EXPECT_FALSE(kSlurm.find_log(Write(other)).has_value()) << other;
  }
}

TEST(SacctValues, AreReadAsSacctWritesThem) {
  setenv("TZ", "UTC-2", 1);
  const auto time_ns = [](const char* text) { return ParseSacctTime(text).value_or(LogTime()).time_ns; };
  EXPECT_EQ(time_ns("2026-11-25T03:20:00"), time_ns("1795569600"));
  EXPECT_EQ(time_ns("2026-11-25T02:20:00+0100"), time_ns("1795569600"));
  unsetenv("TZ");
  for (const char* none : {"Unknown", "None", "", "0", "2026-11-25", "2026-11-25T03:20:00x"}) {
    EXPECT_FALSE(ParseSacctTime(none).has_value()) << none;
  }
  EXPECT_EQ(SacctDurationNs("1-02:03:04"), (26 * 3600 + 3 * 60 + 4) * kSecondNs);
  EXPECT_EQ(SacctDurationNs("00:01.250"), 1'250'000'000);
  for (const char* none : {"UNLIMITED", "", "7", "1:2:3:4", "-1:00", "1:x"}) {
    EXPECT_FALSE(SacctDurationNs(none).has_value()) << none;
  }
  EXPECT_EQ(ParseSacctMemory("1.5G")->bytes, 1536 * kMiB);
  EXPECT_EQ(ParseSacctMemory("2000Mc")->of, SacctMemory::Of::kCore);
  EXPECT_EQ(ParseSacctMemory("2Gn")->of, SacctMemory::Of::kNode);
  for (const char* none : {"", "G", "x", "-1M", "1.2.3K", "c"}) {
    EXPECT_FALSE(ParseSacctMemory(none).has_value()) << none;
  }
  EXPECT_EQ(SacctResource("cpu=2,mem=3136K,node=1", "mem"), "3136K");
  EXPECT_THAT(SacctNodes("n[08-10,2],gpu", 9), ElementsAre("n08", "n09", "n10", "n2", "gpu"));
  EXPECT_THAT(SacctNodes("9_[1-6:2]", 9), ElementsAre("9_1", "9_3", "9_5"));
  for (const char* none : {"None assigned", "n[1-9999999]", "n[2-1]", "n[1", "n[1][2]"}) {
    EXPECT_THAT(SacctNodes(none, 9), ElementsAre()) << none;
  }
}

TEST(SacctValues, AnHourThatComesTwiceHasTwoTimes) {
  const auto both = [](const char* zone, const char* text) {
    setenv("TZ", zone, 1);
    const LogTime time = ParseSacctTime(text).value_or(LogTime());
    unsetenv("TZ");
    return std::make_pair(time.time_ns / kSecondNs, time.later_ns.value_or(0) / kSecondNs);
  };
  constexpr const char* kZurich = "CET-1CEST,M3.5.0,M10.5.0/3";
  constexpr const char* kDublin = "IST-1GMT0,M10.5.0,M3.5.0/1";  // whose summer is the standard time
  EXPECT_EQ(both(kZurich, "2026-10-25T02:30:00"), std::make_pair(int64_t{1792888200}, int64_t{1792891800}));
  EXPECT_EQ(both(kZurich, "2026-10-25T03:00:00"), std::make_pair(int64_t{1792893600}, int64_t{0}));
  EXPECT_EQ(both(kZurich, "2026-10-25T01:59:59"), std::make_pair(int64_t{1792886399}, int64_t{0}));
  EXPECT_EQ(both(kDublin, "2026-10-25T01:30:00"), std::make_pair(int64_t{1792888200}, int64_t{1792891800}));
  EXPECT_EQ(both(kDublin, "2026-10-25T02:00:00"), std::make_pair(int64_t{1792893600}, int64_t{0}));
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Moscow")) GTEST_SKIP() << "the system has no time zones";
  EXPECT_EQ(both("Europe/Moscow", "2014-10-26T01:30:00"), std::make_pair(int64_t{1414272600}, int64_t{1414276200}))
      << "without summer time before and after";
}

// Takes minutes if each step is compared with all before it.
TEST(Slurm, AJobMayHaveManySteps) {
  constexpr int kMany = 100'000;
  std::string text = kColumns;
  for (const char* state : {"RUNNING", "COMPLETED"}) {  // each comes twice
    for (int i = 0; i < kMany; ++i) text += fmt::format("7.{0}|7.{0}|ana|{1}|0:0|100|160|n1|1|1|1||1M||\n", i, state);
  }
  const EngineReading reading = Read(text + "7|7|ana|COMPLETED|0:0|100|160|n1|1|1||100M||00:01:00|00:30\n");
  ASSERT_EQ(reading.clusters.size(), 1u);
  ASSERT_EQ(reading.clusters[0].tasks.size(), static_cast<size_t>(kMany));
  EXPECT_EQ(reading.clusters[0].tasks.back().job, fmt::format("slurm 7.{}", kMany - 1));
}

}  // namespace
}  // namespace crema
