// What a change would bring: the answer of `crema predict`.
#ifndef CREMA_COLLECTOR_PREDICTION_PREDICTION_H_
#define CREMA_COLLECTOR_PREDICTION_PREDICTION_H_

#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/prediction/change.h"
#include "collector/prediction/observed_run.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// 90 % of runs so changed are between `low` and `high`.
struct PredictedValue {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct PredictedRow {
  std::string change;
  PredictedValue wall_time;
  PredictedValue core_seconds;  ///< that the cores were there
  /// What the lanes' time went into, seconds; the three add up to it.
  PredictedValue cpu;         ///< in chunks, computing
  PredictedValue waiting;     ///< in chunks, without a CPU
  PredictedValue free;        ///< between chunks
  bool cpu_known = true;      ///< else `cpu` holds `waiting`, too, and there is no efficiency
  PredictedValue efficiency;  ///< CPU seconds of the chunks over `core_seconds`
  std::string why_not;        ///< not empty: this change cannot be told, and the numbers are 0
};

struct Prediction {
  double measured = 0;
  double replayed = 0;
  std::vector<PredictedRow> rows;
  double blocked_slope = 0;     ///< `ObservedRun::blocked`: with other lanes, chunks were taken to be blocked so
  bool waits_are_known = true;  ///< else chunks may wait for one another, and nobody knows what for
  std::string refused;          ///< not empty: there are no rows, for this reason
};

/// Refuses where the replay of the run as it was misses the measured time by more than 3 % and 0.2 s, where less than
/// 99 % of its chunks are there, or where fewer than 8 chunks leave no range.
Prediction Predict(const ObservedRun& run, const std::vector<RunChange>& changes);

/// `{"measured": {"wall_time"}, "replayed": {"wall_time"}, "predicted": [{"change", "wall_time", "low", "high",
/// "core_seconds", "core_hours", "busy_share", "efficiency", "budget", "ranges", "not_told"}], "blocked_slope",
/// "not_known", "refused"}`. `ranges` has `low` and `high` of what has none beside it.
nlohmann::ordered_json PredictionJson(const Prediction& prediction);

/// The section in which owners spent most of their own time; empty: the run has none.
std::string LargestSection(const Measurement& measurement);

/// `section` was observed (RunObserver); empty: none.
std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section);

/// The rows of `PredictionJson`, those with the least wall time first; those that cannot be told last.
void SortBestFirst(nlohmann::ordered_json* prediction);

}  // namespace crema

#endif  // CREMA_COLLECTOR_PREDICTION_PREDICTION_H_
