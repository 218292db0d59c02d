#include <gtest/gtest.h>

#include <string>

#include "collector/server/live_sources.h"

namespace crema {
namespace {

constexpr int64_t kStartNs = 1'790'000'000'000'000'000;

const char kProcess[] =
    R"({"type":"process","schema":"crema.records/1","run_id":"r","host":"node","pid":4,"start_ns":1790000000000000000})"
    "\n";
const char kRest[] =
    R"({"type":"begin","chunk":0,"time_ns":1790000001000000000,"tid":4})"
    "\n"
    R"({"type":"chunk","chunk":0,"start_ns":1790000001000000000,"stop_ns":1790000002000000000,"status":"ok","events":9})"
    "\n"
    R"({"type":"sums","time_ns":1790000003000000000,"status":"ok","chunks":5,"events":50,"chunks_with_events":5,)"
    R"("first_start_ns":1790000002000000000,"last_stop_ns":1790000003000000000,"duration_ns":1000000000,)"
    R"("max_duration_ns":200000000})"
    "\n"
    R"({"type":"end","time_ns":1790000004000000000,"chunks":6,"open":0,"dropped":2})"
    "\n";

class RecordFeedTest : public ::testing::Test {
 protected:
  RecordFeedTest() : model_({}) { model_.Tick(kStartNs + 5'000'000'000, 0); }
  void ExpectReportedOnce() const {
    EXPECT_EQ(model_.workers().size(), 1u);
    EXPECT_EQ(model_.totals().counts.num_attempts, 6);
    EXPECT_EQ(model_.totals().events.sum, 59);
    EXPECT_EQ(model_.totals().dropped, 2);
    EXPECT_EQ(model_.totals().malformed, 0);
    EXPECT_EQ(model_.totals().counts.num_recomputed_chunks, 0);
    EXPECT_EQ(model_.open_chunks(), 0);
  }

  RecordParser parser_;
  LiveModel model_;
};

/// Fault [logs]: a log is written anew while it is watched (copied again, or shortened)
/// Shown: it is read from its beginning again, with a warning; no record counts twice
TEST_F(RecordFeedTest, ALogThatIsReadAgainCountsOnce) {
  RecordFeed feed(&parser_, &model_);
  feed.Add(std::string(kProcess) + kRest + R"({"type":"chunk","chunk":1,"sta)");
  feed.Restart();
  feed.Add(std::string(kProcess) + kRest);
  ExpectReportedOnce();
}

TEST_F(RecordFeedTest, ACopyOfALogCountsOnce) {
  RecordFeed feed(&parser_, &model_);
  RecordFeed copy(&parser_, &model_);
  feed.Add(std::string(kProcess) + kRest);
  copy.Add(std::string(kProcess) + kRest);
  ExpectReportedOnce();
}

}  // namespace
}  // namespace crema
