// The keys of docs/metrics.md, "Fine metrics", from an engine's activities and tasks.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/recorded/activity_table.h"
#include "collector/metrics/recorded/recorded_tables.h"

namespace crema {

/// Execution outside tasks (executor, spilling, serialization, other), in nanoseconds, by process.
std::vector<int64_t> OutsideTasks(const std::vector<EngineFineSum>& rows, size_t processes);

/// Prefixes of the tasks in which chunks ran.
std::set<std::string> ChunkPrefixes(const TaskFindings& tasks, const TaskJoin& join);

struct EngineFacts {
  const std::vector<EngineFineSum>& fine;
  const TaskFindings& tasks;
  const TaskJoin& join;
  /// By prefix, as the scheduler counts them; empty: not known.
  std::map<std::string, double> compute_seconds = {};
  /// Prefixes that the user calls the processor's; empty: those of the tasks in which chunks ran.
  std::set<std::string> processors = {};
  /// Integral of live workers' cores while a span was active; nullopt: no span was reported.
  std::optional<double> active_core_seconds = {};
  /// Time of tasks inside the run, over the integral of live workers' cores; nullopt: no tasks, or no cores.
  std::optional<double> task_slot_utilization = {};
  std::optional<double> gil_contention = {};
  /// Why a task may have had a chunk that is in no join; empty: it cannot.
  std::string_view chunks_unknown = {};
};

/// Fine metrics inside tasks, over the compute seconds that the scheduler counts.
struct FineCoverage {
  double share = 0;   ///< of these seconds, that fine metrics of the same prefix account for
  double excess = 0;  ///< fine metrics beyond the seconds of their prefix
};

/// nullopt: the scheduler counted none.
std::optional<FineCoverage> CoverageOf(const EngineFacts& facts);

/// Sets what is measured; the other keys stay null with a reason.
void SetEngineMetrics(const EngineFacts& facts, MetricSet* metrics);

/// The metric `gil_contention`: mean of the workers' readings, each weighted by its time since the reading before and
/// by the tasks that the worker executed, where those were at least two. One task alone waits for nobody. nullopt: no
/// worker reported it while it executed two tasks.
std::optional<double> GilContention(const std::vector<ClusterWorker>& workers, const RunWindow& run);

/// `process` are the prefixes in whose tasks chunks ran; `preprocess` and `reduce` are known by the names of
/// Coffea's tasks. In this order; phases without a task are left out.
std::vector<PhaseRow> FindTaskPhases(const TaskFindings& tasks, const TaskJoin& join);

}  // namespace crema
