#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/prediction/prediction.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(UsualChanges, TheLargestSectionIsAnOwnersByItsOwnTime) {
  const Json document = Json::parse(R"JSON({"sections": [{"path": "read", "self": 1}, {"path": "select", "self": 3},
    {"path": "(other)", "self": 9}, {"path": "cluster", "self": 8, "helper": true}, {"path": "fit", "self": null}]})JSON");
  EXPECT_EQ(LargestSection(MeasurementOf(document)), "select");
  EXPECT_EQ(LargestSection(Measurement()), "");
}

TEST(UsualChanges, TheBestComesFirstAndWhatCannotBeToldLast) {
  Json prediction = Json::parse(R"({"predicted": [{"change": "a", "wall_time": null}, {"change": "b", "wall_time": 3},
    {"change": "c", "wall_time": 2}], "refused": null})");
  SortBestFirst(&prediction);
  std::vector<std::string> changes;
  for (const Json& row : prediction["predicted"]) changes.push_back(row["change"]);
  EXPECT_EQ(changes, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_TRUE(prediction.contains("refused"));
}

}  // namespace
}  // namespace crema
