#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"

namespace crema {
namespace {

AttemptRow AttemptWithTimes(int64_t duration_ns, int64_t cpu_ns, int64_t cpu_wait_ns,
                            uint32_t helpers = AttemptRow::kNone) {
  AttemptRow attempt;
  attempt.duration_ns = duration_ns;
  attempt.cpu_ns = cpu_ns;
  attempt.cpu_wait_ns = cpu_wait_ns;
  attempt.helpers = helpers;
  return attempt;
}

std::vector<HelperTimes> HelpersWithUnion(int64_t union_ns) {
  HelperTimes helper;
  helper.union_ns = union_ns;
  return {helper};
}

TEST(OwnerTime, IsBlockedForWhatCpuAndRunDelayLeave) {
  const auto time = SplitOwnerTime(AttemptWithTimes(100, 60, 15), {});
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->cpu_ns, 60);
  EXPECT_EQ(time->cpu_wait_ns, 15);
  EXPECT_EQ(time->joined_ns, 0);
  EXPECT_EQ(time->blocked_ns, 25);
}

TEST(OwnerTime, IsJoinedAtMostForTheUnionOfItsHelpersScopes) {
  EXPECT_EQ(SplitOwnerTime(AttemptWithTimes(100, 60, 15, 0), HelpersWithUnion(10))->joined_ns, 10);
  EXPECT_EQ(SplitOwnerTime(AttemptWithTimes(100, 60, 15, 0), HelpersWithUnion(10))->blocked_ns, 15);
  EXPECT_EQ(SplitOwnerTime(AttemptWithTimes(100, 60, 15, 0), HelpersWithUnion(80))->joined_ns, 25);
  EXPECT_EQ(SplitOwnerTime(AttemptWithTimes(100, 60, 15, 0), HelpersWithUnion(80))->blocked_ns, 0);
}

TEST(OwnerTime, AddsUpToTheDurationWhateverTheFigures) {
  for (int64_t cpu : {0, 50, 100, 130}) {
    for (int64_t wait : {-1, 0, 40, 200}) {
      for (int64_t in_union : {0, 30, 500}) {
        const auto time = SplitOwnerTime(AttemptWithTimes(100, cpu, wait, 0), HelpersWithUnion(in_union));
        EXPECT_EQ(time->cpu_ns + time->cpu_wait_ns + time->joined_ns + time->blocked_ns, 100);
        EXPECT_GE(std::min({time->cpu_ns, time->cpu_wait_ns, time->joined_ns, time->blocked_ns}), 0);
      }
    }
  }
}

TEST(OwnerTime, SaysWhereTheRunDelayIsNotKnown) {
  const auto time = SplitOwnerTime(AttemptWithTimes(100, 60, AttemptRow::kUnknown), {});
  EXPECT_FALSE(time->wait_known);
  EXPECT_EQ(time->blocked_ns, 40);
}

TEST(OwnerTime, IsNotKnownWithoutCpuOrDuration) {
  EXPECT_EQ(SplitOwnerTime(AttemptWithTimes(100, AttemptRow::kUnknown, 5), {}), std::nullopt);
  EXPECT_EQ(SplitOwnerTime(AttemptWithTimes(AttemptRow::kUnknown, 5, 5), {}), std::nullopt);
}

}  // namespace
}  // namespace crema
