// The eight statistics of one quantity of chunks (docs/metrics.md, "Chunks: distributions").
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_DISTRIBUTION_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_DISTRIBUTION_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace crema {

/// All exact, the quantiles too: the value of rank ceil(p n).
struct Distribution {
  int64_t count = 0;
  std::optional<double> mean;
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> std;  ///< sample, n - 1; nullopt for fewer than two
  std::optional<double> p50;
  std::optional<double> p90;
  std::optional<double> p95;
  std::optional<double> p99;
};

/// Of integers in units of 1 / `per_unit` (1e9: nanoseconds given, seconds returned).
Distribution DescribeIntegers(const std::vector<int64_t>& values, double per_unit);

/// Of real numbers; the sums depend on their order only in the last bits.
Distribution DescribeReals(const std::vector<double>& values);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_DISTRIBUTION_H_
