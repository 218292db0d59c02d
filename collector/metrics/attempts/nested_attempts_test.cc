#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <tuple>
#include <vector>

#include "collector/metrics/attempts/attempt_table.h"

namespace crema {
namespace {

/// Two processes of two logs each, one of a single log, and one of two logs that one copy of the SDK wrote.
const std::vector<uint32_t> kProcessOfLog = {0, 0, 1, 1, 2, 3, 3};
const std::vector<uint32_t> kWriterOfLog = {0, 1, 2, 3, 4, 5, 5};

/// As a log says it: half the time on CPU, a tenth waiting for one; `left_out_ns` was inside and is left out.
AttemptRow Row(uint32_t log, int64_t start_ns, int64_t stop_ns, int64_t left_out_ns = 0, uint32_t thread = 0) {
  static int64_t number = 0;
  AttemptRow row;
  row.process = log;
  row.thread = thread;
  row.number = number++;
  row.start_ns = start_ns;
  row.duration_ns = stop_ns - start_ns - left_out_ns;
  row.suspended_ns = left_out_ns;
  row.cpu_ns = row.duration_ns / 2;
  row.cpu_wait_ns = row.duration_ns / 10;
  return row;
}

std::vector<AttemptRow> WithoutNestedTime(const std::vector<AttemptRow>& rows, int64_t* taken_ns = nullptr,
                                          const std::vector<uint32_t>& process_of_log = kProcessOfLog) {
  AttemptRows all(rows);
  const int64_t taken = TakeNestedTimeOff(
      process_of_log, kWriterOfLog, [](const AttemptRow& row) { return row.thread != 9; }, all);
  if (taken_ns != nullptr) *taken_ns = taken;
  std::vector<AttemptRow> result;
  for (const AttemptRow& row : all) result.push_back(row);
  return result;
}

std::vector<int64_t> Durations(const std::vector<AttemptRow>& rows) {
  std::vector<int64_t> durations;
  for (const AttemptRow& row : WithoutNestedTime(rows)) {
    EXPECT_EQ(row.cpu_ns, row.duration_ns / 2);
    EXPECT_EQ(row.cpu_wait_ns, row.duration_ns / 10);
    durations.push_back(row.duration_ns);
  }
  return durations;
}

using Times = std::vector<int64_t>;

TEST(NestedAttempts, OfAnotherLogComeOffTheOneAroundThem) {
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 100, 300), Row(1, 300, 700)}), (Times{400, 200, 400}));
  EXPECT_EQ(Durations({Row(0, 100, 300), Row(1, 0, 1000)}), (Times{200, 800}));  // the other way round
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 0, 1000)}), (Times{0, 1000}));
}

TEST(NestedAttempts, KeepTheTimeAtWhichTheOneAroundThemStopped) {
  int64_t taken_ns = 0;
  const std::vector<AttemptRow> rows = WithoutNestedTime({Row(0, 0, 1000), Row(1, 100, 300)}, &taken_ns);
  EXPECT_EQ(taken_ns, 200);
  EXPECT_EQ(rows[0].stop_ns(), 1000);
  EXPECT_EQ(rows[1].stop_ns(), 300);
}

TEST(NestedAttempts, OfOneLogAreLeftAsTheyAre) {
  EXPECT_EQ(Durations({Row(4, 0, 1000, 200), Row(4, 100, 300)}), (Times{800, 200}));
  // Another log of the process has attempts, too.
  EXPECT_EQ(Durations({Row(0, 0, 1000, 200), Row(0, 100, 300), Row(1, 2000, 3000)}), (Times{800, 200, 1000}));
}

TEST(NestedAttempts, OfAnotherLogOfTheSameWriterAreLeftAsTheyAre) {
  EXPECT_EQ(Durations({Row(5, 0, 1000, 200), Row(6, 100, 300)}), (Times{800, 200}));
}

TEST(NestedAttempts, ThreeDeepComeOffOnce) {
  // What the middle one has inside is of the outermost one's log, whose record leaves it out already.
  EXPECT_EQ(Durations({Row(0, 0, 1000, 400), Row(1, 100, 700), Row(0, 200, 600)}), (Times{400, 200, 400}));
  // Both inner ones are of one log.
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 100, 700, 400), Row(1, 200, 600)}), (Times{400, 200, 400}));
}

TEST(NestedAttempts, OnOtherThreadsAndInOtherProcessesAreApart) {
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 100, 300, 0, 1)}), (Times{1000, 200}));
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 2000, 2200), Row(2, 100, 300, 0, 2), Row(3, 400, 500, 0, 2)}),
            (Times{1000, 200, 200, 100}));
}

TEST(NestedAttempts, ThatWereNotOnTheirThreadAllTheTimeAreApart) {
  EXPECT_EQ(Durations({Row(0, 0, 1000, 500, 9), Row(1, 100, 300, 0, 9)}), (Times{500, 200}));
}

