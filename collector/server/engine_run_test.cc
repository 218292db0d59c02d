#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "collector/engines/engines.h"
#include "collector/idioms/units.h"
#include "collector/records/record_parser.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"
#include "collector/server/live_sources.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kStart = 1'790'000'000 * kSecondNs;

/// With the one engine that has all that a feed may tell.
class EngineRunTest : public ::testing::Test {
 protected:
  explicit EngineRunTest(LiveOptions options = {}) : model_(std::move(options)) {
    model_.Tick(kStart + 10 * kSecondNs, 0);
  }

  void Report(const std::string& line) { feed_->Add(line + "\n"); }

  /// A worker of two threads, and its log's first lines.
  void ReportWorker() {
    Report(R"({"type":"cluster","schema":"crema.dask/1","epoch":"e1","dask":"2025.11.0"})");
    Report(R"({"type":"worker","event":"join","worker":"tcp://node:1","threads":2,"memory_limit_bytes":1000})");
    Report(R"({"type":"plugin","worker":"tcp://node:1","hostname":"node","pid":7})");
    log_ = fmt::format(R"({{"type":"process","schema":"crema.records/1","run_id":"run","host":"node","pid":7,)"
                       R"("start_ns":{},"recorder":1,"clock":"monotonic"}})"
                       "\n",
                       kStart);
    log_ += Chunk(0, 100);
    Send(0, log_);
  }
  static std::string Chunk(int number, int events) {
    return fmt::format(R"({{"type":"chunk","chunk":{},"start_ns":{},"stop_ns":{},"status":"ok","dataset":"ttbar",)"
                       R"("file":"a.root","entry_start":{},"entry_stop":{},"events":{}}})"
                       "\n",
                       number, kStart + number * kSecondNs, kStart + (number + 1) * kSecondNs, 100 * number,
                       100 * number + 100, events);
  }
  void Send(size_t offset, const std::string& bytes) {
    Report(fmt::format(R"({{"type":"records","source":"node-7.jsonl","worker":"tcp://node:1","offset":{},"bytes":{}}})",
                       offset, bytes.size()));
    feed_->Add(bytes);
  }

  RecordParser parser_;
  LiveModel model_;
  const Engine& engine_ = *EngineNamed("Dask");
  EngineRun run_{engine_, &parser_, &model_};
  std::unique_ptr<EngineFeed> feed_ = engine_.make_feed("source", &run_);
  std::string log_;
};

TEST_F(EngineRunTest, TakesRecordsAndTheSchedulersNames) {
  ReportWorker();
  EXPECT_EQ(model_.totals().counts.num_chunks, 1);
  ASSERT_EQ(model_.workers().size(), 1u);
  EXPECT_EQ(model_.workers()[0].worker(), "tcp://node:1");
  EXPECT_EQ(model_.engine(), "Dask 2025.11.0");
}

TEST_F(EngineRunTest, CountsBytesThatWereSentTwiceOnce) {
  ReportWorker();
  Send(0, log_ + Chunk(1, 50));
  EXPECT_EQ(model_.totals().counts.num_attempts, 2);
  EXPECT_EQ(model_.totals().events.sum, 150);
}

TEST_F(EngineRunTest, SaysWhichBytesWereLost) {
  ReportWorker();
  Send(log_.size() + 30, Chunk(1, 50));
  EXPECT_EQ(model_.totals().counts.num_attempts, 2);
  EXPECT_THAT(model_.events().all().back().text, ::testing::HasSubstr("30 bytes of node-7.jsonl were lost"));
}

TEST_F(EngineRunTest, TakesLinesInPieces) {
  ReportWorker();
  const std::string text = R"({"type":"erred","key":"process-1","worker":"tcp://node:1","error":"KeyError"})";
  for (const char c : text + "\n") feed_->Add(std::string(1, c));
  EXPECT_THAT(model_.events().all().back().text, ::testing::HasSubstr("process-1"));
}

TEST_F(EngineRunTest, ThePlanIsTheTotal) {
  ReportWorker();
  EXPECT_EQ(model_.total_events(), std::nullopt);
  Report(R"({"type":"plan","id":"a","events":{"ttbar":400,"wjets":600,"bad":-1,"text":"x"}})");
  EXPECT_EQ(model_.total_events(), 1000);
  EXPECT_DOUBLE_EQ(ComputeLiveFigures(model_).progress.share.value_or(0), 0.1);
  EXPECT_EQ(model_.total_events_of("ttbar"), 400);
  Report(R"({"type":"session","id":"b","event":"begin","time_ns":1790000009000000000})");
  EXPECT_EQ(model_.total_events(), std::nullopt) << "that was the plan of the session before";
}

TEST_F(EngineRunTest, BetweenTwoProcessesOfItsTasksARunIsNotOver) {
  ReportWorker();
  const SchedulerFact busy = {"manager 7", {{"tasks", 3}}, {}, {}, ""},
                      idle = {"manager 7", {{"tasks", 0}}, {}, {}, ""};
  run_.AddScheduler(busy);
  model_.SetLife(0, false);
  EXPECT_EQ(model_.state(), ProcessState::kUnreported) << "no process says that it came to its end: all may be gone";
  SchedulerFact known = busy;
  known.is_there = true;
  run_.AddScheduler(known);
  EXPECT_EQ(model_.state(), ProcessState::kRunning) << "its manager lives";
  run_.AddScheduler(busy);
  log_ += R"({"type":"end","time_ns":1790000009000000000,"chunks":1,"failed":0,"open":0,"dropped":0,"sections":[]})";
  Send(0, log_ + "\n");
  EXPECT_EQ(model_.state(), ProcessState::kRunning);
  run_.AddScheduler(idle);
  EXPECT_EQ(model_.state(), ProcessState::kEnded);
}

TEST_F(EngineRunTest, LinesOfAnyShapeAreTaken) {
  for (const char* fields : {"", R"(,"epoch":1,"event":2,"worker":3,"events":4,"bytes":-5,"offset":"x")",
                             R"(,"events":{"a":null,"b":-1},"threads":"x","pid":{},"time_ns":[])"}) {
    for (const char* type : {"cluster", "worker", "plugin", "session", "plan", "records", "erred", "bare", "account"}) {
      Report(fmt::format(R"({{"type":"{}"{}}})", type, fields));
    }
  }
  EXPECT_TRUE(model_.workers().empty());
  EXPECT_TRUE(model_.schedulers().empty());
}

TEST_F(EngineRunTest, AManagerAloneIsShownWithReasonsForTheRest) {
  run_.AddScheduler({"manager 7", {{"workers", 2}, {"tasks", 9}}, {{"fill", 3, 1.5}}, {{"node:1", 3}}, ""});
  run_.SetComputeSeconds("manager 7", {{"fill", 7}});
  EXPECT_TRUE(model_.has_schedulers_only());
  const auto document = LiveDocument(model_, ComputeLiveFigures(model_));
  const auto& row = document["schedulers"][0];
  EXPECT_EQ(row["workers"], 2);
  EXPECT_EQ(row["finished"], 3);
  EXPECT_TRUE(row["erred"].is_null()) << "it was not reported";
  EXPECT_EQ(row["prefixes"][0]["compute_seconds_in_all"], 7);
  EXPECT_EQ(document["metrics"]["live_scheduler_workers"], 2);
  EXPECT_TRUE(document["metrics"]["num_chunks"].is_null());
  EXPECT_THAT(document["quality"]["not_measured"]["num_chunks"], ::testing::HasSubstr("there are no records"));
}

class ToldTotalTest : public EngineRunTest {
 protected:
  static LiveOptions Options() {
    LiveOptions options;
    options.total_events_of_dataset = {{"ttbar", 200}};
    return options;
  }
  ToldTotalTest() : EngineRunTest(Options()) {}
};

TEST_F(ToldTotalTest, WhatTheUserSaysGoesBeforeThePlan) {
  ReportWorker();
  Report(R"({"type":"plan","id":"a","events":{"ttbar":400,"wjets":600}})");
  EXPECT_EQ(model_.total_events(), 200);
  EXPECT_EQ(model_.total_events_of("ttbar"), 200);
}

}  // namespace
}  // namespace crema
