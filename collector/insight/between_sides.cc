#include "collector/insight/between_sides.h"

#include <cmath>
#include <cstddef>
#include <numeric>

#include "collector/insight/student_distribution.h"
#include "collector/insight/thresholds.h"

namespace crema {
namespace {

double SquaresAbout(double mean, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

MeasuredChange BetweenSides(const std::vector<double>& before, const std::vector<double>& after, double* deviation) {
  const auto mean_of = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double mean_before = mean_of(before), mean_after = mean_of(after);
  double error = 0;
  size_t freedom = 0;
  if (before.size() == after.size()) {
    std::vector<double> differences;
    for (size_t i = 0; i < before.size(); ++i) differences.push_back(after[i] - before[i]);
    freedom = before.size() - 1;
    const double variance = SquaresAbout(mean_after - mean_before, differences) / static_cast<double>(freedom);
    error = std::sqrt(variance / static_cast<double>(before.size()));
    *deviation = std::sqrt(variance / 2);
  } else {
    freedom = before.size() + after.size() - 2;
    const double variance =
        (SquaresAbout(mean_before, before) + SquaresAbout(mean_after, after)) / static_cast<double>(freedom);
    error = std::sqrt(variance * (1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size())));
    *deviation = std::sqrt(variance);
  }
  const double change = mean_after - mean_before, half = StudentQuantile(kRangeTail, freedom) * error;
  const double none = error > 0 ? StudentBeyond(change / error, freedom) : (change == 0 ? 1.0 : 0.0);
  return {change, half, half, none};
}

}  // namespace crema
