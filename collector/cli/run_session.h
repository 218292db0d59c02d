// From the start of the command to its end: the middle of `crema run`.
#ifndef CREMA_COLLECTOR_CLI_RUN_SESSION_H_
#define CREMA_COLLECTOR_CLI_RUN_SESSION_H_

#include "collector/cli/run_directory.h"
#include "collector/cli/run_plan.h"
#include "collector/cli/signal_relay.h"

namespace crema {

/// Exit status for crema's own failures before the command starts, as of env(1) and timeout(1).
inline constexpr int kRunFailed = 125;

struct RunOutcome {
  bool started = false;
  int exit_status = kRunFailed;  ///< the command's, or why there was none
};

/// Runs the command with recording on, samples its process tree into DIR/records, passes signals on, and returns when
/// it has ended; processes that it left behind keep running. Says on stderr why a command did not start, and then
/// leaves DIR as it was.
RunOutcome RunCommand(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_SESSION_H_
