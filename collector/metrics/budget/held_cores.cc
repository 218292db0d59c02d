#include "collector/metrics/budget/held_cores.h"

#include <algorithm>

namespace crema {

void HeldCores::Add(const TaskCores& task, const RunWindow& window) {
  const int64_t start_ns = window.Clip(task.start_ns);
  const int64_t stop_ns = window.Clip(task.stop_ns);
  if (start_ns >= stop_ns) return;
  steps_.emplace_back(start_ns, task.cores);
  steps_.emplace_back(stop_ns, -task.cores);
}

void HeldCores::AddBoundaries(Changes& changes) {
  std::sort(steps_.begin(), steps_.end());
  for (const auto& [time_ns, cores] : steps_) changes.others.push_back({time_ns});
}

int64_t HeldCores::At(int64_t time_ns) {
  for (; at_ < steps_.size() && steps_[at_].first <= time_ns; ++at_) cores_ += steps_[at_].second;
  return cores_ * kOneLane;
}

}  // namespace crema
