// One process as /proc shows it at one moment.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROCESS_READING_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROCESS_READING_H_

#include <cstdint>
#include <optional>

#include "collector/records/tree_facts.h"
#include "collector/sources/process_tree/proc_stat.h"

namespace crema {

struct ProcessReading {
  ProcStat stat;
  int64_t rss_bytes = 0;
  ProcessCounts counts;  ///< without `throttled_ns`; those of reads are with children it waited for
  std::optional<int64_t> swap_bytes;
  std::optional<int64_t> pss_bytes;
  std::optional<TreeIo> io;  ///< its own and that of children it waited for
  bool ignores_child_signal = false;

  bool ended() const { return stat.state == 'Z' || stat.state == 'X'; }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROCESS_READING_H_
