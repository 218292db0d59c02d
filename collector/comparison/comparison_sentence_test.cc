#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/comparison/comparison.h"
#include "collector/measurement/measurement.h"
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

TEST(ComparisonSentence, ElapsedTimesAloneDoNotSayWhetherTheWorkTookLonger) {
  EXPECT_EQ(Say(Measured(10, 5, 4), Measured(11, 6, 4)),
            "b took 11.0 s, a 10.0 s (+10.0 %). Whether its work took longer is not known.");
}

TEST(ComparisonSentence, SaysThatTheWorkIsOther) {
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(20, 10, 8, 2000)),
              HasSubstr("(+100.0 %). The two did not process the same events."));
}

/// Pieces say 6 %, whatever the elapsed times are.
PairedChange SlowerByPieces() {
  PairedChange change;
  change.conclusion = ChangeConclusion::kSlower;
  change.change = 0.061, change.low = 0.048, change.high = 0.073;
  change.effects = {{"select", 0.052, 0.04, 0.06, 0.5, true}, {"(other)", 0.009, 0.001, 0.0056, 0.5, false}};
  change.paired_by = "chunk";
  change.pairs = 2252;
  change.assumed = 0.02;
  return change;
}

TEST(ComparisonSentence, BeginsWithTheElapsedTimeAndSaysWhatPairsGive) {
  const PairedChange paired = SlowerByPieces();
  const Json before = Measured(10, 5, 4), after = Measured(8, 6, 4);  // sooner done, all the same
  EXPECT_EQ(
      Say(before, after, &paired),
      "b took 8.00 s, a 10.0 s (-20.0 %). The time in its chunks is 6.1 % longer (4.8 % to 7.3 %): select adds 5.2 % "
      "of the whole; all else within ±0.6 %. Paired by chunk (2 252 pairs). The range assumes that equal runs differ "
      "by ±2.0 %. They may differ by more: several runs a side measure it.");
}

TEST(ComparisonSentence, GivesWhatSectionsAddToTheWholeAndNotByHowMuchTheyGrew) {
  PairedChange paired = SlowerByPieces();
  paired.effects[1] = {"fill", -0.02, -0.025, -0.015, 0.1, true};
  paired.effects.push_back({"(other)", 0.001, -0.004, 0.005, 0.4, false});
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(11, 6, 4), &paired),
              HasSubstr("select adds 5.2 % of the whole, fill saves 2.0 %; all else within ±0.5 %."));
}

TEST(ComparisonSentence, AssumesMoreBesideOthersAndSaysWhy) {
  PairedChange paired = SlowerByPieces();
  paired.is_beside_others = true;
  paired.assumed = 0.1;
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(11, 6, 4), &paired),
              HasSubstr("equal runs differ by ±10 %, because threads waited for CPUs. They may differ by more"));
}

TEST(ComparisonSentence, GivesTheCpuTimeOfAsManyEventsWherePiecesGiveNoAnswer) {
  PairedChange paired;
  paired.why_not = "the two have only 1 file in common";
  Json before = Measured(10, 5, 4), after = Measured(11, 6, 4);
  before["metrics"]["chunk_cpu_time"] = 2.51;
  after["metrics"]["chunk_cpu_time"] = 1.42;
  EXPECT_THAT(Say(before, after, &paired), HasSubstr("1 file in common. For as many events its chunks used 1.42 s of "
                                                     "CPU, and those of a used 2.51 s (-43.4 %, without a range)."));
  after["metrics"]["total_events"] = 2000;
  EXPECT_THAT(Say(before, after, &paired), Not(HasSubstr("of CPU"))) << "other events";
}

TEST(ComparisonSentence, NamesTheSectionThatMostOfAChangedOneIs) {
  const PairedChange paired = SlowerByPieces();
  Json before = Measured(10, 5, 4), after = Measured(11, 6, 4);
  const auto add = [](Json* document, const char* path, double self) {
    (*document)["sections"].push_back({{"path", path}, {"helper", false}, {"self", self}});
  };
  for (Json* document : {&before, &after}) {
    add(document, "select/jets", 30);
    add(document, "select/jets/btag", 2);
    add(document, "selection", 1000);
  }
  EXPECT_THAT(Say(before, after, &paired),
              HasSubstr("select adds 5.2 % of the whole (select/jets takes most of its time); all else"));
  add(&after, "select/leptons", 40);
  EXPECT_THAT(Say(before, after, &paired), HasSubstr("select adds 5.2 % of the whole; all else"));
}

