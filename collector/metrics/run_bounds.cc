#include "collector/metrics/run_bounds.h"

#include <algorithm>

namespace crema {
namespace {

// An engine's workers live longer than the run that used them, so they bound nothing.
bool BoundByProcesses(const ProcessFindings& findings, RunBounds& bounds) {
  for (size_t i = 0; i < findings.processes.size(); ++i) {
    if (findings.serves_engine[i]) continue;
    const ProcessRow& process = findings.processes[i];
    if (bounds.boundary.empty()) bounds = {{process.start_ns, process.last_ns}, "processes"};
    bounds.window.start_ns = std::min(bounds.window.start_ns, process.start_ns);
    bounds.window.stop_ns = std::max(bounds.window.stop_ns, process.last_ns);
  }
  return !bounds.boundary.empty();
}

// The command's last sign of life: where only `crema run` was killed, its records go on after the tree's last line.
int64_t StopOfCommand(const TreeFigures& tree, const ProcessFindings& findings) {
  if (tree.stop_ns.has_value()) return *tree.stop_ns;
  RunBounds of_processes;
  if (!BoundByProcesses(findings, of_processes)) return tree.last_ns;
  return std::max(tree.last_ns, of_processes.window.stop_ns);
}

}  // namespace

RunBounds FindBounds(const std::optional<TreeFigures>& tree, const ProcessFindings& processes,
                     const AttemptTotals& totals, std::optional<int64_t> start_ns, std::optional<int64_t> stop_ns) {
  RunBounds bounds;
  if (tree.has_value()) {
    bounds = {{tree->start_ns, StopOfCommand(*tree, processes)}, "command"};
  } else if (!BoundByProcesses(processes, bounds) && totals.first_start_ns.has_value()) {
    bounds = {{*totals.first_start_ns, totals.last_stop_ns.value_or(*totals.first_start_ns)}, "chunks"};
  }
  if (start_ns.has_value() || stop_ns.has_value()) {
    bounds.boundary = "context";
    bounds.stop_was_told = stop_ns.has_value();
    bounds.window.start_ns = start_ns.value_or(bounds.window.start_ns);
    bounds.window.stop_ns = stop_ns.value_or(bounds.window.stop_ns);
  }
  bounds.window.stop_ns = std::max(bounds.window.stop_ns, bounds.window.start_ns);
  return bounds;
}

}  // namespace crema
