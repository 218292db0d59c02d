// The process tree's figures (docs/metrics.md) from the facts of one or many `crema run`s.
#pragma once

#include "collector/measurement/breakdowns.h"
#include "collector/measurement/measurement.h"
#include "collector/sources/process_tree/tree_log.h"

namespace crema {

/// The figures of all trees together: sums of what was used, the largest of what was held. With several runs `origin`
/// is that of the one of which the least is known; `start_ns` is the earliest; names, command, host and pid are of the
/// run that began first; cores are those of each host once (source `mixed` where hosts differ), and the memory limit is
/// the smallest. `commit` is empty where they differ, or one does not know it.
struct TreeFigures : TreeRunFact {
  TreeTotals totals;
  std::optional<int64_t> cpu_wait_ns;  ///< of core time; see `TreeRun`
  std::optional<int64_t> stop_ns;      ///< latest command's end; absent while one has none
  int64_t last_ns = 0;                 ///< latest time stamp, for bounds where there is no end
  std::optional<int> exit_status;      ///< of one command; of several: the first that is not 0
  bool running = false;                ///< a `crema run` is still at work
  std::vector<TreeGpuUse> gpus;        ///< that processes of the trees used, or may have
  int64_t samples = 0;
  double sampling_gap_max_seconds = 0;
};

class TreeAccumulator {
 public:
  /// Adds one run's tree. The same run (host, pid, start) given twice counts once: the fuller one.
  void Add(TreeRun run);
  void Merge(const TreeAccumulator& other) {
    for (const auto& [key, run] : other.runs_) Add(run);
  }

  bool empty() const { return runs_.empty(); }
  /// The ids of the runs seen, sorted, each once.
  std::vector<std::string> run_ids() const;
  /// Keeps the runs with this id only.
  void KeepRun(std::string_view run_id);

  /// nullopt where no tree was sampled.
  std::optional<TreeFigures> Finalize() const;

  /// What was sampled, run by run, in order of their starts.
  std::vector<const TreeRun*> Runs() const;

 private:
  friend class TreeProcesses;
  std::map<std::tuple<std::string, int64_t, int64_t>, TreeRun> runs_;  // (host, pid, start)
};

/// Finds recorded processes in trees, which it refers to.
class TreeProcesses {
 public:
  /// A process as one tree saw it: (pid, start) and its samples; null where none did.
  struct Seen {
    const TreeRun* tree = nullptr;
    const decltype(TreeRun::processes)::value_type* process = nullptr;

    ProcessCounts counts() const { return tree == nullptr ? ProcessCounts() : tree->CountsOf(process->first); }
  };
  explicit TreeProcesses(const TreeAccumulator& trees);
  /// The process of this host and pid whose kernel start is nearest to `start_ns`: a recorder starts after its process.
  Seen Find(std::string_view host, int64_t pid, int64_t start_ns) const;

 private:
  std::map<std::pair<std::string_view, int64_t>, std::vector<Seen>> seen_;  // by host and pid
};

/// Sets the process tree's keys of docs/metrics.md and `allocated_cores`; null, with the reason, where there are
/// no figures. `wall_time_seconds` and `chunk_cpu_seconds` come from the records: without them the ratios are null.
void SetTreeMetrics(const std::optional<TreeFigures>& figures, std::optional<double> wall_time_seconds,
                    std::optional<double> chunk_cpu_seconds, MetricSet* metrics);

inline constexpr size_t kMostProcessRows = 200;

/// Most CPU time first, at most `kMostProcessRows`. What samples show: a process that began and ended between two of
/// them is not there, and what one did after its last is not in its figures.
std::vector<ProcessUseRow> LargestProcesses(const TreeAccumulator& trees, int64_t run_start_ns);

}  // namespace crema
