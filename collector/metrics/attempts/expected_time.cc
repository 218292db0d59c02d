#include "collector/metrics/attempts/expected_time.h"

#include <algorithm>
#include <cstddef>

#include "collector/metrics/attempts/judged_attempts.h"

namespace crema {
namespace {

/// Integers, so that the sums do not depend on the order of the attempts.
struct Sum {
  int64_t attempts = 0;
  int64_t duration_ns = 0;
  int64_t predicted_ns = 0;
};

template <class GroupOf>
std::vector<ExpectedTime> SumBy(const std::vector<AttemptRow>& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<DatasetFit>& fits, const GroupOf& group_of) {
  std::vector<Sum> sums;
  ForEachJudged(attempts, dataset_of_input, fits, [&](size_t i, int64_t predicted_ns) {
    const uint32_t group = group_of(attempts[i]);
    if (group >= sums.size()) sums.resize(group + size_t{1});
    ++sums[group].attempts;
    sums[group].duration_ns += attempts[i].duration_ns;
    sums[group].predicted_ns += predicted_ns;
  });
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
