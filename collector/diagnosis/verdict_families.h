// The verdicts by what they look at; each function adds those of its family that fire.
#pragma once

#include "collector/diagnosis/evidence.h"
#include "collector/diagnosis/verdict_table.h"
#include "collector/measurement/measurement.h"

namespace crema {

// A finding about a measurement, and the measurement while it is being judged.

/// docs/verdicts.md. Conditions, thresholds and their reasons: verdict_table.h.
struct Verdict {
  std::string id;
  Severity severity = Severity::kInfo;
  std::string sentence;
  std::vector<std::pair<std::string, double>> evidence;  ///< the figures (document keys) that made it fire
  std::string suggestion;                                ///< what to do; empty where nothing is to be done
  std::optional<double> saving;                          ///< share of the core-seconds (0 to 1) that could be saved
  std::string cause = "";                                ///< id of the verdict that explains this one; empty: none does
};

/// What a family of verdicts judges, and where it puts its findings.
struct JudgedRun {
  const Measurement& measurement;
  const RunEvidence& evidence;
  std::vector<Verdict>* verdicts;

  /// Only where `evidence.IsEnough()`.
  const BudgetRows& budget() const { return *evidence.budget; }
  bool is_running() const { return evidence.state == RunState::kRunning; }
  /// Shares of the core-seconds: that of a part of the budget, that of so many seconds of cores, and that of so many
  /// seconds of threads. Threads that are more than the cores have a part of one each.
  double Share(std::string_view part) const { return budget().Share(part); }
  double ShareOfCores(double seconds) const { return seconds / budget().core_seconds; }
  double ShareOf(double seconds) const {
    return seconds / (budget().core_seconds + Metric("oversubscribed_core_seconds"));
  }
  /// 0 where it was not measured.
  double Metric(std::string_view key) const { return measurement.Metric(key).value_or(0); }

  /// Whether a value is on the side of the bound on which the verdict fires.
  static bool Holds(std::string_view id, double value) { return RuleOf(id).threshold.Holds(value); }

  /// Adds a verdict of the table with its suggestion, bad where `value` reaches the rule's second threshold.
  Verdict& Add(std::string_view id, double value, std::string sentence,
               std::vector<std::pair<std::string, double>> found, std::optional<double> saving = std::nullopt) const {
    const VerdictRule& rule = RuleOf(id);
    const Severity severity = value >= rule.threshold.bad ? Severity::kBad : rule.threshold.severity;
    return verdicts->emplace_back(Verdict{std::string(id), severity, std::move(sentence), std::move(found),
                                          std::string(rule.suggestion), saving});
  }
};

/// Evidence of scaling-lag and no-workers: the share of the worker-seconds, or of the elapsed time, without workers.
inline constexpr std::string_view kMissingShare = "workers.missing_share";

/// Whether the records can be trusted, and what measuring cost. It says itself where there is too little to judge.
void JudgeMeasurement(const JudgedRun& run);
/// Chunks, tasks and workers that came to nothing: they need no core-seconds.
void JudgeFailures(const JudgedRun& run);

// The others need `run.evidence.IsEnough()`.

void JudgeBudget(const JudgedRun& run);      ///< parts of the budget
void JudgeChunkSizes(const JudgedRun& run);  ///< sizes of chunks
void JudgeOutliers(const JudgedRun& run);    ///< workers, files and chunks slower than comparable ones
void JudgeContention(const JudgedRun& run);  ///< what all lanes wait for together
void JudgeWorkers(const JudgedRun& run);     ///< their memory, and when they came and ran out of chunks
void JudgeData(const JudgedRun& run);        ///< what engine and files do with bytes
void JudgeRequests(const JudgedRun& run);    ///< what was asked of storage
void JudgeTasks(const JudgedRun& run);       ///< what events waited for that go from thread to thread
void JudgeCommand(const JudgedRun& run);     ///< a command that recorded no chunk
void JudgeKernel(const JudgedRun& run);      ///< what the kernel did for chunks
void JudgeGpu(const JudgedRun& run);         ///< what GPUs did

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

/// All events and tasks of the run.
struct TaskTotals {
  double events = 0;
  double events_per_second = 0;
  double in_flight = 0;
  double latency = 0;
  double active = 0;
  double queued = 0;
  double external = 0;
  double rest = 0;
  double not_divided = 0;  ///< events
  double own = 0;
  double cpu = 0;
  double stolen = 0;
  double calls = 0;
  double marked_calls = 0;
  double lanes = 0;  ///< mean number of tasks at work
  std::optional<double> cores;

  /// The share of the cores that ran no task on average.
  double Free() const { return cores.has_value() && *cores > 0 ? std::max(0.0, 1 - lanes / *cores) : 0; }
};

TaskTotals TotalsOf(const Measurement& measurement);

/// A GPU worked for the run, and nobody counted what it did: whether threads computed, or spun while they waited for
/// it, is not known.
bool UsesUncountedGpu(const Measurement& measurement);

/// Whether most of the time around chunks passed before the first chunk of each thread of a worker: files are opened
/// for each chunk, modules are imported once.
bool IsMostlySetUp(const Measurement& measurement);

/// largest-loss: what the headline names and no other verdict speaks of; after all of them and their causes.
void JudgeRest(const JudgedRun& run);

/// healthy; after all the others, whose findings it looks at.
void JudgeHealth(const JudgedRun& run);

}  // namespace crema
