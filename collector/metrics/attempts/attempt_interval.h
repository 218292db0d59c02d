// From when to when an attempt was open in its process.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_INTERVAL_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_INTERVAL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/process_row.h"

namespace crema {

/// Half-open, Unix nanoseconds.
struct AttemptInterval {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
};

inline bool HasEnded(const AttemptRow& attempt) { return HasEnded(attempt.status); }

/// An attempt that never ended was open until its process's end, or until the last that was heard of the process. One
/// whose record is lost was open no longer than this.
inline AttemptInterval IntervalOf(const AttemptRow& attempt, const std::vector<ProcessRow>& processes) {
  if (HasEnded(attempt) || attempt.status == AttemptState::kUnrecorded) return {attempt.start_ns, attempt.stop_ns()};
  return {attempt.start_ns, std::max(attempt.start_ns, processes[attempt.recording_process()].last_ns)};
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_INTERVAL_H_
