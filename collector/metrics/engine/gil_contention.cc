#include "collector/metrics/engine/gil_contention.h"

#include <algorithm>

namespace crema {

std::optional<double> GilContention(const std::vector<ClusterWorker>& workers, const RunWindow& run) {
  double sum = 0, weights = 0;
  for (const ClusterWorker& worker : workers) {
    const std::vector<ClusterSampleFact>& samples = worker.fact->samples;
    for (size_t i = 1; i < samples.size(); ++i) {
      const int64_t begin_ns = std::max(samples[i - 1].time_ns, run.start_ns);
      const int64_t end_ns = std::min(samples[i].time_ns, run.stop_ns);
      const int64_t tasks = samples[i].executing.value_or(0);
      if (!samples[i].gil_contention.has_value() || tasks < 2 || end_ns <= begin_ns) continue;
      const double weight = static_cast<double>(end_ns - begin_ns) * static_cast<double>(tasks);
      sum += weight * std::clamp(*samples[i].gil_contention, 0.0, 1.0);
      weights += weight;
    }
  }
  if (weights <= 0) return std::nullopt;
  return sum / weights;
}

}  // namespace crema
