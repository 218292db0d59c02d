#include "collector/metrics/engine/task_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/engines/engines.h"
#include "collector/idioms/units.h"

namespace crema {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kOrigin = 1'700'000'000 * kSecondNs;
constexpr uint32_t kNone = TaskRow::kNone;
const Engine kEngine = {{"Vine"}, "", ".vine.log", nullptr, nullptr};

ClusterTaskFact Task(int number, int64_t start, int64_t stop, const std::string& worker = "w1") {
  ClusterTaskFact task;
  task.worker = worker;
  task.start_ns = kOrigin + start * kSecondNs;
  task.stop_ns = kOrigin + stop * kSecondNs;
  task.job = "vine " + std::to_string(number);
  task.directory = "task." + std::to_string(number);
  return task;
}

ClusterTable Table(std::vector<ClusterTaskFact> tasks, std::optional<int64_t> offset_s = std::nullopt) {
  ClusterFact cluster;
  cluster.epoch = "1";
  cluster.last_ns = kOrigin + 1000 * kSecondNs;
  ClusterWorkerFact& worker = cluster.workers.emplace_back();
  worker.address = "w1";
  worker.host = "127.0.0.1";
  worker.threads = 2;
  worker.joined_ns = kOrigin;
  if (offset_s.has_value()) worker.clock_offset_ns = *offset_s * kSecondNs;
  cluster.tasks = std::move(tasks);
  ClusterTable table;
  table.Add(kEngine, std::move(cluster));
  return table;
}

ProcessRow NodeProcess(int64_t start, int64_t last, const std::string& directory = "", const std::string& job = "") {
  ProcessRow row;
  row.host = "node";
  row.pid = 100 + start;
  row.start_ns = kOrigin + start * kSecondNs;
  row.last_ns = kOrigin + last * kSecondNs;
  row.working_directory = directory;
  row.job = job;
  return row;
}

TaskOfProcess Match(const ClusterTable& table, std::vector<ProcessRow> processes) {
  return MatchTaskProcesses(table, &processes);
}

TEST(MatchTaskProcesses, AProcessIsKnownByItsJobOrItsDirectory) {
  const ClusterTable table = Table({Task(1, 0, 10), Task(2, 0, 10), Task(12, 0, 10)});
  EXPECT_THAT(
      Match(table, {NodeProcess(1, 9, "/home", "vine 2"), NodeProcess(1, 9, "/s/worker-0-7/task.12/deeper"),
                    NodeProcess(1, 9, "/elsewhere"), NodeProcess(1, 9, "/s/task.3"), NodeProcess(1, 9, "", "slurm 2")}),
      ElementsAre(1, 2, kNone, kNone, kNone));
}

TEST(MatchTaskProcesses, AStepIsKnownByItsOwnNumberElseByItsJobs) {
  std::vector<ClusterTaskFact> tasks = {Task(7, 0, 30), Task(8, 0, 30)};
  tasks[0].job = "slurm 7.0";
  tasks[1].job = "slurm 8";
  EXPECT_THAT(Match(Table(std::move(tasks)), {NodeProcess(1, 9, "", "slurm 7.0"), NodeProcess(1, 9, "", "slurm 8.3"),
                                              NodeProcess(1, 9, "", "slurm 7.1"), NodeProcess(1, 9, "", "slurm 7")}),
              ElementsAre(0, 1, kNone, kNone));
}

TEST(MatchTaskProcesses, WhatRunsBesideTheStepsIsTheScripts) {
  std::vector<ClusterTaskFact> tasks = {Task(7, 0, 30), Task(8, 0, 15)};
  tasks[0].job = "slurm 7";
  tasks[0].is_script = true;
  tasks[1].job = "slurm 7.0";
  const ClusterTable table = Table(std::move(tasks));
  EXPECT_THAT(Match(table, {NodeProcess(20, 29, "", "slurm 7"), NodeProcess(1, 9, "", "slurm 7.0"),
                            NodeProcess(1, 9, "", "slurm 7.1")}),
              ElementsAre(0, 1, kNone))
      << "a step of which nobody told is not the script";
  EXPECT_THAT(Match(table, {NodeProcess(2, 9)}), ElementsAre(1)) << "and neither is what says nothing";
  const std::vector<ProcessRow> processes = {NodeProcess(20, 24), NodeProcess(22, 29), NodeProcess(1, 9)};
  const std::map<uint32_t, RunWindow> lives = LivesOfTasks({0, 0, kNone}, processes);
  ASSERT_EQ(lives.size(), 1u);
  EXPECT_EQ(lives.at(0).start_ns, processes[0].start_ns);
  EXPECT_EQ(lives.at(0).stop_ns, processes[1].last_ns);
}

TEST(MatchTaskProcesses, OfTasksAtOnceItIsTheOneOnItsHost) {
  ClusterTable table;
  for (const char* host : {"far", "node"}) {
    ClusterFact cluster;
    cluster.epoch = host;
    ClusterWorkerFact& worker = cluster.workers.emplace_back();
    worker.address = worker.host = host;
    cluster.tasks = {Task(1, host[0] == 'f' ? 5 : 0, 30, host)};
    table.Add(kEngine, std::move(cluster));
  }
  EXPECT_THAT(Match(table, {NodeProcess(5, 9, "task.1")}), ElementsAre(1)) << "and not the one that began just then";
}

TEST(MatchTaskProcesses, OfSeveralAttemptsItIsTheOneThatRanThen) {
  const ClusterTable table = Table({Task(1, 0, 10), Task(1, 20, 30)});
  EXPECT_THAT(Match(table, {NodeProcess(21, 29, "task.1"), NodeProcess(0, 9, "task.1"), NodeProcess(15, 19, "task.1")}),
              ElementsAre(1, 0, kNone));
}

TEST(MatchTaskProcesses, AProcessThatSaysNothingIsKnownByItsLifeWhereThatIsClear) {
  const ClusterTable table = Table({Task(1, 0, 10), Task(2, 20, 40), Task(3, 25, 40)});
  EXPECT_THAT(Match(table, {NodeProcess(1, 9), NodeProcess(26, 30), NodeProcess(5, 15)}), ElementsAre(0, kNone, kNone))
      << "the second may be in either of two tasks, the third in none";
}

TEST(MatchTaskProcesses, ClocksThatAreApartAreHeldAgainstEachOtherAndMoved) {
  const ClusterTable table = Table({Task(1, 3600, 3610)}, 3600);
  std::vector<ProcessRow> processes = {NodeProcess(1, 9, "task.1")};
  EXPECT_THAT(MatchTaskProcesses(table, &processes), ElementsAre(0));
  EXPECT_EQ(processes[0].clock_offset_ns, 3600 * kSecondNs);
}

TEST(MoveToWorkers, WhatAProcessDidItsWorkerDid) {
  const ClusterTable table = Table({Task(1, 0, 10), Task(2, 5, 15)});
  RecordFindings findings;
  findings.processes.processes = {NodeProcess(1, 9, "/s/worker-0-77/task.1"),
                                  NodeProcess(6, 14, "/s/worker-0-77/task.2"), NodeProcess(0, 20, "/job")};
  for (int i = 0; i < 2; ++i) {
    ProcessSample sample;
    sample.time_ns = kOrigin + 7 * kSecondNs;
    sample.rss_bytes = 100 * (i + 1);
    findings.processes.processes[i].samples.push_back(sample);
  }
  findings.processes.processes[0].state = ProcessState::kEnded;
  findings.processes.processes[1].state = ProcessState::kUnreported;
  findings.processes.serves_engine.resize(3);
  const TaskOfProcess task_of_process = MatchTaskProcesses(table, &findings.processes.processes);
  const std::vector<ClusterWorker> workers = MatchWorkers(table, findings.processes);
  ASSERT_EQ(workers.size(), 1u);
  const uint32_t worker = workers[0].process;
  findings.attempts.bytes_of_process.resize(findings.processes.processes.size());
  findings.attempts.bytes_of_process[1].Add(int64_t{500}, std::nullopt);
  for (uint32_t process = 0; process < 3; ++process) {
    AttemptRow row;
    row.process = process;
    findings.attempts.rows.Add(row);
  }
  findings.attempts.rows.Seal();
  EXPECT_THAT(MoveToWorkers(table, workers, task_of_process, &findings), ElementsAre(worker));
  EXPECT_EQ(findings.attempts.rows[0].process, worker);
  EXPECT_EQ(findings.attempts.rows[0].recording_process(), 0u);
  EXPECT_EQ(findings.attempts.rows[1].process, worker);
  EXPECT_EQ(findings.attempts.rows[2].process, 2u) << "it belonged to no task";
  EXPECT_EQ(findings.attempts.bytes_of_process[worker].read, 500);
  EXPECT_EQ(findings.attempts.bytes_of_process[1].read, 0);
  EXPECT_EQ(findings.processes.processes[0].last_ns, kOrigin + 9 * kSecondNs);
  EXPECT_EQ(findings.processes.processes[1].last_ns, kOrigin + 15 * kSecondNs)
      << "it did not say when it ended: until its task did";
  const ProcessRow& row = findings.processes.processes[worker];
  EXPECT_EQ(row.process(), "node:77");
  EXPECT_EQ(row.declared_threads, 2);
  std::vector<int64_t> memory;
  for (const ProcessSample& sample : row.samples) memory.push_back(sample.rss_bytes.value_or(-1));
  EXPECT_THAT(memory, ElementsAre(100, 300, 200, 0)) << "of the processes that live at a time";
  EXPECT_FALSE(findings.processes.serves_engine[2]);
}

TEST(WorkerOfTask, NamesTheWorkerOfAProcess) {
  const ClusterTable table = Table({Task(1, 0, 10)});
  const WorkerOfTask workers(table);
  EXPECT_EQ(workers.Find(NodeProcess(1, 0, "task.1")), "w1");
  EXPECT_EQ(workers.Find(NodeProcess(1, 0, "task.2")), "");
}

}  // namespace
}  // namespace crema
