// Everything a measurement says, finished, before it becomes a document.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/measurement/run_facts.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/breakdown.h"
#include "collector/metrics/attempts/slopes.h"
#include "collector/metrics/attempts/stragglers.h"
#include "collector/metrics/budget/budget.h"
#include "collector/metrics/coffea/run_totals.h"
#include "collector/metrics/engine/cluster_table.h"
#include "collector/metrics/engine/engine_metrics.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/parallel.h"
#include "collector/metrics/process_tree/tree_accumulator.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/metrics/workers/worker_life.h"
#include "collector/metrics/workers/worker_timelines.h"

namespace crema {

struct RunBounds {
  RunWindow window;
  /// `command`, `context`, `processes` or `chunks`: what the window is taken from; empty: there are no time stamps.
  std::string_view boundary;
  /// The caller said when it stopped: its processes may live on, as an engine's workers and a notebook do.
  bool stop_was_reported = false;
  bool has_other_runs = false;  ///< beside the command's, which say nothing of when they ran
};

/// What an engine's scheduler and its tasks add.
struct EngineFigures {
  bool has_scheduler = false;
  std::string name;  ///< with its version; empty: no engine was observed
  EngineTraits traits;
  bool reports_tasks = false;                  ///< its own log does
  bool ended = false;                          ///< the session was
  bool went_silent = false;                    ///< a log has no end, and is older than a day
  bool goes_on = false;                        ///< ... and is not
  std::optional<int64_t> jobs;                 ///< of batch systems, begun or not; nullopt: there is none
  std::map<std::string, int64_t> never_began;  ///< jobs of which nothing ran, by why
  int64_t jobs_removed = 0;                    ///< by their user
  TaskJoin join;
  std::optional<FineCoverage> fine_coverage;
  int64_t workers_unseen = 0;           ///< they joined, and sent nothing
  std::vector<std::string> complaints;  ///< one line each
  int64_t lost_bytes = 0;               ///< of records that were sent and could not be kept
};

struct NamedPeriod {
  SlowPeriod period;
  std::string name;     ///< of its worker, host, file or dataset; empty of the run
  std::string section;  ///< in which most of its excess went; empty: in none, or it is not known
  PeriodSample sample;  ///< of the first slow periods; none of the others
};

struct RunFigures {
  /// Its `tables` get those of phases, datasets, files, hosts, threads, contention, waits, and the tree's processes,
  /// too; their `run` where some figures come from, and their `quality` which values are missing.
  RecordFindings findings;
  EngineFigures engine;
  AttemptTotals totals;
  std::optional<TreeFigures> tree;
  CoffeaFigures coffea;
  RunTotals chosen;
  RunBounds bounds;
  MetricSet metrics;  ///< every key of the catalog, aliases too

  std::vector<WorkerLife> workers;
  Budget budget;
  WorkerTimelines timelines;
  StragglerFindings stragglers;
  std::vector<ExpectedTime> expected_by_worker;  ///< `group` is the process
  std::vector<ExpectedTime> expected_by_file;
  std::vector<NamedPeriod> slow_spells;
  WorkerRows worker_rows;
  std::vector<BreakdownRow> by_worker;  ///< `group` is that of `worker_rows`

  /// Bytes that ended attempts read, as they recorded; nullopt: none did.
  RecordedBytes bytes_read_chunks() const {
    return OptionalSum{findings.attempts.bytes.read, findings.attempts.bytes.with_read}.Integer();
  }
};

/// The figures of a run that goes on, of which no attempt is kept: counts, sums, and rates over `wall_time` (seconds)
/// and over the key `core_seconds`, which is set before.
void SetSumsSoFar(const AttemptTotals& totals, const ByteSums& bytes, double wall_time, MetricSet* metrics);

/// Computes the metric set from what records, process trees and Coffea's reports say. `start_ns` and `stop_ns` override
/// the run's bounds. `limits`: the figures are the same for any.
RunFigures ComputeFigures(RecordFindings findings, const TreeAccumulator& trees, std::optional<int64_t> start_ns,
                          std::optional<int64_t> stop_ns, CoffeaFigures coffea = {}, const ClusterTable& clusters = {},
                          const WorkLimits& limits = {});

// What an engine knows of a run, among the run's figures.

/// Finds the process of each of the engine's workers, adds those that recorded nothing, and gives them their tasks.
std::vector<ClusterWorker> TakeClusters(const ClusterTable& clusters, const TaskOfProcess& task_of_process,
                                        RunFigures& figures);

/// The engine's metrics, once workers and window are known.
void SetEngine(const ClusterTable& clusters, const std::vector<ClusterWorker>& workers, RunFigures& figures);

/// A job of which the batch system does not say how many cores it had.
inline bool HasUnknownCores(const ProcessRow& process) {
  return process.is_job && !process.declared_threads.has_value();
}

/// Where there is one, core-seconds and what follows from them are not known.
void ForgetUnknownCores(RunFigures& figures);

/// Without chunk records, what the processor's tasks did is what is known of that of chunks.
void UseTimesOfTasks(RunFigures& figures);

/// `quality`: what reading the sources came to, up to `logs_missing`, and its warnings. The figures know no files.
Quality JudgeQuality(const RunFigures& figures, Quality quality);

/// Where a measurement comes from.
struct RunProvenance {
  std::vector<std::string> sources;
  std::string host;        ///< on which it was made
  int64_t created_ns = 0;  ///< Unix time
  std::string run_name;
  std::string failure;  ///< the exception that ended the program or the block; empty: none
  std::optional<int64_t> exit_status;
};

struct EntryRange;

/// Everything but verdicts, which a judge adds. Measurements of the same records differ in `provenance` only.
/// `straggler_ranges`: of the stragglers that get a row.
Measurement Assemble(RunFigures figures, Quality quality, const std::vector<EntryRange>& straggler_ranges,
                     const RunProvenance& provenance);

// What no figure can be, however the records came about: docs/metrics.md, "Rules".

/// Makes figures null that contradict others, with the reason: a share outside 0 to 1, an ideal above the elapsed time.
/// What clocks and rounding explain is put on the limit.
void RefuseImpossible(MetricSet* metrics);

}  // namespace crema
