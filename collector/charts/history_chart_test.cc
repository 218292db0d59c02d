#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "collector/history/run_history.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(HistoryChart, RunsLevelsAndTheRunsInWhichALevelMayHaveBegun) {
  RunHistory history;
  history.metric = "wall_time";
  history.unit = "s";
  history.runs.resize(3);
  for (HistoryRun& run : history.runs) run.values["wall_time"] = &run == &history.runs[0] ? 1 : 2;
  history.runs[1].commit = "abc";
  history.levels.resize(2);
  history.levels[0].place.end = 1;
  history.levels[0].value = 1;
  history.levels[1].place = {1, 3, 1, 2, 0};
  history.levels[1].value = 2;
  const Chart chart = MakeHistoryChart(history);
  ASSERT_FALSE(chart.spec.is_null());
  const Json& layers = chart.spec["layer"];
  EXPECT_EQ(layers[0]["data"]["values"][0]["run"], 1.5);
  EXPECT_EQ(layers[0]["data"]["values"][0]["last"], 3.5);
  EXPECT_EQ(layers[1]["data"]["values"].size(), 3u);
  EXPECT_EQ(layers[1]["data"]["values"][2]["run"], 3);
  EXPECT_EQ(layers[2]["data"]["values"][1]["run"], 1.5);
  EXPECT_EQ(layers[2]["data"]["values"][1]["last"], 3.5);
  EXPECT_EQ(layers[2]["data"]["values"][1]["text"], "2.00 s");
  EXPECT_EQ(chart.subtitle, HistorySentences(history).front());
  EXPECT_EQ(chart.spec["description"], "When did it change? " + chart.subtitle);
}

TEST(HistoryChart, WithoutRunsThereIsAReason) {
  const Chart chart = MakeHistoryChart({});
  EXPECT_TRUE(chart.spec.is_null());
  EXPECT_NE(chart.reason, "");
}

}  // namespace
}  // namespace crema
