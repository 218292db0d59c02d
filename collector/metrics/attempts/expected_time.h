// What the attempts of a worker or a file took, against what chunks of their dataset and size take.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_EXPECTED_TIME_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_EXPECTED_TIME_H_

#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {

/// Sums over the `ok` attempts that their dataset's fit judges (at least `kLeastFittedAttempts` in the dataset).
struct ExpectedTime {
  uint32_t group = 0;  ///< what they were grouped by: a process or a file
  int64_t attempts = 0;
  double duration_seconds = 0;
  double predicted_seconds = 0;  ///< what the fits give for their events

  double excess_seconds() const { return duration_seconds - predicted_seconds; }
};

/// Each of those with attempts; the largest excess first, then by group.
struct ExpectedTimes {
  std::vector<ExpectedTime> by_process;
  std::vector<ExpectedTime> by_file;
};

/// `file_of_input[attempt.input]` is the attempt's file.
ExpectedTimes FindExpectedTimes(const AttemptRows& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<uint32_t>& file_of_input, const std::vector<DatasetFit>& fits);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_EXPECTED_TIME_H_
