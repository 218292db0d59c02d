#include "collector/history/run_history.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A run a day; the noise is ±2 %.
std::vector<HistoryRun> Runs(size_t count, size_t slow_from = 1000, double factor = 1.2) {
  std::vector<HistoryRun> runs(count);
  for (size_t i = 0; i < count; ++i) {
    HistoryRun& run = runs[i];
    run.directory = "runs/" + std::to_string(i);
    run.name = "ana";
    run.id = "id" + std::to_string(i);
    run.commit = std::string(40, static_cast<char>('a' + i % 6));
    run.start_ns = static_cast<int64_t>(i + 1) * 86'400'000'000'000;
    run.events = 1000;
    run.cores = 4;
    run.host = "node";
    const double noise = 1 + 0.02 * static_cast<double>(static_cast<int>(i * 7 % 5) - 2) / 2;
    run.values["wall_time"] = 10 * noise * (i >= slow_from ? factor : 1);
    run.values["event_rate_wall_khz"] = 0.1 / noise / (i >= slow_from ? factor : 1);
    run.units = {{"wall_time", "s"}, {"event_rate_wall_khz", "kHz"}};
  }
  return runs;
}

RunHistory Of(std::vector<HistoryRun> runs, const HistoryChoice& choice = {}) {
  auto history = StudyHistory(std::move(runs), choice);
  EXPECT_TRUE(history.ok()) << history.status();
  return *std::move(history);
}

TEST(RunHistory, JudgesTheWorkWhereAllRunsKnowIt) {
  std::vector<HistoryRun> runs = Runs(12);
  EXPECT_EQ(Of(runs).metric, "wall_time");
  for (HistoryRun& run : runs) run.values["work"] = 3;
  EXPECT_EQ(Of(runs).metric, "work");
  runs[3].values.erase("work");
  EXPECT_EQ(Of(runs).metric, "wall_time");
  runs[3].events = 10;
  EXPECT_EQ(Of(runs).metric, "event_rate_wall_khz");
}

TEST(RunHistory, SaysWhyItCannotBeJudged) {
  EXPECT_EQ(WhyNotJudged(Of(Runs(12))), "");
  EXPECT_EQ(WhyNotJudged(Of(Runs(5))), "5 runs are too few: 8 are needed");
  std::vector<HistoryRun> runs = Runs(12);
  for (HistoryRun& run : runs) run.values["num_chunks"] = 10;
  HistoryChoice choice;
  choice.metric = "num_chunks";
  EXPECT_EQ(WhyNotJudged(Of(runs, choice)), "whether more num_chunks is worse is not known");
}

TEST(RunHistory, NamesTheFirstBadCommit) {
  const RunHistory history = Of(Runs(40, 25));
  ASSERT_EQ(history.levels.size(), 2u);
  const HistoryLevel& level = history.levels[1];
  EXPECT_EQ(level.place.begin, 25u);
  EXPECT_NEAR(level.since_before.change, 0.2, 0.02);
  EXPECT_LE(level.since_before.low, 0.2);
  EXPECT_GE(level.since_before.high, 0.2);
  EXPECT_NEAR(history.levels[0].value, 10, 0.1);
  const nlohmann::ordered_json change = HistoryAsJson(history)["changes"][0];
  EXPECT_EQ(change["commit"], std::string(40, 'b'));
  EXPECT_EQ(change["commit_before"], std::string(40, 'a'));
  EXPECT_EQ(change["worse"], true);
  EXPECT_THAT(HistorySentences(history), ElementsAre(HasSubstr("First with the commit bbbbbbbbbbbb (before: aaaaaa")));
}

TEST(RunHistory, WithoutAChangeItSaysWhatWouldHaveBeenSeen) {
  const RunHistory history = Of(Runs(40));
  ASSERT_EQ(history.levels.size(), 1u);
  EXPECT_GT(history.points.seen, 0.01);
  EXPECT_LT(history.points.seen, 0.1);
  EXPECT_THAT(HistorySentences(history), ElementsAre(HasSubstr("did not change in 40 runs. A change of ")));
}

TEST(RunHistory, OneCommitOnBothSidesIsNotTheReason) {
  std::vector<HistoryRun> runs = Runs(30, 20);
  for (HistoryRun& run : runs) run.commit = "abc";
  for (size_t i = 20; i < 30; ++i) {
    runs[i].cores = 2;
    runs[i].host = "other";
    runs[i].datasets = {"ttbar"};
  }
  const RunHistory history = Of(std::move(runs));
  EXPECT_THAT(HistorySentences(history).front(), HasSubstr("the code did not change"));
  EXPECT_THAT(history.levels[1].also, ElementsAre("4 cores, then 2", "other datasets", "host node, then other"));
}

