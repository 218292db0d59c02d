// Samples the process tree of a running job at intervals, and the machine's NVIDIA GPUs.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <memory>

#include "collector/records/tree_facts.h"
#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/tree_log.h"
#include "collector/sources/process_tree/tree_scanner.h"

namespace crema {

/// Reads NVIDIA's GPUs through NVML in a thread, which it leaves behind where that waits for the driver. The library is
/// loaded at run time, where the driver is installed.
class GpuSampler {
 public:
  /// Starts the thread. It reads once a second, and the shares of processes every ten seconds.
  void StartOnce();
  /// The last reading; empty if there is no GPU, or nothing was read yet. `is_of_tree` says of a pid whether the
  /// process counts as the tree's. If a process on a GPU is in another pid namespace, nobody knows whose processes use
  /// that GPU: what the tree and others use of it stays null.
  std::vector<TreeGpu> Latest(const std::function<bool(int64_t pid)>& is_of_tree) const;
  /// Ends the thread, and waits for it briefly. The GPUs with the energy that they used since the start.
  std::vector<TreeGpu> End();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// What NVML says of this machine.
struct GpuDriver {
  std::string version;            ///< of the driver; empty: none is there
  std::vector<std::string> gpus;  ///< names
  std::string problem;            ///< why there is none: a sentence without its end; empty: all is well
};
GpuDriver FindGpuDriver();

/// The clock's time in nanoseconds (clock_gettime(2)).
int64_t ReadClockNs(clockid_t clock);

/// Nanoseconds of one of the ticks in which /proc counts (sysconf(3), _SC_CLK_TCK).
int64_t TickNs();

/// Unix time from one anchor, so that a step of the clock is not felt: REALTIME - MONOTONIC is read once.
class AnchoredClock {
 public:
  AnchoredClock();
  int64_t UnixNs() const { return anchor_ns_ + ReadClockNs(CLOCK_MONOTONIC); }
  /// Unix time of the machine's boot, from which the kernel counts the starts of processes.
  int64_t boot_ns() const { return boot_ns_; }

 private:
  int64_t anchor_ns_;
  int64_t boot_ns_;
};

/// Keeps the CPU time of reading PSS below a thousandth of the time that passes, after a first allowance.
class PssSchedule {
 public:
  explicit PssSchedule(int64_t start_ns) : start_ns_(start_ns) {}

  /// Whether this sample should read it: RSS has grown by a tenth since the last reading (a new peak may be there), or
  /// nine samples passed without one; and there is time for a reading like the last.
  bool Due(int64_t now_ns, int64_t rss_bytes);

  /// Notes a reading, what it cost, and the RSS of the tree at that time.
  void Spent(int64_t cost_ns, int64_t rss_bytes);

 private:
  int64_t start_ns_;
  int64_t samples_since_ = 0;
  int64_t largest_rss_bytes_ = 0;
  int64_t last_cost_ns_ = 0;
  int64_t spent_ns_ = 0;
};

/// Follows a command's process tree while it runs: samples, waits for what ends, writes the process-tree log.
class TreeSampler {
 public:
  /// Whether /proc shows the calling process's pid namespace. Else it is one that began without a /proc of its own,
  /// and of an own command only what wait4(2) reports is known.
  static bool SeesProcesses();

  /// For the commands that the calling process starts: it must be their parent and the subreaper of their orphans.
  /// Construct before they are started: children that exist by then are not theirs.
  static TreeSampler OfOwnCommand(const AnchoredClock& clock, TreeLogWriter* log);

  /// For a process that others started and wait for. The calling process, if it is below it, is not of its tree.
  static TreeSampler OfProcess(int pid, const AnchoredClock& clock, TreeLogWriter* log);

  /// Reads the whole tree and writes one line.
  void Sample();

  struct Reaped {
    std::optional<int> command_status;  ///< of wait(2); set once the command has ended
    bool none_left = false;             ///< no child, adopted ones included
  };
  /// For an own command: waits for all children that have ended, without blocking, and writes a line for each.
  Reaped ReapChildren(pid_t command);

  /// Whether a process of the tree was there at the last sample.
  bool AnyAlive() const;

  /// Last sample and last line. `stop_ns`: when the command, or the watch, ended; nullopt: nobody reported its status.
  void End(int64_t stop_ns, std::optional<int> exit_status);

 private:
  /// `process`: as /proc has it, `self` or a pid.
  TreeSampler(const AnchoredClock& clock, TreeLogWriter* log, TreeScanner scanner, TreeLedger ledger,
              const std::string& process);

  bool sees_processes_ = true;
  AnchoredClock clock_;
  TreeLogWriter* log_;
  TreeScanner scanner_;
  TreeLedger ledger_;
  NetCounter net_;
  PssSchedule pss_schedule_;
  std::string net_path_;
  KeptProcFile net_file_;
  ProcBuffer buffer_;
  std::optional<TreeNet> net_bytes_;
  std::string oom_kills_file_;
  std::optional<int64_t> oom_kills_before_;
  int64_t samples_ = 0;
  GpuSampler gpus_;
};

}  // namespace crema
