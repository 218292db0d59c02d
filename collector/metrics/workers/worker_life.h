// Which processes were workers, from when to when, and with how many cores (docs/metrics.md, "Runs and workers").
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_WORKER_LIFE_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_WORKER_LIFE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/run_window.h"

namespace crema {

enum class CoresSource : uint8_t {
  kDeclared,    // CREMA_THREADS or Enable
  kLanesPeak,   // the most lanes it ever had at once, as its records say
  kScheduler,   // an engine's own word for its worker
  kOpenChunks,  // the most chunks it had open at once, from intervals
  kAllowed,     // affinity and cgroup quota: it had more lanes at once
};

/// Time of a process's chunks in which helpers were at work.
struct HelpedTime {
  int64_t joined_ns = 0;   ///< owners waited for their helpers
  int64_t helpers_ns = 0;  ///< a helper was at work, at most as long as the chunk

  /// Owners that spend nearly all of their helpers' time waiting for them have no core meanwhile.
  bool owners_wait() const {
    constexpr double kOwnersWait = 0.9;
    return helpers_ns > 0 && static_cast<double>(joined_ns) >= kOwnersWait * static_cast<double>(helpers_ns);
  }
};

/// The cores of a process that nobody declared, before the limit of what it was allowed. A lane is an open chunk or a
/// helper at work.
inline int64_t CoresOfLanes(int64_t lanes_peak, int64_t most_open, const HelpedTime& helped) {
  if (lanes_peak <= 0) return most_open;
  return helped.owners_wait() ? std::max(most_open, lanes_peak - most_open) : lanes_peak;
}

/// A process that recorded chunks, or an engine's worker, clipped to the run; a worker that lived outside it has start
/// = stop.
struct WorkerLife {
  uint32_t process = 0;
  int64_t start_ns = 0;  ///< Unix time
  int64_t stop_ns = 0;
  double cores = 0;  ///< whole ones, but for a CPU quota
  CoresSource cores_source = CoresSource::kDeclared;
};

/// The workers, by process index. `helpers` is the table that the attempts point into. Where a log contradicts itself
/// (a chunk before its process's start or after its end), the worker's life covers its chunks.
std::vector<WorkerLife> FindWorkerLives(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                                        const std::vector<HelperTimes>& helpers, const RunWindow& run,
                                        const std::vector<SummedAttempts>& summed = {});

/// `run.cores_source`: `declared`, `lanes_peak`, `scheduler`, `open_chunks`, `allowed`, or `mixed`; empty without
/// workers.
std::string_view NameCoresSource(const std::vector<WorkerLife>& workers);

/// `allocated_cores` as affinity and cgroup quota tell it: the largest `allowed_cores` of each host, added over hosts;
/// nullopt where a host tells none.
std::optional<double> AllowedCores(const std::vector<ProcessRow>& processes);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_WORKER_LIFE_H_
