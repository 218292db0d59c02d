#include "collector/metrics/workers/worker_life.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace crema {
namespace {

ProcessRow LifeProcess(int64_t start, int64_t last, std::optional<int64_t> declared = std::nullopt, int64_t lanes = 0) {
  ProcessRow process;
  process.start_ns = start;
  process.last_ns = last;
  process.declared_threads = declared;
  process.lanes_peak = lanes;
  return process;
}

AttemptRow LifeAttempt(uint32_t process, int64_t start, int64_t stop) {
  AttemptRow attempt;
  attempt.process = process;
  attempt.start_ns = start;
  attempt.duration_ns = stop - start;
  return attempt;
}

TEST(WorkerLife, IsThatOfProcessesWithChunksOnly) {
  const auto workers =
      FindWorkerLives({LifeAttempt(1, 20, 30)}, {LifeProcess(1, 100), LifeProcess(10, 90)}, {}, {0, 100});
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].process, 1u);
  EXPECT_EQ(workers[0].start_ns, 10);
  EXPECT_EQ(workers[0].stop_ns, 90);
}

TEST(WorkerLife, IsClippedToTheRun) {
  const auto workers = FindWorkerLives({LifeAttempt(0, 20, 30), LifeAttempt(1, 5, 8)},
                                       {LifeProcess(10, 90), LifeProcess(2, 9)}, {}, {40, 80});
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].start_ns, 40);
  EXPECT_EQ(workers[0].stop_ns, 80);
  EXPECT_EQ(workers[1].start_ns, workers[1].stop_ns);
}

TEST(WorkerLife, CoversItsChunksWhereTheLogContradictsItself) {
  const auto workers = FindWorkerLives({LifeAttempt(0, 20, 95)}, {LifeProcess(0, 90)}, {}, {1, 100});
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].start_ns, 20);  // no process line: not since 1970
  EXPECT_EQ(workers[0].stop_ns, 95);
}

TEST(WorkerLife, TakesDeclaredThreadsBeforeLanesBeforeOpenChunks) {
  const std::vector<AttemptRow> attempts = {LifeAttempt(0, 1, 5), LifeAttempt(1, 1, 5), LifeAttempt(2, 1, 5),
                                            LifeAttempt(2, 2, 5)};
  const std::vector<ProcessRow> processes = {LifeProcess(1, 9, 8, 3), LifeProcess(1, 9, std::nullopt, 3),
                                             LifeProcess(1, 9)};
  const auto workers = FindWorkerLives(attempts, processes, {}, {0, 10});
  ASSERT_EQ(workers.size(), 3u);
  EXPECT_EQ(workers[0].cores, 8);
  EXPECT_EQ(workers[1].cores, 3);
  EXPECT_EQ(workers[2].cores, 2);
  EXPECT_EQ(NameCoresSource(workers), "mixed");
  EXPECT_EQ(NameCoresSource({workers[0]}), "declared");
  EXPECT_EQ(NameCoresSource({workers[1]}), "lanes_peak");
  EXPECT_EQ(NameCoresSource({workers[2]}), "open_chunks");
  EXPECT_EQ(NameCoresSource({}), "");
}

TEST(WorkerLife, HasNoMoreCoresThanItWasAllowedUnlessItDeclaredThem) {
  const std::vector<AttemptRow> attempts = {LifeAttempt(0, 1, 5), LifeAttempt(1, 1, 5), LifeAttempt(2, 1, 5),
                                            LifeAttempt(3, 1, 5)};
  std::vector<ProcessRow> processes = {LifeProcess(1, 9, std::nullopt, 6), LifeProcess(1, 9, std::nullopt, 2),
                                       LifeProcess(1, 9, 6), LifeProcess(1, 9, std::nullopt, 3)};
  processes[0].allowed_cores = 2.5;
  processes[1].allowed_cores = processes[2].allowed_cores = 4;
  processes[3].allowed_cores = 0.5;
  const auto workers = FindWorkerLives(attempts, processes, {}, {0, 10});
  ASSERT_EQ(workers.size(), 4u);
  EXPECT_EQ(workers[0].cores, 2.5);
  EXPECT_EQ(NameCoresSource({workers[0]}), "allowed");
  EXPECT_EQ(workers[1].cores, 2);
  EXPECT_EQ(NameCoresSource({workers[1]}), "lanes_peak");
  EXPECT_EQ(workers[2].cores, 6);
  EXPECT_EQ(workers[3].cores, 0.5);
}

