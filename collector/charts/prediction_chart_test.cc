#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "collector/prediction/prediction.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(PredictionChart, ChangesComeInTheirOrderWithTheirRanges) {
  Prediction prediction;
  prediction.measured = 10;
  prediction.rows.resize(3);
  prediction.rows[0].change = "--cores 8";
  prediction.rows[0].wall_time = {5.5, 5, 6.5};
  prediction.rows[1].change = "--workers 2";
  prediction.rows[1].why_not = "why";
  prediction.rows[2].change = "--cores 2";
  prediction.rows[2].wall_time = {20, 19, 22};
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
  Prediction prediction;
  prediction.refused = "chunks are missing";
  const Chart chart = MakePredictionChart(prediction);
  EXPECT_TRUE(chart.spec.is_null());
  EXPECT_EQ(chart.reason, "chunks are missing");
}

}  // namespace
}  // namespace crema
