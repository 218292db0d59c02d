#include <gtest/gtest.h>

#include <optional>

#include "collector/metrics/run_figures.h"

namespace crema {
namespace {

TEST(RefuseImpossible, LeavesWhatIsPossible) {
  MetricSet metrics;
  metrics.Set("balance", 1.0);
  metrics.Set("cpu_efficiency", 0.0);
  metrics.Set("wall_time", 10.0);
  metrics.Set("ideal_wall_time", 10.0);
  metrics.Set("speedup_factor", 7.0);
  RefuseImpossible(&metrics);
  EXPECT_EQ(metrics.Number("balance"), 1.0);
  EXPECT_EQ(metrics.Number("cpu_efficiency"), 0.0);
  EXPECT_EQ(metrics.Number("ideal_wall_time"), 10.0);
  EXPECT_EQ(metrics.Number("speedup_factor"), 7.0);
}

TEST(RefuseImpossible, PutsWhatClocksExplainOnTheLimit) {
  MetricSet metrics;
  metrics.Set("cpu_efficiency", 1.004);
  metrics.Set("io_overhead_pct", 100.1);
  metrics.Set("wall_time", 10.0);
  metrics.Set("ideal_wall_time", 10.05);
  RefuseImpossible(&metrics);
  EXPECT_EQ(metrics.Number("cpu_efficiency"), 1.0);
  EXPECT_EQ(metrics.Number("io_overhead_pct"), 100.0);
  EXPECT_EQ(metrics.Number("ideal_wall_time"), 10.0);
}

TEST(RefuseImpossible, SaysWhyAFigureIsNull) {
  MetricSet metrics;
  metrics.Set("cpu_efficiency", 3.0);
  metrics.Set("balance", -0.2);
  metrics.Set("wall_time", 10.0);
  metrics.Set("ideal_wall_time", 23.4);
  RefuseImpossible(&metrics);
  EXPECT_EQ(metrics.Number("cpu_efficiency"), std::nullopt);
  EXPECT_NE(metrics.Reason("cpu_efficiency").find("number of cores"), std::string_view::npos);
  EXPECT_EQ(metrics.Number("balance"), std::nullopt);
  EXPECT_EQ(metrics.Reason("ideal_wall_time"), "it is longer than the elapsed time");
}

TEST(RefuseImpossible, IsSilentAboutWhatWasNotMeasured) {
  MetricSet metrics;
  metrics.SetNull("balance", "no cores");
  metrics.Set("ideal_wall_time", 23.4);
  RefuseImpossible(&metrics);
  EXPECT_EQ(metrics.Reason("balance"), "no cores");
  EXPECT_EQ(metrics.Number("ideal_wall_time"), 23.4) << "nothing says how long the run took";
}

}  // namespace
}  // namespace crema
