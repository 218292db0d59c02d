// What comes out of whole /proc trees, from files to the figures of a sample (testdata/README.md says what is in each).
#include <optional>
#include <string>

#include "collector/records/tree_facts.h"
#include "collector/sources/process_tree/tree_scanner.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr int kCrema = 100;
constexpr int64_t kTickNs = 10'000'000;
constexpr int64_t kPage = 4096;
constexpr int64_t kKibibyte = 1024;

std::string Root(const std::string& tree) { return "collector/sources/process_tree/testdata/" + tree; }

// One tree read once.
class CannedTree {
 public:
  explicit CannedTree(const std::string& tree) : scanner_(kCrema, Root(tree)), ledger_(kCrema, kTickNs) { Read(); }

  void Read() {
    scanner_.Scan();
    scanner_.ReadPss();
    ledger_.AddSnapshot(scanner_.readings());
  }
  TreeSampleFact Sample() { return ledger_.Sample(0); }
  TreeTotals Totals() const { return ledger_.Totals(); }

 private:
  TreeScanner scanner_;
  TreeLedger ledger_;
};

TEST(CannedTrees, AProgramAndTheChildrenOfItsThreadsAddUp) {
  CannedTree tree("workers");
  const TreeSampleFact sample = tree.Sample();
  EXPECT_EQ(sample.processes, 4);
  EXPECT_EQ(sample.threads, 1 + 3 + 2 + 1);
  EXPECT_EQ(sample.cpu_user_ns, (1 + 3000 + 500 + 70 + 80) * kTickNs);  // 3000: of children that the shell waited for
  EXPECT_EQ(sample.cpu_system_ns, (2 + 1000 + 50 + 7 + 8) * kTickNs);
  EXPECT_EQ(sample.rss_bytes, (400 + 50000 + 25600 + 25600) * kPage);
  EXPECT_EQ(sample.pss_bytes, (700 + 150000 + 60000 + 60000) * kKibibyte);
  EXPECT_EQ(sample.swap_bytes, (12 + 4) * kKibibyte);
  EXPECT_EQ(sample.io->rchar_bytes, 1000 + 2000000 + 10 + 1);
  EXPECT_EQ(sample.io->wchar_bytes, 100 + 300000 + 20 + 2);
  EXPECT_EQ(sample.io->read_bytes, 4096 + 8192 + 30 + 3);
  EXPECT_EQ(sample.io->write_bytes, 0 + 409600 + 40 + 4);
  ASSERT_EQ(sample.process_rows.size(), 4u);
  EXPECT_EQ(sample.process_rows[1].pid, 102);
  EXPECT_EQ(sample.process_rows[1].cpu_ns, 550 * kTickNs);
  EXPECT_EQ(tree.Totals().major_faults, 1 + 6 + 20);
  EXPECT_EQ(tree.Totals().process_peak_rss_bytes, 900000 * kKibibyte);  // VmHWM
  EXPECT_EQ(tree.Totals().processes_left_running, 4);
}

TEST(CannedTrees, NamesWithBracketsBlanksAndNewlinesMoveNoField) {
  CannedTree tree("odd_names");
  const TreeSampleFact sample = tree.Sample();
  EXPECT_EQ(sample.processes, 2);
  EXPECT_EQ(sample.threads, 2 + 1);
  EXPECT_EQ(sample.cpu_user_ns, (500 + 40) * kTickNs);
  EXPECT_EQ(sample.cpu_system_ns, (3 + 4) * kTickNs);
  EXPECT_EQ(sample.rss_bytes, (1000 + 10) * kPage);
}

TEST(CannedTrees, CountersThatFallStayWhereTheyWere) {
  // One ledger reads two trees, one after the other.
  TreeScanner before(kCrema, Root("falling"));
  TreeScanner after(kCrema, Root("falling_later"));
  TreeLedger ledger(kCrema, kTickNs);
  ledger.AddSnapshot(before.Scan());
  ledger.AddSnapshot(after.Scan());
  const TreeSampleFact sample = ledger.Sample(0);
  EXPECT_EQ(sample.cpu_user_ns, (500 + 70) * kTickNs);
  EXPECT_EQ(sample.cpu_system_ns, (70 + 8) * kTickNs);  // this one rose
  EXPECT_EQ(sample.rss_bytes, 900 * kPage);             // this one is not a counter
  const TreeTotals totals = ledger.Totals();
  EXPECT_EQ(totals.cpu_user_ns, (500 + 70) * kTickNs);
  EXPECT_EQ(totals.major_faults, 9);
  EXPECT_EQ(totals.io->rchar_bytes, 4000);
  EXPECT_EQ(totals.io->wchar_bytes, 5000);
  EXPECT_EQ(totals.io->read_bytes, 2000);
  EXPECT_EQ(totals.io->write_bytes, 1000);
}

TEST(CannedTrees, AProcessThatIsListedAndGoneCountsForNothing) {
  CannedTree tree("vanished");
  const TreeSampleFact sample = tree.Sample();
  EXPECT_EQ(sample.processes, 1);
  EXPECT_EQ(sample.cpu_user_ns, 11 * kTickNs);
  EXPECT_EQ(tree.Totals().tree_cpu_sampled, 1);  // the one that is left
}

TEST(CannedTrees, WithoutSmapsRollupOnlyPssIsUnknown) {
  CannedTree tree("no_smaps_rollup");
  const TreeSampleFact sample = tree.Sample();
  EXPECT_EQ(sample.pss_bytes, std::nullopt);
  EXPECT_EQ(tree.Totals().tree_peak_pss_bytes, std::nullopt);
  EXPECT_EQ(sample.rss_bytes, 100 * kPage);
  EXPECT_EQ(sample.swap_bytes, 0);
  EXPECT_EQ(sample.io->write_bytes, 4);
}

TEST(CannedTrees, WithoutIoOnlyIoIsUnknown) {
  CannedTree tree("no_io");
  const TreeSampleFact sample = tree.Sample();
  EXPECT_FALSE(sample.io.has_value());
  EXPECT_FALSE(tree.Totals().io.has_value());
  EXPECT_EQ(sample.cpu_user_ns, 11 * kTickNs);
  EXPECT_EQ(sample.rss_bytes, 100 * kPage);
  EXPECT_EQ(sample.pss_bytes, 300 * kKibibyte);
}

}  // namespace
}  // namespace crema
