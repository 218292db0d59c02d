#include "collector/measurement/measurement.h"
#include "collector/terminal/terminal_box.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

using Json = nlohmann::ordered_json;

Json TenSeconds() {
  Json document;
  document["metrics"]["wall_time"] = 10;
  return document;
}

TEST(TimelineColumns, HoldAValueUntilTheNext) {
  Json document = TenSeconds();
  document["timelines"]["worker_open_chunks"]["w1"] = Json::parse("[[0, 1], [4, 3]]");
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_open_chunks", 5),
              ElementsAre(Optional(1), Optional(1), Optional(3), Optional(3), Optional(3)));
}

TEST(TimelineColumns, AverageExactlyWithinAColumn) {
  Json document = TenSeconds();
  document["timelines"]["worker_open_chunks"]["w1"] = Json::parse("[[0, 0], [1, 4]]");
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_open_chunks", 2),
              ElementsAre(Optional(3.2), Optional(4)));
}

TEST(TimelineColumns, SumOverWorkers) {
  Json document = TenSeconds();
  document["timelines"]["worker_memory"]["w1"] = Json::parse("[[0, 100]]");
  document["timelines"]["worker_memory"]["w2"] = Json::parse("[[5, 40]]");
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_memory", 2), ElementsAre(Optional(100), Optional(140)));
}

TEST(TimelineColumns, EndWithTheirWorkerAndAreUnknownWhereThereIsNone) {
  Json document = TenSeconds();
  document["timelines"]["worker_memory"]["w1"] = Json::parse("[[2, 100]]");
  document["workers"] = Json::parse(R"([{"name": "w1", "stop": 6}])");
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_memory", 5),
              ElementsAre(std::nullopt, Optional(100), Optional(100), std::nullopt, std::nullopt));
}

TEST(TimelineColumns, AreNoneWithoutSamplesOrWallTime) {
  Json document = TenSeconds();
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_memory", 5), IsEmpty());
  document["timelines"]["worker_memory"] = nullptr;
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_memory", 5), IsEmpty());
  document["timelines"]["worker_memory"] = Json::parse(R"({"w1": [["x", 1], 7, [1]]})");
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_memory", 5), IsEmpty());
  document["timelines"]["worker_memory"] = Json::parse(R"({"w1": [[0, 1]]})");
  document["metrics"]["wall_time"] = nullptr;
  EXPECT_THAT(TimelineColumns(MeasurementOf(document), "worker_memory", 5), IsEmpty());
}

}  // namespace
}  // namespace crema
