#include "collector/metrics/engine/task_join.h"

#include <gtest/gtest.h>

namespace crema {
namespace {

AttemptRow ChunkBetween(int64_t start_ns, int64_t stop_ns, uint32_t thread = 0, uint32_t process = 0) {
  AttemptRow row;
  row.start_ns = start_ns;
  row.duration_ns = stop_ns - start_ns;
  row.thread = thread;
  row.process = process;
  return row;
}

TaskRow JoinedTask(int64_t start_ns, int64_t stop_ns, uint64_t thread = 100, uint32_t process = 0) {
  TaskRow row;
  row.start_ns = start_ns;
  row.stop_ns = stop_ns;
  row.thread = thread;
  row.process = process;
  return row;
}

const std::vector<uint64_t> kThreads = {100, 200, 0};

TEST(JoinTasks, TakesTheTaskThatOverlapsMost) {
  const TaskJoin join = JoinTasks({ChunkBetween(95, 190)}, kThreads, {JoinedTask(0, 100), JoinedTask(100, 200)});
  EXPECT_EQ(join.task_of_attempt, LargeList<uint32_t>{1});
  EXPECT_EQ(join.chunks_joined, 1);
  EXPECT_EQ(join.tasks_without_chunk, 1);
}

TEST(JoinTasks, TimeBeforeTheFirstChunkOfEachThreadIsKnown) {
  const TaskJoin join = JoinTasks({ChunkBetween(80, 90), ChunkBetween(105, 190), ChunkBetween(130, 140, 1)}, kThreads,
                                  {JoinedTask(0, 100), JoinedTask(100, 200), JoinedTask(100, 200, 200)});
  EXPECT_EQ(join.before_ns, 80 + 5 + 30);
  EXPECT_EQ(join.first_before_ns, 80 + 30);
}

TEST(JoinTasks, KeepsThreadsAndProcessesApart) {
  const TaskJoin join = JoinTasks({ChunkBetween(10, 20, 1), ChunkBetween(10, 20, 0, 1)}, kThreads,
                                  {JoinedTask(0, 100), JoinedTask(30, 40, 200)});
  EXPECT_EQ(join.chunks_joined, 0);
  EXPECT_EQ(join.chunks_unjoined, 2);
}

TEST(JoinTasks, ChunksOnThreadsThatATaskStartedAreTheTasks) {
  const TaskJoin join = JoinTasks({ChunkBetween(10, 20, 1), ChunkBetween(12, 22, 1), ChunkBetween(120, 130, 1)},
                                  kThreads, {JoinedTask(0, 100), JoinedTask(200, 300)});
  EXPECT_EQ(join.task_of_attempt, (LargeList<uint32_t>{0, 0, TaskJoin::kNone}));
  EXPECT_EQ(join.chunks_unjoined, 1) << "no task ran then";
}

TEST(JoinTasks, ChunksOfProcessesBelowAWorkerAreSharedOutAmongItsTasks) {
  AttemptRow first = ChunkBetween(10, 20, 2), second = ChunkBetween(11, 21, 2);
  first.recorder = second.recorder = 7;
  const TaskJoin join = JoinTasks({first, second}, kThreads, {JoinedTask(0, 100), JoinedTask(5, 100, 200)});
  EXPECT_EQ(join.chunks_joined, 2);
  EXPECT_NE(join.task_of_attempt[0], join.task_of_attempt[1]);
}

TEST(JoinTasks, ATaskThatGaveItsLaneBackOccupiesNone) {
  TaskRow driver = JoinedTask(0, 100);
  driver.without_lane_ns = 90;
  const TaskJoin join = JoinTasks({ChunkBetween(200, 210)}, kThreads, {driver, JoinedTask(200, 220)});
  ASSERT_EQ(join.stretches.size(), 2U);
  EXPECT_EQ(join.stretches[0].stop_ns, 10);
}

TEST(JoinTasks, JoinsNothingToAThreadThatIsNotKnown) {
  EXPECT_EQ(JoinTasks({ChunkBetween(10, 20, 2)}, kThreads, {JoinedTask(0, 100, 0)}).chunks_unjoined, 1);
}

TEST(JoinTasks, LeavesChunksThatNeverEndedAlone) {
  AttemptRow lost = ChunkBetween(10, 20);
  lost.status = AttemptState::kLost;
  const TaskJoin join = JoinTasks({lost}, kThreads, {JoinedTask(0, 100)});
  EXPECT_EQ(join.chunks_joined + join.chunks_unjoined, 0);
  EXPECT_EQ(join.tasks_without_chunk, 1);
}

TEST(JoinTasks, AChunkThatWasLostIsOneLaneWithItsTask) {
  AttemptRow lost = ChunkBetween(10, 20);
  lost.status = AttemptState::kLost;
  const TaskJoin join = JoinTasks({lost}, kThreads, {JoinedTask(0, 100)});
  ASSERT_EQ(join.stretches.size(), 1U);  // the time before the chunk
  EXPECT_EQ(std::pair(join.stretches[0].start_ns, join.stretches[0].stop_ns), std::pair(int64_t{0}, int64_t{10}));
  EXPECT_TRUE(join.stretches[0].around_chunk);
  EXPECT_EQ(join.outside_ns, 0);
}

TEST(JoinTasks, AChunkOfNoLengthBelongsToTheTaskAroundIt) {
  EXPECT_EQ(JoinTasks({ChunkBetween(50, 50)}, kThreads, {JoinedTask(0, 40), JoinedTask(45, 90)}).task_of_attempt[0],
            1u);
}

TEST(JoinTasks, AChunkAfterItsThreadsLastTaskBelongsToNone) {
  EXPECT_EQ(JoinTasks({ChunkBetween(150, 160)}, kThreads, {JoinedTask(0, 100)}).chunks_unjoined, 1);
}

TEST(JoinTasks, OfTasksWithoutAThreadOneThatIsAloneHoldsTheChunk) {
  const std::vector<TaskRow> tasks = {JoinedTask(0, 100, TaskRow::kAnyThread),
                                      JoinedTask(110, 200, TaskRow::kAnyThread)};
  EXPECT_EQ(JoinTasks({ChunkBetween(120, 190)}, kThreads, tasks).task_of_attempt[0], 1u);
  EXPECT_EQ(JoinTasks({ChunkBetween(120, 190, 2)}, kThreads, tasks).task_of_attempt[0], 1u)
      << "its own thread is not asked for";
  EXPECT_EQ(JoinTasks({ChunkBetween(90, 120)}, kThreads, tasks).chunks_unjoined, 1) << "neither was there all the time";
  EXPECT_EQ(JoinTasks({ChunkBetween(10, 90, 0, 1)}, kThreads, tasks).chunks_unjoined, 1) << "another process";
}

TEST(JoinTasks, OfTasksWithoutAThreadThatRunTogetherNobodyKnowsWhichHoldsTheChunk) {
  const std::vector<TaskRow> tasks = {JoinedTask(0, 100, TaskRow::kAnyThread), JoinedTask(10, 20, TaskRow::kAnyThread),
                                      JoinedTask(20, 90, TaskRow::kAnyThread)};
  EXPECT_EQ(JoinTasks({ChunkBetween(30, 80)}, kThreads, tasks).chunks_unjoined, 1);
  EXPECT_EQ(JoinTasks({ChunkBetween(30, 95)}, kThreads, tasks).task_of_attempt[0], 0u);
}

TEST(JoinTasks, AProcessOfOneTaskJoinsItsChunksToThatTaskWhateverElseRanThen) {
  std::vector<TaskRow> tasks = {JoinedTask(0, 100, TaskRow::kAnyThread, 5), JoinedTask(0, 100, TaskRow::kAnyThread, 5)};
  tasks[0].reported = 7;
  tasks[1].reported = 9;
  AttemptRow chunk = ChunkBetween(30, 80, 0, 5);
  EXPECT_EQ(JoinTasks({chunk}, kThreads, tasks).chunks_unjoined, 1) << "either may hold it";
  chunk.recorder = 2;
  const TaskJoin join = JoinTasks({chunk}, kThreads, tasks, {TaskRow::kNone, TaskRow::kNone, 9});
  EXPECT_EQ(join.task_of_attempt[0], 1u);
  EXPECT_EQ(join.outside_ns, 30 + 20);
  EXPECT_EQ(join.before_ns, 30);
}

TEST(JoinTasks, TimeOutsideIsWhatSeveralChunksLeaveOfTheirTask) {
  const TaskJoin join =
      JoinTasks({ChunkBetween(10, 30), ChunkBetween(20, 40), ChunkBetween(60, 70)}, kThreads, {JoinedTask(0, 100)});
  EXPECT_EQ(join.chunk_task_ns, 100);
  EXPECT_EQ(join.outside_ns, 10 + 20 + 30);
  EXPECT_EQ(join.stretches.size(), 3u);
  EXPECT_TRUE(join.stretches[0].around_chunk);
}

TEST(JoinTasks, AChunkThatReachesOutOfItsTaskLeavesNothingNegative) {
  const TaskJoin join = JoinTasks({ChunkBetween(-5, 105)}, kThreads, {JoinedTask(0, 100)});
  EXPECT_EQ(join.outside_ns, 0);
  EXPECT_TRUE(join.stretches.empty());
}

TEST(JoinTasks, AScriptBesideItsStepsIsNoLaneOfItsOwn) {
  TaskRow script = JoinedTask(0, 100, TaskRow::kNoLane);
  script.reported = 3;
  const TaskJoin join =
      JoinTasks({ChunkBetween(20, 40), ChunkBetween(10, 30, 1, 1)}, kThreads, {script}, {3, TaskRow::kNone});
  EXPECT_EQ(join.task_of_attempt, (LargeList<uint32_t>{0, TaskJoin::kNone})) << "only its own processes' chunks";
  EXPECT_TRUE(join.stretches.empty());
  EXPECT_EQ(join.outside_ns + join.chunk_task_ns + join.before_ns + join.tasks_without_chunk, 0);
}

TEST(CoreTimeOfTasks, AScriptBesideItsStepsHoldsNoCore) {
  RunWindow run;
  run.start_ns = 0;
  run.stop_ns = 100;
  EXPECT_EQ(CoreTimeOfTasks({JoinedTask(20, 70), JoinedTask(0, 100, TaskRow::kNoLane)}, run), 50);
}

TEST(JoinTasks, ATaskWithoutAChunkIsOneStretch) {
  const TaskJoin join = JoinTasks({}, kThreads, {JoinedTask(0, 100)});
  ASSERT_EQ(join.stretches.size(), 1u);
  EXPECT_FALSE(join.stretches[0].around_chunk);
  EXPECT_EQ(join.outside_ns, 0);
}

}  // namespace
}  // namespace crema
