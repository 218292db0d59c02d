#include "collector/metrics/attempts/expected_time.h"

#include <algorithm>
#include <cstddef>

namespace crema {
namespace {

/// By dataset; nullptr where the dataset has too few attempts to be judged.
std::vector<const DatasetFit*> JudgingFits(const std::vector<DatasetFit>& fits) {
  std::vector<const DatasetFit*> by_dataset;
  for (const DatasetFit& fit : fits) {
    if (fit.fit.points < kLeastFittedAttempts) continue;
    if (fit.dataset >= by_dataset.size()) by_dataset.resize(fit.dataset + size_t{1});
    by_dataset[fit.dataset] = &fit;
  }
  return by_dataset;
}

/// Integers, so that the sums do not depend on the order of the attempts.
struct Sum {
  int64_t attempts = 0;
  int64_t duration_ns = 0;
  int64_t predicted_ns = 0;
};

template <class GroupOf>
std::vector<ExpectedTime> SumBy(const std::vector<AttemptRow>& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<DatasetFit>& fits, const GroupOf& group_of) {
  const std::vector<const DatasetFit*> fit_of_dataset = JudgingFits(fits);
  std::vector<Sum> sums;
  for (const AttemptRow& attempt : attempts) {
    if (attempt.status != AttemptState::kOk || attempt.duration_ns < 0) continue;
    const uint32_t dataset = dataset_of_input[attempt.input];
    const DatasetFit* fit = dataset < fit_of_dataset.size() ? fit_of_dataset[dataset] : nullptr;
    const bool has_events = attempt.events != AttemptRow::kUnknown;
    if (fit == nullptr || (fit->by_events && !has_events)) continue;
    const uint32_t group = group_of(attempt);
    if (group >= sums.size()) sums.resize(group + size_t{1});
    const double predicted = fit->fit.Predict(has_events ? static_cast<double>(attempt.events) : 0);
    ++sums[group].attempts;
    sums[group].duration_ns += attempt.duration_ns;
    sums[group].predicted_ns += static_cast<int64_t>(predicted * 1e9);
  }
  std::vector<ExpectedTime> times;
  for (uint32_t group = 0; group < sums.size(); ++group) {
    const Sum& sum = sums[group];
    if (sum.attempts == 0) continue;
    times.push_back(
        {group, sum.attempts, static_cast<double>(sum.duration_ns) / 1e9, static_cast<double>(sum.predicted_ns) / 1e9});
  }
  std::stable_sort(times.begin(), times.end(), [](const ExpectedTime& left, const ExpectedTime& right) {
    return left.excess_seconds() > right.excess_seconds();
  });
  return times;
}

}  // namespace

std::vector<ExpectedTime> ExpectedTimeByProcess(const std::vector<AttemptRow>& attempts,
                                                const std::vector<uint32_t>& dataset_of_input,
                                                const std::vector<DatasetFit>& fits) {
  return SumBy(attempts, dataset_of_input, fits, [](const AttemptRow& attempt) { return attempt.process; });
}

std::vector<ExpectedTime> ExpectedTimeByFile(const std::vector<AttemptRow>& attempts,
                                             const std::vector<uint32_t>& dataset_of_input,
                                             const std::vector<uint32_t>& file_of_input,
                                             const std::vector<DatasetFit>& fits) {
  return SumBy(attempts, dataset_of_input, fits,
               [&](const AttemptRow& attempt) { return file_of_input[attempt.input]; });
}

}  // namespace crema
