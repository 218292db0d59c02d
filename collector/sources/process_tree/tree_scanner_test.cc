#include "collector/sources/process_tree/tree_scanner.h"

#include <sched.h>

#include <optional>
#include <string>
#include <vector>

#include "collector/sources/process_tree/fake_root_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr int kRoot = 100;

void AddProcess(const FakeRoot& root, int pid, int parent, const std::string& children, int threads = 1,
                int start_ticks = 1000) {
  const std::string directory = "/proc/" + std::to_string(pid);
  root.Write(directory + "/stat", std::to_string(pid) + " (p) S " + std::to_string(parent) +
                                      " 1 1 0 -1 0 0 0 0 0 7 3 0 0 20 0 " + std::to_string(threads) + " 0 " +
                                      std::to_string(start_ticks) + " 0 0\n");
  root.Write(directory + "/statm", "100 10 5 1 0 50 0\n");
  root.Write(directory + "/status", "VmHWM:\t 80 kB\nVmSwap:\t 4 kB\nSigIgn:\t0000000000000000\n");
  root.Write(directory + "/io", "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n");
  root.Write(directory + "/smaps_rollup", "Pss: 12 kB\n");
  root.Write(directory + "/task/" + std::to_string(pid) + "/children", children);
}

std::vector<int> Pids(const std::vector<ProcessReading>& readings) {
  std::vector<int> pids;
  for (const ProcessReading& reading : readings) pids.push_back(reading.stat.pid);
  return pids;
}

TEST(TreeScanner, FindsAllDescendantsParentsFirst) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 102 ");
  AddProcess(root, 101, kRoot, "103 ");
  AddProcess(root, 102, kRoot, "");
  AddProcess(root, 103, 101, "");
  AddProcess(root, 900, 1, "");  // not of the tree
  TreeScanner scanner(kRoot, root.path());
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(101, 102, 103));
}

TEST(TreeScanner, ReadsEachFile) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "");
  TreeScanner scanner(kRoot, root.path());
  const ProcessReading process = scanner.Scan().at(0);
  EXPECT_EQ(process.stat.user_ticks, 7);
  EXPECT_EQ(process.rss_bytes, 10 * 4096);
  EXPECT_EQ(process.counts.rss_peak_bytes, 80 * 1024);
  EXPECT_EQ(process.swap_bytes, 4 * 1024);
  EXPECT_EQ(process.io->write_bytes, 4);
  EXPECT_FALSE(process.pss_bytes.has_value());
  EXPECT_EQ(scanner.rss_bytes(), 10 * 4096);
  scanner.ReadPss();
  EXPECT_EQ(scanner.readings().at(0).pss_bytes, 12 * 1024);
}

TEST(TreeScanner, AddsUpTheRunDelayOfThreadsThatHaveGone) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "", 2);
  root.Write("/proc/101/task/101/schedstat", "5 100 1\n");
  root.Write("/proc/101/task/150/schedstat", "5 20 1\n");
  TreeScanner scanner(kRoot, root.path());
  EXPECT_EQ(scanner.Scan().at(0).counts.run_delay_ns, 120);
  root.Write("/proc/101/task/101/schedstat", "6 130 2\n");
  root.Write("/proc/101/task/151/schedstat", "5 3 1\n");
  root.Remove("/proc/101/task/150");
  EXPECT_EQ(scanner.Scan().at(0).counts.run_delay_ns, 130 + 20 + 3);
  AddProcess(root, 101, kRoot, "", 1);
  root.Remove("/proc/101/task/151");
  EXPECT_EQ(scanner.Scan().at(0).counts.run_delay_ns, 130 + 20 + 3);
}

TEST(TreeScanner, KnowsNoRunDelayWhereTheKernelHasNone) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "");
  EXPECT_EQ(TreeScanner(kRoot, root.path()).Scan().at(0).counts.run_delay_ns, std::nullopt);
}

TEST(TreeScanner, ReadsNoPssThatAThreadOfARealTimeClassWouldWaitFor) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 102 ");
  AddProcess(root, 101, kRoot, "", 2);
  AddProcess(root, 102, kRoot, "", 2);
  const auto add_thread = [&root](int pid, int tid, int policy) {
    std::string line = std::to_string(tid) + " (worker) S";
    for (int field = 4; field <= 40; ++field) line += " 0";
    root.Write("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/stat",
               line + " " + std::to_string(policy) + " 0 0\n");
  };
  add_thread(101, 150, SCHED_OTHER);
  add_thread(102, 160, SCHED_FIFO);
  TreeScanner scanner(kRoot, root.path());
  scanner.Scan();
  scanner.ReadPss();
  EXPECT_EQ(scanner.readings().at(0).pss_bytes, 12 * 1024);
  EXPECT_EQ(scanner.readings().at(1).pss_bytes, std::nullopt);
}

