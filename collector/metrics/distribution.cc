#include "collector/metrics/distribution.h"

#include <algorithm>
#include <cmath>

#include "absl/numeric/int128.h"
#include "collector/metrics/quantile_rank.h"
#include "collector/metrics/real_sum.h"

namespace crema {
namespace {

// What both kinds share: the range and the quantiles.
template <class T>
Distribution DescribeRanks(std::vector<T>& values, double per_unit) {
  Distribution result;
  result.count = static_cast<int64_t>(values.size());
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  result.min = static_cast<double>(*min) / per_unit;
  result.max = static_cast<double>(*max) / per_unit;
  const auto quantile = [&](double p) { return static_cast<double>(ExactQuantile(values, p)) / per_unit; };
  result.p50 = quantile(0.50);
  result.p90 = quantile(0.90);
  result.p95 = quantile(0.95);
  result.p99 = quantile(0.99);
  return result;
}

}  // namespace

Distribution DescribeIntegers(std::vector<int64_t>& values, double per_unit) {
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

Distribution DescribeReals(std::vector<double>& values) {
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
