// The exit status that shells give.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_WAIT_STATUS_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_WAIT_STATUS_H_

#include <sys/wait.h>

namespace crema {

/// Of a status of wait(2): the process's own, or 128 + the signal that killed it.
inline int ShellStatus(int wait_status) {
  constexpr int kKilled = 128;
  return WIFSIGNALED(wait_status) ? kKilled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_WAIT_STATUS_H_
