#include "collector/insight/comparison_sentence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

Json Measured(double wall_time, double select, double fill, double events = 1000) {
  const double busy = select + fill + 1;
  return {{"metrics",
           {{"wall_time", wall_time},
            {"busy_time", busy},
            {"total_events", events},
            {"event_rate_wall_khz", events / wall_time / 1000},
            {"num_attempts", 100},
            {"num_failed_attempts", 0},
            {"chunk_duration_mean", busy / 100},
            {"chunk_duration_std", busy / 1000}}},
          {"sections",
           {{{"path", "select"}, {"helper", false}, {"self", select}},
            {{"path", "fill"}, {"helper", false}, {"self", fill}},
            {{"path", "select"}, {"helper", true}, {"self", 50}},
            {{"path", "(other)"}, {"helper", false}, {"self", 1}}}}};
}

std::string Say(const Json& before, const Json& after) { return ComparisonSentence(before, "a", after, "b"); }

TEST(ComparisonSentence, NamesTheSectionThatMadeTheDifference) {
  EXPECT_EQ(Say(Measured(10, 5, 4), Measured(11, 6, 4)),
            "b is 10 % slower than a (11.0 s, was 10.0 s). Time in chunks +10.0 %: select +10.0 %; each other section "
            "within ±0 %.");
}

TEST(ComparisonSentence, SaysFaster) {
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(8, 3, 4)), HasSubstr("b is 20 % faster than a (8.00 s, was 10.0 s)"));
}

TEST(ComparisonSentence, SmallDifferencesAreNone) {
  const std::string words = Say(Measured(10, 5, 4), Measured(10.2, 5.05, 4.05));
  EXPECT_THAT(words, HasSubstr("b took about as long as a (+2.0 %"));
  EXPECT_THAT(words, Not(HasSubstr("select")));
}

TEST(ComparisonSentence, WhatChunksSpreadExplainsIsNoDifference) {
  Json before = Measured(10, 5, 4), after = Measured(11, 6, 4);
  before["metrics"]["chunk_duration_std"] = 1;  // ten times the mean
  EXPECT_THAT(Say(before, after), HasSubstr("about as long"));
}

TEST(ComparisonSentence, DifferentWorkIsComparedByItsRate) {
  const std::string words = Say(Measured(10, 5, 4), Measured(20, 10, 8, 2000));
  EXPECT_THAT(words, HasSubstr("did not process the same events. b took about as long as a per event"));
  EXPECT_THAT(words, Not(HasSubstr("Time in chunks")));
}

TEST(ComparisonSentence, WhatIsNotKnownIsSaid) {
  Json after = Measured(10, 5, 4);
  after["metrics"]["wall_time"] = nullptr;
  EXPECT_THAT(Say(Measured(10, 5, 4), after), HasSubstr("is not known: a wall time is missing"));
}

}  // namespace
}  // namespace crema
