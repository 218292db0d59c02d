#include "collector/insight/comparison_sentence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/measurement/measurement_json.h"
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

std::string Say(const Json& before, const Json& after, const PairedChange* paired = nullptr) {
  const Measurement a = MeasurementOf(before), b = MeasurementOf(after);
  return ComparisonSentence({{&a}, "a"}, {{&b}, "b"}, paired);
}

TEST(ComparisonSentence, NamesTheSectionThatMadeTheDifference) {
  EXPECT_EQ(Say(Measured(10, 5, 4), Measured(11, 6, 4)),
            "b is 10 % slower than a (+6.6 % to +13.4 %; 11.0 s, was 10.0 s). Time in chunks +10.0 %: select +10.0 %; "
            "each other section "
            "within ±0 %.");
}

TEST(ComparisonSentence, SaysFaster) {
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(8, 3, 4)),
              HasSubstr("b is 20 % faster than a (-23.4 % to -16.6 %; 8.00 s, was 10.0 s)"));
}

TEST(ComparisonSentence, SmallDifferencesAreNone) {
  const std::string words = Say(Measured(10, 5, 4), Measured(10.2, 5.05, 4.05));
  EXPECT_THAT(words, HasSubstr("b took about as long as a: +2.0 % (-1.4 % to +5.4 %; "));
  EXPECT_THAT(words, Not(HasSubstr("select")));
}

TEST(ComparisonSentence, WhatChunksSpreadExplainsCannotBeTold) {
  Json before = Measured(10, 5, 4), after = Measured(11, 6, 4);
  before["metrics"]["chunk_duration_std"] = 1;  // ten times the mean
  EXPECT_THAT(Say(before, after), HasSubstr("whether it is slower cannot be told"));
}

TEST(ComparisonSentence, WithoutARangeNothingIsConcluded) {
  Json before = Measured(10, 5, 4), after = Measured(15, 10, 4);
  before["metrics"]["chunk_duration_std"] = nullptr;
  EXPECT_THAT(Say(before, after), HasSubstr("cannot be told: too few chunks to give a range (15.0 s, was 10.0 s)"));
}

TEST(ComparisonSentence, DifferentWorkIsComparedByItsRate) {
  const std::string words = Say(Measured(10, 5, 4), Measured(20, 10, 8, 2000));
  EXPECT_THAT(words, HasSubstr("b took about as long as a per event: 0.0 %"));
  EXPECT_THAT(words, HasSubstr("did not process the same events."));
  EXPECT_THAT(words, Not(HasSubstr("Time in chunks")));
}

/// Pieces say 6 %, whatever the elapsed times are.
PairedChange SlowerByPieces() {
  PairedChange change;
  change.conclusion = ChangeConclusion::kSlower;
  change.change = 0.061, change.low = 0.048, change.high = 0.073;
  change.effects = {{"select", 0.052, 0.04, 0.06, 0.5, true}, {"(other)", 0.009, 0.001, 0.0056, 0.5, false}};
  change.paired_by = "chunk";
  change.pairs = 2252;
  return change;
}

TEST(ComparisonSentence, BeginsWithTheOneNumberThatPairsGive) {
  const PairedChange paired = SlowerByPieces();
  const Json before = Measured(10, 5, 4), after = Measured(8, 6, 4);  // sooner done, all the same
  EXPECT_EQ(Say(before, after, &paired),
            "b is 6.1 % slower than a in its chunks (4.8 % to 7.3 %): select +5.2 %; all else within ±0.6 %. Paired by "
            "chunk (2 252 pairs). Equal runs are taken to differ by ±2.0 %: one run a side does not tell it. Elapsed "
            "8.00 s, was 10.0 s.");
}

TEST(ComparisonSentence, SaysWhatIsMissing) {
  PairedChange paired = SlowerByPieces();
  paired.before_share = 0.5;
  const Json before = Measured(10, 5, 4);
  Json after = Measured(11, 6, 4);
  after["run"] = {{"state", "killed"}};
  after["metrics"]["num_chunks"] = 39;
  after["metrics"]["num_unfinished_chunks"] = 1;
  const std::string words = Say(before, after, &paired);
  EXPECT_THAT(words, HasSubstr("50 % of the first and 100 % of the second one's time"));
  EXPECT_THAT(words, HasSubstr("b is not complete (it was killed; 1 of 40 chunks has no result)"));
  paired = PairedChange();
  paired.why_not = "the two have only 1 chunk in common";
  EXPECT_THAT(Say(before, after, &paired),
              HasSubstr("Piece by piece nothing can be told: the two have only 1 chunk in common."));
}

TEST(ComparisonSentence, OfSeveralRunsASideSaysHowManyAreNeeded) {
  PairedChange paired = SlowerByPieces();
  paired.runs_before = paired.runs_after = 4;
  paired.between_runs = 0.01;
  const Measurement a = MeasurementOf(Measured(10, 5, 4)), b = MeasurementOf(Measured(11, 6, 4));
  const std::string words = ComparisonSentence({{&a, &a, &a, &a}, "before"}, {{&b, &b, &b, &b}, "after"}, &paired);
  EXPECT_THAT(words, HasSubstr("4 and 4 runs; equal ones differ by 1.0 % (standard deviation)."));
  EXPECT_THAT(words, HasSubstr("Elapsed 11.0 s, was 10.0 s (+1.00 s, +1.00 s to +1.00 s)"));
}

TEST(ComparisonSentence, WhatIsNotKnownIsSaid) {
  Json after = Measured(10, 5, 4);
  after["metrics"]["wall_time"] = nullptr;
  EXPECT_THAT(Say(Measured(10, 5, 4), after), HasSubstr("is not known: a wall time is missing"));
}

}  // namespace
}  // namespace crema
