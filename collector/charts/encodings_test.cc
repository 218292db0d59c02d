#include "collector/charts/encodings.h"

#include "collector/appearance/colours.h"
#include "collector/detail/run_detail.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(DatasetColours, AreOneForEachSlotOfARun) { EXPECT_EQ(DatasetColours().size(), kDatasetSlots); }

TEST(LabelNumbers, ScalesFromWhereTextDoes) {
  Json axis = {{"tickCount", 6}};
  LabelNumbers(99'999, &axis);
  EXPECT_FALSE(axis.contains("labelExpr"));
  EXPECT_EQ(axis["format"], ",~r");
  axis.erase("format");
  LabelNumbers(100'000, &axis);
  EXPECT_TRUE(axis.contains("labelExpr"));
}

TEST(TimeAxis, HasTicksThatPeopleCountIn) {
  EXPECT_EQ(TimeAxis("t", 148)["axis"]["values"], Json::array({0, 30, 60, 90, 120}));
  EXPECT_EQ(TimeAxis("t", 30.3)["axis"]["values"], Json::array({0, 5, 10, 15, 20, 25, 30}));
}

}  // namespace
}  // namespace crema
