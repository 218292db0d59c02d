#include "collector/measurement/catalog.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace crema {
namespace {

TEST(MetricCatalog, NamesEveryKeyAndAliasOnce) {
  std::set<std::string> names;
  for (const MetricDefinition& definition : MetricCatalog()) {
    EXPECT_TRUE(names.insert(definition.key).second) << definition.key;
    if (definition.alias.empty()) continue;
    EXPECT_TRUE(names.insert(definition.alias).second) << definition.alias;
  }
  EXPECT_GT(names.size(), 200u);
}

TEST(MetricCatalog, SaysWhatEveryKeyIsAndWhyItMayBeNull) {
  for (const MetricDefinition& definition : MetricCatalog()) {
    EXPECT_FALSE(definition.label.empty()) << definition.key;
    EXPECT_FALSE(definition.why_null.empty()) << definition.key;
    EXPECT_TRUE(!definition.unit.empty() || definition.key == "columns") << definition.key;
    ASSERT_FALSE(definition.text.empty()) << definition.key;
    EXPECT_EQ(definition.text.back(), '.') << definition.key;
  }
}

TEST(MetricCatalog, HoldsNineQuantitiesWithEightStatistics) {
  for (const char* quantity :
       {"chunk_duration", "chunk_cpu", "chunk_cpu_wait", "chunk_blocked", "chunk_events", "chunk_time_per_event",
        "chunk_rss_delta", "chunk_rss_delta_per_event", "chunk_event_rate"}) {
    for (const char* statistic : {"_mean", "_min", "_max", "_std", "_p50", "_p90", "_p95", "_p99"}) {
      EXPECT_NE(FindMetric(std::string(quantity) + statistic), nullptr) << quantity << statistic;
    }
  }
}

TEST(MetricCatalog, FindsADefinitionByAlias) {
  ASSERT_NE(FindMetric("total_cpu_time"), nullptr);
  EXPECT_EQ(FindMetric("total_cpu_time")->key, "busy_time");
  EXPECT_EQ(FindMetric("no_such_key"), nullptr);
}

TEST(MetricCatalog, GivesAliasesTheValueOrTheReasonOfTheirKey) {
  MetricSet metrics;
  SetAllNull(&metrics);
  metrics.Set("busy_time", 2.5);
  SetAliases(&metrics);
  EXPECT_EQ(metrics.Number("total_cpu_time"), 2.5);
  EXPECT_EQ(metrics.Number("data_rate_gbps"), std::nullopt);
  EXPECT_EQ(metrics.Reason("data_rate_gbps"), metrics.Reason("overall_rate_gbps"));
  EXPECT_FALSE(metrics.Reason("data_rate_gbps").empty());
}

}  // namespace
}  // namespace crema
