// Follows a command's process tree while it runs: samples, waits for what ends, writes the process-tree log.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SAMPLER_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SAMPLER_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "collector/sources/process_tree/anchored_clock.h"
#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/proc_net.h"
#include "collector/sources/process_tree/pss_schedule.h"
#include "collector/sources/process_tree/tree_ledger.h"
#include "collector/sources/process_tree/tree_log_writer.h"
#include "collector/sources/process_tree/tree_scanner.h"

namespace crema {

/// The calling process must be the parent of the command and the subreaper of its orphans.
class TreeSampler {
 public:
  /// Construct before the command is started: children that exist by then are not its.
  TreeSampler(const AnchoredClock& clock, TreeLogWriter* log);

  /// Reads the whole tree and writes one line.
  void Sample();

  struct Reaped {
    std::optional<int> command_status;  ///< of wait(2); set once the command has ended
    bool none_left = false;             ///< no child, adopted ones included
  };
  /// Waits for all children that have ended, without blocking, and writes a line for each.
  Reaped ReapChildren(pid_t command);

  /// Last sample and last line. `stop_ns`: when the command ended.
  void End(int64_t stop_ns, int exit_status);

 private:
  AnchoredClock clock_;
  TreeLogWriter* log_;
  TreeScanner scanner_;
  TreeLedger ledger_;
  NetCounter net_;
  PssSchedule pss_schedule_;
  KeptProcFile net_file_;
  ProcBuffer buffer_;
  std::optional<TreeNet> net_bytes_;
  int64_t samples_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_SAMPLER_H_
