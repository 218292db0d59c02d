#include <functional>
#include <string>
#include <vector>

#include "collector/engines/taskvine/vine_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As a manager of Work Queue told a catalog, without what is not read.
constexpr char kManager[] =
    R"({"type":"wq_master","project":"my run","name":"node1.example","port":1024,"lastheardfrom":1000,)"
    R"("time_when_started":900000000,"workers_connected":2,"cores_total":8,"workers_lost":%LOST%,"tasks_waiting":3,)"
    R"("tasks_running":4,"tasks_on_workers":5,"tasks_failed":1,"categories":[{"category":"whole queue","tasks_done":%DONE%},)"
    R"({"category":"analysis","tasks_done":%DONE%}]})";

std::string Answer(int done, int lost) {
  std::string text = kManager;
  for (const auto& [key, value] : {std::pair("%DONE%", done), std::pair("%LOST%", lost)}) {
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key)) {
      text.replace(at, std::string(key).size(), std::to_string(value));
    }
  }
  return R"([{"type":"catalog"},3,)" + text + "]";
}

struct ReportedManager : LiveObserver {
  int64_t now_ns() const override { return now; }
  void SetVersion(const std::string&) override {}
  void BeginSession(int64_t time_ns) override { begins.push_back(time_ns); }
  void EndSession(int64_t) override {}
  void SetPlan(std::map<std::string, int64_t>) override {}
  void AddWorker(const ClusterWorkerFact&) override {}
  void AddRecords(const std::string&, std::string_view) override {}
  void SetLives(const std::function<bool(const std::string&, int64_t)>&) override {}
  void AddScheduler(const SchedulerFact& scheduler) override { reported = scheduler; }
  void SetComputeSeconds(const std::string&, const std::map<std::string, double>&) override {}
  void Note(EventKind, std::string text) override { notes.push_back(std::move(text)); }
  void CountMalformed(int64_t lines) override { malformed += lines; }

  int64_t now = 1'010'000'000'000;
  std::vector<int64_t> begins;
  SchedulerFact reported;
  std::vector<std::string> notes;
  int64_t malformed = 0;
};

class CatalogFeedTest : public ::testing::Test {
 protected:
  void Report(int done, int lost) { feed_->Add(*ManagersIn(Answer(done, lost), "wq_master", "my run")); }

  ReportedManager run_;
  std::unique_ptr<EngineFeed> feed_ = MakeCatalogFeed("Work Queue", &run_);
};

TEST_F(CatalogFeedTest, TellsOfWorkersAndTasksAsTheManagerCountsThem) {
  Report(10, 0);
  EXPECT_EQ(run_.reported.address, "Work Queue my run at node1.example:1024");
  EXPECT_EQ(run_.reported.counts,
            (std::map<std::string, int64_t>{
                {"workers", 2}, {"cores", 8}, {"tasks", 8}, {"processing", 5}, {"waiting", 3}, {"erred", 1}}));
  EXPECT_TRUE(run_.reported.is_there);
  EXPECT_THAT(run_.begins, ElementsAre(900'000'000'000));
  EXPECT_TRUE(run_.reported.finished.empty()) << "they were done before it was followed";
  Report(17, 0);
  ASSERT_EQ(run_.reported.finished.size(), 1u);
  EXPECT_EQ(run_.reported.finished[0].prefix, "analysis");
  EXPECT_EQ(run_.reported.finished[0].tasks, 7);
  EXPECT_THAT(run_.reported.problem, HasSubstr("once a minute")) << "so their rate is not known";
  EXPECT_THAT(run_.begins, testing::SizeIs(1));
}

TEST_F(CatalogFeedTest, NamesLostWorkersAndAManagerThatIsSilent) {
  Report(10, 1);
  Report(10, 1);
  Report(10, 3);
  run_.now += 300'000'000'000;
  feed_->Tick();  // the catalog itself may be silent
  feed_->Tick();
  EXPECT_THAT(run_.notes, ElementsAre(HasSubstr("lost 1 worker before it was followed"), HasSubstr("lost 2 workers"),
                                      HasSubstr("has reported nothing to the catalog for 310 s")));
  EXPECT_FALSE(run_.reported.is_there);
  EXPECT_THAT(run_.reported.problem, HasSubstr("nothing to the catalog for 310 s"));
}

TEST_F(CatalogFeedTest, BelievesNoImpossibleNumber) {
  feed_->Add(R"([{"port":-1,"time_when_started":9223372036854775807,"tasks_waiting":9223372036854775807,)"
             R"("tasks_running":9223372036854775807,"workers_connected":1e300}])"
             "\n");
  EXPECT_TRUE(run_.begins.empty());
  EXPECT_EQ(run_.reported.counts.at("workers"), 0);
  EXPECT_GT(run_.reported.counts.at("tasks"), 0);
}

TEST_F(CatalogFeedTest, TakesWhatIsNoManagerAsMalformed) {
  feed_->Add("{}\n[3]\n[{}]\n[{\"port\":\"x\",\"categories\":3}]\n");
  EXPECT_EQ(run_.malformed, 2);
}

TEST(CatalogAnswer, HasTheManagersOfTheNameOnly) {
  EXPECT_THAT(*ManagersIn(Answer(1, 0), "wq_master", ""), HasSubstr("node1.example"));
  EXPECT_EQ(ManagersIn(Answer(1, 0), "wq_master", "other").status().message(),
            "it knows no wq_master of the name other");
  EXPECT_EQ(ManagersIn(Answer(1, 0), "vine_manager", "").status().message(), "it knows no vine_manager");
  EXPECT_FALSE(ManagersIn("<html>", "wq_master", "").ok());
}

TEST(CatalogAddress, HasAPortAndAName) {
  const auto parsed = [](const char* address) {
    const CatalogAddress catalog = ParseCatalogAddress(address);
    return catalog.server + " | " + catalog.project;
  };
  EXPECT_EQ(parsed("workqueue://ccl.example/my%20run"), "ccl.example:9097 | my run");
  EXPECT_EQ(parsed("workqueue://127.0.0.1:19097/run"), "127.0.0.1:19097 | run");
  EXPECT_EQ(parsed("taskvine://[::1]/run%"), "[::1]:9097 | run%");
  EXPECT_EQ(parsed("taskvine://[::1]:9000"), "[::1]:9000 | ");
}

}  // namespace
}  // namespace crema
