#include "collector/metrics/attempts/breakdown.h"

#include <gtest/gtest.h>

#include "collector/idioms/units.h"

namespace crema {
namespace {

AttemptRow Ended(uint32_t group, int64_t seconds, int64_t events, bool is_result = true) {
  AttemptRow row;
  row.input = group;
  row.duration_ns = seconds * kSecondNs;
  row.events = events;
  row.cpu_ns = row.duration_ns / 2;
  row.cpu_wait_ns = kSecondNs / 10;
  row.is_result = is_result;
  row.status = is_result ? AttemptState::kOk : AttemptState::kFailed;
  return row;
}

std::vector<BreakdownRow> ByInput(const std::vector<AttemptRow>& attempts) {
  const std::vector<std::string> names = {"a", "b", "c", "unused"};
  const std::vector<ByteSums> bytes;
  return BreakDown(attempts, {}, {}, {{&AttemptRow::input, nullptr, &names, &bytes}}).front();
}

TEST(BreakDown, CountsResultsOnceAndCostAlways) {
  const auto rows = ByInput({Ended(0, 4, 100), Ended(0, 2, 50, /*is_result=*/false)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].chunks, 1);
  EXPECT_EQ(rows[0].attempts, 2);
  EXPECT_EQ(rows[0].failed, 1);
  EXPECT_EQ(rows[0].events, 100);
  EXPECT_DOUBLE_EQ(*rows[0].duration_sum, 6);
  EXPECT_DOUBLE_EQ(*rows[0].duration_mean, 3);
  EXPECT_DOUBLE_EQ(*rows[0].duration_p50, 2);
  EXPECT_DOUBLE_EQ(*rows[0].duration_max, 4);
  EXPECT_DOUBLE_EQ(*rows[0].cpu_sum, 3);
  EXPECT_DOUBLE_EQ(*rows[0].cpu_wait_sum, 0.2);
  EXPECT_DOUBLE_EQ(*rows[0].blocked_sum, 6 - 3 - 0.2);
  EXPECT_DOUBLE_EQ(*rows[0].event_rate, 100.0 / 6);
  EXPECT_DOUBLE_EQ(*rows[0].events_per_cpu_second, 100.0 / 3);
  EXPECT_FALSE(rows[0].bytes_read.has_value());
  EXPECT_FALSE(rows[0].rss_delta_mean.has_value());
}

TEST(BreakDown, CountsLostAttemptsWithoutADuration) {
  AttemptRow lost;
  lost.input = 1;
  lost.status = AttemptState::kLost;
  const auto rows = ByInput({lost});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].attempts, 1);
  EXPECT_EQ(rows[0].lost, 1);
  EXPECT_EQ(rows[0].duration_sum, 0);
  EXPECT_FALSE(rows[0].duration_mean.has_value());
  EXPECT_FALSE(rows[0].events.has_value());
  EXPECT_FALSE(rows[0].event_rate.has_value());
}

TEST(BreakDown, PutsTheLargestFirst) {
  const auto rows = ByInput({Ended(0, 1, 1), Ended(2, 5, 1), Ended(1, 1, 1)});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "c");
  EXPECT_EQ(rows[1].name, "a");
  EXPECT_EQ(rows[2].name, "b");
}

TEST(BreakDown, PutsInputsOfOneGroupTogether) {
  const std::vector<std::string> inputs = {"x", "y", "z"};
  const std::vector<std::string> datasets = {"even", "odd"};
  const std::vector<uint32_t> dataset_of_input = {0, 1, 0};
  const std::vector<uint32_t> half_of_input = {0, 0, 1};
  const std::vector<ByteSums> bytes;
  const auto tables = BreakDown({Ended(0, 1, 10), Ended(1, 9, 20), Ended(2, 3, 30), Ended(0, 2, 40)}, {}, {},
                                {{&AttemptRow::input, &dataset_of_input, &datasets, &bytes},
                                 {&AttemptRow::input, nullptr, &inputs, &bytes},
                                 {&AttemptRow::thread, nullptr, &datasets, &bytes},
                                 {&AttemptRow::input, &half_of_input, &datasets, &bytes}});
  ASSERT_EQ(tables.size(), 4u);
  ASSERT_EQ(tables[0].size(), 2u);
  EXPECT_EQ(tables[0][0].name, "odd");
  EXPECT_EQ(tables[0][1].name, "even");
  EXPECT_EQ(tables[0][1].events, 80);
  EXPECT_DOUBLE_EQ(*tables[0][1].duration_sum, 6);
  EXPECT_DOUBLE_EQ(*tables[0][1].duration_p50, 2);
  EXPECT_DOUBLE_EQ(*tables[0][1].duration_max, 3);
  ASSERT_EQ(tables[1].size(), 3u);
  EXPECT_EQ(tables[1][2].name, "z");
  EXPECT_DOUBLE_EQ(*tables[1][2].duration_p95, 3);
  ASSERT_EQ(tables[2].size(), 1u);
  EXPECT_DOUBLE_EQ(*tables[2][0].duration_p50, 2);
  ASSERT_EQ(tables[3].size(), 2u);
  EXPECT_DOUBLE_EQ(*tables[3][0].duration_sum, 12);
  EXPECT_DOUBLE_EQ(*tables[3][0].duration_p50, 2);
  EXPECT_DOUBLE_EQ(*tables[3][0].duration_max, 9);
}

TEST(BreakDown, TellsUnknownFromZero) {
  AttemptRow unknown = Ended(0, 1, 0);
  unknown.cpu_ns = AttemptRow::kUnknown;
  unknown.cpu_wait_ns = AttemptRow::kUnknown;
  const auto rows = ByInput({unknown});
  EXPECT_EQ(rows[0].events, 0);
  EXPECT_EQ(rows[0].event_rate, 0);
  EXPECT_FALSE(rows[0].cpu_sum.has_value());
  EXPECT_FALSE(rows[0].blocked_sum.has_value());
}

}  // namespace
}  // namespace crema
