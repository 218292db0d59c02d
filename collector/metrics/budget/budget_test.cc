#include "collector/metrics/budget/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

// A planted run; times in seconds since its start.
struct PlantedRun {
  std::vector<AttemptRow> attempts;
  std::vector<ProcessRow> processes;
  std::vector<HelperTimes> helpers;
  RunWindow run;

  explicit PlantedRun(double seconds) { run = {1000 * kSecondNs, 1000 * kSecondNs + Ns(seconds)}; }

  uint32_t AddProcess(double start, double stop, int64_t cores) {
    ProcessRow process;
    process.host = "node";
    process.pid = static_cast<int64_t>(processes.size()) + 1;
    process.start_ns = run.start_ns + Ns(start);
    process.last_ns = run.start_ns + Ns(stop);
    process.declared_threads = cores;
    processes.push_back(process);
    return static_cast<uint32_t>(processes.size() - 1);
  }

  // A result that spent all its time on the CPU, to be changed by the caller.
  AttemptRow& AddChunk(uint32_t process, double start, double stop) {
    AttemptRow attempt;
    attempt.process = process;
    attempt.start_ns = run.start_ns + Ns(start);
    attempt.duration_ns = Ns(stop) - Ns(start);
    attempt.cpu_ns = attempt.duration_ns;
    attempt.cpu_wait_ns = 0;
    attempt.is_result = true;
    attempts.push_back(attempt);
    return attempts.back();
  }

  AttemptRow& AddUnended(uint32_t process, double start, AttemptState status) {
    AttemptRow& attempt = AddChunk(process, start, start);
    attempt.duration_ns = attempt.cpu_ns = attempt.cpu_wait_ns = AttemptRow::kUnknown;
    attempt.is_result = false;
    attempt.status = status;
    return attempt;
  }

  void AddHelpers(AttemptRow& attempt, double scope, double in_union, double cpu, double wait) {
    attempt.helpers = static_cast<uint32_t>(helpers.size());
    HelperTimes times;
    times.scope_ns = Ns(scope);
    times.union_ns = Ns(in_union);
    times.cpu_ns = Ns(cpu);
    times.cpu_wait_ns = Ns(wait);
    helpers.push_back(times);
  }

  void AddSample(uint32_t process, double time, double cpu) {
    ProcessSample sample;
    sample.time_ns = run.start_ns + Ns(time);
    sample.cpu_ns = Ns(cpu);
    processes[process].samples.push_back(sample);
  }

  Budget Compute() const {
    return ComputeBudget(attempts, processes, helpers, FindWorkerLives(attempts, processes, helpers, run), run);
  }
};

double Part(const Budget& budget, std::string_view part) {
  for (const BudgetRow& row : budget.rows) {
    if (row.part == part) return *row.core_seconds;
  }
  ADD_FAILURE() << "no row " << part;
  return NAN;
}

// Expects these parts, and 0 for all others.
void ExpectParts(const Budget& budget, const std::vector<std::pair<std::string_view, double>>& expected) {
  double sum = 0;
  for (const BudgetRow& row : budget.rows) {
    double wanted = 0;
    for (const auto& [part, core_seconds] : expected) {
      if (row.part == part) wanted = core_seconds;
    }
    EXPECT_NEAR(*row.core_seconds, wanted, 1e-8) << row.part;
    sum += *row.core_seconds;
  }
  for (const auto& [part, core_seconds] : expected) Part(budget, part);
  EXPECT_NEAR(sum, budget.core_seconds, 1e-8);
}

TEST(Budget, HasTheSpecifiedPartsInOrderWithTheirGroups) {
  PlantedRun planted(10);
  planted.AddChunk(planted.AddProcess(0, 10, 1), 0, 10);
  std::vector<std::string> parts;
  for (const BudgetRow& row : planted.Compute().rows) {
    parts.push_back(std::string(row.part) + " - " + std::string(row.group));
  }
  EXPECT_EQ(parts, (std::vector<std::string>{
                       "compute - CPU in your code",
                       "cpu_wait - Waiting in your code",
                       "blocked - Waiting in your code",
                       "outside_chunk - Opening and reading around your code",
                       "framework - Framework and repeats",
                       "failed - Framework and repeats",
                       "joined - Idle",
                       "startup - Idle",
                       "idle - Idle",
                       "tail - Idle",
                       "shutdown - Idle",
                   }));
}

