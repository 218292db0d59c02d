// Follows a command's process tree while it runs: samples, waits for what ends, writes the process-tree log.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SAMPLER_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SAMPLER_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "collector/sources/process_tree/anchored_clock.h"
#include "collector/sources/process_tree/gpu_sampler.h"
#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/proc_net.h"
#include "collector/sources/process_tree/pss_schedule.h"
#include "collector/sources/process_tree/tree_ledger.h"
#include "collector/sources/process_tree/tree_log_writer.h"
#include "collector/sources/process_tree/tree_scanner.h"

namespace crema {

class TreeSampler {
 public:
  /// Whether /proc tells of the calling process's pid namespace. Else it is one that began without a /proc of its own,
  /// and of an own command only what wait4(2) tells is known.
  static bool SeesProcesses();

  /// Of the commands that the calling process starts: it must be their parent and the subreaper of their orphans.
  /// Construct before they are started: children that exist by then are not theirs.
  static TreeSampler OfOwnCommand(const AnchoredClock& clock, TreeLogWriter* log);

  /// Of a process that others started and wait for. The calling process, if it is below it, is not of its tree.
  static TreeSampler OfProcess(int pid, const AnchoredClock& clock, TreeLogWriter* log);

  /// Reads the whole tree and writes one line.
  void Sample();

  struct Reaped {
    std::optional<int> command_status;  ///< of wait(2); set once the command has ended
    bool none_left = false;             ///< no child, adopted ones included
  };
  /// Of an own command: waits for all children that have ended, without blocking, and writes a line for each.
  Reaped ReapChildren(pid_t command);

  /// Whether a process of the tree was there at the last sample.
  bool AnyAlive() const;

  /// Last sample and last line. `stop_ns`: when the command, or the watch, ended; nullopt: nobody told its status.
  void End(int64_t stop_ns, std::optional<int> exit_status);

 private:
  /// `process`: as /proc has it, `self` or a pid.
  TreeSampler(const AnchoredClock& clock, TreeLogWriter* log, TreeScanner scanner, TreeLedger ledger,
              const std::string& process);

  /// Whether the process was of the tree at the last scan.
  bool IsOfTree(int64_t pid) const;

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

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SAMPLER_H_
