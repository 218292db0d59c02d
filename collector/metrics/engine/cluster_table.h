// What schedulers reported, put together with what the workers' own logs say.
#pragma once

#include <set>

#include "collector/engines/engines.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/cluster_facts.h"

namespace crema {

/// What one collector measured, over all clusters.
struct ClusterSession {
  RunWindow window;
  int64_t flushed_ns = 0;  ///< by then, workers had reported what they did in it
  bool ended = false;
};

/// Accumulator of schedulers' accounts: the fullest of each epoch counts.
class ClusterTable {
 public:
  /// `engine` outlives it.
  void Add(const Engine& engine, ClusterFact cluster);
  bool empty() const { return clusters_.empty(); }
  /// One of its schedulers reported something.
  bool Has(const Engine& engine) const;
  /// That of the first scheduler; nullptr without any.
  const Engine* engine() const { return engines_.empty() ? nullptr : engines_.begin()->second; }
  /// `Dask 2025.11.0`; of several, each once.
  std::string EngineText() const;
  const std::map<std::string, ClusterFact>& by_epoch() const { return clusters_; }
  const EngineTraits& TraitsOf(const std::string& epoch) const { return engines_.at(epoch)->traits; }
  std::vector<ClusterFact*> WithNumberedJobs();

  /// From the first begin of a session to the last end; nullopt: no session was begun.
  std::optional<ClusterSession> Session() const;

  /// By when workers had reported what they did until `stop_ns`: the flush of the first session that ended no earlier.
  std::optional<int64_t> FlushedAfter(int64_t stop_ns) const;

  /// Prefixes that sessions name the processor's.
  std::set<std::string> Processors() const;

  /// A worker's clock was found to be another than its scheduler's.
  bool ClocksDiffer() const;

  /// Compute seconds by prefix that schedulers counted from `start_ns` to `stop_ns`, as far as they reported then.
  /// Empty if a scheduler was restarted meanwhile, because it then forgets its account.
  std::map<std::string, double> ComputeSeconds(int64_t start_ns, int64_t stop_ns) const;

  /// Integral of the spans' union with the live workers' cores would be their active core seconds: this is the union.
  std::vector<RunWindow> ActiveSpans(const RunWindow& run) const;

 private:
  std::map<std::string, ClusterFact> clusters_;
  std::map<std::string, const Engine*> engines_;  // by epoch
};

/// An engine's worker, and the row of its process.
struct ClusterWorker {
  uint32_t process = 0;
  const ClusterWorkerFact* fact = nullptr;
};

/// Which process is the worker that a task names.
class ClusterWorkerIndex {
 public:
  /// `workers` outlives it.
  explicit ClusterWorkerIndex(const std::vector<ClusterWorker>& workers);
  /// The worker of this address that had joined last when the task began; nullopt: nobody reported it.
  std::optional<uint32_t> Find(const ClusterTaskFact& task) const;

 private:
  std::map<std::pair<std::string_view, int64_t>, uint32_t> process_of_;  // by address, then join: it may come again
};

/// Finds each worker's process, or adds a row for one that recorded nothing; fills in what schedulers know of it.
/// The facts belong to `clusters`.
std::vector<ClusterWorker> MatchWorkers(const ClusterTable& clusters, ProcessFindings& findings);

/// Adds the tasks in schedulers' own logs, of the session where there is one. Returns how many were left out,
/// because nobody reported their worker. `lives`: of tasks with processes, by number; a script is there as long as
/// these.
int64_t AddClusterTasks(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers,
                        const std::map<uint32_t, RunWindow>& lives, TaskFindings* tasks);

/// A line for each engine that started some of `processes` for its tasks, and of which `clusters` has no log: workers,
/// and what is around chunks, stand in there.
std::vector<std::string> NameMissingLogs(const ClusterTable& clusters, const std::vector<ProcessRow>& processes);

}  // namespace crema
