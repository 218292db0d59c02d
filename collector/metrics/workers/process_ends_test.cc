#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/engine/task_processes.h"

namespace crema {
namespace {

constexpr int64_t kOrigin = 1'700'000'000 * kSecondNs;

TreeRun Tree(std::optional<int64_t> kills) {
  TreeRun run;
  run.run.host = "node";
  run.run.start_ns = kOrigin;
  TreeEndFact end;
  end.time_ns = kOrigin + 60 * kSecondNs;
  end.totals.oom_kills = kills;
  run.Add(end);
  return run;
}

TreeReapFact Reaped(int64_t pid, int exit_status) {
  TreeReapFact reaped;
  reaped.time_ns = kOrigin + 20 * kSecondNs;
  reaped.pid = pid;
  reaped.exit_status = exit_status;
  return reaped;
}

ProcessRow Process(int64_t pid, const std::string& host = "node", int64_t start = 1) {
  ProcessRow row;
  row.pid = pid;
  row.host = host;
  row.start_ns = kOrigin + start * kSecondNs;
  row.last_ns = row.start_ns + 10 * kSecondNs;
  return row;
}

class ProcessEnds : public ::testing::Test {
 protected:
  void Judge(TreeRun tree = Tree(std::nullopt), const TaskOfProcess& task_of_process = {}) {
    TreeAccumulator trees;
    trees.Add(std::move(tree));
    JudgeEnds(workers_, task_of_process, trees, &findings_);
  }
  ProcessRow& Add(ProcessRow row) { return findings_.processes.processes.emplace_back(std::move(row)); }
  const ProcessRow& row(size_t i) const { return findings_.processes.processes[i]; }
  void AddWorker(uint32_t process, ClusterWorkerFact fact) {
    facts_.push_back(std::make_unique<ClusterWorkerFact>(std::move(fact)));
    workers_.push_back({process, facts_.back().get()});
  }

  RecordFindings findings_;
  std::vector<ClusterWorker> workers_;

