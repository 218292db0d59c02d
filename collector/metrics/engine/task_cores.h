// The cores of their workers that tasks were given.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_TASK_CORES_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_TASK_CORES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/budget/held_cores.h"
#include "collector/metrics/engine/task_table.h"
#include "collector/metrics/run_window.h"

namespace crema {

/// Each task with its cores; empty where none has more than one.
std::vector<TaskCores> CoresOfTasks(const std::vector<TaskRow>& tasks);

/// Cores that wait for their next task's input, or for the last one's output to be fetched, serve the engine: adds
/// their time, by process.
void AddHeldByScheduler(const std::vector<TaskRow>& tasks, std::vector<int64_t>* outside_tasks_ns);

/// Core nanoseconds that tasks held in the run.
double CoreTimeOfTasks(const std::vector<TaskRow>& tasks, const RunWindow& run);

/// Mean over the time of the tasks whose cores are told; nullopt: there are none.
std::optional<double> MeanCoresOfTasks(const std::vector<TaskRow>& tasks);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_TASK_CORES_H_
