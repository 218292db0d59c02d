#include "collector/measurement/measurement.h"
#include "collector/plot_data/attempt_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::ordered_json;

/// Four bins of a second.
TimeBins FourSeconds() {
  TimeBins bins;
  bins.bin_seconds = 1;
  bins.busy_seconds = {1, 1, 1, 1};
  bins.cpu_seconds = {0.5, 0.5, 0, 0};
  bins.bytes_read = {100, 0, 0, 100};
  bins.lanes_available = {2, 2, 1, 1};
  return bins;
}

std::vector<TimeTrack> TracksOf(const Json& document, const TimeBins& bins) {
  return TracksOf(MeasurementOf(document), bins);
}

Json TwoWorkers() {
  return {{"workers", Json::array({{{"name", "a"}, {"stop", 4.0}}, {{"name", "b"}, {"stop", 2.0}}})},
          {"timelines", {{"worker_memory", {{"a", {{0, 10}}}, {"b", {{1, 6}}}}}}}};
}

TEST(TimeTracks, AValueHoldsUntilItsWorkerStops) {
  const std::vector<TimeTrack> tracks = TracksOf(TwoWorkers(), FourSeconds());
  ASSERT_EQ(tracks.size(), 3u);
  EXPECT_EQ(tracks[0].name, "Memory");
  EXPECT_THAT(tracks[0].values, ElementsAre(10, 16, 10, 10)) << "b came after a second and left after another";
}

TEST(TimeTracks, ARateBeginsAtTheSampleBefore) {
  const Json document = {{"workers", Json::array({{{"name", "a"}, {"stop", 4.0}}})},
                         {"timelines",
                          {{"worker_last_seen", {{"a", {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}}}}},
                           {"worker_memory", {{"a", {{0, 10}, {2, 20}}}}},
                           // the same for two samples, and so told once
                           {"worker_cpu", {{"a", {{1, 1}, {3, 2}, {4, 0.5}}}}}}}};
  const std::vector<TimeTrack> tracks = TracksOf(document, FourSeconds());
  EXPECT_THAT(tracks[0].values, ElementsAre(10, 10, 20, 20)) << "of a moment, not of the time before";
  EXPECT_EQ(tracks[1].name, "CPU");
  EXPECT_THAT(tracks[1].values, ElementsAre(1, 1, 2, 0.5));
}

TEST(TimeTracks, LimitsAreDrawnWhereAllWorkersHaveOne) {
  Json document = TwoWorkers();
  document["timelines"]["worker_memory_limit"] = {{"a", {{0, 20}}}};
  EXPECT_TRUE(TracksOf(document, FourSeconds())[0].limit.empty());
  document["timelines"]["worker_memory_limit"]["b"] = Json::array({{0, 20}});
  EXPECT_THAT(TracksOf(document, FourSeconds())[0].limit, ElementsAre(40, 40, 20, 20));
}

TEST(TimeTracks, WithoutSamplesTheChunksTell) {
  const std::vector<TimeTrack> tracks = TracksOf(Json::object(), FourSeconds());
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[0].name, "CPU of chunks");
  EXPECT_THAT(tracks[0].values, ElementsAre(0.5, 0.5, 0, 0));
  EXPECT_THAT(tracks[0].limit, ElementsAre(2, 2, 1, 1));
  EXPECT_EQ(tracks[1].name, "Read");
  EXPECT_THAT(tracks[1].values, ElementsAre(100, 0, 0, 100));
}

TEST(TimeTracks, WhatNobodyMeasuredIsLeftOut) {
  TimeBins bins = FourSeconds();
  bins.bytes_read = {0, 0, 0, 0};
  const std::vector<TimeTrack> tracks = TracksOf(Json::object(), bins);
  ASSERT_EQ(tracks.size(), 1u);
  EXPECT_EQ(tracks[0].name, "CPU of chunks");
}

}  // namespace
}  // namespace crema
