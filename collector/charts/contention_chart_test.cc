// The chart of what chunks wait for together.
#include <gtest/gtest.h>

#include "collector/charts/chart.h"
#include "collector/charts/charts_fixture.h"

namespace crema {
namespace {

Chart DrawnFrom(const Json& document) {
  const Measurement measurement = MeasurementOf(document);
  ChartInput input;
  input.measurement = &measurement;
  return *MakeChart("contention", input);
}

TEST(ContentionChart, TheLineHasTheSlopeAndGoesThroughTheMiddle) {
  const Chart chart = DrawnFrom(MadeDocument());
  const Json& line = chart.spec["layer"][0]["data"]["values"];
  EXPECT_EQ(line[0]["blocked"], 2);  // ms
  EXPECT_EQ(line[1]["blocked"], 8);
  EXPECT_EQ(chart.subtitle,
            "made · yes: something that all chunks share serves about 1 000 events a second (800 to 1 250)");
}

TEST(ContentionChart, ASlopeThatMayBeChanceIsNoYes) {
  Json document = MadeDocument();
  document["contention"][0]["slope_low"] = -0.0001;
  EXPECT_EQ(DrawnFrom(document).subtitle,
            "made · no more than chance explains; at most 1.25 ms an event for each further chunk");
  document["contention"][0]["slope_high"] = 0;
  EXPECT_EQ(DrawnFrom(document).subtitle, "made · no");
}

TEST(ContentionChart, WithoutASlopeThereIsAReason) {
  Json document = MadeDocument();
  document["contention"] = {{{"slope", nullptr}, {"points", Json::array()}, {"reason", "lanes hardly varied"}}};
  EXPECT_EQ(DrawnFrom(document).reason, "lanes hardly varied");
}

}  // namespace
}  // namespace crema
