// The first line of the process-tree log: what is run or watched, where, and what it was granted.
#ifndef CREMA_COLLECTOR_CLI_RUN_DESCRIPTION_H_
#define CREMA_COLLECTOR_CLI_RUN_DESCRIPTION_H_

#include <string>

#include "collector/cli/run_plan.h"
#include "collector/records/tree_facts.h"
#include "collector/sources/process_tree/anchored_clock.h"
#include "collector/sources/process_tree/watched_process.h"

namespace crema {

/// Of a command that will be started: `pid` and `start_ns` are the caller's to set. It gets what crema itself was
/// given.
TreeRunFact DescribeCommand(const RunPlan& plan, const std::string& run_id);

/// Of a process that runs already. It began when the kernel says (a clock tick, 10 ms, fine), and was given what its
/// own environment, control groups and affinity mask say.
TreeRunFact DescribeWatched(const RunPlan& plan, const std::string& run_id, const WatchedProcess& process,
                            const AnchoredClock& clock);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_DESCRIPTION_H_
