#include <optional>
#include <vector>

#include "collector/sources/process_tree/tree_scanner.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr int kSampler = 1;
constexpr int64_t kTickNs = 10'000'000;
constexpr int64_t kSecondTicks = 100;  // in ticks

// A process with this CPU time of its own, and that of the children it waited for.
ProcessReading Process(int pid, int parent, int64_t own_ticks, int64_t children_ticks = 0) {
  ProcessReading process;
  process.stat.pid = pid;
  process.stat.parent_pid = parent;
  process.stat.state = 'R';
  process.stat.start_ticks = 1000 + pid;
  process.stat.threads = 1;
  process.stat.user_ticks = own_ticks;
  process.stat.children_user_ticks = children_ticks;
  process.rss_bytes = 1000;
  process.counts.rss_peak_bytes = 1000;
  process.swap_bytes = 0;
  process.io = TreeIo{(own_ticks + children_ticks) * 10, 0, 0, 0};
  return process;
}

TreeReapFact Reap(int pid, int64_t ticks) {
  TreeReapFact reaped;
  reaped.pid = pid;
  reaped.user_ns = ticks * kTickNs;
  return reaped;
}

int64_t CpuTicks(const TreeLedger& ledger) { return *ledger.Totals().cpu_user_ns / kTickNs; }

// Processes that nobody waited for, those that still run apart.
int64_t Unwaited(const TreeLedger& ledger) {
  const TreeTotals totals = ledger.Totals();
  return *totals.tree_cpu_sampled - *totals.processes_left_running;
}

TEST(TreeLedger, AChildThatItsParentWaitedForCountsOnce) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 100), Process(11, 10, 50)});
  EXPECT_EQ(CpuTicks(ledger), 150);
  ledger.AddSnapshot({Process(10, kSampler, 110, 60)});
  EXPECT_EQ(CpuTicks(ledger), 170);
  ledger.AddReaped(Reap(10, 175), Process(10, kSampler, 115, 60));
  ledger.AddSnapshot({});
  EXPECT_EQ(CpuTicks(ledger), 175);
  EXPECT_EQ(Unwaited(ledger), 0);
  EXPECT_EQ(ledger.Totals().io->read_bytes, 1750);
}

TEST(TreeLedger, AnAdoptedOrphanCountsWithItsOwnReap) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 100), Process(11, 10, 50)});
  ledger.AddReaped(Reap(10, 100), Process(10, kSampler, 100));
  ledger.AddSnapshot({Process(11, kSampler, 80)});
  EXPECT_EQ(CpuTicks(ledger), 180);
  ledger.AddReaped(Reap(11, 90), Process(11, kSampler, 90));
  ledger.AddSnapshot({});
  EXPECT_EQ(CpuTicks(ledger), 190);
  EXPECT_EQ(Unwaited(ledger), 0);
}

TEST(TreeLedger, AChildOfAParentThatIgnoresItKeepsItsLastReading) {
  TreeLedger ledger(kSampler, kTickNs);
  ProcessReading parent = Process(10, kSampler, 10);
  parent.ignores_child_signal = true;
  ledger.AddSnapshot({parent, Process(11, 10, 3 * kSecondTicks)});
  ledger.AddSnapshot({parent});
  EXPECT_EQ(CpuTicks(ledger), 310);
  EXPECT_EQ(Unwaited(ledger), 1);
  EXPECT_EQ(ledger.Totals().io->read_bytes, 3100);
  ledger.AddReaped(Reap(10, 10), Process(10, kSampler, 10));
  ledger.AddSnapshot({});
  EXPECT_EQ(CpuTicks(ledger), 310);
}

TEST(TreeLedger, AnUnwaitedChildIsSeenByWhatItsParentDidNotGain) {
  TreeLedger ledger(kSampler, kTickNs);  // SA_NOCLDWAIT: /proc does not show it
  ledger.AddSnapshot({Process(10, kSampler, 10), Process(11, 10, 300), Process(12, 10, 40)});
  ledger.AddSnapshot({Process(10, kSampler, 10, 45)});  // waited for 12, not for 11
  EXPECT_EQ(CpuTicks(ledger), 10 + 45 + 300);
  EXPECT_EQ(Unwaited(ledger), 1);
}

TEST(TreeLedger, RoundingOfTicksIsNoLostChild) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 10), Process(11, 10, 5)});
  ledger.AddSnapshot({Process(10, kSampler, 10, 3)});
  EXPECT_EQ(Unwaited(ledger), 0);
  EXPECT_EQ(CpuTicks(ledger), 13);
}

TEST(TreeLedger, AWholeBranchThatWasWaitedForIsFoundInItsGrandparent) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 1), Process(11, 10, 20), Process(12, 11, 300)});
  ledger.AddSnapshot({Process(10, kSampler, 1, 325)});
  EXPECT_EQ(CpuTicks(ledger), 326);
  EXPECT_EQ(Unwaited(ledger), 0);
}

TEST(TreeLedger, ABranchThatEndsWithTheCommandIsFoundInItsReap) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 1), Process(11, 10, 200)});
  ledger.AddReaped(Reap(10, 215), Process(10, kSampler, 5, 210));
  ledger.AddSnapshot({});
  EXPECT_EQ(CpuTicks(ledger), 215);
  EXPECT_EQ(Unwaited(ledger), 0);
}

