#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/server/live_figures.h"
#include "collector/server/live_model_fixture.h"

namespace crema {
namespace {

using ::testing::ElementsAre;

class WorkerOrderTest : public LiveModelTest {
 protected:
  /// Workers with one chunk open each.
  void AddWorkers(int64_t count) {
    for (int64_t i = 0; i < count; ++i) Begin(Worker(i + 1), 0, 0);
  }
  void Kill(size_t worker) { model_.SetLife(worker, /*running=*/false); }
};

TEST_F(WorkerOrderTest, PutsFirstWhatNeedsToBeLookedAt) {
  AddWorkers(4);
  for (int second = 1; second <= 20; ++second) Sample(2, second, 960'000'000);  // of 1 GB
  Kill(3);
  EXPECT_THAT(WorstWorkersFirst(model_, 10), ElementsAre(3, 2, 0, 1));
  EXPECT_THAT(WorstWorkersFirst(model_, 2), ElementsAre(3, 2));
}

TEST_F(WorkerOrderTest, LeavesRoomForThoseThatRun) {
  AddWorkers(12);
  for (size_t i = 0; i < 8; ++i) Kill(i);
  EXPECT_THAT(WorstWorkersFirst(model_, 4), ElementsAre(testing::Lt(8), testing::Lt(8), 8, 9));
  EXPECT_EQ(WorstWorkersFirst(model_, 11).size(), 11u) << "where others need less, more of them fit";
}

}  // namespace
}  // namespace crema
