// Attempts that were summed where they ran, because their lines would have taken the host's disk.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_SUMMED_ATTEMPTS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_SUMMED_ATTEMPTS_H_

#include <cstdint>

#include "collector/metrics/attempts/attempt_row.h"

namespace crema {

/// All summed attempts of one log, dataset, file, pass and status: all of them ended, and each `ok` one counts as the
/// result of its chunk. Which of them repeat another is not known, as all that needs single attempts.
struct SummedAttempts {
  /// Their sums, as if they were one attempt: `duration_ns` is the time in which they were open, summed, and
  /// `start_ns` the first one's begin. The union of its helpers is what owners waited for them.
  AttemptRow row;
  int64_t stop_ns = 0;  ///< the last one's end, Unix time
  int64_t chunks = 0;
  int64_t chunks_with_events = 0;
  int64_t max_duration_ns = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_SUMMED_ATTEMPTS_H_