TEST(Budget, OfACoreThatAlwaysComputesIsAllCompute) {
  PlantedRun planted(10);
  planted.AddChunk(planted.AddProcess(0, 10, 1), 0, 10);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 10}});
  EXPECT_EQ(budget.core_seconds, 10);
  EXPECT_EQ(budget.rows[0].share, 1);
  EXPECT_EQ(budget.tail_time, 0);
  EXPECT_EQ(budget.balance, 1);
}

TEST(Budget, PartsStartupIdleAndShutdownOfOneCore) {
  PlantedRun planted(20);
  const uint32_t process = planted.AddProcess(1, 18, 1);
  planted.AddChunk(process, 3, 6);
  planted.AddChunk(process, 8, 12);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 7}, {"startup", 2}, {"idle", 2}, {"shutdown", 6}});
  EXPECT_DOUBLE_EQ(budget.core_seconds, 17);
  EXPECT_DOUBLE_EQ(*budget.balance, 7.0 / 9);
}

TEST(Budget, TellsTheTailFromIdleByTheLastMomentOfNinetyPercent) {
  PlantedRun planted(100);
  const uint32_t process = planted.AddProcess(0, 100, 10);
  for (int lane = 0; lane < 9; ++lane) planted.AddChunk(process, 0, 40);  // 9 of 10: just enough
  planted.AddChunk(process, 40, 90);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 410}, {"idle", 40}, {"tail", 450}, {"shutdown", 100}});
  EXPECT_EQ(budget.tail_start_ns, planted.run.start_ns + 40 * kSecondNs);
  EXPECT_EQ(budget.tail_time, 50);
  EXPECT_DOUBLE_EQ(*budget.balance, 0.9);
}

TEST(Budget, HasNoTailWhereNinetyPercentWereNeverOccupied) {
  PlantedRun planted(100);
  const uint32_t process = planted.AddProcess(0, 100, 10);
  for (int lane = 0; lane < 8; ++lane) planted.AddChunk(process, 0, 50);
  planted.AddChunk(process, 50, 90);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 440}, {"idle", 460}, {"shutdown", 100}});
  EXPECT_EQ(budget.tail_start_ns, std::nullopt);
  EXPECT_EQ(budget.tail_time, std::nullopt);
  EXPECT_DOUBLE_EQ(*budget.balance, 440.0 / 900);
}

TEST(Budget, MeasuresTheTailOverAllWorkersAndTheStartupOfEach) {
  PlantedRun planted(30);
  const uint32_t fast = planted.AddProcess(0, 25, 1);
  const uint32_t slow = planted.AddProcess(2, 30, 1);
  planted.AddChunk(fast, 1, 10);
  planted.AddChunk(slow, 5, 28);
  const Budget budget = planted.Compute();
  // Both busy until 10; then the fast one has nothing left, until it leaves at 25, when one of one is busy again.
  ExpectParts(budget, {{"compute", 32}, {"startup", 1 + 3}, {"idle", 15}, {"shutdown", 2}});
  EXPECT_EQ(budget.tail_time, 0);
}

TEST(Budget, TakesNoInstantWithoutLiveCoresForAFullOne) {
  PlantedRun planted(40);
  const uint32_t first = planted.AddProcess(0, 10, 2);
  const uint32_t second = planted.AddProcess(20, 40, 2);
  planted.AddChunk(first, 0, 10);
  planted.AddChunk(second, 20, 40);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 30}, {"idle", 30}});
  EXPECT_EQ(budget.tail_time, std::nullopt);
}

