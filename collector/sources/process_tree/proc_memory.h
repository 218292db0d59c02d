// What a process holds in memory: statm, status and smaps_rollup of proc(5).
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_MEMORY_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace crema {

/// Resident pages of /proc/PID/statm (its second field); multiply by the page size.
std::optional<int64_t> ParseStatmResidentPages(std::string_view text);

/// What only /proc/PID/status tells. A process that has ended has no memory lines.
struct ProcStatus {
  std::optional<int64_t> peak_rss_bytes;   ///< VmHWM
  std::optional<int64_t> anonymous_bytes;  ///< RssAnon
  std::optional<int64_t> file_bytes;       ///< RssFile + RssShmem
  std::optional<int64_t> swap_bytes;       ///< VmSwap
  bool ignores_child_signal = false;       ///< SigIgn holds SIGCHLD: the kernel reaps its children, with their times
};
ProcStatus ParseProcStatus(std::string_view text);

/// `Pss:` of /proc/PID/smaps_rollup in bytes: resident memory, shared pages divided among those who share them.
std::optional<int64_t> ParsePssBytes(std::string_view text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_MEMORY_H_
