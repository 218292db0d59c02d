#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "collector/metrics/coffea/run_totals.h"

namespace crema {
namespace {

CoffeaReport Report(int64_t entries, double processtime, const std::vector<std::string>& columns) {
  CoffeaReport report;
  report.entries = entries;
  report.processtime = processtime;
  report.columns = columns;
  report.has_columns = !columns.empty();
  return report;
}

MetricsByDataset ByDataset(const std::string& dataset, int64_t entries) {
  MetricsByDataset metrics;
  metrics.datasets.push_back({dataset, entries, std::nullopt, 10});
  return metrics;
}

TEST(CoffeaAccumulator, GivesTheSameForAnyGrouping) {
  const std::vector<CoffeaReport> reports = {Report(1, 0.5, {"b"}), Report(2, 0.25, {}), Report(4, 8, {"a", "b"})};
  CoffeaAccumulator whole;
  for (const CoffeaReport& report : reports) whole.Add(report);
  whole.Add(ByDataset("x", 5));
  whole.Add(ByDataset("y", 6));
  whole.Add(ByDataset("x", 7));

  CoffeaAccumulator first;
  CoffeaAccumulator second;
  second.Add(reports[2]);
  second.Add(ByDataset("x", 7));
  first.Add(ByDataset("y", 6));
  second.Merge(first);
  CoffeaAccumulator third;
  third.Add(reports[1]);
  third.Add(reports[0]);
  third.Add(ByDataset("x", 5));
  third.Merge(second);

  const CoffeaFigures expected = whole.Finalize();
  const CoffeaFigures merged = third.Finalize();
  EXPECT_EQ(merged.reports, 3);
  EXPECT_EQ(merged.report.entries, 7);
  EXPECT_EQ(merged.report.duration, 8.75);
  EXPECT_EQ(merged.report.bytes, std::nullopt) << "no report told";
  EXPECT_EQ(merged.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(merged.report.entries, expected.report.entries);
  EXPECT_EQ(merged.report.duration, expected.report.duration);
  EXPECT_EQ(merged.columns, expected.columns);
  ASSERT_EQ(merged.datasets.size(), 2u);
  EXPECT_EQ(merged.datasets.at("x").entries, 12);
  EXPECT_EQ(merged.of_datasets.entries, 18);
  EXPECT_EQ(merged.of_datasets.bytes, 30);
  EXPECT_EQ(merged.of_datasets.duration, std::nullopt);
  EXPECT_EQ(expected.of_datasets.entries, 18);
}

TEST(CoffeaAccumulator, KeepsTheLargestIntegerForSumsBeyondIt) {
  CoffeaAccumulator accumulator;
  accumulator.Add(Report(std::numeric_limits<int64_t>::max(), 0, {}));
  accumulator.Add(Report(1, 0, {}));
  EXPECT_EQ(accumulator.Finalize().report.entries, std::numeric_limits<int64_t>::max());
}

TEST(CoffeaAccumulator, OfNothingIsEmpty) { EXPECT_TRUE(CoffeaAccumulator().Finalize().empty()); }

}  // namespace
}  // namespace crema
