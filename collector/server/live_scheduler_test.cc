#include <gtest/gtest.h>

#include <string>

#include "collector/server/live_model.h"

namespace crema {
namespace {

SchedulerFact Reported(int finished) {
  SchedulerFact reported;
  reported.counts = {{"workers", 2}, {"cores", 4}};
  reported.finished = {{"fill", finished, 0.5 * finished}};
  reported.finished_by_worker = {{"tcp://a:1", finished}};
  return reported;
}

SchedulerFact Problem(const std::string& problem) {
  SchedulerFact reported;
  reported.problem = problem;
  return reported;
}

TEST(LiveScheduler, WhatItDoesNotTellIsNotKnown) {
  LiveScheduler scheduler(7);
  EXPECT_EQ(scheduler.since_ns(), 7);
  SchedulerFact reported = Problem("it is taken");
  reported.counts = {{"workers", 2}};
  scheduler.Add(reported, 10);
  EXPECT_EQ(scheduler.count("workers"), 2);
  EXPECT_EQ(scheduler.count("cores"), std::nullopt);
  EXPECT_EQ(scheduler.finished(), std::nullopt);
  EXPECT_EQ(scheduler.finished_rate(20), std::nullopt);
  EXPECT_EQ(scheduler.stream_problem(), "it is taken");
}

TEST(LiveScheduler, FinishedTasksAddUp) {
  LiveScheduler scheduler(0);
  scheduler.Add(Reported(0), 10);
  EXPECT_EQ(scheduler.finished(), 0) << "none has finished, which is known";
  EXPECT_EQ(scheduler.finished_rate(10), std::nullopt) << "not a second is over";
  scheduler.Add(Reported(3), 11);
  scheduler.Add(Reported(5), 12);
  EXPECT_EQ(scheduler.finished(), 8);
  EXPECT_EQ(scheduler.tasks().at("fill").finished, 8);
  EXPECT_DOUBLE_EQ(scheduler.tasks().at("fill").compute_seconds, 4);
  EXPECT_EQ(scheduler.finished_by_worker().at("tcp://a:1"), 8);
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(14).value_or(-1), 2) << "8 in the seconds 10 to 13";
  EXPECT_DOUBLE_EQ(scheduler.finished_rate(100).value_or(-1), 0);
}

TEST(LiveScheduler, WhileItsStreamIsGoneThereIsNoRate) {
  LiveScheduler scheduler(0);
  scheduler.Add(Reported(3), 10);
  scheduler.Add(Problem("it is gone"), 11);
  EXPECT_EQ(scheduler.finished_rate(12), std::nullopt);
  EXPECT_EQ(scheduler.finished(), 3) << "as far as they were told";
  EXPECT_EQ(scheduler.count("workers"), std::nullopt);
  scheduler.Add(Reported(4), 20);
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
