// /proc/PID/stat (proc_pid_stat(5)): who a process is, whose child, and the CPU time it used.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_STAT_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_STAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crema {

/// Times are in clock ticks, as the kernel gives them (sysconf(_SC_CLK_TCK), 100 a second).
struct ProcStat {
  int pid = 0;
  char state = '?';  ///< Z: ended, not yet waited for
  int parent_pid = 0;
  int64_t minor_faults = 0;  ///< its own, as the next
  int64_t major_faults = 0;
  int64_t children_major_faults = 0;  ///< of children that it waited for
  int64_t user_ticks = 0;
  int64_t system_ticks = 0;
  int64_t children_user_ticks = 0;  ///< of children that it waited for, and what those waited for
  int64_t children_system_ticks = 0;
  int64_t threads = 0;
  std::string name;           ///< of the command, as the kernel cuts it
  int64_t start_ticks = 0;    ///< since the machine booted: with the pid, it names the process
  bool is_real_time = false;  ///< the thread's scheduling class; of a process, its first thread's
};

/// The run delay in /proc/PID/task/TID/schedstat, in nanoseconds: so long the thread was ready to run and had no CPU.
std::optional<int64_t> ParseRunDelay(std::string_view text);

/// The command's name may hold blanks and brackets, so fields are counted from the last `)`. nullopt: not such a line.
std::optional<ProcStat> ParseProcStat(std::string_view text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_STAT_H_
