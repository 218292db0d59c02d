#include "collector/server/bare_scheduler.h"

#include <gtest/gtest.h>

#include <string>

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json Line(const std::string& text) { return Json::parse(text); }

Json Told(int finished) {
  return {{"type", "bare"},
          {"counts", {{"workers", 2}, {"cores", 4}}},
          {"stream_problem", nullptr},
          {"finished", {{{"prefix", "fill"}, {"tasks", finished}, {"seconds", {{"compute", 0.5 * finished}}}}}},
          {"finished_by_worker", {{"tcp://a:1", finished}}}};
}

TEST(BareScheduler, WhatItDoesNotTellIsNotKnown) {
  BareScheduler scheduler(7);
  EXPECT_EQ(scheduler.since_ns(), 7);
  scheduler.AddBareLine(Line(R"({"counts":{"workers":2,"bytes":1.5},"stream_problem":"it is taken"})"), 10);
  EXPECT_EQ(scheduler.count("workers"), 2);
  EXPECT_EQ(scheduler.count("bytes"), std::nullopt);
  EXPECT_EQ(scheduler.count("cores"), std::nullopt);
  EXPECT_EQ(scheduler.finished(), std::nullopt);
  EXPECT_EQ(scheduler.finished_rate(20), std::nullopt);
  EXPECT_EQ(scheduler.stream_problem(), "it is taken");
}

TEST(BareScheduler, FinishedTasksAddUp) {
  BareScheduler scheduler(0);
  scheduler.AddBareLine(Told(0), 10);
  EXPECT_EQ(scheduler.finished(), 0) << "none has finished, which is known";
  EXPECT_EQ(scheduler.finished_rate(10), std::nullopt) << "not a second is over";
  scheduler.AddBareLine(Told(3), 11);
  scheduler.AddBareLine(Told(5), 12);
  EXPECT_EQ(scheduler.finished(), 8);
  EXPECT_EQ(scheduler.tasks().at("fill").finished, 8);
  EXPECT_DOUBLE_EQ(scheduler.tasks().at("fill").compute_seconds, 4);
  EXPECT_EQ(scheduler.finished_by_worker().at("tcp://a:1"), 8);
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(14).value_or(-1), 2) << "8 in the seconds 10 to 13";
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(100).value_or(-1), 0);
}

TEST(BareScheduler, WhileItsStreamIsGoneThereIsNoRate) {
  BareScheduler scheduler(0);
  scheduler.AddBareLine(Told(3), 10);
  scheduler.AddBareLine(Line(R"({"counts":{},"stream_problem":"it is gone","finished":[]})"), 11);
  EXPECT_EQ(scheduler.finished_rate(12), std::nullopt);
  EXPECT_EQ(scheduler.finished(), 3) << "as far as they were told";
  EXPECT_EQ(scheduler.count("workers"), std::nullopt);
  scheduler.AddBareLine(Told(4), 20);
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(22).value_or(-1), 2) << "from its return on";
}

TEST(BareScheduler, AccountsAreTheSchedulersOwn) {
  BareScheduler scheduler(0);
  scheduler.AddAccountLine(Line(R"({"rows":[{"prefix":"fill","seconds":{"compute":12.5}},{"prefix":"x"},3]})"));
  scheduler.AddAccountLine(Line(R"({"rows":[{"prefix":"fill","seconds":{"compute":13}}]})"));
  EXPECT_EQ(scheduler.tasks().at("fill").compute_seconds_in_all, 13);
  EXPECT_EQ(scheduler.tasks().count("x"), 0u);
}

TEST(BareScheduler, LinesOfAnyShapeAreTaken) {
  for (const char* text : {"{}", R"({"counts":3,"stream_problem":4,"finished":5,"finished_by_worker":6})",
                           R"({"counts":{"a":null},"finished":[1,null,{}],"finished_by_worker":{"a":-4,"b":"c"}})",
                           R"({"finished":[{"prefix":"x","tasks":-1,"seconds":[]}],"rows":{}})"}) {
    BareScheduler scheduler(0);
    scheduler.AddBareLine(Line(text), 10);
    scheduler.AddAccountLine(Line(text));
    EXPECT_EQ(scheduler.finished().value_or(0), 0) << text;
  }
}

}  // namespace
}  // namespace crema
