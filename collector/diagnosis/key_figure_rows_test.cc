#include "collector/diagnosis/judged_document_fixture.h"
#include "collector/diagnosis/key_figures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

KeyFigureRow RowOf(const Json& document, std::string_view label) {
  for (KeyFigureRow& row : KeyFigureRows(MeasurementOf(document))) {
    if (row.label == label) return row;
  }
  ADD_FAILURE() << "no row " << label;
  return {};
}

std::vector<std::string> Notes(const KeyFigureRow& row) {
  std::vector<std::string> notes;
  for (const FigureText& note : row.notes) notes.push_back(note.text());
  return notes;
}

/// A run of 100 core-seconds that ended, with these metrics instead of its own.
Json JudgedRunWith(const Json& metrics) {
  Json document = QuietRun();
  document["metrics"].update(metrics);
  return document;
}

TEST(KeyFigureRows, AreTheSameEightOfEveryDocument) {
  std::vector<std::string> labels;
  for (const KeyFigureRow& row : KeyFigureRows(Measurement())) {
    labels.emplace_back(row.label);
    EXPECT_EQ(row.text, "–") << row.label;
    EXPECT_EQ(row.why_not, "not measured") << row.label;
    EXPECT_FALSE(row.value.has_value() || row.mark.has_value() || row.share.has_value()) << row.label;
    EXPECT_THAT(row.notes, IsEmpty()) << row.label;
  }
  EXPECT_THAT(labels, ElementsAre("Elapsed", "Event rate", "Data rate", "CPU efficiency", "Blocked in code",
                                  "Peak memory", "Balance", "Failed attempts"));
}

TEST(KeyFigureRows, HoldTheMetricAndSayItInItsUnit) {
  const Json document = JudgedRunWith({{"event_rate_wall_khz", 553}, {"io_overhead_pct", 4.2}, {"total_events", 5}});
  EXPECT_EQ(RowOf(document, "Event rate").value, 553);
  EXPECT_EQ(RowOf(document, "Event rate").text, "553 k/s");
  EXPECT_THAT(Notes(RowOf(document, "Event rate")), ElementsAre("5 events"));
  EXPECT_EQ(RowOf(document, "Event rate").notes[0].key, "metrics.total_events");
  const KeyFigureRow blocked = RowOf(document, "Blocked in code");
  EXPECT_EQ(blocked.value, 4.2);
  EXPECT_DOUBLE_EQ(*blocked.share, 0.042);
  EXPECT_EQ(blocked.mark, Mark::kGood);
}

TEST(KeyFigureRows, SayWhatAFigureIsMeasuredAgainst) {
  Json document = JudgedRunWith({{"cpu_efficiency", 0.5}, {"job_cpu_efficiency", 0.4}, {"peak_memory_bytes", 90}});
  document["workers"] = {{{"name", "h:1"}, {"peak_memory_bytes", 90}, {"memory_limit_bytes", 100}}};
  document["run"]["engine"] = "Dask 2025.11.0";
  const KeyFigureRow efficiency = RowOf(document, "CPU efficiency");
  EXPECT_EQ(efficiency.mark, Mark::kWatch);
  EXPECT_THAT(Notes(efficiency), ElementsAre("good ≥ 70 %", "of the whole job 40 %"));
  const KeyFigureRow memory = RowOf(document, "Peak memory");
  EXPECT_EQ(memory.band->bad, MemoryBand("Dask").bad);
  EXPECT_EQ(memory.mark, Mark::kBad);
  EXPECT_THAT(Notes(memory), ElementsAre("good ≤ 70 %", "90 % of 100 B", "on h:1"));
  EXPECT_EQ(memory.notes[2].name, "h:1") << "a name from the records stands apart: it may be anything";
}

TEST(KeyFigureRows, SharesOfTooLittleAreShownAndNotJudged) {
  Json document = JudgedRunWith({{"cpu_efficiency", 0.1}, {"balance", 0.1}});
  EXPECT_EQ(RowOf(document, "Balance").mark, Mark::kBad);
  SetBudget(&document, {{"compute", 0.5}});
  for (const char* label : {"CPU efficiency", "Balance"}) {
    const KeyFigureRow row = RowOf(document, label);
    EXPECT_EQ(row.text, "10 %");
    EXPECT_FALSE(row.mark.has_value() || row.band.has_value());
    EXPECT_THAT(Notes(row), ElementsAre("too little to judge"));
  }
}

TEST(KeyFigureRows, AreNotGoodWhereWorkersWereLost) {
  Json document = JudgedRunWith({{"balance", 0.99}});
  document["workers"] = {{{"name", "h:1"}, {"state", "ended"}, {"start", 0}, {"stop", 100}},
                         {{"name", "h:2"}, {"state", "lost"}, {"start", 0}, {"stop", 40}}};
  const KeyFigureRow failed = RowOf(document, "Failed attempts");
  EXPECT_EQ(failed.mark, Mark::kWatch);
  EXPECT_THAT(Notes(failed), ElementsAre("1 worker lost", "good ≤ 1 %"));
  const KeyFigureRow balance = RowOf(document, "Balance");
  EXPECT_EQ(balance.mark, Mark::kWatch);
  EXPECT_THAT(Notes(balance), ElementsAre("without 1 lost worker", GoodHint(BandOf(KeyFigure::kBalance))));
  document["metrics"]["total_events"] = 900;
  EXPECT_THAT(Notes(RowOf(document, "Event rate")), ElementsAre("900 events"));
  document["workers"][1]["chunks"] = 4;
  document["workers"][1]["events"] = 400;
  EXPECT_THAT(Notes(RowOf(document, "Event rate")), ElementsAre("results of 500 to 900 events"));
  document["workers"][1]["state"] = "ended";
  EXPECT_EQ(RowOf(document, "Failed attempts").mark, Mark::kGood);
  EXPECT_EQ(RowOf(document, "Balance").mark, Mark::kGood);
}

TEST(KeyFigureRows, CountLostAttemptsAmongTheFailed) {
  const Json document = {
      {"metrics",
       {{"num_attempts", 100}, {"num_failed_attempts", 1}, {"num_lost_attempts", 2}, {"num_unfinished_chunks", 1}}}};
  const KeyFigureRow row = RowOf(document, "Failed attempts");
  EXPECT_EQ(row.text, "3 of 100");
  EXPECT_EQ(row.mark, Mark::kBad);
  EXPECT_THAT(Notes(row), ElementsAre("1 chunk without result", "good ≤ 1 %", "2 lost"));
}

}  // namespace
}  // namespace crema
