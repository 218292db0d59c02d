// What `crema run` saw of a process tree, as plain facts: the run, samples, reaped processes, the end.
//
// They are the lines of the log `crema.tree/1` (docs/tree_log.md); a fact knows nothing of that format.
#ifndef CREMA_COLLECTOR_METRICS_TREE_FACTS_H_
#define CREMA_COLLECTOR_METRICS_TREE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crema {

/// I/O of proc_pid_io(5): what reached block devices, and what system calls moved.
struct TreeIo {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;
  int64_t rchar_bytes = 0;
  int64_t wchar_bytes = 0;
};

/// Bytes through the network namespace since the run began, loopback apart.
struct TreeNet {
  int64_t rx_bytes = 0;
  int64_t tx_bytes = 0;
};

/// First line: what was run, where, with what.
struct TreeRunFact {
  std::string run_id;
  std::string name;
  std::vector<std::string> command;  ///< without secrets; empty: left out
  std::string host;
  int64_t pid = 0;       ///< of the command
  int64_t start_ns = 0;  ///< Unix time at which the command was started
  double interval_seconds = 0;
  std::optional<double> allocated_cores;
  std::string allocated_cores_source;  ///< slurm, htcondor, cgroup or affinity
  std::optional<int64_t> memory_limit_bytes;
  bool net_host_wide = true;  ///< the network namespace is shared with others
};

/// One process at the time of a sample.
struct TreeProcessFact {
  int64_t pid = 0;
  int64_t start_ns = 0;  ///< Unix time of its start, from the kernel (one clock tick, 10 ms)
  int64_t rss_bytes = 0;
  int64_t cpu_ns = 0;  ///< its own, user and system
  int64_t threads = 0;
};

/// The whole tree at one instant; counters are since the command's start and never fall.
struct TreeSampleFact {
  int64_t time_ns = 0;
  int64_t rss_bytes = 0;
  std::optional<int64_t> pss_bytes;  ///< costs a walk of the page tables: not in every sample
  std::optional<int64_t> swap_bytes;
  int64_t cpu_user_ns = 0;
  int64_t cpu_system_ns = 0;
  int64_t processes = 0;
  int64_t threads = 0;
  std::optional<TreeIo> io;
  std::optional<TreeNet> net;
  std::vector<TreeProcessFact> process_rows;
};

/// A process that `crema run` itself waited for: wait4(2)'s account, which includes what that process waited for.
struct TreeReapFact {
  int64_t time_ns = 0;
  int64_t pid = 0;
  int64_t user_ns = 0;
  int64_t system_ns = 0;
  int64_t max_rss_bytes = 0;
  int64_t major_faults = 0;
  int64_t context_switches_involuntary = 0;
  int exit_status = 0;  ///< 128 + signal where it was killed
};

/// The process-tree part of METRICS.md section 3, as far as one tree gives it.
struct TreeTotals {
  int64_t cpu_user_ns = 0;
  int64_t cpu_system_ns = 0;
  int64_t process_peak_rss_bytes = 0;
  int64_t tree_peak_rss_bytes = 0;
  std::optional<int64_t> tree_peak_pss_bytes;
  std::optional<int64_t> tree_peak_swap_bytes;
  std::optional<TreeIo> io;
  std::optional<TreeNet> net;
  int64_t max_processes = 0;
  int64_t max_threads = 0;
  int64_t major_faults = 0;
  int64_t context_switches_involuntary = 0;
  int64_t tree_cpu_sampled = 0;  ///< processes whose CPU time is that of their last sample
  int64_t processes_left_running = 0;
};

/// Last line: the command has ended and everything that ended with it was accounted for.
struct TreeEndFact {
  int64_t time_ns = 0;  ///< when the command ended
  int exit_status = 0;
  TreeTotals totals;
  int64_t samples = 0;
  std::optional<int64_t> sampler_cpu_ns;  ///< what `crema run` itself cost
  std::optional<int64_t> sampler_peak_rss_bytes;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_TREE_FACTS_H_
