#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(HistoryChart, RunsLevelsAndTheRunsInWhichALevelMayHaveBegun) {
  const Json history = Json::parse(R"({"metric": "wall_time", "unit": "s", "sentences": ["It is slower."],
    "runs": [{"value": 1, "directory": "a"}, {"value": 2, "directory": "b"}, {"value": 2, "commit": "abc"}],
    "levels": [{"first": 0, "runs": 1, "value": 1}, {"first": 1, "runs": 2, "value": 2}],
    "changes": [{"run": 1, "earliest": 1, "latest": 2, "commit": "abc"}]})");
  const Chart chart = MakeHistoryChart(history);
  ASSERT_FALSE(chart.spec.is_null());
  const Json& layers = chart.spec["layer"];
  EXPECT_EQ(layers[0]["data"]["values"][0]["run"], 1.5);
  EXPECT_EQ(layers[0]["data"]["values"][0]["last"], 3.5);
  EXPECT_EQ(layers[1]["data"]["values"].size(), 3u);
  EXPECT_EQ(layers[1]["data"]["values"][2]["run"], 3);
  EXPECT_EQ(layers[2]["data"]["values"][1]["run"], 1.5);
  EXPECT_EQ(layers[2]["data"]["values"][1]["last"], 3.5);
  EXPECT_EQ(chart.spec["description"], "When did it change? It is slower.");
}

TEST(HistoryChart, WithoutRunsThereIsAReason) {
  const Chart chart = MakeHistoryChart({{"runs", Json::array()}});
  EXPECT_TRUE(chart.spec.is_null());
  EXPECT_NE(chart.reason, "");
}

}  // namespace
}  // namespace crema
