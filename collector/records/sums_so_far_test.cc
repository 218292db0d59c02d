#include "collector/records/sums_so_far.h"

#include <gtest/gtest.h>

namespace crema {
namespace {

SumsFact Fact(int64_t chunks, std::string_view file = "a.root") {
  SumsFact fact;
  fact.input.dataset = "ttbar";
  fact.input.file = file;
  fact.chunks = chunks;
  fact.first_start_ns = 100;
  fact.last_stop_ns = 100 + 10 * chunks;
  fact.duration_ns = 9 * chunks;
  fact.events = 50 * chunks;
  fact.cpu_ns = 5 * chunks;
  return fact;
}

TEST(SumsSoFar, TellsWhatALineAdds) {
  SumsSoFar sums;
  EXPECT_EQ(sums.Increment(Fact(10))->chunks, 10);
  const std::optional<SumsFact> added = sums.Increment(Fact(25));
  ASSERT_TRUE(added.has_value());
  EXPECT_EQ(added->chunks, 15);
  EXPECT_EQ(added->events, 750);
  EXPECT_EQ(added->duration_ns, 135);
  EXPECT_EQ(added->first_start_ns, 200) << "where the line before stopped";
  EXPECT_EQ(added->last_stop_ns, 350);
}

TEST(SumsSoFar, KnowsRowsApart) {
  SumsSoFar sums;
  sums.Increment(Fact(10));
  SumsFact failed = Fact(3);
  failed.failed = true;
  EXPECT_EQ(sums.Increment(failed)->chunks, 3);
  EXPECT_EQ(sums.Increment(Fact(4, "b.root"))->chunks, 4);
}

TEST(SumsSoFar, TheSameLineAgainAddsNothing) {
  SumsSoFar sums;
  sums.Increment(Fact(10));
  EXPECT_FALSE(sums.Increment(Fact(10)).has_value());
  EXPECT_FALSE(sums.Increment(Fact(7)).has_value());
}

TEST(SumsSoFar, WhatBecameUnknownStaysSo) {
  SumsSoFar sums;
  sums.Increment(Fact(10));
  SumsFact fact = Fact(20);
  fact.cpu_ns.reset();
  EXPECT_EQ(sums.Increment(fact)->cpu_ns, std::nullopt);
}

}  // namespace
}  // namespace crema
