#include "collector/diagnosis/run_head.h"

#include <gtest/gtest.h>

#include <utility>

#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr DayStyle kStyle = {"%Y-%m-%d", " "};

// 2026-11-21 23:59:50 UTC
RunFacts RunOfSeconds(int64_t seconds) {
  RunFacts run;
  run.state = "finished";
  run.start_ns = 1'795'305'590'000'000'000;
  run.stop_ns = run.start_ns.integer() + seconds * 1'000'000'000;
  return run;
}

std::string RunName(const Json& document) { return crema::RunName(MeasurementOf(document)); }
std::string OnWhat(const Json& document) { return crema::OnWhat(MeasurementOf(document)); }
StateInWords StateOf(const Json& document) { return crema::StateOf(MeasurementOf(document)); }

TEST(RunName, IsTheNameElseTheIdElseSaidToBeMissing) {
  EXPECT_EQ(RunName({{"run", {{"name", "ttbar"}, {"id", "r1"}}}}), "ttbar");
  EXPECT_EQ(RunName({{"run", {{"name", ""}, {"id", "r1"}}}}), "r1");
  EXPECT_EQ(RunName(Json::object()), "unnamed run");
}

TEST(OnWhat, NamesWhatIsKnown) {
  Json document = {{"metrics", {{"peak_workers", 8}}}};
  EXPECT_EQ(OnWhat(document), "8 workers");
  document["metrics"]["cores_per_worker"] = 1;
  document["hosts"] = {{{"name", "a"}}, {{"name", "b"}}};
  EXPECT_EQ(OnWhat(document), "8 workers × 1 core on 2 hosts");
  EXPECT_EQ(OnWhat(Json::object()), "");
}

TEST(TimesOf, TheEndHasItsDayOnlyWhereThatIsAnother) {
  EXPECT_EQ(TimesOf(RunOfSeconds(5), kStyle)->start, "2026-11-21 23:59:50");
  EXPECT_EQ(TimesOf(RunOfSeconds(5), kStyle)->stop, "23:59:55");
  EXPECT_EQ(TimesOf(RunOfSeconds(20), kStyle)->stop, "2026-11-22 00:00:10");
  EXPECT_EQ(TimesOf(RunOfSeconds(20), kStyle)->start_iso, "2026-11-21T23:59:50Z");
}

TEST(TimesOf, ARunningJobHasNoEnd) {
  RunFacts run = RunOfSeconds(5);
  run.state = "running";
  EXPECT_EQ(TimesOf(run, kStyle)->stop, "");
  EXPECT_FALSE(TimesOf(RunFacts(), kStyle).has_value());
}

Json WithRun(Json run) { return {{"run", std::move(run)}}; }

TEST(StateOf, AnExitStatusFailsWhatHasFinished) {
  EXPECT_EQ(StateOf(WithRun({{"state", "finished"}, {"exit_status", 0}})).ending, RunEnding::kFinished);
  EXPECT_EQ(StateOf(WithRun({{"state", "finished"}, {"exit_status", 3}})).ending, RunEnding::kFailed);
  EXPECT_EQ(StateOf(WithRun({{"state", "finished"}, {"exit_status", 3}})).text, "exit status 3");
  EXPECT_EQ(StateOf(WithRun({{"state", "finished"}, {"exit_status", 139}})).text,
            "exit status 139, as after signal 11 (segmentation fault)");
  EXPECT_EQ(StateOf(WithRun({{"state", "finished"}, {"exit_status", 255}})).text, "exit status 255");
  EXPECT_EQ(StateOf(WithRun({{"state", "killed"}, {"exit_status", 3}})).ending, RunEnding::kKilled);
  EXPECT_EQ(StateOf(WithRun({{"state", "running"}})).ending, RunEnding::kRunning);
  EXPECT_EQ(StateOf(Json::object()).ending, RunEnding::kUnknown);
}

TEST(StateOf, ARunningJobIsNoWarning) { EXPECT_EQ(StateOf(WithRun({{"state", "running"}})).mark, std::nullopt); }

TEST(StateOf, ARunThatLostSomethingIsNotGood) {
  Json document = WithRun({{"state", "finished"}});
  EXPECT_EQ(StateOf(document).text, "finished");
  EXPECT_EQ(StateOf(document).mark, Mark::kGood);
  document["run"]["engine"] = "dask";
  document["workers"] = {{{"name", "a"}, {"state", "lost"}, {"start", 0}, {"stop", 5}, {"chunks", 3}},
                         {{"name", "b"}, {"state", "ended"}, {"start", 0}, {"stop", 9}, {"chunks", 4}}};
  EXPECT_EQ(StateOf(document).text, "finished, 1 worker lost");
  EXPECT_EQ(StateOf(document).mark, Mark::kWatch);
  document["run"].erase("engine");  // nobody computes again what the process had in its memory
  EXPECT_EQ(StateOf(document).mark, Mark::kBad);
  document["metrics"] = {{"num_chunks", 7}, {"num_unfinished_chunks", 2}};
  EXPECT_EQ(StateOf(document).text, "finished, 2 chunks without a result");
  EXPECT_EQ(StateOf(document).mark, Mark::kBad);
}

}  // namespace
}  // namespace crema
