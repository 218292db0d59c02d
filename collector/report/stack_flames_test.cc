#include <string>

#include "collector/report/report_page.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

SampledStacks FitAndSort() {
  SampledStacks stacks;
  stacks.functions = {
      {"main", "", {}, ""}, {"fit", "fit.cc", 12, ""}, {"exp", "libm.so.6", {}, ""}, {"ns::sort(int)", "", {}, ""}};
  auto& select = stacks.places[{"zjets", "select"}];
  select[{0}].samples = 1;
  select[{0, 1}].samples = 20;
  select[{0, 1, 2}].samples = 70;
  select[{0, 3}].samples = 9;
  stacks.places[{"", "(other)"}][{0, 3}].samples = 5;
  return stacks;
}

TEST(StackFlames, HoldTheSamplesOfWhatWasOnTheStack) {
  const Json wanted = Json::parse(R"json({
    "functions": [["main", "main", ""], ["ns::sort(int)", "ns::sort", ""], ["fit", "fit", "fit.cc:12"],
                  ["exp", "exp", "libm.so.6"]],
    "places": [{"dataset": "", "section": "(other)", "samples": 5, "tree": [[0, 0, 5, 0], [1, 1, 5, 5]]},
               {"dataset": "zjets", "section": "select", "samples": 100,
                "tree": [[0, 0, 100, 1], [1, 2, 90, 20], [2, 3, 70, 70], [1, 1, 9, 9]]}],
    "left_out": 0})json");
  EXPECT_EQ(FlamesOf(FitAndSort()), wanted);
}

TEST(StackFlames, TheRarestAreLeftOut) {
  const Json flames = FlamesOf(FitAndSort(), 3);
  EXPECT_EQ(flames["places"][0]["tree"], Json::array());
  EXPECT_EQ(flames["places"][0]["samples"], 5);
  EXPECT_EQ(flames["left_out"], 3);
  EXPECT_EQ(flames["places"][1]["tree"], Json::parse("[[0, 0, 100, 1], [1, 1, 90, 20], [2, 2, 70, 70]]"));
}

TEST(StackFlames, OfEqualOnesAsManyAreDrawnAsMayBe) {
  SampledStacks stacks;
  for (size_t i = 0; i < 10; ++i) {
    stacks.functions.push_back({"f" + std::to_string(i), "", {}, ""});
    stacks.places[{"", ""}][{i}].samples = 1;
  }
  const Json flames = FlamesOf(stacks, 4);
  EXPECT_EQ(flames["places"][0]["tree"].size(), 4u);
  EXPECT_EQ(flames["left_out"], 6);
}

TEST(StackFlames, ARecursionIsAsDeepAsItIs) {
  SampledStacks stacks;
  stacks.functions = {{"walk", "", {}, ""}};
  stacks.places[{"", ""}][{0, 0, 0}].samples = 2;
  stacks.places[{"", ""}][{0}].samples = 1;
  EXPECT_EQ(FlamesOf(stacks)["places"][0]["tree"], Json::parse("[[0, 0, 3, 1], [1, 0, 2, 0], [2, 0, 2, 2]]"));
}

}  // namespace
}  // namespace crema