TEST(Budget, SplitsAChunkIntoCpuRunDelayAndBlocked) {
  PlantedRun planted(10);
  AttemptRow& chunk = planted.AddChunk(planted.AddProcess(0, 10, 1), 0, 10);
  chunk.cpu_ns = 3 * kSecondNs;
  chunk.cpu_wait_ns = 2 * kSecondNs;
  ExpectParts(planted.Compute(), {{"compute", 3}, {"cpu_wait", 2}, {"blocked", 5}});
}

TEST(Budget, ClipsFiguresThatDoNotFitTheDuration) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  AttemptRow& too_much_cpu = planted.AddChunk(process, 0, 10);
  too_much_cpu.cpu_ns = 11 * kSecondNs;
  too_much_cpu.cpu_wait_ns = 1 * kSecondNs;
  AttemptRow& too_much_wait = planted.AddChunk(process, 0, 10);
  too_much_wait.cpu_ns = 8 * kSecondNs;
  too_much_wait.cpu_wait_ns = 5 * kSecondNs;
  ExpectParts(planted.Compute(), {{"compute", 18}, {"cpu_wait", 2}});
}

TEST(Budget, MergesWaitingWhereTheKernelDoesNotTellTheRunDelay) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  AttemptRow& known = planted.AddChunk(process, 0, 10);
  known.cpu_ns = 3 * kSecondNs;
  known.cpu_wait_ns = 2 * kSecondNs;
  AttemptRow& unknown = planted.AddChunk(process, 0, 10);
  unknown.cpu_ns = 4 * kSecondNs;
  unknown.cpu_wait_ns = AttemptRow::kUnknown;
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 7}, {"waiting", 13}});
  EXPECT_EQ(budget.rows[1].part, "waiting");
  EXPECT_EQ(budget.rows[1].group, "Waiting in your code");
  EXPECT_EQ(budget.rows.size(), 10u);
}

TEST(Budget, MergesWaitingWhereTheHelpersRunDelayIsNotKnown) {
  PlantedRun planted(10);
  AttemptRow& chunk = planted.AddChunk(planted.AddProcess(0, 10, 2), 0, 10);
  chunk.cpu_ns = 4 * kSecondNs;
  planted.AddHelpers(chunk, /*scope=*/10, /*in_union=*/0, /*cpu=*/7, /*wait=*/0);
  planted.helpers[0].cpu_wait_ns = AttemptRow::kUnknown;
  ExpectParts(planted.Compute(), {{"compute", 11}, {"waiting", 9}});
}

TEST(Budget, SpreadsHelpersOverTheirChunkAndLetsTheOwnerJoinThem) {
  PlantedRun planted(10);
  AttemptRow& chunk = planted.AddChunk(planted.AddProcess(0, 10, 4), 0, 10);
  chunk.cpu_ns = 2 * kSecondNs;
  chunk.cpu_wait_ns = 1 * kSecondNs;
  planted.AddHelpers(chunk, /*scope=*/18, /*in_union=*/6, /*cpu=*/15, /*wait=*/1);
  // 1 + 1.8 of 4 lanes are occupied; the owner joins for 6 of the 7 seconds it neither ran nor waited for a CPU.
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 2 + 15}, {"cpu_wait", 2}, {"blocked", 1 + 2}, {"joined", 6}, {"idle", 12}});
  EXPECT_EQ(budget.tail_time, std::nullopt);
}

TEST(Budget, HasNoLaneForAnOwnerThatOnlyWaitsForItsHelpers) {
  PlantedRun planted(10);
  AttemptRow& chunk = planted.AddChunk(planted.AddProcess(0, 10, 2), 0, 10);
  chunk.cpu_ns = 0;
  planted.AddHelpers(chunk, /*scope=*/20, /*in_union=*/10, /*cpu=*/20, /*wait=*/0);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 20}});
  EXPECT_EQ(budget.oversubscribed_core_seconds, 0);
  EXPECT_EQ(budget.balance, 1);
}

