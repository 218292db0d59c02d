// Who a process is that somebody else started: what `crema run --pid` writes down of it.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_WATCHED_PROCESS_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_WATCHED_PROCESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace crema {

struct WatchedProcess {
  int pid = 0;
  int64_t start_ticks = 0;                         ///< since the machine booted, in clock ticks
  std::string name;                                ///< the kernel's, at most 15 characters
  std::vector<std::string> arguments;              ///< empty: a kernel thread, or not readable
  std::map<std::string, std::string> environment;  ///< at its start; empty where it may not be read
};

/// nullopt: there is no such process, or it has ended, or the number is that of a thread. `filesystem_root` stands
/// before /proc; empty but in tests.
std::optional<WatchedProcess> FindProcess(int pid, const std::string& filesystem_root = {});

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_WATCHED_PROCESS_H_
