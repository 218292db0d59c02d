#include "collector/metrics/statistics/distribution.h"

#include <algorithm>
#include <cmath>

#include "absl/numeric/int128.h"
#include "collector/metrics/statistics/exact_quantiles.h"
#include "collector/metrics/statistics/real_sum.h"

namespace crema {
namespace {

// What both kinds share: the range and the quantiles.
template <class T>
Distribution DescribeRanks(const std::vector<T>& values, double per_unit) {
  Distribution result;
  result.count = static_cast<int64_t>(values.size());
  const auto exact = ExactQuantiles<T>(values, {0, 1, 0.50, 0.90, 0.95, 0.99});
  const auto in_units = [per_unit](T value) { return static_cast<double>(value) / per_unit; };
  result.min = in_units(exact[0]);
  result.max = in_units(exact[1]);
  result.p50 = in_units(exact[2]);
  result.p90 = in_units(exact[3]);
  result.p95 = in_units(exact[4]);
  result.p99 = in_units(exact[5]);
  return result;
}

}  // namespace

Distribution DescribeIntegers(const std::vector<int64_t>& values, double per_unit) {
  if (values.empty()) return {};
  const auto count = static_cast<int64_t>(values.size());
  absl::int128 sum = 0;
  for (const int64_t value : values) sum += value;
  // Squares are taken of differences to a whole number near the mean: exact, and small enough for 128 bits.
  const absl::int128 middle = sum / count;
  absl::int128 differences = 0;
  absl::int128 squares = 0;
  for (const int64_t value : values) {
    const absl::int128 difference = value - middle;
    differences += difference;
    squares += difference * difference;
  }
  Distribution result = DescribeRanks(values, per_unit);
  result.mean = static_cast<double>(sum) / static_cast<double>(count) / per_unit;
  if (count > 1) {
    const double shift = static_cast<double>(differences);
    const double variance =
        (static_cast<double>(squares) - shift * shift / static_cast<double>(count)) / static_cast<double>(count - 1);
    result.std = std::sqrt(std::max(0.0, variance)) / per_unit;
  }
  return result;
}

Distribution DescribeReals(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  RealSum sum;
  for (const double value : values) sum.Add(value);
  const double mean = sum.value() / count;
  RealSum squares;
  for (const double value : values) squares.Add((value - mean) * (value - mean));
  Distribution result = DescribeRanks(values, 1);
  result.mean = mean;
  if (values.size() > 1) result.std = std::sqrt(squares.value() / (count - 1));
  return result;
}

}  // namespace crema