TEST(Budget, CountsHelpersForTheNinetyPercent) {
  PlantedRun planted(20);
  const uint32_t process = planted.AddProcess(0, 20, 2);
  planted.AddHelpers(planted.AddChunk(process, 0, 10), 8, 8, 8, 0);  // 1.8 of 2 lanes: exactly 90 %
  planted.AddChunk(process, 10, 20);
  const Budget budget = planted.Compute();
  EXPECT_EQ(budget.tail_time, 10);
  EXPECT_NEAR(Part(budget, "tail"), 10, 1e-8);
  EXPECT_NEAR(Part(budget, "idle"), 2, 1e-8);
}

TEST(Budget, ClipsHelpersCpuAndWaitToTheirScopes) {
  PlantedRun planted(10);
  AttemptRow& chunk = planted.AddChunk(planted.AddProcess(0, 10, 2), 0, 10);
  planted.AddHelpers(chunk, 4, 4, 9, 9);
  ExpectParts(planted.Compute(), {{"compute", 14}, {"idle", 6}});  // an owner that computed all along joined nobody
}

TEST(Budget, BooksFailedRepeatedAndLostLaneTimeAsFailed) {
  PlantedRun planted(20);
  const uint32_t process = planted.AddProcess(0, 20, 2);
  AttemptRow& failed = planted.AddChunk(process, 0, 4);
  failed.status = AttemptState::kFailed;
  failed.is_result = false;
  planted.AddHelpers(failed, 2, 2, 2, 0);
  planted.AddChunk(process, 4, 7).is_result = false;  // done again later
  planted.AddChunk(process, 7, 10);
  planted.AddUnended(process, 12, AttemptState::kLost);  // until the process's end
  const Budget budget = planted.Compute();
  // Free: 0.5 x 4 while the failed one ran, then one lane until 10 (idle), and one beside the lost attempt.
  ExpectParts(budget, {{"compute", 3}, {"failed", 4 + 2 + 3 + 8}, {"idle", 2 + 6}, {"shutdown", 4 + 8}});
}

// Set-up on one core of two until 4 s, an idle second, a chunk that computes for half of its time, nothing.
TEST(Budget, FillsFreeLanesWithCpuOutsideChunks) {
  PlantedRun planted(12);
  const uint32_t process = planted.AddProcess(0, 12, 2);
  for (const auto& [time, cpu] : std::vector<std::pair<double, double>>{
           {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 4}, {6, 4}, {7, 4}, {8, 5}, {9, 6}, {10, 7}, {11, 7}, {12, 7}}) {
    planted.AddSample(process, time, cpu);
  }
  planted.AddChunk(process, 5.5, 9.5).cpu_ns = 2 * kSecondNs;
  // From 5 to 10 s no sample is without the chunk: 3 s of CPU, 2 of them the chunk's. The other one was after 7 s; each
  // second since then can have a third of it, the last one has 0.5 free lane seconds in the chunk and 1 after it.
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 2},
                       {"blocked", 2},
                       {"process_cpu", 4 + 1},
                       {"startup", 4 + 2 + 1},
                       {"idle", 4 - 1.0 / 3 * (1 + 1 + 0.5 / 1.5)},
                       {"shutdown", 1 + 4 - 1.0 / 3 * 1 / 1.5}});
}

// Four threads take turns on two cores, between their chunks, too; only 0.2 s of that can have been before the chunks.
TEST(Budget, DoesNotCallFreeCoresWaitingForWhatWaitedWhileNoCoreWasFree) {
  PlantedRun planted(12);
  const uint32_t process = planted.AddProcess(0, 12, 2);
  for (const auto& [time, cpu, delay] :
       std::vector<std::tuple<double, double, double>>{{1, 0, 0}, {2, 0, 0}, {3, 0, 0.2}, {10, 7.5, 8}, {12, 7.5, 8}}) {
    planted.AddSample(process, time, cpu);
    planted.processes[process].samples.back().run_delay_ns = Ns(delay);
  }
  for (int lane = 0; lane < 2; ++lane) {
    AttemptRow& chunk = planted.AddChunk(process, 2.5, 10);
    chunk.cpu_ns = Ns(3.75);
    chunk.cpu_wait_ns = 2 * kSecondNs;
  }
  ExpectParts(planted.Compute(), {{"compute", 7.5},
                                  {"cpu_wait", 4},
                                  {"blocked", 3.5},
                                  {"process_cpu_wait", 0.2},
                                  {"startup", 5 - 0.2},
                                  {"shutdown", 4}});
}

