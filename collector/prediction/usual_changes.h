// What people ask first of a run: the changes that `crema predict` tries on its own, and that the report shows.
#ifndef CREMA_COLLECTOR_PREDICTION_USUAL_CHANGES_H_
#define CREMA_COLLECTOR_PREDICTION_USUAL_CHANGES_H_

#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/prediction/change.h"
#include "collector/prediction/observed_run.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// The section in which owners spent most of their own time; empty: the run has none.
std::string LargestSection(const Measurement& measurement);

/// `section` was observed (RunObserver); empty: none.
std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section);

/// The rows of `PredictionJson`, those with the least wall time first; those that cannot be told last.
void SortBestFirst(nlohmann::ordered_json* prediction);

}  // namespace crema

#endif  // CREMA_COLLECTOR_PREDICTION_USUAL_CHANGES_H_