TEST(TreeScanner, FindsChildrenOfOtherThreads) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "", 2);
  root.Write("/proc/101/task/150/children", "102 ");
  AddProcess(root, 102, 101, "");
  TreeScanner scanner(kRoot, root.path());
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(101, 102));
}

TEST(TreeScanner, WithoutChildrenListsItAsksForParents) {
  FakeRoot root;
  for (const auto& [pid, parent] : {std::pair(kRoot, 1), {101, kRoot}, {102, 101}, {900, 1}}) {
    AddProcess(root, pid, parent, "");
    root.Remove("/proc/" + std::to_string(pid) + "/task");
  }
  TreeScanner scanner(kRoot, root.path());
  EXPECT_THAT(Pids(scanner.Scan()), UnorderedElementsAre(101, 102));
}

TEST(TreeScanner, AnOrphanStaysInTheTree) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "102 ");
  AddProcess(root, 102, 101, "");
  TreeScanner scanner(kRoot, root.path());
  scanner.Scan();
  AddProcess(root, kRoot, 1, "");  // a list read while processes end may miss one
  AddProcess(root, 101, kRoot, "");
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(101, 102));
}

TEST(TreeScanner, APidWithAnotherStartIsAnotherProcess) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "");
  TreeScanner scanner(kRoot, root.path());
  scanner.Scan();
  AddProcess(root, 101, kRoot, "", 1, 2000);
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre());  // the first has vanished
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(101));
}

TEST(TreeScanner, PresentChildrenOfTheRootAreNotOfTheTree) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "");
  TreeScanner scanner(kRoot, root.path());
  scanner.IgnorePresentChildren();
  AddProcess(root, kRoot, 1, "101 102 ");
  AddProcess(root, 102, kRoot, "");
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(102));
  EXPECT_TRUE(scanner.StopIgnoring(101, std::nullopt));
  EXPECT_FALSE(scanner.StopIgnoring(101, std::nullopt));
}

TEST(TreeScanner, APidOfAPresentChildThatComesAgainIsOfTheTree) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 ");
  AddProcess(root, 101, kRoot, "102 ");
  AddProcess(root, 102, 101, "103 ");
  AddProcess(root, 103, 102, "");
  TreeScanner scanner(kRoot, root.path());
  scanner.IgnorePresentChildren();
  AddProcess(root, kRoot, 1, "101 102 103 ");
  AddProcess(root, 101, kRoot, "");
  AddProcess(root, 102, kRoot, "", 1, 2000);  // one that started later
  AddProcess(root, 103, kRoot, "", 1, 2000);
  const std::optional<ProcessReading> ended = scanner.ReadEnded(103);
  EXPECT_FALSE(scanner.StopIgnoring(103, ended));
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(102, 103));
}

TEST(TreeScanner, ARootOfTheTreeIsReadAndNotLookedForAgain) {
  FakeRoot root;
  AddProcess(root, kRoot, 1, "101 102 ");
  AddProcess(root, 101, kRoot, "");
  AddProcess(root, 102, kRoot, "103 ");
  AddProcess(root, 103, 102, "");
  TreeScanner scanner = TreeScanner::IncludingRoot(kRoot, root.path());
  scanner.Ignore(102);
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(kRoot, 101));
  AddProcess(root, kRoot, 1, "101 ", 1, 2000);  // ended, and another process got its pid
  AddProcess(root, 101, 1, "104 ");             // an orphan now, with a child
  AddProcess(root, 104, 101, "");
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(101, 104));
}

TEST(TreeScanner, WithoutChildrenListsAnOrphansChildrenAreFound) {
  FakeRoot root;
  for (const auto& [pid, parent] : {std::pair(kRoot, 1), {101, kRoot}, {900, 1}}) AddProcess(root, pid, parent, "");
  root.Remove("/proc/" + std::to_string(kRoot) + "/task");
  TreeScanner scanner = TreeScanner::IncludingRoot(kRoot, root.path());
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(kRoot, 101));
  AddProcess(root, kRoot, 1, "", 1, 2000);  // ended, and another process got its pid
  AddProcess(root, 101, 1, "");
  AddProcess(root, 102, 101, "");
  EXPECT_THAT(Pids(scanner.Scan()), ElementsAre(101, 102));
}

TEST(TreeScanner, MoreProcessesThanDescriptorsMayBeKeptAreAllRead) {
  FakeRoot root;
  std::string children;
  for (int pid = 1000; pid < 1130; ++pid) {
    children += std::to_string(pid) + " ";
    AddProcess(root, pid, kRoot, "");
  }
  AddProcess(root, kRoot, 1, children);
  TreeScanner scanner(kRoot, root.path());
  EXPECT_EQ(scanner.Scan().size(), 130u);
  EXPECT_EQ(scanner.Scan().size(), 130u);
}

}  // namespace
}  // namespace crema
