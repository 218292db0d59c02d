#include <gtest/gtest.h>

#include <string>

#include "collector/server/live_model.h"

namespace crema {
namespace {

SchedulerFact Told(int finished) {
  SchedulerFact told;
  told.counts = {{"workers", 2}, {"cores", 4}};
  told.finished = {{"fill", finished, 0.5 * finished}};
  told.finished_by_worker = {{"tcp://a:1", finished}};
  return told;
}

SchedulerFact Problem(const std::string& problem) {
  SchedulerFact told;
  told.problem = problem;
  return told;
}

TEST(LiveScheduler, WhatItDoesNotTellIsNotKnown) {
  LiveScheduler scheduler(7);
  EXPECT_EQ(scheduler.since_ns(), 7);
  SchedulerFact told = Problem("it is taken");
  told.counts = {{"workers", 2}};
  scheduler.Add(told, 10);
  EXPECT_EQ(scheduler.count("workers"), 2);
  EXPECT_EQ(scheduler.count("cores"), std::nullopt);
  EXPECT_EQ(scheduler.finished(), std::nullopt);
  EXPECT_EQ(scheduler.finished_rate(20), std::nullopt);
  EXPECT_EQ(scheduler.stream_problem(), "it is taken");
}

TEST(LiveScheduler, FinishedTasksAddUp) {
  LiveScheduler scheduler(0);
  scheduler.Add(Told(0), 10);
  EXPECT_EQ(scheduler.finished(), 0) << "none has finished, which is known";
  EXPECT_EQ(scheduler.finished_rate(10), std::nullopt) << "not a second is over";
  scheduler.Add(Told(3), 11);
  scheduler.Add(Told(5), 12);
  EXPECT_EQ(scheduler.finished(), 8);
  EXPECT_EQ(scheduler.tasks().at("fill").finished, 8);
  EXPECT_DOUBLE_EQ(scheduler.tasks().at("fill").compute_seconds, 4);
  EXPECT_EQ(scheduler.finished_by_worker().at("tcp://a:1"), 8);
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(14).value_or(-1), 2) << "8 in the seconds 10 to 13";
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(100).value_or(-1), 0);
}

TEST(LiveScheduler, WhileItsStreamIsGoneThereIsNoRate) {
  LiveScheduler scheduler(0);
  scheduler.Add(Told(3), 10);
  scheduler.Add(Problem("it is gone"), 11);
  EXPECT_EQ(scheduler.finished_rate(12), std::nullopt);
  EXPECT_EQ(scheduler.finished(), 3) << "as far as they were told";
  EXPECT_EQ(scheduler.count("workers"), std::nullopt);
  scheduler.Add(Told(4), 20);
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(22).value_or(-1), 2) << "from its return on";
}

TEST(LiveScheduler, AccountsAreTheSchedulersOwn) {
  LiveScheduler scheduler(0);
  scheduler.SetComputeSeconds({{"fill", 12.5}});
  scheduler.SetComputeSeconds({{"fill", 13}});
  EXPECT_EQ(scheduler.tasks().at("fill").compute_seconds_in_all, 13);
}

}  // namespace
}  // namespace crema
