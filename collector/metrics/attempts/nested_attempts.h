// Chunks of one copy of the SDK inside chunks of another copy, on one thread.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_NESTED_ATTEMPTS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_NESTED_ATTEMPTS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {

/// Two copies of the SDK in one process write a log each and do not know of each other's chunks: the time of the inner
/// chunk is in the record of the outer one, too. Takes it off the outer one, so that each moment of a thread counts
/// once. Returns the nanoseconds of wall time that it took off.
///
/// `rows` are of ended attempts and sealed, their `process` is the index of the log. `has_thread`: whether the attempt
/// was on its thread, which is known, all the time.
int64_t TakeNestedTimeOff(const std::vector<uint32_t>& process_of_log,
                          absl::FunctionRef<bool(const AttemptRow&)> has_thread, AttemptRows& rows);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_NESTED_ATTEMPTS_H_
