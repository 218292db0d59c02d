// The verdicts by what they look at; each function adds those of its family that fire.
#ifndef CREMA_COLLECTOR_INSIGHT_VERDICT_FAMILIES_H_
#define CREMA_COLLECTOR_INSIGHT_VERDICT_FAMILIES_H_

#include <string_view>

#include "collector/insight/verdict.h"

namespace crema {

/// Evidence of scaling-lag: the share of the worker-seconds that late workers are missing from.
inline constexpr std::string_view kMissingShare = "workers.missing_share";

/// Whether the records can be trusted, and what measuring cost: incomplete-measurement, instrumentation-heavy. It says
/// itself where there is too little to judge.
void JudgeMeasurement(const JudgedRun& run);

/// failing-chunks, failing-tasks, worker-loss: they need no core-seconds.
void JudgeFailures(const JudgedRun& run);

// The others need `run.evidence.IsEnough()`.

/// Parts of the budget: compute-bound, waiting-bound, gil-contention, cpu-contention, opening-bound, long-tail,
/// idle-workers, unused-cores, startup-dominated, framework-overhead, retry-waste, oversubscribed.
void JudgeBudget(const JudgedRun& run);

/// Sizes of chunks: too-few-chunks, too-few-clusters, chunks-too-small, chunks-too-large, oversized-chunks.
void JudgeChunkSizes(const JudgedRun& run);

/// What takes longer than its like: stragglers, slow-worker, slow-file, skewed-dataset, hot-section.
void JudgeOutliers(const JudgedRun& run);

/// What all lanes wait for together: shared-bottleneck.
void JudgeContention(const JudgedRun& run);

/// memory-pressure, memory-growth, leaking-section, scaling-lag.
void JudgeWorkers(const JudgedRun& run);

/// What engine and files do with bytes: spilling, serialization-heavy, compression-heavy, low-compression.
void JudgeData(const JudgedRun& run);

/// What was asked of storage: slow-server, many-small-reads.
void JudgeRequests(const JudgedRun& run);

/// The read calls of processes that recorded chunks.
struct SmallReadCalls {
  double calls = 0;
  double bytes = 0;
  double chunk_cpu_seconds = 0;

  double mean_bytes() const { return calls > 0 ? bytes / calls : 0; }
  bool are_many_and_small() const {
    return chunk_cpu_seconds > 0 && kManyReads.Holds(calls) && kManyCalls.Holds(calls / chunk_cpu_seconds) &&
           kSmallCall.Holds(mean_bytes());
  }
};
SmallReadCalls ReadCalls(const Measurement& measurement);

/// What events waited for that go from thread to thread: serial-module, external-work, stolen-work, nothing-ready.
void JudgeTasks(const JudgedRun& run);

/// What the kernel did for chunks: kernel-time, page-faults.
void JudgeKernel(const JudgedRun& run);

/// gpu-bound, gpu-copies, gpu-starved, gpu-shared.
void JudgeGpu(const JudgedRun& run);
/// A GPU worked for the run, and nobody counted what it did: whether threads computed, or spun while they waited for
/// it, is not known.
bool UsesUncountedGpu(const Measurement& measurement);

/// Whether most of the time around chunks passed before the first chunk of each thread of a worker: files are opened
/// for each chunk, modules are imported once.
bool IsMostlySetUp(const Measurement& measurement);

/// healthy; after all the others, whose findings it looks at.
void JudgeHealth(const JudgedRun& run);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_VERDICT_FAMILIES_H_