// The process waits for a CPU for 3 of the 4 s before its first chunk, and for one of two idle seconds; the chunk waits
// for 2 s.
TEST(Budget, CallsRunDelayOutsideChunksNeitherStartUpNorIdle) {
  PlantedRun planted(12);
  const uint32_t process = planted.AddProcess(0, 12, 1);
  for (const auto& [time, cpu, delay] :
       std::vector<std::tuple<double, double, double>>{{3.9, 0.9, 3}, {8, 2.9, 5}, {10, 2.9, 6}, {12, 4.9, 6}}) {
    planted.AddSample(process, time, cpu);
    planted.processes[process].samples.back().run_delay_ns = Ns(delay);
  }
  AttemptRow& first = planted.AddChunk(process, 4, 8);
  first.cpu_ns = 2 * kSecondNs;
  first.cpu_wait_ns = 2 * kSecondNs;
  planted.AddChunk(process, 10, 12).cpu_ns = 2 * kSecondNs;
  ExpectParts(planted.Compute(), {{"compute", 4},
                                  {"cpu_wait", 2},
                                  {"process_cpu", 0.9},
                                  {"process_cpu_wait", 3 + 1},
                                  {"startup", 0.1},
                                  {"idle", 1}});
}

TEST(Budget, DividesAPartOfACore) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 1);
  planted.processes[process].declared_threads.reset();
  planted.processes[process].allowed_cores = 0.5;
  AttemptRow& chunk = planted.AddChunk(process, 0, 8);
  chunk.cpu_ns = 4 * kSecondNs;
  chunk.cpu_wait_ns = 4 * kSecondNs;
  const Budget budget = planted.Compute();
  EXPECT_DOUBLE_EQ(budget.core_seconds, 5);
  ExpectParts(budget, {{"compute", 4}, {"shutdown", 1}});
  EXPECT_DOUBLE_EQ(budget.oversubscribed_core_seconds, 4);
}

TEST(Budget, HasNoMoreCpuOutsideChunksThanWasFree) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 1);
  planted.AddSample(process, 10, 30);  // threads that recorded nothing
  planted.AddChunk(process, 2, 8);
  ExpectParts(planted.Compute(), {{"compute", 6}, {"process_cpu", 4}});
}

TEST(Budget, SaysNothingOfCpuOutsideChunksWhereAChunkWasOpenAtEverySample) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  planted.processes[process].start_ns = 0;  // its line was lost
  planted.AddSample(process, 4, 4);
  planted.AddSample(process, 6, 8);
  planted.AddChunk(process, 2, 8).cpu_ns = 0;
  ExpectParts(planted.Compute(), {{"blocked", 6}, {"process_cpu", 0}, {"idle", 6}, {"shutdown", 4}});
}

TEST(Budget, DoesNotCountCpuOfTasksAndOfUnknownChunksOutsideChunks) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  planted.AddSample(process, 10, 10);
  planted.AddChunk(process, 0, 3).cpu_ns = AttemptRow::kUnknown;
  TaskStretch task;
  task.process = process;
  task.start_ns = planted.run.start_ns + 3 * kSecondNs;
  task.stop_ns = planted.run.start_ns + 8 * kSecondNs;
  const Budget budget =
      ComputeBudget(planted.attempts, planted.processes, planted.helpers,
                    FindWorkerLives(planted.attempts, planted.processes, planted.helpers, planted.run), planted.run,
                    {{task}, {}, {}});
  EXPECT_NEAR(Part(budget, "process_cpu"), 10 - 3 - 5, 1e-8);
  EXPECT_NEAR(Part(budget, "framework"), 5, 1e-8);
  EXPECT_NEAR(Part(budget, "unmeasured"), 3, 1e-8);
}

