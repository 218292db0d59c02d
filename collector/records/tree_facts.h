// What `crema run` saw of a process tree, as plain facts: the run, samples, reaped processes, the end.
//
// They are the lines of the log `crema.tree/1` (docs/tree_log.md); a fact knows nothing of that format.
#pragma once

#include "collector/records/facts.h"

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

/// Who watched the tree, and so what can be known of it.
enum class TreeOrigin {
  kStarted,  ///< `crema run -- COMMAND`: the parent, which waits for what ends
  kWatched,  ///< `crema run --pid PID`: a stranger, who sees what /proc shows
  kPrmon,    ///< files of HSF prmon
};

/// A GPU of the machine, as NVIDIA's driver reports it (NVML).
struct TreeGpu {
  int64_t index = 0;
  std::string name;
  std::optional<int64_t> utilization_percent;  ///< share of the driver's last sampling period with a kernel
  std::optional<int64_t> memory_used_bytes;
  std::optional<int64_t> memory_total_bytes;
  std::optional<int64_t> power_mw;
  std::optional<int64_t> tree_memory_bytes;  ///< of processes of the tree; 0: none of them uses it
  std::optional<int64_t> other_processes;    ///< that use it, too
  std::optional<int64_t> tree_percent;       ///< of its processors, by processes of the tree; not in every sample
  std::optional<int64_t> other_percent;
  std::optional<int64_t> energy_mj;  ///< since the run began, in millijoules; in the last line only
};

/// First line: what was run, where, with what.
struct TreeRunFact {
  TreeOrigin origin = TreeOrigin::kStarted;
  std::string run_id;
  std::string name;
  std::vector<std::string> command;  ///< without secrets; empty: left out
  std::string host;
  int64_t pid = 0;       ///< of the command, or of the process watched
  int64_t start_ns = 0;  ///< Unix time at which that was started
  double interval_seconds = 0;
  std::optional<double> allocated_cores;
  std::string allocated_cores_source;  ///< slurm, htcondor, cgroup or affinity
  std::optional<int64_t> memory_limit_bytes;
  bool net_host_wide = true;  ///< the network namespace is shared with others
  std::string commit;         ///< of the source; empty: not known
  std::string commit_source;  ///< the variable that said it, or git
};

/// One process at the time of a sample.
struct TreeProcessFact {
  int64_t pid = 0;
  int64_t start_ns = 0;  ///< Unix time of its start, from the kernel (one clock tick, 10 ms)
  int64_t rss_bytes = 0;
  int64_t cpu_ns = 0;  ///< its own, user and system
  int64_t threads = 0;
  std::string name = {};  ///< of the kernel, at most 15 bytes; empty: not known
  ProcessCounts counts = {};
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
  std::vector<TreeGpu> gpus;  ///< empty: none, or not known
  std::vector<TreeProcessFact> process_rows = {};
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

/// The figures of a process tree (docs/metrics.md), as far as one tree gives it; what is absent is not known.
struct TreeTotals {
  std::optional<int64_t> cpu_user_ns;
  std::optional<int64_t> cpu_system_ns;
  std::optional<int64_t> process_peak_rss_bytes;
  std::optional<int64_t> tree_peak_rss_bytes;
  std::optional<int64_t> tree_peak_pss_bytes;
  std::optional<int64_t> tree_peak_swap_bytes;
  std::optional<TreeIo> io;
  std::optional<TreeNet> net;
  std::optional<int64_t> max_processes;
  std::optional<int64_t> max_threads;
  std::optional<int64_t> major_faults;
  std::optional<int64_t> context_switches_involuntary;
  std::optional<int64_t> tree_cpu_sampled;  ///< processes whose CPU time is that of their last sample
  std::optional<int64_t> processes_left_running;
  std::optional<int64_t> oom_kills;  ///< processes of its control group that the kernel killed, out of memory
};

/// Last line: the command has ended and everything that ended with it was accounted for, or the watch was ended.
struct TreeEndFact {
  int64_t time_ns = 0;             ///< when the command or the watch ended
  std::optional<int> exit_status;  ///< 128 + signal where it was killed; only its parent knows
  TreeTotals totals;
  std::vector<TreeGpu> gpus;
  int64_t samples = 0;
  std::optional<int64_t> sampler_cpu_ns;  ///< what `crema run` itself cost
  std::optional<int64_t> sampler_peak_rss_bytes;
};

/// `schema` of the first line; another major number is another format.
inline constexpr std::string_view kTreeLogSchema = "crema.tree/1";
/// Minor numbers only add fields.
inline constexpr int kTreeLogSchemaMinor = 6;

/// The fields of samples. In the last line they are `tree_read_bytes` and so on.
inline constexpr auto kTreeIoFields =
    MemberList<&TreeIo::read_bytes, &TreeIo::write_bytes, &TreeIo::rchar_bytes, &TreeIo::wchar_bytes>::kNamed;

struct TreeTotalField {
  std::string_view key;
  std::optional<int64_t> TreeTotals::*member;
  bool adds_up = false;  ///< over several trees; else the largest counts: their instants differ
};
/// The fields of the last line besides I/O, which comes before `max_processes`, and the network, which comes before
/// `tree_cpu_sampled`.
inline constexpr TreeTotalField kTreeTotalFields[] = {
    {"tree_cpu_user_ns", &TreeTotals::cpu_user_ns, true},
    {"tree_cpu_system_ns", &TreeTotals::cpu_system_ns, true},
    {"process_peak_rss_bytes", &TreeTotals::process_peak_rss_bytes},
    {"tree_peak_rss_bytes", &TreeTotals::tree_peak_rss_bytes},
    {"tree_peak_pss_bytes", &TreeTotals::tree_peak_pss_bytes},
    {"tree_peak_swap_bytes", &TreeTotals::tree_peak_swap_bytes},
    {"max_processes", &TreeTotals::max_processes},
    {"max_threads", &TreeTotals::max_threads},
    {"major_faults", &TreeTotals::major_faults, true},
    {"context_switches_involuntary", &TreeTotals::context_switches_involuntary, true},
    {"tree_cpu_sampled", &TreeTotals::tree_cpu_sampled, true},
    {"processes_left_running", &TreeTotals::processes_left_running, true},
    {"oom_kills", &TreeTotals::oom_kills},  // of one control group, it may be
};

/// The fields of a row of `gpus` besides `index` and `name`.
inline constexpr auto kTreeGpuFields =
    MemberList<&TreeGpu::utilization_percent, &TreeGpu::memory_used_bytes, &TreeGpu::memory_total_bytes,
               &TreeGpu::power_mw, &TreeGpu::tree_memory_bytes, &TreeGpu::other_processes, &TreeGpu::tree_percent,
               &TreeGpu::other_percent, &TreeGpu::energy_mj>::kNamed;

}  // namespace crema
