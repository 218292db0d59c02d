#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(PredictionChart, ChangesComeInTheirOrderWithTheirRanges) {
  const Json prediction = Json::parse(R"({"measured": {"wall_time": 10}, "refused": null, "predicted": [
    {"change": "--cores 8", "wall_time": 5.5, "low": 5, "high": 6.5},
    {"change": "--workers 2", "wall_time": null, "low": null, "high": null, "not_told": "why"},
    {"change": "--cores 2", "wall_time": 20, "low": 19, "high": 22}]})");
  const Chart chart = MakePredictionChart(prediction);
  ASSERT_FALSE(chart.spec.is_null());
  const Json& rows = chart.spec["data"]["values"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["change"], "--cores 8");
  EXPECT_EQ(rows[0]["low"], 5);
  EXPECT_EQ(rows[1]["high"], 22);
  EXPECT_EQ(chart.spec["layer"][2]["data"]["values"][0]["wall_time"], 10);
  EXPECT_NE(chart.subtitle.find("--cores 8 5.50 s instead of 10"), std::string::npos) << chart.subtitle;
}

TEST(PredictionChart, WhatIsRefusedHasItsReason) {
  const Chart chart = MakePredictionChart({{"predicted", Json::array()}, {"refused", "chunks are missing"}});
  EXPECT_TRUE(chart.spec.is_null());
  EXPECT_EQ(chart.reason, "chunks are missing");
}

}  // namespace
}  // namespace crema