TEST(ComparisonSentence, NamesTheWaitingForACpuBesideTheWork) {
  PairedChange paired = SlowerByPieces();
  paired.conclusion = ChangeConclusion::kSame;
  paired.change = 0, paired.low = -0.01, paired.high = 0.01;
  paired.effects.clear();
  paired.is_of_work = true;
  paired.before_waiting = 0.1;
  paired.after_waiting = 4.2;
  EXPECT_THAT(
      Say(Measured(10, 5, 4), Measured(14, 7, 6), &paired),
      HasSubstr("The work in its chunks is about as long: 0.0 % (-1.0 % to +1.0 %). Beside the work, its chunks "
                "waited 4.20 s for a CPU (those of a: 100 ms)."));
  paired.after_waiting = 0.12;
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(10, 5, 4), &paired), Not(HasSubstr("waited")));
}

TEST(ComparisonSentence, NamesMemoryHostsAndCores) {
  Json before = Measured(10, 5, 4), after = Measured(10, 5, 4);
  before["metrics"].update({{"process_peak_rss_bytes", 1e9}, {"peak_cores", 8}});
  after["metrics"].update({{"process_peak_rss_bytes", 1.5e9}, {"peak_cores", 4}});
  before["hosts"] = {{{"name", "old"}}};
  after["hosts"] = {{{"name", "new"}}};
  const std::string words = Say(before, after);
  EXPECT_THAT(words, HasSubstr("(+50.0 %)."));
  EXPECT_THAT(words, HasSubstr("They ran on other hosts: b on new, a on old. b had 4 cores, a 8."));
  after["metrics"]["process_peak_rss_bytes"] = 1.04e9;
  EXPECT_THAT(Say(before, after), Not(HasSubstr("Peak memory")));
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
              HasSubstr("Whether its work took longer is not known: the two have only 1 chunk in common."));
}

TEST(ComparisonSentence, BeginsWithHowARunEndedThatDidNotFinish) {
  const Json before = Measured(10, 5, 4);
  Json after = Measured(11, 6, 4);
  const auto expect = [&](const std::string& why, const std::string& complete) {
    const std::string words = Say(before, after);
    EXPECT_THAT(words, ::testing::StartsWith("b (" + why + ") took 11.0 s, a 10.0 s (+10.0 %)."));
    EXPECT_THAT(words, HasSubstr("b " + complete + " complete (" + why + ")"));
  };
  after["run"] = {{"state", "killed"}};
  expect("it was killed", "is not");
  after["run"] = {{"state", "finished"}, {"exit_status", 1}};
  expect("it failed: exit status 1", "may not be");
  after["run"] = {{"state", "failed"}, {"error", "ValueError"}};
  expect("it failed: ValueError", "may not be");
  after["run"] = {{"stop_ns", 1'790'000'000'000'000'000}};
  expect("no end was recorded", "may not be");
  after["run"] = {{"state", "finished"}, {"exit_status", 0}};
  EXPECT_THAT(Say(before, after), ::testing::StartsWith("b took 11.0 s, a 10.0 s (+10.0 %)."));
  after["run"] = {{"state", "killed"}};
  const Measurement killed = MeasurementOf(after), finished = MeasurementOf(before);
  EXPECT_THAT(ComparisonSentence({{&finished}, "before"}, {{&finished, &killed}, "after"}),
              ::testing::StartsWith("after (not all of its runs finished: it was killed) took "));
}

TEST(ComparisonSentence, SaysForEachEventWhereTheEventsDiffer) {
  PairedChange paired = SlowerByPieces();
  paired.is_by_event = true;
  EXPECT_THAT(Say(Measured(10, 5, 4), Measured(20, 10, 8, 2000), &paired),
              HasSubstr("The time in its chunks for each event is 6.1 % longer"));
}

TEST(ComparisonSentence, OfSeveralRunsASideSaysHowManyAreNeeded) {
  PairedChange paired = SlowerByPieces();
  paired.runs_before = paired.runs_after = 4;
  paired.between_runs = 0.01;
  const Measurement a = MeasurementOf(Measured(10, 5, 4)), b = MeasurementOf(Measured(11, 6, 4));
  const std::string words = ComparisonSentence({{&a, &a, &a, &a}, "before"}, {{&b, &b, &b, &b}, "after"}, &paired);
  EXPECT_THAT(words, HasSubstr("4 and 4 runs; equal ones differ by 1.0 % (standard deviation)."));
  EXPECT_THAT(words, HasSubstr("after took 11.0 s, before 10.0 s (+10.0 %; +1.00 s, +1.00 s to +1.00 s)."));
}

TEST(ComparisonSentence, WhatIsNotKnownIsSaid) {
  Json after = Measured(10, 5, 4);
  after["metrics"]["wall_time"] = nullptr;
  EXPECT_THAT(Say(Measured(10, 5, 4), after),
              HasSubstr("Whether b took longer than a is not known: a run has no elapsed time."));
}

}  // namespace
}  // namespace crema
