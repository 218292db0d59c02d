// The cores that an engine's tasks hold over time, where it gives a task more than one: those beyond their lanes are
// free, and no other task can have them.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_HELD_CORES_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_HELD_CORES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "collector/metrics/budget/lane_sweep.h"
#include "collector/metrics/run_window.h"

namespace crema {

/// A task, and the cores of its worker that it was given.
struct TaskCores {
  uint32_t process = 0;
  int64_t start_ns = 0;  ///< Unix time
  int64_t stop_ns = 0;
  int64_t cores = 1;
};

/// The sum over tasks that are there at a time.
class HeldCores {
 public:
  void Add(const TaskCores& task, const RunWindow& window);
  /// To be called once, after the last `Add`: so that no step of the sweep has two sums.
  void AddBoundaries(Changes& changes);
  /// In lanes. Moments come in order.
  int64_t At(int64_t time_ns);

 private:
  std::vector<std::pair<int64_t, int64_t>> steps_;  // time, and cores more or fewer
  size_t at_ = 0;
  int64_t cores_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_HELD_CORES_H_
