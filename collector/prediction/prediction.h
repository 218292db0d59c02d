// What a change would bring: the answer of `crema predict`.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/prediction/observed_run.h"

namespace crema {

struct RunChange {
  enum class Kind {
    kNone,           ///< the run as it was
    kCores,          ///< `number`, with as many lanes a core as the run had
    kLanes,          ///< `number` chunks at once on the cores that the run had
    kWorkers,        ///< `number`, each like those of the run
    kWithoutWorker,  ///< `name`; others do its chunks
    kChunkEvents,    ///< `number` events a chunk, within files
    kLongestFirst,
    kFaster,          ///< the section `name` on the CPU, `number` times as fast
    kFasterGpu,       ///< kernels and copies that it launches, `number` times as fast
    kWithoutWaiting,  ///< chunks wait for GPUs and for CPUs only
    kAllFromStart,    ///< no worker joined late or left early
    kStreams,         ///< `number` events open at once; of runs with events
  };
  Kind kind = Kind::kNone;
  double number = 0;
  std::string name;

  /// As the command line has it: `--cores 8`.
  std::string Text() const;
};

using ChangeKind = RunChange::Kind;

struct ChangedRun {
  ReplaySetup setup;
  double cores = 0;  ///< that the lanes have
  std::vector<ObservedWorker> workers;
  double cpu_seconds = 0;       ///< of all chunks
  double lane_cpu_seconds = 0;  ///< the same, of each at most its duration
  bool cpu_known = true;

  /// That the workers' cores were there, from their start to their end, in a run of so many seconds.
  double CoreSeconds(double wall_time) const;
};

/// Whether the change asks for more chunks at once than the run had.
bool HasMoreLanes(const ObservedRun& run, const RunChange& change);

/// `seed` 0: durations as they were measured. Else each chunk has the ratio to its expected duration of a chunk of its
/// dataset that is drawn anew: another run of the same. Errors: what the run did not record.
absl::StatusOr<ChangedRun> Apply(const ObservedRun& run, const RunChange& change, uint64_t seed);

/// How many other runs of the same are drawn for a range.
inline constexpr uint64_t kFewestReplays = 8, kMostReplays = 200;

/// Other runs of the same (`Apply` with a seed), where only the last chunks of each lane are replayed: about
/// `most_chunks` of them in all. What varies in the chunks before, which are very many, is a sum. Changes
/// `changed->setup`, which `Apply` made without a seed. Empty: this change asks for whole replays.
std::vector<ReplayResult> ReplayLateDraws(const ObservedRun& run, const RunChange& change, double most_chunks,
                                          ChangedRun* changed);

/// Of the section's time, what was blocked: the least and the most that the records allow. Faster code leaves it.
PredictedValue BlockedShareOfSection(const ObservedRun& run);

struct PredictedRow {
  std::string change;
  Number lanes;  ///< chunks at once that it assumes; null of a run with events
  PredictedValue wall_time;
  PredictedValue core_seconds;  ///< that the cores were there
  /// What the lanes' time went into, seconds; the three add up to it.
  PredictedValue cpu;         ///< in chunks, computing
  PredictedValue waiting;     ///< in chunks, without a CPU
  PredictedValue free;        ///< between chunks
  bool cpu_known = true;      ///< else `cpu` holds `waiting`, too, and there is no efficiency
  PredictedValue efficiency;  ///< CPU seconds of the chunks over `core_seconds`
  std::string limited_by;     ///< of a run with events: what lets no more of them through
  std::string why_not;        ///< not empty: this change has no answer, and the numbers are 0

  bool has_answer() const { return why_not.empty(); }
  /// The share of the lanes' time that was in chunks.
  double BusyShare() const {
    const double all = cpu.value + waiting.value + free.value;
    return all > 0 ? 1 - free.value / all : 0;
  }
};

struct Prediction {
  double measured = 0;
  double replayed = 0;
  std::vector<PredictedRow> rows;
  double blocked_slope = 0;  ///< `ObservedRun::blocked_by_lanes`: with other lanes, chunks were taken to be blocked so
  std::string basis;         ///< of a run with events: what it is predicted from, a sentence
  std::string not_known;     ///< not empty: a sentence on what the rows take for granted
  std::string refused;       ///< not empty: there are no rows, for this reason
};

/// A run with events is not replayed (`PredictEvents`). What is refused of others: docs/predict.md, "What would help".
Prediction Predict(const ObservedRun& run, const std::vector<RunChange>& changes);

/// What `--json` prints. `ranges` has `low` and `high` of what has none beside it.
Json PredictionJson(const Prediction& prediction);

/// `8 cores with 12 chunks at once`: what it takes to be as fast as predicted.
std::string CoresWithLanes(double cores, const Number& lanes);

/// The section in which owners spent most of their own time; empty: the run has none.
std::string LargestSection(const Measurement& measurement);

/// `section` was observed (RunObserver); empty: none.
std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section);

/// The rows with the least wall time first; those without an answer last.
void SortBestFirst(Prediction* prediction);

}  // namespace crema