/// The budget with tasks that hold cores; `stretches`: the parts of them without a chunk.
Budget ComputeWithTasks(const PlantedRun& planted, std::vector<TaskCores> tasks,
                        std::vector<TaskStretch> stretches = {}) {
  for (TaskCores& task : tasks) {
    task.start_ns = planted.run.start_ns + task.start_ns * kSecondNs;
    task.stop_ns = planted.run.start_ns + task.stop_ns * kSecondNs;
  }
  const EngineTime engine = {std::move(stretches), {}, std::move(tasks)};
  return ComputeBudget(planted.attempts, planted.processes, planted.helpers,
                       FindWorkerLives(planted.attempts, planted.processes, planted.helpers, planted.run), planted.run,
                       engine);
}

TEST(Budget, CoresThatATaskHoldsBesideThoseThatItUsesAreNotIdle) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 4);
  planted.AddChunk(process, 2, 8);
  planted.AddChunk(process, 2, 10);
  TaskStretch stretch;  // the first task around its chunk
  stretch.process = process;
  stretch.around_chunk = true;
  stretch.start_ns = planted.run.start_ns + 8 * kSecondNs;
  stretch.stop_ns = planted.run.start_ns + 9 * kSecondNs;
  // three cores for one lane from 2 to 9, and one core for the other until 10: all four are held while both are there
  const Budget budget = ComputeWithTasks(planted, {{process, 2, 9, 3}, {process, 2, 10, 1}}, {stretch});
  ExpectParts(budget,
              {{"compute", 14}, {"outside_chunk", 1}, {"unused_by_tasks", 2 * 7}, {"startup", 4 * 2}, {"tail", 3}});
  EXPECT_EQ(budget.tail_start_ns, planted.run.start_ns + 9 * kSecondNs) << "until then no other task found a core";
}

TEST(Budget, LanesBeyondTheCoresOfTheirTaskTakeThoseOfNoOther) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  for (int lane = 0; lane < 3; ++lane) planted.AddChunk(process, 0, 10);
  const Budget budget = ComputeWithTasks(planted, {{process, 0, 10, 2}});
  ExpectParts(budget, {{"compute", 20}, {"unused_by_tasks", 0}});
  EXPECT_NEAR(budget.oversubscribed_core_seconds, 10, 1e-9);
}

TEST(Budget, HasUnusedCoresOfTasksOnlyWhereTheyAreTold) {
  PlantedRun planted(10);
  planted.AddChunk(planted.AddProcess(0, 10, 2), 0, 10);
  for (const BudgetRow& row : planted.Compute().rows) EXPECT_NE(row.part, "unused_by_tasks");
}

TEST(Budget, BooksLanesBeyondTheCoresAsOversubscribed) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  for (int lane = 0; lane < 3; ++lane) {
    AttemptRow& chunk = planted.AddChunk(process, 0, 8);
    chunk.cpu_ns = 5 * kSecondNs;
    chunk.cpu_wait_ns = 3 * kSecondNs;
  }
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 15}, {"cpu_wait", 1}, {"shutdown", 4}});
  EXPECT_NEAR(budget.oversubscribed_core_seconds, 8, 1e-9);
  EXPECT_EQ(budget.core_seconds, 20);
}

TEST(Budget, GivesThreadsThatWaitNoMoreThanTheCores) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  for (int lane = 0; lane < 6; ++lane) {  // 60 lane-seconds for 20 core-seconds
    AttemptRow& chunk = planted.AddChunk(process, 0, 10);
    chunk.cpu_ns = kSecondNs;
    chunk.cpu_wait_ns = kSecondNs;
  }
  const Budget budget = planted.Compute();
  const double left = (20.0 - 6) / (60 - 6);  // of each kind of waiting
  ExpectParts(budget, {{"compute", 6}, {"cpu_wait", 6 * left}, {"blocked", 48 * left}});
  EXPECT_NEAR(budget.occupied_core_seconds, 20, 1e-9);
  EXPECT_EQ(budget.balance, 1);
}

