#include <optional>

#include "collector/sources/process_tree/proc_file.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

// From a real machine; only the name and the counters were changed.
constexpr char kAfterName[] =
    " S 4711 4712 4713 0 -1 4194304 102 11 21 22 31 32 41 42 20 0 7 0 71066 3133440 388 18446744073709551615 "
    "94289263431680 94289263451561 140732571274336 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

TEST(ParseProcStat, ReadsEachFieldFromItsPlace) {
  const std::optional<ProcStat> stat = ParseProcStat(std::string("5678 (cat)") + kAfterName);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->pid, 5678);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent_pid, 4711);
  EXPECT_EQ(stat->minor_faults, 102);
  EXPECT_EQ(stat->major_faults, 21);
  EXPECT_EQ(stat->children_major_faults, 22);
  EXPECT_EQ(stat->user_ticks, 31);
  EXPECT_EQ(stat->system_ticks, 32);
  EXPECT_EQ(stat->children_user_ticks, 41);
  EXPECT_EQ(stat->children_system_ticks, 42);
  EXPECT_EQ(stat->threads, 7);
  EXPECT_EQ(stat->start_ticks, 71066);
}

TEST(ParseRunDelay, IsTheSecondNumber) {
  EXPECT_EQ(ParseRunDelay("76494 6581830 2\n"), 6581830);
  EXPECT_EQ(ParseRunDelay("76494"), std::nullopt);
  EXPECT_EQ(ParseRunDelay(""), std::nullopt);
}

TEST(ParseProcStat, NamesMayHoldBlanksBracketsAndNewlines) {
  for (const char* name : {"(a b)", "(a) R 1 (b)", "())", "(x\ny)", "(a) S 9 9 9)"}) {
    const std::optional<ProcStat> stat = ParseProcStat(std::string("5678 ") + name + kAfterName);
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->parent_pid, 4711) << name;
    EXPECT_EQ(stat->user_ticks, 31) << name;
  }
}

TEST(ParseProcStat, WhatIsNoSuchLineGivesNothing) {
  for (const char* text : {"", "x", "5678", "5678 (cat", "5678 (cat)", "5678 (cat) S", "5678 (cat) S 1 2 3"}) {
    EXPECT_FALSE(ParseProcStat(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace crema
