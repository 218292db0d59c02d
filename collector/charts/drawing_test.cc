#include "collector/charts/drawing.h"

#include "collector/format/colours.h"
#include "collector/plot_data/run_detail.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(DatasetColours, AreOneForEachSlotOfARun) { EXPECT_EQ(DatasetColours().size(), kDatasetSlots); }

TEST(NumberLabels, ScaleFromWhereTextDoes) {
  EXPECT_EQ(NumberLabels(99'999), (Json{{"format", ",~r"}}));
  EXPECT_TRUE(NumberLabels(100'000).contains("labelExpr"));
}

TEST(TimeAxis, HasTicksThatPeopleCountIn) {
  EXPECT_EQ(TimeAxis(148)["axis"]["values"], Json::array({0, 30, 60, 90, 120}));
  EXPECT_EQ(TimeAxis(30.3)["axis"]["values"], Json::array({0, 5, 10, 15, 20, 25, 30}));
}

}  // namespace
}  // namespace crema
