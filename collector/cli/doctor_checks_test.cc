#include <stdlib.h>

#include <filesystem>
#include <string>

#include "collector/cli/doctor_command.h"
#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

DoctorCheck Find(const FakeRoot& root, const std::string& id) {
  for (const DoctorCheck& check : CheckMachine(root.path())) {
    if (check.id == id) return check;
  }
  ADD_FAILURE() << "no check " << id;
  return {};
}

TEST(CheckMachine, ACounterIsGoodWhereItIsInvariantAndTheKernelUsesIt) {
  FakeRoot root;
  const std::string source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  root.Write("/proc/cpuinfo", "processor : 0\nflags : fpu constant_tsc nonstop_tsc\nbugs :\n");
  root.Write(source, "tsc\n");
  EXPECT_EQ(Find(root, "clock").state, CheckState::kGood);
  root.Write(source, "hpet\n");
  EXPECT_EQ(Find(root, "clock").state, CheckState::kLimited);
  EXPECT_EQ(Find(root, "clock").value["clocksource"], "hpet");
  root.Write(source, "tsc\n");
  root.Write("/proc/cpuinfo", "processor : 0\nflags : fpu constant_tsc_not nonstop_tsc\n");
  EXPECT_EQ(Find(root, "clock").state, CheckState::kLimited);
}

TEST(CheckMachine, WhatIsMissingIsSaidWithItsRemedy) {
  FakeRoot root;
  for (const char* id : {"schedstat", "io", "pss", "pressure", "children"}) {
    EXPECT_NE(Find(root, id).state, CheckState::kGood) << id;
    EXPECT_FALSE(Find(root, id).remedy.empty()) << id;
    EXPECT_EQ(Find(root, id).value, false) << id;
  }
}

TEST(CheckMachine, WhatIsThereIsGood) {
  FakeRoot root;
  root.Write("/proc/self/schedstat", "43096576 18893005 94\n");
  root.Write("/proc/self/io", "rchar: 1\n");
  root.Write("/proc/self/smaps_rollup", "Pss: 1 kB\n");
  root.Write("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  for (const char* id : {"schedstat", "io", "pss", "pressure"}) {
    EXPECT_EQ(Find(root, id).state, CheckState::kGood) << id;
  }
}

TEST(CheckMachine, TheEngineAroundIsNamedAndItsLogsThatLieHere) {
  FakeRoot root;
  EXPECT_EQ(Find(root, "engine").value["name"], nullptr);
  root.Write("/runs/vine-logs/transactions", "# time manager_pid MANAGER manager_pid START|END time_from_origin\n");
  setenv("VINE_SANDBOX", "/scratch/worker-0-17/task.14", 1);
  setenv("VINE_RUNTIME_INFO_DIR", (root.path() + "/runs").c_str(), 1);
  const DoctorCheck check = Find(root, "engine");
  unsetenv("VINE_SANDBOX");
  unsetenv("VINE_RUNTIME_INFO_DIR");
  EXPECT_EQ(check.value["name"], "taskvine");
  EXPECT_EQ(check.value["job"], "14");
  EXPECT_EQ(check.value["logs"][0], root.path() + "/runs/vine-logs/transactions");
  EXPECT_NE(check.text.find("taskvine job 14; crema collect reads"), std::string::npos) << check.text;
}

TEST(CheckMachine, LogsOfBatchSystemsThatLieHereAreNamed) {
  FakeRoot root;
  root.Write("/here/jobs.txt", "JobID|State|Start|End\n7|COMPLETED|100|200\n");
  root.Write("/here/notes.txt", "no log\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root.path() + "/here");
  const DoctorCheck check = Find(root, "engine");
  std::filesystem::current_path(before);
  EXPECT_EQ(check.value["logs"].size(), 1u);
  EXPECT_NE(check.text.find("crema collect reads jobs.txt (Slurm)"), std::string::npos) << check.text;
}

TEST(CheckMachine, AKernelThatCountsNoRunDelayIsSeenByItsZeros) {
  FakeRoot root;
  root.Write("/proc/self/schedstat", "0 0 0\n");
  EXPECT_EQ(Find(root, "schedstat").state, CheckState::kMissing);
}

TEST(CheckMachine, LimitsOfControlGroupsAreShown) {
  FakeRoot root;
  root.Write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  root.Write("/sys/fs/cgroup/memory.max", "2147483648\n");
  const DoctorCheck check = Find(root, "cgroup");
  EXPECT_EQ(check.value["version"], "v2");
  EXPECT_EQ(check.value["quota_cores"], 0.5);
  EXPECT_EQ(check.value["memory_limit_bytes"], 2147483648);
  EXPECT_NE(check.text.find("2 GiB"), std::string::npos) << check.text;
}

}  // namespace
}  // namespace crema
