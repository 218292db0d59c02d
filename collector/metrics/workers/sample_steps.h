// One quantity of a process's samples as a step function: the last value holds until the next sample.
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_SAMPLE_STEPS_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_SAMPLE_STEPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/process_row.h"

namespace crema {

struct SampleStep {
  int64_t time_ns = 0;  ///< Unix time
  int64_t value = 0;
};

/// Samples from `start_ns` to `stop_ns`, both included, by time. The last one before `start_ns` holds at `start_ns`;
/// before the first step the value is not known. Samples without the quantity are left out.
std::vector<SampleStep> StepsOfSamples(const std::vector<ProcessSample>& samples,
                                       std::optional<int64_t> ProcessSample::*quantity, int64_t start_ns,
                                       int64_t stop_ns);

/// The memory limit: what the samples say, and before them what the process said when it began.
std::vector<SampleStep> StepsOfMemoryLimit(const ProcessRow& process, int64_t start_ns, int64_t stop_ns);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_SAMPLE_STEPS_H_
