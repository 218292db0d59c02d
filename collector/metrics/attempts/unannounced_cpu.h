// The CPU time of threads without guards that is a chunk's, and that of threads that run anyway.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_UNANNOUNCED_CPU_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_UNANNOUNCED_CPU_H_

#include <vector>

#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/attempts/process_row.h"

namespace crema {

/// Threads that also compute while no chunk is open, as a logger does, compute at the same rate while one is: so much
/// of what chunks were given is not theirs. Their owners may have waited for it all the same.
void LeaveOutBackground(const std::vector<ProcessRow>& processes, AttemptFindings* attempts);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_UNANNOUNCED_CPU_H_
