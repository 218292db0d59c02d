#include "collector/metrics/workers/sample_steps.h"

#include <algorithm>

namespace crema {

std::vector<SampleStep> StepsOfSamples(const std::vector<ProcessSample>& samples,
                                       std::optional<int64_t> ProcessSample::*quantity, int64_t start_ns,
                                       int64_t stop_ns) {
  std::vector<SampleStep> steps;
  for (const ProcessSample& sample : samples) {
    const std::optional<int64_t>& value = sample.*quantity;
    if (!value.has_value() || sample.time_ns > stop_ns) continue;
    if (sample.time_ns <= start_ns) steps.clear();
    steps.push_back({std::max(sample.time_ns, start_ns), *value});
  }
  return steps;
}

std::vector<SampleStep> StepsOfMemoryLimit(const ProcessRow& process, int64_t start_ns, int64_t stop_ns) {
  std::vector<SampleStep> steps =
      StepsOfSamples(process.samples, &ProcessSample::memory_limit_bytes, start_ns, stop_ns);
  const bool unknown_at_start = steps.empty() || steps.front().time_ns > start_ns;
  if (unknown_at_start && process.memory_limit_bytes.has_value()) {
    steps.insert(steps.begin(), {start_ns, *process.memory_limit_bytes});
  }
  return steps;
}

}  // namespace crema
