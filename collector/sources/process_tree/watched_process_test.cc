#include <string>
#include <vector>

#include "collector/sources/process_tree/fake_root_fixture.h"
#include "collector/sources/process_tree/proc_file.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using namespace std::string_literals;

constexpr char kStat[] = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n";

TEST(FindProcess, TellsWhatItIsAndWhatItWasGiven) {
  FakeRoot root;
  root.Write("/proc/7/stat", kStat);
  root.Write("/proc/7/comm", "a) b\n");
  root.Write("/proc/7/cmdline", "./ana\0--cut=3 4\0\0"s);
  root.Write("/proc/7/environ", "HOME=/\0SLURM_JOB_ID=5\0EQUATION=a=b\0"s);
  const auto process = FindProcess(7, root.path());
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->start_ticks, 4711);
  EXPECT_EQ(process->name, "a) b");
  EXPECT_EQ(process->arguments, std::vector<std::string>({"./ana", "--cut=3 4", ""}));
  EXPECT_EQ(process->environment.at("SLURM_JOB_ID"), "5");
  EXPECT_EQ(process->environment.at("EQUATION"), "a=b");
}

TEST(FindProcess, OfAnotherUserLacksWhatMayNotBeRead) {
  FakeRoot root;
  root.Write("/proc/7/stat", kStat);
  const auto process = FindProcess(7, root.path());
  ASSERT_TRUE(process.has_value());
  EXPECT_TRUE(process->environment.empty());
  EXPECT_TRUE(process->arguments.empty());
}

TEST(FindProcess, AThreadIsNoProcess) {
  FakeRoot root;
  root.Write("/proc/7/stat", kStat);
  root.Write("/proc/7/status", "Name:\ta\nTgid:\t7\nPid:\t7\n");
  EXPECT_TRUE(FindProcess(7, root.path()).has_value());
  root.Write("/proc/7/status", "Name:\ta\nTgid:\t6\nPid:\t7\n");
  EXPECT_FALSE(FindProcess(7, root.path()).has_value());
}

TEST(FindProcess, FindsNoneWhereThereIsNoneOrItHasEnded) {
  FakeRoot root;
  EXPECT_FALSE(FindProcess(7, root.path()).has_value());
  root.Write("/proc/7/stat", "7 (a) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n");
  EXPECT_FALSE(FindProcess(7, root.path()).has_value());
}

}  // namespace
}  // namespace crema
