// The one rule for quantiles (docs/metrics.md, "Rules"): the value of rank ceil(p n).
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_QUANTILE_RANK_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_QUANTILE_RANK_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace crema {

/// Rank, from 1 to `count`, of the quantile `p` (0 to 1). A product that misses a whole number by rounding alone
/// (0.07 x 100 = 7.000000000000001) counts as that number.
inline uint64_t QuantileRank(double p, uint64_t count) {
  if (!(p > 0) || count == 0) return 1;
  const double product = p * static_cast<double>(count);
  const double nearest = std::round(product);
  const double rank = std::abs(product - nearest) <= 1e-12 * product ? nearest : std::ceil(product);
  return std::clamp<uint64_t>(static_cast<uint64_t>(std::min(rank, static_cast<double>(count))), 1, count);
}

/// The exact quantile; reorders `values`, which must not be empty.
template <class T>
T ExactQuantile(std::vector<T>& values, double p) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(QuantileRank(p, values.size()) - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_QUANTILE_RANK_H_