TEST(WorkerLife, HasNoMoreCoresThanItsBatchSystemGaveIt) {
  std::vector<ProcessRow> processes = {LifeProcess(1, 9, std::nullopt, 6), LifeProcess(1, 9, std::nullopt, 6)};
  processes[0].allowed_cores = processes[1].allowed_cores = 64;  // the whole node, where nothing binds the job
  processes[0].granted_cores = 4;
  processes[1].granted_cores = 8;
  const auto workers = FindWorkerLives({LifeAttempt(0, 1, 5), LifeAttempt(1, 1, 5)}, processes, {}, {0, 10});
  EXPECT_EQ(workers.at(0).cores, 4);
  EXPECT_EQ(NameCoresSource({workers[0]}), "allowed");
  EXPECT_EQ(workers.at(1).cores, 6);
}

TEST(WorkerLife, GivesNoCoreToAnOwnerThatWaitsForItsHelpers) {
  std::vector<AttemptRow> attempts = {LifeAttempt(0, 1, 101), LifeAttempt(1, 1, 101)};
  attempts[0].helpers = 0;
  attempts[0].cpu_ns = 4;
  attempts[0].cpu_wait_ns = 0;
  attempts[1].helpers = 1;
  attempts[1].cpu_ns = 50;  // works beside its helpers
  attempts[1].cpu_wait_ns = 0;
  HelperTimes helpers;
  helpers.scope_ns = 180;
  helpers.union_ns = 95;
  const auto workers =
      FindWorkerLives(attempts, {LifeProcess(1, 101, std::nullopt, 3), LifeProcess(1, 101, std::nullopt, 3)},
                      {helpers, helpers}, {0, 200});
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].cores, 2);
  EXPECT_EQ(workers[1].cores, 3);
}

/// An attempt of 100 ns that was at work for `own_ns`, suspended for `suspended_ns`, and waited for helpers otherwise.
AttemptRow Helped(uint32_t process, uint32_t helpers, int64_t own_ns, int64_t suspended_ns = 0) {
  AttemptRow attempt = LifeAttempt(process, 1, 101 - suspended_ns);
  attempt.suspended_ns = suspended_ns;
  attempt.helpers = helpers;
  attempt.cpu_ns = own_ns;
  attempt.cpu_wait_ns = 0;
  return attempt;
}

TEST(WorkerLife, CountsLanesWhereverOwnersWaitForThem) {
  HelperTimes all, half;
  all.scope_ns = all.union_ns = 95;
  half.scope_ns = half.union_ns = 50;
  const std::vector<HelperTimes> helpers = {all, half};
  const auto cores = [&](const std::vector<AttemptRow>& attempts, int64_t lanes_peak) {
    return FindWorkerLives(attempts, {LifeProcess(1, 101, std::nullopt, lanes_peak)}, helpers, {0, 200}).at(0).cores;
  };
  EXPECT_EQ(cores({Helped(0, 0, 4), Helped(0, 0, 1, 98)}, 2), 1) << "a helper of both, and one of the two suspended";
  EXPECT_EQ(cores({Helped(0, 0, 4), LifeAttempt(0, 20, 60)}, 2), 1) << "a chunk inside the helper scope";
  EXPECT_EQ(cores({Helped(0, 0, 4), LifeAttempt(0, 20, 60)}, 3), 2) << "... and another helper";
  EXPECT_EQ(cores({Helped(0, 1, 50), Helped(0, 1, 50), Helped(0, 1, 50)}, 4), 3) << "one of three threads waited";
  EXPECT_EQ(cores({Helped(0, 0, 0, 5), Helped(0, 0, 0, 5), Helped(0, 0, 0, 5)}, 2), 2) << "events that no thread holds";
}

TEST(LanesPeak, IsNotRaisedByClocksThatAreReadOneAfterTheOther) {
  ChunkFact chunk;
  chunk.stop_ns = 11'000;
  chunk.cpu_ns = 10'000;
  chunk.lanes_peak = 1;
  chunk.unannounced_cpu_ns = 24'000;
  EXPECT_EQ(LanesPeakOf(chunk), 1);
  chunk.stop_ns = 100'000'000;
  chunk.unannounced_cpu_ns = 100'000'000;
  EXPECT_EQ(LanesPeakOf(chunk), 2) << "a thread beside the owner, who waits for it";
}

TEST(AllowedCores, CountEachHostOnce) {
  std::vector<ProcessRow> processes(3);
  processes[0].host = processes[1].host = "a";
  processes[2].host = "b";
  processes[0].allowed_cores = 4;
  processes[1].allowed_cores = 2;
  EXPECT_EQ(AllowedCores(processes), std::nullopt);  // b tells none
  processes[2].allowed_cores = 1.5;
  EXPECT_EQ(AllowedCores(processes), 5.5);
  EXPECT_EQ(AllowedCores({}), std::nullopt);
}

}  // namespace
}  // namespace crema