 private:
  std::vector<std::unique_ptr<ClusterWorkerFact>> facts_;
};

TEST_F(ProcessEnds, WithoutEvidenceNothingIsLost) {
  Add(Process(1));
  Judge();
  EXPECT_EQ(row(0).state, ProcessState::kUnreported);
}

TEST_F(ProcessEnds, AnOpenChunkIsALoss) {
  Add(Process(1));
  Add(Process(2)).state = ProcessState::kEnded;
  Add(Process(3)).is_damaged = true;
  findings_.attempts.vanished_in_chunk = {0, 1, 2};
  Judge();
  EXPECT_EQ(row(0).state, ProcessState::kLost);
  EXPECT_EQ(row(1).state, ProcessState::kEnded) << "it said so itself";
  EXPECT_EQ(row(2).state, ProcessState::kUnreported) << "its log may lack the end of the chunk";
}

TEST_F(ProcessEnds, AnEngineReportsLossesAndOrderlyEnds) {
  for (int64_t pid = 1; pid <= 4; ++pid) Add(Process(pid));
  ClusterWorkerFact lost, retired, unreported, there;
  lost.is_lost = true;
  lost.left_ns = retired.left_ns = unreported.left_ns = kOrigin;
  unreported.left_unreported = true;
  AddWorker(0, lost);
  AddWorker(1, retired);
  AddWorker(2, unreported);
  AddWorker(3, there);
  Judge();
  EXPECT_EQ(row(0).state, ProcessState::kLost);
  EXPECT_EQ(row(1).state, ProcessState::kEnded);
  EXPECT_EQ(row(2).state, ProcessState::kUnreported);
  EXPECT_EQ(row(3).state, ProcessState::kUnreported);
}

TEST_F(ProcessEnds, TheTaskOfAProcessSaysHowItEnded) {
  for (int64_t pid = 1; pid <= 3; ++pid) Add(Process(pid));
  for (const TaskOutcome outcome : {TaskOutcome::kDone, TaskOutcome::kFailed, TaskOutcome::kOther}) {
    TaskRow task;
    task.reported = static_cast<uint32_t>(findings_.tasks.rows.size());
    task.outcome = outcome;
    findings_.tasks.rows.push_back(task);
  }
  Judge(Tree(std::nullopt), {0, 1, 2});
  EXPECT_EQ(row(0).state, ProcessState::kEnded);
  EXPECT_EQ(row(1).state, ProcessState::kLost);
  EXPECT_EQ(row(2).state, ProcessState::kUnreported);
}

TEST_F(ProcessEnds, AnExitStatusThatSomebodySawIsEvidence) {
  for (int64_t pid = 1; pid <= 4; ++pid) Add(Process(pid));
  Add(Process(1, "other"));
  Add(Process(5));
  TreeRun tree = Tree(std::nullopt);
  for (const auto& [pid, status] : {std::pair(1, 137), {2, 0}, {3, 6}, {5, 255}}) tree.Add(Reaped(pid, status));
  Judge(std::move(tree));
  EXPECT_EQ(row(0).state, ProcessState::kLost);
  EXPECT_EQ(row(0).left_reason, "killed by signal 9");
  EXPECT_EQ(row(1).state, ProcessState::kEnded);
  EXPECT_EQ(row(2).left_reason, "its exit status was 6");
  EXPECT_EQ(row(3).state, ProcessState::kUnreported) << "its parent alone knows";
  EXPECT_EQ(row(4).state, ProcessState::kUnreported);
  EXPECT_EQ(row(5).left_reason, "its exit status was 255") << "there are 64 signals";
}

TEST_F(ProcessEnds, AnEndWithStatus0InTheMiddleOfAChunkIsNoCrash) {
  Add(Process(1));
  findings_.attempts.vanished_in_chunk = {0};
  TreeRun tree = Tree(std::nullopt);
  tree.Add(Reaped(1, 0));
  Judge(std::move(tree));
  EXPECT_EQ(row(0).state, ProcessState::kLost);
  EXPECT_EQ(row(0).left_reason, "its exit status was 0");
}

TEST_F(ProcessEnds, AKillForMemoryIsTheReasonOfThoseThatVanishedUnderTheRun) {
  const std::string reason = "the kernel killed a process of its control group, out of memory";
  Add(Process(1));
  Add(Process(2));
  Add(Process(3)).left_reason = "TIMEOUT";
  Add(Process(4, "other"));
  findings_.attempts.vanished_in_chunk = {0, 2, 3};
  Judge(Tree(1));
  EXPECT_EQ(row(0).left_reason, reason);
  EXPECT_EQ(row(1).state, ProcessState::kUnreported) << "the kernel killed the one in a chunk";
  EXPECT_EQ(row(2).left_reason, "TIMEOUT");
  EXPECT_EQ(row(3).left_reason, "");
}

TEST_F(ProcessEnds, OnlyAProcessThatSignal9EndedWasKilledForMemory) {
  Add(Process(1));
  Add(Process(2));
  TreeRun tree = Tree(1);
  tree.Add(Reaped(1, 1));
  tree.Add(Reaped(2, 137));
  Judge(std::move(tree));
  EXPECT_EQ(row(0).left_reason, "its exit status was 1");
  EXPECT_EQ(row(1).left_reason, "the kernel killed a process of its control group, out of memory");
}

TEST_F(ProcessEnds, TheOnlyOneThatDidNotReportIsTheOneThatTheKernelKilled) {
  Add(Process(1));
  Add(Process(2)).state = ProcessState::kEnded;
  Judge(Tree(2));
  EXPECT_EQ(row(0).state, ProcessState::kLost);
  EXPECT_EQ(row(0).left_reason, "the kernel killed 2 processes of its control group, out of memory");
}

TEST_F(ProcessEnds, WhereTheKernelKilledNoneOrDoesNotCountNothingIsSaid) {
  Add(Process(1));
  findings_.attempts.vanished_in_chunk = {0};
  Judge(Tree(0));
  Judge(Tree(std::nullopt));
  EXPECT_EQ(row(0).left_reason, "");
}

// Takes minutes if each run is held against all processes.
TEST_F(ProcessEnds, ManyRunsSayHowTheirProcessesEnded) {
  constexpr int64_t kMany = 50'000;
  TreeAccumulator trees;
  for (int64_t i = 0; i < kMany; ++i) {
    TreeRun tree;
    tree.run.host = "node";
    tree.run.start_ns = kOrigin + i * 3600 * kSecondNs;
    TreeReapFact reaped = Reaped(7, 3);
    reaped.time_ns = tree.run.start_ns + 20 * kSecondNs;
    tree.Add(reaped);
    trees.Add(tree);
    Add(Process(7, "node", i * 3600 + 1));
  }
  JudgeEnds(workers_, {}, trees, &findings_);
  for (int64_t i = 0; i < kMany; ++i) EXPECT_EQ(row(static_cast<size_t>(i)).state, ProcessState::kLost);
}

}  // namespace
}  // namespace crema
