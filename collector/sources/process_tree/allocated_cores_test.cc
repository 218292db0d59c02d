#include "collector/sources/process_tree/allocated_cores.h"

#include <map>
#include <optional>
#include <string>

#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

CgroupLimits Quota(double cores) {
  CgroupLimits limits;
  limits.quota_cores = cores;
  return limits;
}

TEST(FindAllocatedCores, SlurmSaysWhatTheNodeGave) {
  const auto cores = FindAllocatedCores(
      Variables({{"SLURM_JOB_ID", "1"}, {"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_CPUS_PER_TASK", "4"}}), Quota(1), 64);
  EXPECT_EQ(cores->cores, 16);
  EXPECT_EQ(cores->source, "slurm");
}

TEST(FindAllocatedCores, ATaskHasWhatItsWorkerGaveOfTheWorkersJob) {
  const auto cores = FindAllocatedCores(Variables({{"VINE_SANDBOX", "/worker-0-1/task.3"},
                                                   {"CORES", "2"},
                                                   {"SLURM_JOB_ID", "1"},
                                                   {"SLURM_CPUS_ON_NODE", "16"}}),
                                        CgroupLimits(), 64);
  EXPECT_EQ(cores->cores, 2);
  EXPECT_EQ(cores->source, "taskvine");
  EXPECT_EQ(FindAllocatedCores(Variables({{"CORES", "2"}}), CgroupLimits(), 64)->source, "affinity")
      << "a variable of this name may be the user's own";
}

TEST(FindAllocatedCores, SlurmListsOfNodesBeginWithThisOne) {
  const auto cores = FindAllocatedCores(Variables({{"SLURM_JOB_ID", "1"}, {"SLURM_JOB_CPUS_PER_NODE", "12(x2),8"}}),
                                        CgroupLimits(), 64);
  EXPECT_EQ(cores->cores, 12);
}

TEST(FindAllocatedCores, VariablesOfSlurmOutsideAJobAreNotBelieved) {
  const auto cores = FindAllocatedCores(Variables({{"SLURM_CPUS_PER_TASK", "4"}}), CgroupLimits(), 64);
  EXPECT_EQ(cores->source, "affinity");
}

TEST(FindAllocatedCores, HtcondorSaysItInTheMachineAd) {
  FakeRoot root;
  root.Write("/scratch/.machine.ad", "TotalCpus = 128.0\nCpus = 8\nCpusBusy = 3\n");
  const auto cores =
      FindAllocatedCores(Variables({{"_CONDOR_MACHINE_AD", "/scratch/.machine.ad"}}), CgroupLimits(), 128, root.path());
  EXPECT_EQ(cores->cores, 8);
  EXPECT_EQ(cores->source, "htcondor");
}

TEST(FindAllocatedCores, HtcondorWithoutAReadableAdSaysItInCubacores) {
  FakeRoot root;
  const auto cores = FindAllocatedCores(Variables({{"_CONDOR_MACHINE_AD", "/gone"}, {"CUBACORES", "6"}}),
                                        CgroupLimits(), 128, root.path());
  EXPECT_EQ(cores->cores, 6);
  EXPECT_EQ(cores->source, "htcondor");
}

TEST(FindAllocatedCores, ThreadCountsThatPeopleSetAreNoGrant) {
  const auto cores = FindAllocatedCores(Variables({{"OMP_NUM_THREADS", "3"}, {"CUBACORES", "3"}}), CgroupLimits(), 64);
  EXPECT_EQ(cores->cores, 64);
  EXPECT_EQ(cores->source, "affinity");
}

TEST(FindAllocatedCores, AQuotaCountsWhereItIsTighterThanTheMask) {
  EXPECT_EQ(FindAllocatedCores(Variables({}), Quota(1.5), 4)->cores, 1.5);
  EXPECT_EQ(FindAllocatedCores(Variables({}), Quota(1.5), 4)->source, "cgroup");
  EXPECT_EQ(FindAllocatedCores(Variables({}), Quota(8), 4)->cores, 4);
  EXPECT_EQ(FindAllocatedCores(Variables({}), Quota(8), 4)->source, "affinity");
  EXPECT_EQ(FindAllocatedCores(Variables({}), Quota(8), std::nullopt)->cores, 8);
}

TEST(FindAllocatedCores, NothingKnownIsNoNumber) {
  EXPECT_FALSE(FindAllocatedCores(Variables({}), CgroupLimits(), std::nullopt).has_value());
}

}  // namespace
}  // namespace crema
