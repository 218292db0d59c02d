#include <gtest/gtest.h>

#include "collector/charts/drawing.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json Bars() { return {{{"name", "$bar"}, {"v", 3}, {"words", "{\"$like\": \"bar\"}"}}}; }

TEST(ChartTemplate, RowsStandWhereTheirNameStood) {
  const Json chart = FilledTemplate("rates", {{"rates", Bars()}, {"title", "rate"}, {"style", "data"}});
  EXPECT_EQ(chart["data"], (Json{{"values", Bars()}})) << "what users named is not looked up";
}

TEST(ChartTemplate, AValueWithADollarIsText) {
  const Json chart = FilledTemplate("rates", {{"rates", Bars()}, {"title", "$bar"}, {"style", "data"}});
  EXPECT_EQ(chart["layer"][0]["encoding"]["x"]["title"], "$bar");
}

TEST(ChartTemplate, APieceHasItsOwnMembersAndThoseThatAreAdded) {
  const Json chart = FilledTemplate("rates", {{"rates", Bars()}, {"title", "rate"}, {"style", "data"}});
  EXPECT_EQ(chart["layer"][0]["mark"], (Json{{"type", "bar"}, {"height", {{"band", 0.7}}}, {"style", "data"}}));
}

TEST(ChartTemplate, WhatHasNoValueIsLeftOut) {
  Json values = {{"rates", Bars()}, {"title", "rate"}};
  EXPECT_FALSE(FilledTemplate("rates", values)["layer"][0]["mark"].contains("style"));
  EXPECT_EQ(FilledTemplate("rates", values)["layer"].size(), 2u);
  values["has baseline"] = true;
  EXPECT_EQ(FilledTemplate("rates", values)["layer"].size(), 3u);
}

TEST(ChartTemplate, AListGivesAViewForEachOfItsItems) {
  const Json chart =
      FilledTemplate("custom_histogram", {{"bins", Json::array({{{"from", 1}, {"to", 2}, {"count", 3}}})},
                                          {"quantiles", Json::array({{{"at", 1.5}}, {{"at", 1.75}}})}});
  ASSERT_EQ(chart["layer"].size(), 3u);
  EXPECT_EQ(chart["layer"][2]["data"], Json::parse(R"({"values": [{"at": 1.75}]})"));
}

TEST(ChartTemplate, AViewWithoutRowsIsLeftOut) {
  EXPECT_TRUE(FilledTemplate("custom_histogram", {{"bins", Json::array()}})["layer"].empty());
}

}  // namespace
}  // namespace crema
