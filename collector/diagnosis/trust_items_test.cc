#include "collector/diagnosis/run_head.h"
#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<TrustItem> TrustItems(const Json& document) { return crema::TrustItems(MeasurementOf(document)); }

std::vector<std::string> Texts(const std::vector<TrustItem>& items) {
  std::vector<std::string> texts;
  for (const TrustItem& item : items) texts.push_back(item.text());
  return texts;
}

TEST(TrustItems, SayNothingWhereNothingIsKnown) { EXPECT_THAT(TrustItems(Json::object()), IsEmpty()); }

TEST(FindUnmeasured, PutsTogetherWhatHasOneReason) {
  const Measurement measurement = MeasurementOf(
      {{"quality",
        {{"not_measured",
          {{"wall_time", "no scheduler"}, {"num_chunks", "no chunk"}, {"total_events", "no scheduler"}}}}}});
  const std::vector<UnmeasuredFigures> found = FindUnmeasured(measurement);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].reason, "no scheduler");
  EXPECT_THAT(found[0].keys, ElementsAre("wall_time", "total_events"));
  EXPECT_THAT(found[1].keys, ElementsAre("num_chunks"));
  EXPECT_THAT(FindUnmeasured(Measurement()), IsEmpty());
}

TEST(TrustItems, WorstComesFirst) {
  const Json document = {{"quality",
                          {{"event_coverage", 1},
                           {"records_read", 1000},
                           {"records_dropped", 10},
                           {"records_malformed", 0},
                           {"guards_misused", 1},
                           {"clock_step_max_s", 0.02}}},
                         {"metrics", {{"instrumentation_overhead", 0.0001}}}};
  EXPECT_THAT(
      Texts(TrustItems(document)),
      ElementsAre("10 records dropped", "1 of these a misused guard", "clock steps ≤ 20.0 ms",
                  "100.0 % of events recorded", "1 000 records read", "0 malformed lines", "measuring cost 0.01 %"));
}

TEST(TrustItems, SayWhatCountingAllocationsCost) {
  const Json document = {{"quality", {{"allocations_cost_s", 0.5}}},
                         {"metrics", {{"instrumentation_overhead", 0.006}, {"busy_time", 100}}}};
  EXPECT_THAT(Texts(TrustItems(document)),
              ElementsAre("measuring cost 0.6 %", "of the busy time, counting allocations cost 0.5 %"));
}

TEST(TrustItems, MarksFollowTheBands) {
  const auto mark = [](double coverage) {
    return TrustItems({{"quality", {{"event_coverage", coverage}}}}).at(0).mark;
  };
  EXPECT_EQ(mark(0.99), Mark::kGood);
  EXPECT_EQ(mark(0.98), Mark::kWatch);
  EXPECT_EQ(mark(0.9), Mark::kBad);
}

TEST(TrustItems, TheTornLastLineOfARunningJobIsExpected) {
  Json document = {{"quality", {{"records_torn", 1}}}, {"run", {{"state", "running"}}}};
  EXPECT_EQ(TrustItems(document).at(0).mark, Mark::kGood);
  document["run"]["state"] = "finished";
  EXPECT_EQ(TrustItems(document).at(0).mark, Mark::kWatch);
}

}  // namespace
}  // namespace crema
