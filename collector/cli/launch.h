// Starts a command as a shell would, and says why it did not start.
#ifndef CREMA_COLLECTOR_CLI_LAUNCH_H_
#define CREMA_COLLECTOR_CLI_LAUNCH_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace crema {

/// Changes to the environment: a value, or none to remove the variable.
using EnvironmentChanges = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct Launched {
  pid_t pid = -1;
  int fork_errno = 0;  ///< why there is no process
  int exec_errno = 0;  ///< why the process did not become the command; it has been waited for

  bool started() const { return fork_errno == 0 && exec_errno == 0; }
};

/// fork(2), not vfork(2): the kernel would count the parent's peak memory as the child's. `in_child` runs in the child
/// before the command (to give it back its signals). Returns once the command runs.
Launched Launch(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                const std::function<void()>& in_child);

/// The calling process becomes the command; returns errno, only where that failed.
int Become(const std::vector<std::string>& command);

/// One clear line, without an end.
std::string DescribeExecError(const std::string& command, int exec_errno);

/// 127 where the command was not found, 126 where it cannot be executed, as shells do.
int StatusOfExecError(int exec_errno);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_LAUNCH_H_
