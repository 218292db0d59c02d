#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "collector/engines/engines.h"
#include "collector/engines/taskvine/vine_log.h"

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Keeps what it is told.
class ReportedRun : public LiveObserver {
 public:
  int64_t now_ns() const override { return 0; }
  void SetVersion(const std::string&) override {}
  void BeginSession(int64_t time_ns) override { begin_ns = time_ns; }
  void EndSession(int64_t time_ns) override { end_ns = time_ns; }
  void SetPlan(std::map<std::string, int64_t>) override {}
  void AddWorker(const ClusterWorkerFact&) override {}
  void AddRecords(const std::string&, std::string_view) override {}
  void SetLives(const std::function<bool(const std::string&, int64_t)>&) override {}
  void AddScheduler(const SchedulerFact& reported) override { scheduler = reported; }
  void SetComputeSeconds(const std::string&, const std::map<std::string, double>& by_prefix) override {
    seconds = by_prefix;
  }
  void Note(EventKind, std::string text) override { notes.push_back(std::move(text)); }
  void CountMalformed(int64_t lines) override { malformed += lines; }

  int64_t begin_ns = 0, end_ns = 0, malformed = 0;
  SchedulerFact scheduler;
  std::map<std::string, double> seconds;
  std::vector<std::string> notes;
};

class VineFeedTest : public ::testing::Test {
 protected:
  void Add(int seconds, const std::string& text) { feed_->Add(std::to_string(seconds) + "000000 7 " + text + "\n"); }
  void Join(int seconds, const std::string& worker) {
    Add(seconds, "WORKER " + worker + " CONNECTION 10.0.0.1:50912");
    Add(seconds, "WORKER " + worker + R"( RESOURCES {"cores":[2,"cores"]})");
  }
  /// A task that ran on w1 for so long, from `begin` on.
  void Run(int task, int begin, int seconds) {
    const std::string id = std::to_string(task);
    Add(begin, "TASK " + id + " READY processing FIRST_RESOURCES 1 {}");
    Add(begin, "TASK " + id + " RUNNING w1 FIRST_RESOURCES {}");
    Add(begin + seconds, "TASK " + id + " WAITING_RETRIEVAL w1");
    Add(begin + seconds, "TASK " + id + " RETRIEVED SUCCESS 0 {} {}");
    Add(begin + seconds, "TASK " + id + " DONE SUCCESS 0");
  }

  ReportedRun run_;
  std::unique_ptr<EngineFeed> feed_ = kTaskVine.make_feed("vine-run-info", &run_);
};

TEST_F(VineFeedTest, TellsWhatIsThereAndWhatEndedSince) {
  Add(10, "MANAGER 7 START 0");
  Join(11, "w1");
  Join(11, "w2");
  Run(1, 12, 3);
  Add(16, "TASK 2 READY processing FIRST_RESOURCES 1 {}");
  feed_->Tick();
  EXPECT_EQ(run_.begin_ns, 10'000'000'000);
  EXPECT_EQ(run_.scheduler.address, "TaskVine manager 7");
  EXPECT_EQ(run_.scheduler.counts.at("workers"), 2);
  EXPECT_EQ(run_.scheduler.counts.at("cores"), 4);
  EXPECT_EQ(run_.scheduler.counts.at("tasks"), 1);
  EXPECT_EQ(run_.scheduler.counts.at("waiting"), 1);
  EXPECT_THAT(run_.scheduler.finished, IsEmpty()) << "it ended before anybody followed";
  EXPECT_EQ(run_.seconds.at("processing"), 3);

  Add(17, "TASK 2 RUNNING w1 FIRST_RESOURCES {}");
  Run(3, 17, 2);
  feed_->Tick();
  EXPECT_EQ(run_.scheduler.counts.at("processing"), 1);
  ASSERT_EQ(run_.scheduler.finished.size(), 1u);
  EXPECT_EQ(run_.scheduler.finished[0].prefix, "processing");
  EXPECT_EQ(run_.scheduler.finished[0].tasks, 1);
  EXPECT_EQ(run_.scheduler.finished[0].compute_seconds, 2);
  EXPECT_EQ(run_.scheduler.finished_by_worker.at("w1"), 1);
  EXPECT_EQ(run_.seconds.at("processing"), 5);
  feed_->Tick();
  EXPECT_THAT(run_.scheduler.finished, IsEmpty());
  EXPECT_EQ(run_.malformed, 0);
}

TEST_F(VineFeedTest, NamesLostWorkersOnceInWhateverOrderTheyGo) {
  Add(10, "MANAGER 7 START 0");
  Join(11, "w1");
  Join(11, "w2");
  feed_->Tick();
  Add(12, "WORKER w2 DISCONNECTION FAILURE");
  feed_->Tick();
  Add(13, "WORKER w1 DISCONNECTION FAILURE");
  feed_->Tick();
  feed_->Tick();
  EXPECT_THAT(run_.notes, ElementsAre("TaskVine manager 7 lost w2 on 10.0.0.1: FAILURE",
                                      "TaskVine manager 7 lost w1 on 10.0.0.1: FAILURE"));
  EXPECT_EQ(run_.scheduler.counts.at("workers"), 0);
  EXPECT_EQ(run_.end_ns, 0);
  Add(20, "MANAGER 7 END 10");
  feed_->Tick();
  EXPECT_EQ(run_.end_ns, 20'000'000'000);
  EXPECT_EQ(run_.notes.size(), 3u);
}

TEST_F(VineFeedTest, TakesLinesInPieces) {
  for (const char letter : std::string("# time manager_pid\n10000000 7 MANAGER 7 START 0\n11000000 7 WORKER w1 CONN")) {
    feed_->Add(std::string_view(&letter, 1));
  }
  feed_->Tick();
  EXPECT_EQ(run_.scheduler.counts.at("workers"), 0);
  feed_->Add("ECTION 10.0.0.1:50912\nnonsense\n");
  feed_->Tick();
  EXPECT_EQ(run_.scheduler.counts.at("workers"), 1);
  EXPECT_EQ(run_.malformed, 1);
}

}  // namespace
}  // namespace crema
