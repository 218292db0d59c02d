#include "collector/metrics/engine/task_cores.h"

#include <algorithm>

namespace crema {
namespace {

int64_t CoresOf(const TaskRow& task) { return std::max<int64_t>(1, task.cores); }

}  // namespace

std::vector<TaskCores> CoresOfTasks(const std::vector<TaskRow>& tasks) {
  std::vector<TaskCores> cores;
  if (std::none_of(tasks.begin(), tasks.end(), [](const TaskRow& task) { return task.cores > 1; })) return cores;
  for (const TaskRow& task : tasks) {
    if (task.thread == TaskRow::kNoLane) continue;
    cores.push_back({task.process, task.start_ns, task.lane_stop_ns(), CoresOf(task)});
  }
  return cores;
}

void AddHeldByScheduler(const std::vector<TaskRow>& tasks, std::vector<int64_t>* outside_tasks_ns) {
  for (const TaskRow& task : tasks) {
    const int64_t held_ns = std::max<int64_t>(0, task.dispatch_ns) + std::max<int64_t>(0, task.retrieval_ns);
    (*outside_tasks_ns)[task.process] += held_ns * CoresOf(task);
  }
}

double CoreTimeOfTasks(const std::vector<TaskRow>& tasks, const RunWindow& run) {
  double core_ns = 0;
  for (const TaskRow& task : tasks) {
    if (task.thread == TaskRow::kNoLane) continue;
    const int64_t inside_ns = run.Clip(task.lane_stop_ns()) - run.Clip(task.start_ns);
    core_ns += static_cast<double>(inside_ns) * static_cast<double>(CoresOf(task));
  }
  return core_ns;
}

std::optional<double> MeanCoresOfTasks(const std::vector<TaskRow>& tasks) {
  double core_ns = 0;
  double task_ns = 0;
  for (const TaskRow& task : tasks) {
    if (task.cores == 0) continue;
    const auto duration_ns = static_cast<double>(task.lane_stop_ns() - task.start_ns);
    core_ns += duration_ns * task.cores;
    task_ns += duration_ns;
  }
  return task_ns > 0 ? std::optional<double>(core_ns / task_ns) : std::nullopt;
}

}  // namespace crema
