#include "collector/cli/run_description.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "collector/cli/run_identity.h"
#include "collector/cli/shown_command.h"
#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/cgroup_limits.h"
#include "collector/sources/process_tree/proc_net.h"
#include "collector/sources/process_tree/source_commit.h"

namespace crema {
namespace {

TreeRunFact Describe(const RunPlan& plan, const std::string& run_id, const Environment& environment,
                     const std::string& process, std::optional<int> affinity_cores) {
  TreeRunFact run;
  run.run_id = run_id;
  run.host = HostName();
  run.interval_seconds = plan.interval_seconds;
  const CgroupLimits cgroup = ReadCgroupLimits({}, process);
  const std::optional<AllocatedCores> cores = FindAllocatedCores(environment, cgroup, affinity_cores);
  if (cores.has_value()) {
    run.allocated_cores = cores->cores;
    run.allocated_cores_source = cores->source;
  }
  run.memory_limit_bytes = cgroup.memory_limit_bytes;
  run.net_host_wide = NetworkIsShared(process);
  SourceCommit commit = FindSourceCommit(environment, "/proc/" + process + "/cwd");
  run.commit = std::move(commit.id);
  run.commit_source = std::move(commit.source);
  return run;
}

}  // namespace

TreeRunFact DescribeCommand(const RunPlan& plan, const std::string& run_id) {
  TreeRunFact run = Describe(
      plan, run_id, [](const char* name) { return std::getenv(name); }, "self", AffinityCores());
  run.name = plan.name.empty() ? CommandName(plan.command.front()) : plan.name;
  run.command = ShownCommand(plan.command);
  return run;
}

TreeRunFact DescribeWatched(const RunPlan& plan, const std::string& run_id, const WatchedProcess& process,
                            const AnchoredClock& clock) {
  const auto variable = [&process](const char* name) -> const char* {
    const auto found = process.environment.find(name);
    return found == process.environment.end() ? nullptr : found->second.c_str();
  };
  TreeRunFact run = Describe(plan, run_id, variable, std::to_string(process.pid), AffinityCores(process.pid));
  run.origin = TreeOrigin::kWatched;
  run.name = plan.name.empty() ? process.name : plan.name;
  run.command = ShownCommand(process.arguments);
  run.pid = process.pid;
  run.start_ns = clock.boot_ns() + process.start_ticks * TickNs();
  return run;
}

}  // namespace crema