TEST(RunHistory, RunsWithoutACommitAreSaidToHaveNone) {
  std::vector<HistoryRun> runs = Runs(30, 20);
  for (HistoryRun& run : runs) run.commit = "";
  const RunHistory history = Of(std::move(runs));
  EXPECT_THAT(HistorySentences(history).front(), HasSubstr("has no commit"));
  EXPECT_TRUE(HistoryAsJson(history)["changes"][0]["commit"].is_null());
  EXPECT_THAT(history.notes, Contains(HasSubstr("no run has a commit")));
}

TEST(RunHistory, FewRunsAreShownWithoutAVerdict) {
  for (const size_t count : {1, 7}) {
    const RunHistory history = Of(Runs(count, 3, 3.0));
    EXPECT_TRUE(history.levels.empty());
    EXPECT_THAT(history.notes, Contains(HasSubstr("too few")));
    EXPECT_EQ(HistoryAsJson(history)["runs"].size(), count);
    EXPECT_EQ(*WorseThanBefore(history, 0), "");
  }
}

TEST(RunHistory, OtherInputIsComparedByItsRateAndNoted) {
  std::vector<HistoryRun> runs = Runs(20);
  for (size_t i = 10; i < 20; ++i) {
    runs[i].events = 2000;
    runs[i].values["wall_time"] *= 2;
  }
  EXPECT_EQ(Of(runs).metric, "event_rate_wall_khz");
  EXPECT_EQ(Of(runs).levels.size(), 1u);
  const RunHistory by_time = Of(runs, {"", "wall_time"});
  EXPECT_EQ(by_time.levels.size(), 2u);
  EXPECT_THAT(by_time.levels[1].also, ElementsAre("1 000 events, then 2 000"));
  EXPECT_THAT(by_time.notes, Contains(HasSubstr("numbers of events")));
}

TEST(RunHistory, LeavesOutWithAReason) {
  std::vector<HistoryRun> runs = Runs(20);
  runs[3].why_not = "it was killed";
  runs[4].id = runs[5].id;
  runs[6].values.clear();
  const RunHistory history = Of(std::move(runs));
  EXPECT_EQ(history.runs.size(), 17u);
  ASSERT_EQ(history.left_out.size(), 3u);
  EXPECT_EQ(history.left_out[0].reason, "it was killed");
  EXPECT_THAT(history.left_out[1].reason, HasSubstr("same run"));
  EXPECT_THAT(history.left_out[2].reason, HasSubstr("not measured"));
  std::vector<HistoryRun> none = Runs(2);
  for (HistoryRun& run : none) run.why_not = "it was killed";
  EXPECT_THAT(std::string(StudyHistory(none, {}).status().message()), HasSubstr("it was killed"));
}

TEST(RunHistory, SeveralNamesNeedAChoice) {
  std::vector<HistoryRun> runs = Runs(20);
  for (size_t i = 0; i < 10; ++i) runs[2 * i].name = "other";
  const auto refused = StudyHistory(runs, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--name: ana, other"));
  EXPECT_EQ(Of(runs, {"other"}).runs.size(), 10u);
}

TEST(RunHistory, TheGateFallsForWhatIsWorseWithItsWholeRange) {
  const RunHistory slower = Of(Runs(40, 25));
  EXPECT_THAT(*WorseThanBefore(slower, 0.1), HasSubstr("wall_time of the latest 15 runs is +2"));
  EXPECT_EQ(*WorseThanBefore(slower, 0.2), "") << "the range holds 20 %";
  EXPECT_EQ(*WorseThanBefore(Of(Runs(40, 25, 0.8)), 0), "") << "faster is not worse";
  const RunHistory rate = Of(Runs(40, 25), {"", "event_rate_wall_khz"});
  EXPECT_THAT(*WorseThanBefore(rate, 0.1), HasSubstr("event_rate_wall_khz of the latest"));
  EXPECT_EQ(*WorseThanBefore(Of(Runs(40, 25), {"", "", 12}), 0), "") << "what is older than the latest 12 is forgotten";
  std::vector<HistoryRun> mended = Runs(60, 20);
  for (size_t i = 40; i < 60; ++i) mended[i].values = Runs(60)[i].values;
  EXPECT_EQ(*WorseThanBefore(Of(mended), 0.02), "");
}

TEST(RunHistory, AFigureWithoutAWorseSideHasNoGate) {
  std::vector<HistoryRun> runs = Runs(20);
  for (HistoryRun& run : runs) {
    run.values["tasks"] = 0;
    run.units["tasks"] = "count";
  }
  const RunHistory history = Of(runs, {"", "tasks"});
  EXPECT_FALSE(history.is_relative);
  EXPECT_EQ(history.levels.size(), 1u);
  EXPECT_FALSE(WorseThanBefore(history, 0).ok());
}

}  // namespace
}  // namespace crema