TEST(TreeLedger, AnUnwaitedChildOfAReapedParentKeepsItsLastReading) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 1), Process(11, 10, 200)});
  ledger.AddReaped(Reap(10, 5), Process(10, kSampler, 5, 0));
  ledger.AddSnapshot({});
  EXPECT_EQ(CpuTicks(ledger), 205);
  EXPECT_EQ(Unwaited(ledger), 1);
}

TEST(TreeLedger, APidUsedAgainIsAnotherProcess) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 1), Process(11, 10, 200)});
  ProcessReading second = Process(11, 10, 7);
  second.stat.start_ticks += 500;
  ledger.AddSnapshot({Process(10, kSampler, 1, 200), second});
  EXPECT_EQ(CpuTicks(ledger), 208);
}

TEST(TreeLedger, CountersOfSamplesNeverFall) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 100), Process(11, 10, 50)});
  const TreeSampleFact before = ledger.Sample(0);
  ledger.AddSnapshot({Process(10, kSampler, 100, 49)});  // rounded down
  const TreeSampleFact after = ledger.Sample(0);
  EXPECT_EQ(after.cpu_user_ns, before.cpu_user_ns);
  EXPECT_EQ(after.io->read_bytes, before.io->read_bytes);
}

TEST(TreeLedger, MemoryIsTheLargestSumAtOneInstant) {
  TreeLedger ledger(kSampler, kTickNs);
  ProcessReading large = Process(11, 10, 0);
  large.rss_bytes = 5000;
  ledger.AddSnapshot({Process(10, kSampler, 0), large});
  ledger.AddSnapshot({Process(10, kSampler, 0), Process(12, 10, 0)});
  EXPECT_EQ(ledger.Totals().tree_peak_rss_bytes, 6000);
  EXPECT_EQ(ledger.Totals().max_processes, 2);
}

TEST(TreeLedger, ASpikeBetweenSamplesIsAPeakOfItsProcessAndOfTheTree) {
  TreeLedger ledger(kSampler, kTickNs);
  ledger.AddSnapshot({Process(10, kSampler, 0)});
  TreeReapFact reaped = Reap(10, 1);
  reaped.max_rss_bytes = 9'000'000;
  ledger.AddReaped(reaped, std::nullopt);
  ledger.AddSnapshot({});
  EXPECT_EQ(ledger.Totals().process_peak_rss_bytes, 9'000'000);
  EXPECT_EQ(ledger.Totals().tree_peak_rss_bytes, 9'000'000);
}

TEST(TreeLedger, PssOfATreeIsKnownOnlyWhereEachProcessTellsIt) {
  TreeLedger ledger(kSampler, kTickNs);
  ProcessReading first = Process(10, kSampler, 0);
  first.pss_bytes = 500;
  ledger.AddSnapshot({first, Process(11, 10, 0)});
  EXPECT_FALSE(ledger.Totals().tree_peak_pss_bytes.has_value());
  ledger.AddSnapshot({first});
  EXPECT_EQ(ledger.Totals().tree_peak_pss_bytes, 500);
}

TEST(TreeLedger, ProcessesLeftRunningCountWithTheirLastReading) {
  TreeLedger ledger(kSampler, kTickNs);
  ProcessReading ended = Process(12, 11, 3);
  ended.stat.state = 'Z';
  ledger.AddReaped(Reap(10, 100), Process(10, kSampler, 100));
  ledger.AddSnapshot({Process(11, kSampler, 20), ended});
  EXPECT_EQ(CpuTicks(ledger), 123);
  EXPECT_EQ(ledger.Totals().processes_left_running, 1);
  EXPECT_EQ(ledger.Totals().tree_cpu_sampled, 1);
}

TEST(TreeLedger, OfStrangersKeepsTheLastReadingOfWhatEndsOutside) {
  TreeLedger ledger = TreeLedger::OfStrangers(kTickNs);
  ledger.AddSnapshot({Process(10, 4, 100), Process(11, 10, 50)});
  ledger.AddSnapshot({Process(10, 4, 110, 60)});  // waited for its child
  ledger.AddSnapshot({});                         // and was waited for by a process that is not of the tree
  EXPECT_EQ(CpuTicks(ledger), 170);
  EXPECT_EQ(Unwaited(ledger), 1);
  EXPECT_FALSE(ledger.Totals().context_switches_involuntary.has_value());
}

TEST(TreeLedger, OfStrangersKnowsTheWholeAccountOfOneThatWasReadAfterItsEnd) {
  TreeLedger ledger = TreeLedger::OfStrangers(kTickNs);
  ledger.AddSnapshot({Process(10, 4, 100)});
  ProcessReading ended = Process(10, 4, 130);
  ended.stat.state = 'Z';
  ledger.AddSnapshot({ended});
  ledger.AddSnapshot({});
  EXPECT_EQ(CpuTicks(ledger), 130);
  EXPECT_EQ(Unwaited(ledger), 0);
}

}  // namespace
}  // namespace crema
