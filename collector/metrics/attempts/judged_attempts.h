// The attempts whose duration is compared with what their dataset's fit gives.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_JUDGED_ATTEMPTS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_JUDGED_ATTEMPTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {

/// Calls `visit(index, attempt, predicted_ns)` for each `ok` attempt of a dataset that has enough of them to be judged
/// (`kLeastFittedAttempts`); those whose events are not known are left out where others' are.
template <class Visit>
void ForEachJudged(const AttemptRows& attempts, const std::vector<uint32_t>& dataset_of_input,
                   const std::vector<DatasetFit>& fits, Visit visit) {
  std::vector<const DatasetFit*> fit_of_dataset;
  for (const DatasetFit& fit : fits) {
    if (fit.fit.points < kLeastFittedAttempts) continue;
    if (fit.dataset >= fit_of_dataset.size()) fit_of_dataset.resize(fit.dataset + size_t{1});
    fit_of_dataset[fit.dataset] = &fit;
  }
  size_t next = 0;
  for (const AttemptRow& attempt : attempts) {
    const size_t i = next++;
    if (attempt.status != AttemptState::kOk || attempt.duration_ns < 0) continue;
    const uint32_t dataset = dataset_of_input[attempt.input];
    const DatasetFit* fit = dataset < fit_of_dataset.size() ? fit_of_dataset[dataset] : nullptr;
    const bool has_events = attempt.events != AttemptRow::kUnknown;
    if (fit == nullptr || (fit->by_events && !has_events)) continue;
    const double predicted = fit->fit.Predict(has_events ? static_cast<double>(attempt.events) : 0);
    visit(i, attempt, static_cast<int64_t>(predicted * 1e9));
  }
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_JUDGED_ATTEMPTS_H_
