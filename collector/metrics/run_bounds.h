// From when to when the run lasted (docs/metrics.md, "Runs and workers").
#ifndef CREMA_COLLECTOR_METRICS_RUN_BOUNDS_H_
#define CREMA_COLLECTOR_METRICS_RUN_BOUNDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/metrics/attempts/attempt_totals.h"
#include "collector/metrics/run_window.h"
#include "collector/metrics/tree/tree_accumulator.h"
#include "collector/metrics/workers/process_table.h"

namespace crema {

struct RunBounds {
  RunWindow window;
  /// `command`, `context`, `processes` or `chunks`: what the window is taken from; empty: there are no time stamps.
  std::string_view boundary;
  /// The caller said when it stopped: its processes may live on, as an engine's workers and a notebook do.
  bool stop_was_told = false;
};

/// The first that exists of: the command's bounds (`crema run`), the processes', the chunks'. `start_ns` and `stop_ns`
/// override a side each, and make the boundary `context`. A stop before the start is moved to the start.
RunBounds FindBounds(const std::optional<TreeFigures>& tree, const ProcessFindings& processes,
                     const AttemptTotals& totals, std::optional<int64_t> start_ns, std::optional<int64_t> stop_ns);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_RUN_BOUNDS_H_
