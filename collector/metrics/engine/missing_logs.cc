#include "collector/metrics/engine/missing_logs.h"

#include <fmt/format.h>

#include <algorithm>

#include "collector/engines/engines.h"

namespace crema {

std::vector<std::string> NameMissingLogs(const ClusterTable& clusters, const std::vector<ProcessRow>& processes) {
  std::vector<std::string> missing;
  for (const Engine* engine : Engines()) {
    if (engine->traits.task_processes.empty() || clusters.Has(*engine)) continue;
    const std::string beginning = fmt::format("{} ", engine->traits.task_processes);
    const auto of_tasks = std::count_if(processes.begin(), processes.end(), [&](const ProcessRow& process) {
      return process.job.compare(0, beginning.size(), beginning) == 0;
    });
    if (of_tasks == 0) continue;
    missing.push_back(
        fmt::format("{} of {}, and the {}'s log was not given: workers, and the time around chunks, are not known; "
                    "crema collect reads {}",
                    of_tasks == 1 ? "one process was a task" : fmt::format("{} processes were tasks", of_tasks),
                    engine->traits.name, engine->traits.scheduler, engine->traits.logs));
  }
  return missing;
}

}  // namespace crema
