#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "collector/scaling/scaling_study.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

ScalingStudy Made() {
  ScalingStudy study;
  ReadValue(Json::parse(R"([
    {"name": "a", "cores": 1, "cores_vary": false, "predicted": false, "wall_time": 10, "low": null, "high": null,
     "throughput": 5, "speedup": 1, "efficiency": 1},
    {"name": "b", "cores": 2, "cores_vary": true, "predicted": false, "wall_time": 6, "low": null, "high": null,
     "throughput": 8, "speedup": 1.6, "efficiency": 0.8},
    {"name": "c", "cores": 4, "cores_vary": false, "predicted": true, "wall_time": 4, "low": 3.5, "high": 5,
     "throughput": 12, "speedup": 2.4, "efficiency": 0.6}])"),
            &study.points);
  ReadValue(
      Json::parse(R"([{"law": "amdahl", "lambda": {"value": 5}, "sigma": {"value": 0.25}, "kappa": {"value": 0}}])"),
      &study.laws);
  return study;
}

TEST(ScalingChart, PointsAndLawsAreSpeedUpsOverCores) {
  const Chart chart = MakeScalingChart(Made());
  ASSERT_FALSE(chart.spec.is_null());
  const Json& lines = chart.spec["layer"][0]["data"]["values"];
  const Json& points = chart.spec["layer"][2]["data"]["values"];
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1]["kind"], "measured, cores came and went");
  EXPECT_EQ(points[2]["least"], 2.4 * 4 / 5);
  EXPECT_EQ(lines.back()["line"], "Amdahl");
  EXPECT_NEAR(lines.back()["speedup"].get<double>(), 4 / (1 + 0.25 * 3), 1e-5);
  EXPECT_EQ(chart.subtitle, ScalingSentence(Made()));
  EXPECT_EQ(chart.spec["description"], "How much faster is it on more cores? " + ScalingSentence(Made()));
}

TEST(ScalingChart, WithoutPointsThereIsAReason) {
  ScalingStudy study;
  study.refused = "fewer than two runs";
  const Chart chart = MakeScalingChart(study);
  EXPECT_TRUE(chart.spec.is_null());
  EXPECT_EQ(chart.reason, "fewer than two runs");
}

}  // namespace
}  // namespace crema
