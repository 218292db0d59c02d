#include "collector/sources/process_tree/proc_file.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

constexpr char kStatus[] =
    "Name:\tana VmHWM: 5\nUmask:\t0022\nState:\tS (sleeping)\nVmPeak:\t    3060 kB\nVmHWM:\t    1784 kB\n"
    "VmRSS:\t    1500 kB\nRssAnon:\t     700 kB\nRssFile:\t     790 kB\nRssShmem:\t      10 kB\nVmSwap:\t      12 "
    "kB\nThreads:\t1\nSigBlk:\t0000000000010000\n"
    "SigIgn:\t0000000000000000\nSigCgt:\t0000000000010000\n";

TEST(ParseStatmResidentPages, IsTheSecondField) {
  EXPECT_EQ(ParseStatmResidentPages("765 446 410 5 0 123 0\n"), 446);
  EXPECT_EQ(ParseStatmResidentPages(""), std::nullopt);
  EXPECT_EQ(ParseStatmResidentPages("765"), std::nullopt);
}

TEST(ParseProcStatus, TellsPeakAndSwapInBytes) {
  const ProcStatus status = ParseProcStatus(kStatus);
  EXPECT_EQ(status.peak_rss_bytes, 1784 * 1024);
  EXPECT_EQ(status.swap_bytes, 12 * 1024);
  EXPECT_EQ(status.anonymous_bytes, 700 * 1024);
  EXPECT_EQ(status.file_bytes, (790 + 10) * 1024);
}

TEST(ParseProcStatus, OnlySigIgnSaysThatChildrenAreReapedByTheKernel) {
  EXPECT_FALSE(ParseProcStatus(kStatus).ignores_child_signal);  // blocked and caught, not ignored
  EXPECT_TRUE(ParseProcStatus("SigIgn:\t0000000000010000\n").ignores_child_signal);
  EXPECT_TRUE(ParseProcStatus("SigIgn:\tffffffffffffffff\n").ignores_child_signal);
  EXPECT_FALSE(ParseProcStatus("SigIgn:\tfffffffffffeffff\n").ignores_child_signal);
}

TEST(ParseProcStatus, AProcessThatHasEndedHasNoMemory) {
  const ProcStatus status = ParseProcStatus("Name:\tana\nState:\tZ (zombie)\nSigIgn:\t0000000000000000\n");
  EXPECT_EQ(status.peak_rss_bytes, std::nullopt);
  EXPECT_EQ(status.swap_bytes, std::nullopt);
  EXPECT_EQ(status.anonymous_bytes, std::nullopt);
  EXPECT_EQ(status.file_bytes, std::nullopt);
}

TEST(ParsePssBytes, DoesNotTakeItsPartsForTheWhole) {
  constexpr char kRollup[] =
      "56197e77f000-7ffcb58f9000 ---p 00000000 00:00 0                          [rollup]\n"
      "Rss:                1640 kB\nPss:                 390 kB\nPss_Dirty:           112 kB\nSwapPss:               7 "
      "kB\n";
  EXPECT_EQ(ParsePssBytes(kRollup), 390 * 1024);
  EXPECT_EQ(ParsePssBytes(""), std::nullopt);
}

}  // namespace
}  // namespace crema
