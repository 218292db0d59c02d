// Which processes were workers, from when to when, and with how many cores (docs/metrics.md, "Runs and workers").
#pragma once

#include "absl/functional/function_ref.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/budget/lane_time.h"
#include "collector/metrics/statistics/optional_sum.h"

namespace crema {

/// Chunks that a process worked on side by side, as lanes: what stands in for cores when thread ids cannot.
/// The lane (from 0) of each attempt within its process: attempts in order of start each take the lowest lane that is
/// free, so a process has as many lanes as it ever had ended attempts open at once. An attempt that begins when another
/// stops does not overlap it. `AttemptRow::kNone` for lost and open attempts, which have no duration.
std::vector<uint32_t> AssignLanes(const AttemptRows& attempts);

/// `load_imbalance`: max / mean - 1 of the busy seconds of all processes' lanes; nullopt where nothing was
/// busy.
std::optional<double> LoadImbalance(const AttemptRows& attempts);

/// Most attempts open at once in each process, by process index, lost and open ones included; 0 for a process without
/// chunks. `max_open_chunks` is the largest.
std::vector<int64_t> MaxOpenChunks(const AttemptRows& attempts, const std::vector<ProcessRow>& processes);

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

  void Add(const AttemptRow& attempt, int64_t helpers_union_ns) {
    const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers_union_ns);
    if (attempt.duration_ns < 0 || !HasOwner(attempt, owner)) return;
    helpers_ns += std::min(helpers_union_ns, attempt.duration_ns);
    if (owner.has_value()) joined_ns += owner->joined_ns;
  }
  /// Owners that spend nearly all of their helpers' time waiting for them have no core meanwhile.
  bool owners_wait() const {
    return helpers_ns > 0 && static_cast<double>(joined_ns) >= kOwnersWait * static_cast<double>(helpers_ns);
  }
};

/// The cores of a process that nobody declared, before the limit of what it was allowed. A lane is a thread with a
/// chunk open, or a helper at work. Most at once: `at_work`, chunks whose threads worked for them; `waiting`, those
/// whose threads may have waited for helpers.
inline int64_t CoresOfLanes(int64_t lanes_peak, int64_t at_work, int64_t waiting, const HelpedTime& helped) {
  return helped.owners_wait() ? std::max({int64_t{1}, at_work, lanes_peak - waiting}) : lanes_peak;
}

struct WorkerCores {
  double cores = 0;  ///< whole ones, but for a CPU quota
  CoresSource source = CoresSource::kDeclared;
};

/// The cores of a process whose chunks had so many lanes at once, 0 if that is not recorded. `most_open()`: the most
/// chunks that it had open at once, at least 1; `of_lanes(lanes_peak)`: `CoresOfLanes`. What is not needed is not asked
/// for.
WorkerCores CoresOf(const ProcessRow& process, int64_t lanes_peak, absl::FunctionRef<int64_t()> most_open,
                    absl::FunctionRef<int64_t(int64_t)> of_lanes);

/// A process that recorded chunks, or an engine's worker, clipped to the run; a worker that lived outside it has start
/// = stop.
struct WorkerLife {
  uint32_t process = 0;
  int64_t start_ns = 0;  ///< Unix time
  int64_t stop_ns = 0;
  double cores = 0;  ///< as of `WorkerCores`, as the next
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

/// `allocated_cores` as affinity and cgroup quota say: the largest `allowed_cores` of each host, added over hosts;
/// nullopt where a host reports none.
std::optional<double> AllowedCores(const std::vector<ProcessRow>& processes);

/// Where there are many processes, those that were lost and those that were busy for longest have rows. The others
/// share one, `(other)`. A group is a process, or `other()`.
struct WorkerRows {
  static constexpr size_t kMost = 10'000;  ///< docs/limits.md, "Kept short"

  std::vector<uint32_t> group_of_process;
  std::vector<std::string> names;  ///< by group; one more than processes
  std::vector<ByteSums> bytes;     ///< by group

  uint32_t other() const { return static_cast<uint32_t>(group_of_process.size()); }
};

WorkerRows ChooseWorkerRows(const std::vector<ProcessRow>& processes, const AttemptRows& attempts,
                            const std::vector<SummedAttempts>& summed, const std::vector<ByteSums>& bytes_of_process);

/// One quantity of a process's samples as a step function: the last value holds until the next sample.
struct SampleStep {
  int64_t time_ns = 0;  ///< Unix time
  int64_t value = 0;
};

/// Samples from `start_ns` to `stop_ns`, both included, by time. The last one before `start_ns` holds at `start_ns`;
/// before the first step the value is not known. Samples without the quantity are left out.
std::vector<SampleStep> StepsOfSamples(const std::vector<ProcessSample>& samples,
                                       std::optional<int64_t> ProcessSample::*quantity, int64_t start_ns,
                                       int64_t stop_ns);

/// The memory limit: what the samples say, and before them what the process said when it began.
std::vector<SampleStep> StepsOfMemoryLimit(const ProcessRow& process, int64_t start_ns, int64_t stop_ns);

/// Sets the metrics of docs/metrics.md, "Workers and the process tree", without the process tree.
void MeasureWorkers(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                    const RunWindow& run, MetricSet* metrics);

}  // namespace crema