TEST(NestedAttempts, ThatOverlapLieNotInside) {
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 500, 1500)}), (Times{1000, 1000}));
}

TEST(NestedAttempts, InsideOneThatOutlastsAnotherComeOffIt) {
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 500, 1500), Row(0, 1100, 1300)}), (Times{1000, 800, 200}));
  EXPECT_EQ(Durations({Row(0, 0, 1000), Row(1, 500, 1500, 200), Row(1, 600, 800)}), (Times{800, 800, 200}));
  // The innermost of the other log has it, whatever else was open.
  EXPECT_EQ(Durations({Row(0, 0, 1000, 500), Row(0, 500, 1500), Row(1, 600, 800)}), (Times{500, 800, 200}));
}

TEST(NestedAttempts, WithoutACpuTimeMakeItUnknown) {
  AttemptRow inner = Row(1, 100, 300);
  inner.cpu_ns = AttemptRow::kUnknown;
  const std::vector<AttemptRow> rows = WithoutNestedTime({Row(0, 0, 1000), inner});
  EXPECT_EQ(rows[0].cpu_ns, AttemptRow::kUnknown);
  EXPECT_EQ(rows[0].cpu_wait_ns, 80);
  EXPECT_EQ(rows[0].duration_ns, 800);
}

TEST(NestedAttempts, EachMomentOfAThreadCountsOnce) {
  std::mt19937_64 random(1);
  const auto below = [&random](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
  for (int round = 0; round < 200; ++round) {
    std::vector<AttemptRow> rows;
    Times exclusive;
    int64_t now_ns = 0;
    // Returns what the logs leave out of an attempt of theirs around this one.
    const std::function<Times(int)> nest = [&](int depth) {
      const size_t index = rows.size();
      const auto log = static_cast<uint32_t>(below(2));
      rows.emplace_back();
      exclusive.push_back(0);
      const int64_t start_ns = now_ns;
      Times left_out = {0, 0};
      for (int64_t i = depth == 0 ? 0 : below(3); i > 0; --i) {
        exclusive[index] += 100;
        now_ns += 100;
        const Times inside = nest(depth - 1);
        for (size_t of = 0; of < 2; ++of) left_out[of] += inside[of];
      }
      exclusive[index] += 100;
      now_ns += 100;
      rows[index] = Row(log, start_ns, now_ns, left_out[log]);
      left_out[log] = now_ns - start_ns;
      return left_out;
    };
    for (int i = 0; i < 3; ++i) nest(5);
    std::vector<size_t> order(rows.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<AttemptRow> shuffled;
    for (const size_t i : order) shuffled.push_back(rows[i]);
    const std::vector<AttemptRow> result = WithoutNestedTime(shuffled);
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(result[i].duration_ns, exclusive[order[i]]);
      EXPECT_EQ(result[i].number, shuffled[i].number);
    }
  }
}

TEST(NestedAttempts, ComeOffTheInnermostOneAroundThemOfEachOtherLog) {
  std::mt19937_64 random(2);
  const auto below = [&random](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<AttemptRow> rows;
    for (int i = 0; i < 40; ++i) {
      const int64_t start_ns = below(50);
      rows.push_back(Row(static_cast<uint32_t>(below(3)), start_ns, start_ns + below(50)));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const AttemptRow& a, const AttemptRow& b) {
      return std::tuple(a.start_ns, -a.stop_ns(), a.process) < std::tuple(b.start_ns, -b.stop_ns(), b.process);
    });
    Times expected;
    for (const AttemptRow& row : rows) expected.push_back(row.duration_ns);
    for (size_t inner = rows.size(); inner-- > 0;) {
      std::vector<bool> is_found(3);
      is_found[rows[inner].process] = true;
      for (size_t outer = inner; outer-- > 0;) {
        const bool is_open = rows[outer].stop_ns() > rows[inner].start_ns;
        if (!is_open || rows[outer].stop_ns() < rows[inner].stop_ns() || is_found[rows[outer].process]) continue;
        is_found[rows[outer].process] = true;
        expected[outer] = std::max<int64_t>(0, expected[outer] - expected[inner]);
      }
    }
    const std::vector<AttemptRow> result = WithoutNestedTime(rows, nullptr, {0, 0, 0});
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(result[i].duration_ns, expected[i]);
  }
}

// Takes minutes if each is compared with all that are open.
TEST(NestedAttempts, ManyMayOverlap) {
  constexpr int64_t kMany = 200'000;
  std::vector<AttemptRow> rows;
  for (int64_t i = 0; i < kMany; ++i) rows.push_back(Row(static_cast<uint32_t>(i % 2), i, kMany + i));
  rows.push_back(Row(1, kMany - 1, kMany));
  const std::vector<AttemptRow> result = WithoutNestedTime(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(result[i].duration_ns, rows[i].duration_ns - (i + 2 == static_cast<size_t>(kMany) ? 1 : 0));
  }
}

}  // namespace
}  // namespace crema