TEST(Budget, SpreadsNoThreadOverMoreThanItsCore) {
  PlantedRun planted(30);
  const uint32_t process = planted.AddProcess(0, 30, 1);
  AttemptRow& outer = planted.AddChunk(process, 0, 30);  // and from 10 to 20 another one
  outer.suspended_ns = 10 * kSecondNs;
  outer.duration_ns = outer.cpu_ns = 20 * kSecondNs;
  planted.AddChunk(process, 10, 20);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 30}});
  EXPECT_NEAR(budget.oversubscribed_core_seconds, 0, 1e-9);
  EXPECT_NEAR(*budget.balance, 1, 1e-9);
}

TEST(Budget, DoesNotOversubscribeWhereOneChunkStopsAsTheNextBegins) {
  PlantedRun planted(30);
  const uint32_t process = planted.AddProcess(0, 30, 1);
  for (int i = 0; i < 30; ++i) planted.AddChunk(process, i, i + 1);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 30}});
  EXPECT_EQ(budget.oversubscribed_core_seconds, 0);
}

TEST(Budget, TakesThirdsOfALaneForExactlyTheCoresTheyFill) {
  PlantedRun planted(30);
  const uint32_t process = planted.AddProcess(0, 30, 5);
  for (int i = 0; i < 3; ++i) planted.AddHelpers(planted.AddChunk(process, 0, 30), 20, 20, 20, 0);
  const Budget budget = planted.Compute();
  EXPECT_EQ(budget.oversubscribed_core_seconds, 0);
  EXPECT_NEAR(Part(budget, "idle"), 0, 1e-8);
  EXPECT_EQ(budget.tail_time, 0);
}

TEST(Budget, LeavesOutWhatLiesOutsideTheRun) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(-10, 15, 1);
  AttemptRow& across = planted.AddChunk(process, -5, 5);
  across.cpu_ns = 4 * kSecondNs;
  planted.AddChunk(process, -9, -6);
  planted.AddChunk(process, 12, 14);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 2}, {"blocked", 3}, {"tail", 5}});  // the last chunk stops after the run
  EXPECT_EQ(budget.core_seconds, 10);
}

TEST(Budget, OfWorkersWithoutAnEndedAttemptHasNeitherTailNorShutdown) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 2);
  planted.AddUnended(process, 4, AttemptState::kLost);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"failed", 6}, {"startup", 8}, {"idle", 6}});
  EXPECT_EQ(budget.tail_time, std::nullopt);
  EXPECT_EQ(budget.balance, std::nullopt);
}

TEST(Budget, KeepsOpenAttemptsOfALiveRunApart) {
  PlantedRun planted(10);
  const uint32_t process = planted.AddProcess(0, 10, 1);
  planted.AddChunk(process, 0, 6);
  planted.AddUnended(process, 6, AttemptState::kRunning);
  const Budget budget = planted.Compute();
  ExpectParts(budget, {{"compute", 6}, {"unmeasured", 4}});
  EXPECT_EQ(budget.rows.back().group, "Not measured");
}

TEST(Budget, CallsLaneTimeOfUnknownCpuNeitherComputeNorWaiting) {
  PlantedRun planted(10);
  AttemptRow& chunk = planted.AddChunk(planted.AddProcess(0, 10, 1), 0, 10);
  chunk.cpu_ns = AttemptRow::kUnknown;
  chunk.cpu_wait_ns = AttemptRow::kUnknown;
  ExpectParts(planted.Compute(), {{"unmeasured", 10}});
}

TEST(Budget, OfNothingIsZeroWithoutShares) {
  const Budget budget = PlantedRun(0).Compute();
  ExpectParts(budget, {});
  EXPECT_EQ(budget.core_seconds, 0);
  EXPECT_EQ(budget.rows[0].share, std::nullopt);
  EXPECT_EQ(budget.balance, std::nullopt);
}

}  // namespace
}  // namespace crema
