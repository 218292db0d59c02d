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
  Prediction prediction;
  prediction.rows.resize(3);
  prediction.rows[0].change = "a";
  prediction.rows[0].why_not = "nobody knows";
  prediction.rows[1].change = "b";
  prediction.rows[1].wall_time.value = 3;
  prediction.rows[2].change = "c";
  prediction.rows[2].wall_time.value = 2;
  SortBestFirst(&prediction);
  std::vector<std::string> changes;
  for (const PredictedRow& row : prediction.rows) changes.push_back(row.change);
  EXPECT_EQ(changes, (std::vector<std::string>{"c", "b", "a"}));
}

}  // namespace
}  // namespace crema
