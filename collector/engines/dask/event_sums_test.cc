#include "collector/engines/dask/event_sums.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace crema {
namespace {

using ::testing::HasSubstr;

std::string Finished(const std::string& key, const std::string& worker, double seconds) {
  return fmt::format(
      R"({{"name":"transition","key":"{}","worker":"{}","action":"compute","start":1000.0,"stop":{},"status":"OK"}})",
      key, worker, 1000 + seconds);
}
std::string Worker(const std::string& name, const std::string& worker) {
  return fmt::format(R"({{"name":"{}","worker":"{}"}})", name, worker);
}

TEST(EventSums, FinishedTasksAddUpByPrefixAndByWorker) {
  EventSums sums;
  sums.Add(Finished("fill-1", "a", 0.5));
  sums.Add(Finished("fill-2", "b", 0.25));
  sums.Add(Finished("merge-1", "b", 2));
  const nlohmann::ordered_json taken = sums.TakeFinished();
  ASSERT_EQ(taken["finished"].size(), 2u);
  EXPECT_EQ(taken["finished"][0]["prefix"], "fill");
  EXPECT_EQ(taken["finished"][0]["tasks"], 2);
  EXPECT_DOUBLE_EQ(taken["finished"][0]["seconds"]["compute"].get<double>(), 0.75);
  EXPECT_EQ(taken["finished_by_worker"], nlohmann::ordered_json({{"a", 1}, {"b", 2}}));
  EXPECT_TRUE(sums.TakeFinished()["finished"].empty()) << "once";
}

TEST(EventSums, EachMalformedMessageIsCounted) {
  EventSums sums;
  for (const char* text : {"", "{\"name\":", "nonsense", R"({"name":"add_worker"})"}) sums.Add(text);
  sums.Add(Finished("fill-1", "a", 0.5));
  const nlohmann::ordered_json taken = sums.TakeFinished();
  EXPECT_EQ(taken["malformed"], 4);
  EXPECT_EQ(taken["finished"].size(), 1u);
  EXPECT_EQ(sums.messages(), 5);
  EXPECT_EQ(sums.TakeFinished()["malformed"], 0);
}

TEST(EventSums, WorkersOfTheRollCallWereThere) {
  EventSums sums;
  sums.BeginRollCall();
  sums.Add(Worker("add_worker", "a"));
  EXPECT_EQ(sums.TakeWorkers(7), "") << "not all are told";
  sums.EndRollCall();
  EXPECT_EQ(sums.TakeWorkers(7), R"({"type":"worker","event":"present","time_ns":7,"worker":"a"})"
                                 "\n");
  EXPECT_EQ(sums.TakeWorkers(8), "");
  sums.Add(Worker("add_worker", "b"));
  sums.Add(Worker("remove_worker", "a"));
  const std::string lines = sums.TakeWorkers(9);
  EXPECT_THAT(lines, HasSubstr(R"({"type":"worker","event":"join","time_ns":9,"worker":"b"})"));
  EXPECT_THAT(lines, HasSubstr(R"({"type":"worker","event":"leave","time_ns":9,"worker":"a"})"));
}

TEST(EventSums, WhoIsNotToldWhenTheStreamBeginsAgainHasLeft) {
  EventSums sums;
  sums.BeginRollCall();
  sums.Add(Worker("add_worker", "a"));
  sums.Add(Worker("add_worker", "b"));
  sums.EndRollCall();
  sums.TakeWorkers(7);
  sums.BeginRollCall();
  sums.Add(Worker("add_worker", "b"));
  sums.EndRollCall();
  EXPECT_EQ(sums.TakeWorkers(8), R"({"type":"worker","event":"leave","time_ns":8,"worker":"a"})"
                                 "\n");
}

TEST(EventSums, WhoWasToldBeforeTheRollCallBrokeOffWasThere) {
  EventSums sums;
  sums.BeginRollCall();
  sums.Add(Worker("add_worker", "a"));
  sums.BreakOffRollCall();
  EXPECT_EQ(sums.TakeWorkers(7), R"({"type":"worker","event":"present","time_ns":7,"worker":"a"})"
                                 "\n");
  sums.BeginRollCall();
  sums.Add(Worker("add_worker", "b"));
  sums.EndRollCall();
  EXPECT_EQ(sums.TakeWorkers(8), R"({"type":"worker","event":"present","time_ns":8,"worker":"b"})"
                                 "\n"
                                 R"({"type":"worker","event":"leave","time_ns":8,"worker":"a"})"
                                 "\n");
}

TEST(EventSums, ItsMemoryIsBounded) {
  EventSums sums;
  for (int i = 0; i < 3000; ++i) sums.Add(Finished(fmt::format("p{}-1", i), "a", 1));
  const nlohmann::ordered_json taken = sums.TakeFinished();
  EXPECT_EQ(taken["finished"].size(), EventSums::kMostPrefixes);
  int64_t tasks = 0;
  for (const auto& row : taken["finished"]) tasks += row["tasks"].get<int64_t>();
  EXPECT_EQ(tasks, 3000);
  EXPECT_EQ(taken["finished"][0]["prefix"], "(other)");
}

}  // namespace
}  // namespace crema
