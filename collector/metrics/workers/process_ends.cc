#include "collector/metrics/workers/process_ends.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace crema {
namespace {

/// The kernel has the start of a process to 10 ms.
constexpr int64_t kTolerance = 1'000'000'000;
constexpr int kKilledBySignal = 128;  // and the signal: an exit status as shells have it
constexpr int kLastSignal = 64;
constexpr int kSigkill = 9;  // which the kernel sends when memory runs out

std::string WhyOf(int exit_status) {
  const int signal = exit_status - kKilledBySignal;
  return signal > 0 && signal <= kLastSignal ? fmt::format("killed by signal {}", signal)
                                             : fmt::format("its exit status was {}", exit_status);
}

void Judge(bool is_failure, ProcessRow& process) {
  if (process.state == ProcessState::kUnreported) {
    process.state = is_failure ? ProcessState::kLost : ProcessState::kEnded;
  }
}

void NameReason(std::string reason, ProcessRow& process) {
  if (process.state == ProcessState::kLost && process.left_reason.empty()) process.left_reason = std::move(reason);
}

void JudgeByTasks(const TaskOfProcess& task_of_process, RecordFindings& findings) {
  std::map<uint32_t, TaskOutcome> outcomes;
  for (const TaskRow& task : findings.tasks.rows) {
    if (task.told != TaskRow::kNone) outcomes[task.told] = task.outcome;
  }
  for (uint32_t i = 0; i < task_of_process.size(); ++i) {
    const auto outcome = outcomes.find(task_of_process[i]);
    if (outcome == outcomes.end() || outcome->second == TaskOutcome::kOther) continue;
    Judge(outcome->second == TaskOutcome::kFailed, findings.processes.processes[i]);
  }
}

bool IsOfTree(const ProcessRow& process, const TreeRun& tree) {
  return process.host == tree.run.host && process.start_ns >= tree.run.start_ns - kTolerance &&
         process.start_ns <= tree.last_ns;
}

void JudgeByTree(const TreeRun& tree, std::vector<ProcessRow>& processes) {
  int64_t kills = tree.totals.oom_kills.value_or(0);
  std::vector<ProcessRow*> unreported;
  const std::string reason = fmt::format("the kernel killed {} of its control group, out of memory",
                                         kills == 1 ? "a process" : fmt::format("{} processes", kills));
  for (ProcessRow& process : processes) {
    if (!IsOfTree(process, tree)) continue;
    const auto reaped = tree.reaped.find(process.pid);
    bool may_be_killed_for_memory = tree.totals.oom_kills.value_or(0) > 0;
    if (reaped != tree.reaped.end() && reaped->second.time_ns >= process.last_ns) {
      const int status = reaped->second.exit_status;
      Judge(status != 0, process);
      may_be_killed_for_memory &= status == kKilledBySignal + kSigkill;
      if (status != 0 && (kills == 0 || !may_be_killed_for_memory)) NameReason(WhyOf(status), process);
    }
    if (process.state == ProcessState::kUnreported && !process.is_damaged) unreported.push_back(&process);
    if (process.state != ProcessState::kLost || !may_be_killed_for_memory) continue;
    NameReason(reason, process);
    --kills;
  }
  // Which of several the kernel killed is not known.
  if (unreported.empty() || kills < static_cast<int64_t>(unreported.size())) return;
  for (ProcessRow* process : unreported) {
    Judge(/*is_failure=*/true, *process);
    NameReason(reason, *process);
  }
}

}  // namespace

void JudgeEnds(const std::vector<ClusterWorker>& workers, const TaskOfProcess& task_of_process,
               const TreeAccumulator& trees, RecordFindings* findings) {
  std::vector<ProcessRow>& processes = findings->processes.processes;
  for (const uint32_t process : findings->attempts.vanished_in_chunk) {
    // A damaged log may lack the end of the chunk.
    if (!processes[process].is_damaged) Judge(/*is_failure=*/true, processes[process]);
  }
  for (const ClusterWorker& worker : workers) {
    const ClusterWorkerFact& fact = *worker.fact;
    if (!fact.is_lost && (!fact.left_ns.has_value() || fact.left_untold)) continue;
    ProcessRow& process = processes[worker.process];
    if (process.state == ProcessState::kRunning) process.state = ProcessState::kUnreported;  // a worker no longer
    Judge(fact.is_lost, process);
  }
  JudgeByTasks(task_of_process, *findings);
  for (const TreeRun* tree : trees.Runs()) JudgeByTree(*tree, processes);
}

}  // namespace crema
