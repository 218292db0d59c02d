// What an engine knows of a run, among the run's figures.
#pragma once

#include "collector/metrics/run_figures.h"

namespace crema {

/// Finds the process of each of the engine's workers, adds those that recorded nothing, and gives them their tasks.
std::vector<ClusterWorker> TakeClusters(const ClusterTable& clusters, const TaskOfProcess& task_of_process,
                                        RunFigures& figures);

/// The engine's metrics, once workers and window are known.
void SetEngine(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers, RunFigures& figures);

/// A job of which the batch system does not say how many cores it had.
inline bool HasUnknownCores(const ProcessRow& process) {
  return process.is_job && !process.declared_threads.has_value();
}

/// Where there is one, core-seconds and what follows from them are not known.
void ForgetUnknownCores(RunFigures& figures);

/// Without chunk records, what the processor's tasks did is what is known of that of chunks.
void UseTimesOfTasks(RunFigures& figures);

}  // namespace crema
