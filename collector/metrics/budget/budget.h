// Where the core-seconds went: docs/metrics.md, "The core-second budget".
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/measurement/breakdowns.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/budget/held_cores.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/run_window.h"
#include "collector/metrics/workers/worker_life.h"

namespace crema {

/// What an engine did with its workers' cores beside the chunks.
struct EngineTime {
  std::vector<TaskStretch> stretches;     ///< tasks, while no chunk of theirs was open
  std::vector<int64_t> outside_tasks_ns;  ///< by process: execution outside tasks, which has no time stamps
  std::vector<TaskCores> cores_of_tasks;  ///< of all tasks; empty where none was given more than one
};

struct Budget {
  /// The parts in docs/metrics.md's order. Five exceptions: `gpu_wait` is there only after `SetGpuWait`; where no task
  /// was given more than one core, there is no `unused_by_tasks`. Where the run delay of a result is not known,
  /// `cpu_wait` and `blocked` are one row `waiting`. Where no worker's CPU time is known, there is no `process_cpu`.
  /// Where attempts are still open (a live run), or the record of one is lost, or a result's CPU time is not known, a
  /// last row `unmeasured` (group "Not measured") holds their lane time, so that it passes for nothing else.
  std::vector<BudgetRow> rows;
  double core_seconds = 0;                 ///< the rows add up to this
  double occupied_core_seconds = 0;        ///< of these, cores that attempts had
  double oversubscribed_core_seconds = 0;  ///< lanes occupied beyond the cores of their worker; in no row
  std::optional<int64_t> tail_start_ns;    ///< T, Unix time; nullopt where it lies among sums
  std::optional<double> tail_time;         ///< last stop - T, seconds; nullopt: there is no T
  /// Seconds of cores that attempts or tasks occupied over seconds of cores, from the first begin of a chunk to T
  /// (where there is none, to the last stop). nullopt: no attempt ended.
  std::optional<double> balance;
};

/// Puts the time in which results waited for GPUs into a part of its own: what they spun comes out of `compute`, the
/// rest out of `blocked` (or `waiting`); no more than there is.
void SetGpuWait(double spun_seconds, double blocked_seconds, Budget* budget);

/// Exact: integer nanoseconds, one sweep over the begins and stops of each worker's attempts, so the order of the rows
/// does not matter. An attempt that reaches out of the run counts with the share of its duration inside it. Summed
/// attempts fill the lanes that are free in their process between their first begin and their last end, evenly.
Budget ComputeBudget(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                     const std::vector<HelperTimes>& helpers, const std::vector<WorkerLife>& workers,
                     const RunWindow& run, const EngineTime& engine = {},
                     const std::vector<SummedAttempts>& summed = {});

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_H_
