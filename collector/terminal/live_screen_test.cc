#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/server/live_model_fixture.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LiveScreenTest : public LiveModelTest {
 protected:
  std::string Screen(int rows) const {
    return RenderLive(model_, ComputeLiveFigures(model_), sources_, {80, /*color=*/false, /*ascii=*/false}, rows);
  }
  std::vector<SourceState> sources_;
  std::string Line() const { return RenderLiveLine(model_, ComputeLiveFigures(model_), sources_); }
};

TEST_F(LiveScreenTest, HidesNoWorkerThatVanishedBehindThoseThatRun) {
  for (int64_t pid = 100; pid < 112; ++pid) {
    Begin(Worker(pid), 0, 0);
  }
  PassTo(2);
  EXPECT_THAT(Screen(24), Not(HasSubstr("vanished")));
  EXPECT_THAT(Line(), Not(HasSubstr("lost")));
  model_.SetLife(11, /*running=*/false);
  const std::string screen = Screen(24);
  const size_t first = screen.find("workers (12)");
  ASSERT_NE(first, std::string::npos);
  const size_t row = screen.find('\n', first) + 1;
  EXPECT_THAT(screen.substr(row, screen.find('\n', row) - row), HasSubstr("111  "));
  EXPECT_THAT(screen, HasSubstr("more"));
  EXPECT_THAT(Line(), HasSubstr("1 of 12 workers lost"));
}

TEST_F(LiveScreenTest, NamesOfWorkersAreWithoutWhatAllShare) {
  for (const char* host : {"lxbatch-analysis-0007.cern.example", "lxbatch-analysis-0008.cern.example"}) {
    ProcessFact fact;
    fact.run_id = "run";
    fact.host = host;
    fact.pid = 4001;
    fact.start_ns = At(0);
    Begin(Worker(fact), 0, 0);
  }
  PassTo(2);
  const std::string screen = Screen(24);
  const std::string workers = screen.substr(screen.find("workers (2)"), screen.find("what happened"));
  EXPECT_THAT(workers, HasSubstr(" 0007:4001 "));
  EXPECT_THAT(workers, HasSubstr(" 0008:4001 "));
}

TEST_F(LiveScreenTest, ARunningJobIsNoWarning) {
  Begin(Worker(1), 0, 0);
  PassTo(2);
  EXPECT_THAT(Screen(24), HasSubstr("running 0:02"));
  EXPECT_THAT(Screen(24), Not(HasSubstr("▲")));
}

TEST_F(LiveScreenTest, SaysWhatIsWrongWithASourceWhileNothingIsRecorded) {
  const std::string problem =
      "dask://node:8787: the scheduler has no crema plug-in; attach it with crema_hep.attach(client)";
  sources_ = {{"dask://node:8787", true, problem}};
  EXPECT_EQ(Line(), "waiting for records · " + problem + "\n");
  EXPECT_THAT(Screen(24), HasSubstr("crema_hep.attach(client)")) << "the remedy is not cut off";
  Begin(Worker(1), 0, 0);
  PassTo(2);
  EXPECT_THAT(Line(), Not(HasSubstr("plug-in")));
}

}  // namespace
}  // namespace crema
