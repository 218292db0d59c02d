// Workers, cores, memory and CPU as step functions of time, and their exact averages (docs/metrics.md, "Rules").
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_WORKER_STEPS_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_WORKER_STEPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/run_window.h"
#include "collector/metrics/workers/worker_life.h"

namespace crema {

/// Keys of docs/metrics.md under their own names; nullopt where not measured.
struct WorkerSteps {
  std::optional<double> avg_workers;
  int64_t peak_workers = 0;
  std::optional<double> mean_sampled_workers;  ///< over the distinct instants at which a worker was sampled
  double worker_seconds = 0;
  double core_seconds = 0;
  std::optional<double> total_cores;
  double peak_cores = 0;
  std::optional<double> cores_per_worker;

  std::optional<int64_t> peak_memory_bytes;
  std::optional<int64_t> peak_total_memory_bytes;
  /// Over the time since each worker's first sample: before it nothing is known.
  std::optional<double> avg_memory_per_worker_bytes;
  std::optional<double> memory_utilization_avg;
  std::optional<double> memory_utilization_min;
  std::optional<double> memory_utilization_max;

  /// Between each worker's first and last sample in the run; nullopt where no worker has two.
  std::optional<double> worker_cpu_utilization_avg;
};

WorkerSteps MeasureWorkers(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                           const RunWindow& run);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_WORKER_STEPS_H_
