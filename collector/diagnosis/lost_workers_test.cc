#include "collector/diagnosis/evidence.h"
#include "collector/measurement/measurement.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using testing::ElementsAre;

LostWorkers FindLostWorkers(const nlohmann::ordered_json& document) {
  return crema::FindLostWorkers(MeasurementOf(document));
}

nlohmann::ordered_json WorkerBetween(const char* name, double start, double stop, const char* state,
                                     double chunks = 0) {
  return {{"name", name},   {"start", start},   {"stop", stop},
          {"state", state}, {"chunks", chunks}, {"events", 100 * chunks}};
}

TEST(LostWorkers, AreAbsentUntilTheLastOneStops) {
  nlohmann::ordered_json document;
  document["workers"] = {WorkerBetween("a", 0, 100, "ended", 7), WorkerBetween("b", 0, 60, "lost", 5),
                         WorkerBetween("c", 0, 30, "lost", 2), WorkerBetween("d", 0, 90, "ended", 8)};
  LostWorkers lost = FindLostWorkers(document);
  EXPECT_EQ(lost.workers, 4);
  EXPECT_THAT(lost.names, ElementsAre("c", "b"));
  EXPECT_DOUBLE_EQ(lost.absent_seconds, 70 + 40);  // that d ended at 90 s is no loss
  EXPECT_DOUBLE_EQ(lost.whole_seconds, 400);
  EXPECT_EQ(lost.uncertain_chunks, 7);
  EXPECT_EQ(lost.uncertain_events, 700);
  EXPECT_EQ(RangeOfResults(lost, 2200), "1 500 to 2 200 events");
  EXPECT_EQ(RangeOfResults(LostWorkers(), 2200), "");
  document["run"]["engine"] = "dask";
  EXPECT_EQ(FindLostWorkers(document).uncertain_chunks, 0);
  document["run"]["state"] = "killed";
  EXPECT_FALSE(FindLostWorkers(document).any());
}

TEST(LostWorkers, AreNotAbsentOnceTheyAreReplaced) {
  nlohmann::ordered_json document;
  document["workers"] = {WorkerBetween("a", 0, 100, "ended"), WorkerBetween("b", 0, 40, "lost"),
                         WorkerBetween("c", 45, 100, "ended")};
  EXPECT_DOUBLE_EQ(FindLostWorkers(document).absent_seconds, 5);
}

TEST(LostWorkers, AreNotThoseOfWhichNothingIsReported) {
  nlohmann::ordered_json document;
  document["workers"] = {WorkerBetween("a", 0, 100, "ended"), WorkerBetween("b", 0, 40, "unreported"),
                         WorkerBetween("c", 0, 98, "lost")};
  EXPECT_THAT(FindLostWorkers(document).names, ElementsAre("c"));
}

TEST(LostWorkers, AreLostForWhatTheEngineSays) {
  nlohmann::ordered_json document;
  document["workers"] = {WorkerBetween("a", 0, 100, "ended"), WorkerBetween("b", 0, 40, "lost"),
                         WorkerBetween("c", 0, 50, "lost")};
  EXPECT_EQ(FindLostWorkers(document).Why(), "killed, crashed, out of memory, or ended by _exit");
  document["workers"][0]["left_reason"] = "EXPLICIT";  // it was not lost
  document["workers"][1]["left_reason"] = document["workers"][2]["left_reason"] = "FAILURE";
  EXPECT_EQ(FindLostWorkers(document).Why(), "FAILURE");  // the kernel told it
  document["run"]["engine"] = "taskvine";
  EXPECT_EQ(FindLostWorkers(document).Why(), "the engine says FAILURE");
  document["workers"][1]["left_reason"] = "FAST_ABORT";
  EXPECT_EQ(FindLostWorkers(document).Why(), "the engine says FAILURE of 1, FAST_ABORT of 1");
  document["workers"][1]["left_reason"] = nullptr;
  EXPECT_EQ(FindLostWorkers(document).Why(), "the engine says FAILURE, and nothing of 1");
}

TEST(LostWorkers, AreNamedBriefly) {
  LostWorkers lost;
  EXPECT_EQ(lost.Names(), "");
  lost.names = {"a", "b"};
  EXPECT_EQ(lost.Names(), "a, b");
  lost.names = {"a", "b", "c", "d"};
  EXPECT_EQ(lost.Names(), "a, b and 2 more");
}

}  // namespace
}  // namespace crema
