#include "collector/metrics/engine/cluster_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/metrics/engine/task_processes.h"

namespace crema {
namespace {

using ::testing::ElementsAre;

const Engine kDaskLike = {{"Dask"}, "", ".ndjson", nullptr, nullptr};

ClusterWorkerFact WorkerOf(const std::string& address, std::optional<int64_t> start_ns = std::nullopt,
                           std::optional<int64_t> pid = std::nullopt) {
  ClusterWorkerFact worker;
  worker.address = address;
  worker.hostname = "node";
  worker.process_start_ns = start_ns;
  worker.pid = pid;
  return worker;
}

ProcessRow RecordedOn(const std::string& host, int64_t start_ns, const std::string& engine_worker = "",
                      int64_t pid = 7) {
  ProcessRow row;
  row.host = host;
  row.start_ns = start_ns;
  row.engine_worker = engine_worker;
  row.pid = pid;
  return row;
}

std::vector<uint32_t> ProcessesOf(std::vector<ClusterWorkerFact> workers, std::vector<ProcessRow> processes) {
  ClusterFact cluster;
  cluster.epoch = "1";
  cluster.workers = std::move(workers);
  ClusterTable table;
  table.Add(kDaskLike, std::move(cluster));
  ProcessFindings findings;
  findings.processes = std::move(processes);
  return Mapped<uint32_t>(MatchWorkers(table, findings), &ClusterWorker::process);
}

TEST(MatchWorkers, AWorkerIsKnownByItsStartElseByItsAddress) {
  EXPECT_THAT(ProcessesOf({WorkerOf("a", 5), WorkerOf("b"), WorkerOf("c", 6, 8), WorkerOf("d", 6)},
                          {RecordedOn("other", 5), RecordedOn("node", 5), RecordedOn("other", 9, "b"),
                           RecordedOn("node", 6), RecordedOn("node", 6, "", 8)}),
              ElementsAre(1, 2, 4, 3));
}

TEST(MatchWorkers, AProcessHasTheAddressOfTheWorkerThatItLastWas) {
  EXPECT_THAT(ProcessesOf({WorkerOf("b", 5), WorkerOf("b"), WorkerOf("a")}, {RecordedOn("node", 5, "a")}),
              ElementsAre(0, 0, 1));
}

TEST(MatchWorkers, OneWithoutRecordsIsFoundAgainOnlyIfItSaysWhichProcessItIs) {
  EXPECT_THAT(ProcessesOf({WorkerOf("a"), WorkerOf("a"), WorkerOf("b", 5), WorkerOf("b", 5)}, {}),
              ElementsAre(0, 1, 2, 2));
}

// The next two take minutes if each is held against all others.
TEST(MatchWorkers, ThereMayBeManyWorkers) {
  constexpr uint32_t kMany = 50'000;
  std::vector<ClusterWorkerFact> workers;
  std::vector<ProcessRow> processes;
  for (uint32_t i = 0; i < kMany; ++i) {
    workers.push_back(WorkerOf(fmt::format("tcp://worker:{}", kMany - i), i));
    processes.push_back(RecordedOn("node", kMany - 1 - i));
  }
  const std::vector<uint32_t> matched = ProcessesOf(workers, processes);
  for (uint32_t i = 0; i < kMany; ++i) EXPECT_EQ(matched[i], kMany - 1 - i);
}

TEST(AlignWithRecords, AStepMayHaveManyNodesAndProcesses) {
  constexpr int64_t kMany = 30'000;
  constexpr Engine kBatch = {
      {"Slurm", "scheduler", "step", "", {}, {}, {}, /*numbers_jobs=*/true}, "", "", nullptr, nullptr};
  constexpr int64_t kHour = 3'600'000'000'000;
  ClusterFact cluster;
  cluster.epoch = "1";
  cluster.log = "jobs.txt";
  cluster.address = "job 7";
  std::vector<ProcessRow> processes;
  for (int64_t i = 0; i < kMany; ++i) {
    ClusterWorkerFact& worker = cluster.workers.emplace_back(WorkerOf(fmt::format("job 7 on node{}", i)));
    worker.left_ns = 10 * kHour;
    ClusterTaskFact& task = cluster.tasks.emplace_back();
    task.worker = worker.address;
    task.job = "slurm 7.0";
    task.start_ns = kHour;
    task.stop_ns = 10 * kHour;
    ProcessRow& process = processes.emplace_back(RecordedOn("node", 3 * kHour));
    process.last_ns = 12 * kHour;
    process.job = task.job;
  }
  ClusterTable table;
  table.Add(kBatch, std::move(cluster));
  EXPECT_EQ(AlignWithRecords(processes, &table).size(), 1u);
  EXPECT_EQ(table.by_epoch().begin()->second.tasks.front().start_ns, 3 * kHour);
}

}  // namespace
}  // namespace crema
