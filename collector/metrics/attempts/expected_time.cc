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

class SumsByGroup {
 public:
  void Add(uint32_t group, int64_t duration_ns, int64_t predicted_ns) {
    if (group >= sums_.size()) sums_.resize(group + size_t{1});
    Sum& sum = sums_[group];
    ++sum.attempts;
    sum.duration_ns += duration_ns;
    sum.predicted_ns += predicted_ns;
  }

  std::vector<ExpectedTime> Times() const {
    std::vector<ExpectedTime> times;
    for (uint32_t group = 0; group < sums_.size(); ++group) {
      const Sum& sum = sums_[group];
      if (sum.attempts == 0) continue;
      times.push_back({group, sum.attempts, static_cast<double>(sum.duration_ns) / 1e9,
                       static_cast<double>(sum.predicted_ns) / 1e9});
    }
    std::stable_sort(times.begin(), times.end(), [](const ExpectedTime& left, const ExpectedTime& right) {
      return left.excess_seconds() > right.excess_seconds();
    });
    return times;
  }

 private:
  std::vector<Sum> sums_;
};

}  // namespace

ExpectedTimes FindExpectedTimes(const AttemptRows& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<uint32_t>& file_of_input, const std::vector<DatasetFit>& fits) {
  SumsByGroup by_process, by_file;
  ForEachJudged(attempts, dataset_of_input, fits, [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
    by_process.Add(attempt.process, attempt.duration_ns, predicted_ns);
    by_file.Add(file_of_input[attempt.input], attempt.duration_ns, predicted_ns);
  });
  return {by_process.Times(), by_file.Times()};
}

}  // namespace crema
