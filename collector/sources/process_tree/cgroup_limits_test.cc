#include <string>

#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr char kV2Mount[] = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kV1Mounts[] =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

TEST(ReadCgroupLimits, Version2TakesTheTightestOfAllGroupsAbove) {
  FakeRoot root;
  root.Write("/proc/self/mountinfo", kV2Mount);
  root.Write("/proc/self/cgroup", "0::/system.slice/slurm/job_7\n");
  const std::string slice = "/sys/fs/cgroup/system.slice";
  root.Write(slice + "/cpu.max", "max 100000\n");
  root.Write(slice + "/memory.max", "max\n");
  root.Write(slice + "/slurm/cpu.max", "400000 100000\n");
  root.Write(slice + "/slurm/memory.max", "4294967296\n");
  root.Write(slice + "/slurm/job_7/cpu.max", "1600000 100000\n");
  root.Write(slice + "/slurm/job_7/memory.max", "8589934592\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.version, "v2");
  EXPECT_EQ(limits.quota_cores, 4.0);
  EXPECT_EQ(limits.memory_limit_bytes, 4294967296);
}

TEST(ReadCgroupLimits, Version1HasAHierarchyForEachController) {
  FakeRoot root;
  root.Write("/proc/self/mountinfo", kV1Mounts);
  root.Write("/proc/self/cgroup", "9:cpu,cpuacct:/htcondor/slot1\n5:cpuset:/\n3:memory:/htcondor/slot1\n");
  root.Write("/sys/fs/cgroup/cpu,cpuacct/htcondor/slot1/cpu.cfs_quota_us", "150000\n");
  root.Write("/sys/fs/cgroup/cpu,cpuacct/htcondor/slot1/cpu.cfs_period_us", "100000\n");
  root.Write("/sys/fs/cgroup/memory/htcondor/slot1/memory.limit_in_bytes", "2147483648\n");
  root.Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.version, "v1");
  EXPECT_EQ(limits.quota_cores, 1.5);
  EXPECT_EQ(limits.memory_limit_bytes, 2147483648);
}

TEST(ReadOomKills, CountsThoseOfTheGroupInEitherVersion) {
  FakeRoot v2;
  v2.Write("/proc/self/mountinfo", kV2Mount);
  v2.Write("/proc/self/cgroup", "0::/slurm/job_7\n");
  EXPECT_EQ(ReadOomKills(FindOomKillsFile(v2.path())), std::nullopt) << "the file is not there";
  v2.Write("/sys/fs/cgroup/slurm/job_7/memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(ReadOomKills(FindOomKillsFile(v2.path())), 2);
  FakeRoot v1;
  v1.Write("/proc/self/mountinfo", kV1Mounts);
  v1.Write("/proc/self/cgroup", "9:cpu,cpuacct:/slot1\n3:memory:/slot1\n");
  v1.Write("/sys/fs/cgroup/memory/slot1/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(ReadOomKills(FindOomKillsFile(v1.path())), 5);
  FakeRoot none;
  EXPECT_EQ(ReadOomKills(FindOomKillsFile(none.path())), std::nullopt);
}

TEST(ReadCgroupLimits, InHybridSetUpsVersion1HoldsTheControllers) {
  FakeRoot root;
  root.Write("/proc/self/mountinfo",
             std::string(kV1Mounts) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  root.Write("/proc/self/cgroup", "0::/user.slice\n3:memory:/job\n");
  root.Write("/sys/fs/cgroup/unified/user.slice/memory.max", "1000\n");
  root.Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_EQ(limits.version, "v1 and v2");
  EXPECT_EQ(limits.memory_limit_bytes, 5000);
}

TEST(ReadCgroupLimits, AMountOfOnePartOnlyIsReadFromThere) {
  FakeRoot root;  // a container that sees its own group as the root, under the name it has outside
  root.Write("/proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  root.Write("/proc/self/cgroup", "3:memory:/docker/abc/inner\n");
  root.Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n");
  root.Write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ReadCgroupLimits(root.path()).memory_limit_bytes, 7000);
}

TEST(ReadCgroupLimits, NoLimitIsNoNumber) {
  FakeRoot root;
  root.Write("/proc/self/mountinfo", kV2Mount);
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  root.Write("/sys/fs/cgroup/memory.max", "max\n");
  const CgroupLimits limits = ReadCgroupLimits(root.path());
  EXPECT_FALSE(limits.quota_cores.has_value());
  EXPECT_FALSE(limits.memory_limit_bytes.has_value());
}

TEST(ReadCgroupLimits, AMachineWithoutThemHasNone) {
  FakeRoot root;
  EXPECT_EQ(ReadCgroupLimits(root.path()).version, "none");
}

}  // namespace
}  // namespace crema
