// Who a process is that somebody else started: what `crema run --pid` writes down of it.
#pragma once

#include <sys/wait.h>

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

/// The process that has the pid at construction; never another one that gets its pid later.
class ProcessExit {
 public:
  explicit ProcessExit(int pid);
  ~ProcessExit();
  ProcessExit(const ProcessExit&) = delete;
  ProcessExit& operator=(const ProcessExit&) = delete;

  /// Whether it has ended; true too where there was none. Nobody needs to have waited for it.
  bool HasEnded() const;

  /// Becomes readable when it ends (pidfd_open(2)); -1 where the kernel has no such thing (before 5.3): ask `HasEnded`.
  int descriptor() const { return descriptor_; }

 private:
  int pid_;
  int64_t start_ticks_;
  int descriptor_;
};

/// The status that a shell makes of one of wait(2): the process's own, or 128 + the signal that killed it.
inline int ShellStatus(int wait_status) {
  constexpr int kKilled = 128;
  return WIFSIGNALED(wait_status) ? kKilled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace crema
