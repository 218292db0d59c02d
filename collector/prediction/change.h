// What a prediction changes about a run, and the replay of the run so changed.
#ifndef CREMA_COLLECTOR_PREDICTION_CHANGE_H_
#define CREMA_COLLECTOR_PREDICTION_CHANGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
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
    kWithoutWaiting,  ///< chunks take their CPU time
    kAllFromStart,    ///< no worker joined late or left early
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
  double cpu_seconds = 0;  ///< of all chunks, each at most its duration
  bool cpu_known = true;

  /// That the workers' cores were there, from their start to their end, in a run of so many seconds.
  double CoreSeconds(double wall_time) const;
};

/// Whether the change asks for more chunks at once than the run had.
bool HasMoreLanes(const ObservedRun& run, const RunChange& change);

/// `seed` 0: durations as they were measured. Else each chunk has the ratio to its expected duration of a chunk of its
/// dataset that is drawn anew: another run of the same. Errors: what the run does not tell.
absl::StatusOr<ChangedRun> Apply(const ObservedRun& run, const RunChange& change, uint64_t seed);

}  // namespace crema

#endif  // CREMA_COLLECTOR_PREDICTION_CHANGE_H_
