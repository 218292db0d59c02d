// After the command: the measurement is made and its summary printed, without any say in the exit status.
#ifndef CREMA_COLLECTOR_CLI_RUN_REPORT_H_
#define CREMA_COLLECTOR_CLI_RUN_REPORT_H_

#include "collector/cli/run_directory.h"
#include "collector/cli/run_plan.h"
#include "collector/cli/signal_relay.h"

namespace crema {

/// Collects DIR/records into DIR/measurement.json and prints the summary to stderr, in a process of its own: whatever
/// happens to it (no memory, a bug, Ctrl-C) costs the measurement, which `crema collect` can make later from the
/// records. Says so on stderr, and returns in any case.
void CollectAndPrint(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_REPORT_H_
