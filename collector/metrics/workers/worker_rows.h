// Which processes have rows of their own in what is shown by worker.
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_WORKER_ROWS_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_WORKER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/statistics/byte_sums.h"

namespace crema {

/// Of many processes, those that were lost and those that were busy for longest have rows; the others share one,
/// `(other)`. A group is a process, or `other()`.
struct WorkerRows {
  static constexpr size_t kMost = 10'000;  ///< docs/limits.md, "Kept short"

  std::vector<uint32_t> group_of_process;
  std::vector<std::string> names;  ///< by group; one more than processes
  std::vector<ByteSums> bytes;     ///< by group

  uint32_t other() const { return static_cast<uint32_t>(group_of_process.size()); }
};

WorkerRows ChooseWorkerRows(const std::vector<ProcessRow>& processes, const AttemptRows& attempts,
                            const std::vector<SummedAttempts>& summed, const std::vector<ByteSums>& bytes_of_process);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_WORKER_ROWS_H_
