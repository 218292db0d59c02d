// `crema run --pid`: the middle of it, from the first sample of a process that runs already to its end.
#ifndef CREMA_COLLECTOR_CLI_RUN_WATCH_H_
#define CREMA_COLLECTOR_CLI_RUN_WATCH_H_

#include "collector/cli/run_directory.h"
#include "collector/cli/run_plan.h"
#include "collector/cli/run_session.h"
#include "collector/cli/signal_relay.h"

namespace crema {

/// Samples the process tree of `plan.pid` into DIR/records until that process ends, or a signal ends the watch (SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU, SIGPWR); the process is never touched. The exit status is 0 in both
/// cases. Says on stderr why a process cannot be watched, and then leaves DIR as it was.
RunOutcome WatchProcess(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_WATCH_H_
