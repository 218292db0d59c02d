// What a change would bring: the answer of `crema predict`.
#ifndef CREMA_COLLECTOR_PREDICTION_PREDICTION_H_
#define CREMA_COLLECTOR_PREDICTION_PREDICTION_H_

#include <optional>
#include <string>
#include <vector>

#include "collector/prediction/change.h"
#include "collector/prediction/observed_run.h"
#include "nlohmann/json.hpp"

namespace crema {

struct PredictedRow {
  std::string change;
  double wall_time = 0;
  double low = 0;  ///< 90 % of runs so changed are between these
  double high = 0;
  double core_seconds = 0;  ///< that the cores were there
  double busy_share = 0;    ///< of the lanes' time, in chunks
  std::string why_not;      ///< not empty: this change cannot be told, and the numbers are 0
};

struct Prediction {
  double measured = 0;
  double replayed = 0;
  std::vector<PredictedRow> rows;
  std::string refused;  ///< not empty: there are no rows, for this reason
};

/// Refuses where the replay of the run as it was misses the measured time by more than 3 % and 0.2 s, or where less
/// than 99 % of its chunks are there.
Prediction Predict(const ObservedRun& run, const std::vector<RunChange>& changes);

/// `{"measured": {"wall_time"}, "replayed": {"wall_time"}, "predicted": [{"change", "wall_time", "low", "high",
/// "core_seconds", "busy_share", "not_told"}], "refused"}`.
nlohmann::ordered_json PredictionJson(const Prediction& prediction);

}  // namespace crema

#endif  // CREMA_COLLECTOR_PREDICTION_PREDICTION_H_
