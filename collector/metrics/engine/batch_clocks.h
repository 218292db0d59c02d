// Batch systems whose processes name their job: its number joins them, whatever the clocks say.
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_BATCH_CLOCKS_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_BATCH_CLOCKS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/process_row.h"
#include "collector/metrics/engine/cluster_table.h"

namespace crema {

/// A process of a step says `slurm 14.0`, its job is `slurm 14`.
std::string_view JobOfStep(std::string_view job);

/// What processes of these clusters' jobs say of their job, where its number is unique.
std::set<std::string> NumberedJobs(const ClusterTable& clusters);

/// Where the processes of jobs lived outside of their jobs' time, moves the times of their log by the least that makes
/// all of them fit, or by whole hours where its zone explains it. If no offset fits all, each job is moved alone; one
/// whose own processes contradict each other stays. Returns what was done, and what was not, one line each.
std::vector<std::string> AlignWithRecords(const std::vector<ProcessRow>& processes, ClusterTable* clusters);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_BATCH_CLOCKS_H_
