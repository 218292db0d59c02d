// Chunks that a process worked on side by side, as lanes: what stands in for cores when thread ids cannot.
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_LANES_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_LANES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/process_row.h"

namespace crema {

/// The lane (from 0) of each attempt within its process: attempts in order of start each take the lowest lane that is
/// free, so a process has as many lanes as it ever had ended attempts open at once. An attempt that begins when another
/// stops does not overlap it. `AttemptRow::kNone` for lost and open attempts, which have no duration.
std::vector<uint32_t> AssignLanes(const AttemptRows& attempts);

/// `load_imbalance`: max / mean - 1 of the busy seconds of all processes' lanes; nullopt where nothing was
/// busy.
std::optional<double> LoadImbalance(const AttemptRows& attempts);

/// Most attempts open at once in each process, by process index, lost and open ones included; 0 for a process without
/// chunks. `max_open_chunks` is the largest.
std::vector<int64_t> MaxOpenChunks(const AttemptRows& attempts, const std::vector<ProcessRow>& processes);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_LANES_H_
