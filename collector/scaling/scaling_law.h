// A law of scaling, fitted to throughput over cores: X(N) = l N / (1 + s (N - 1) + k N (N - 1)).
//
// This is N. J. Gunther's Universal Scalability Law ("Guerrilla Capacity Planning", Springer 2007, chapter 4): l is the
// throughput of one core, s the part in which cores queue for one thing, k what each pair of cores costs. With k = 0 it
// is G. M. Amdahl's law (AFIPS 1967), with s the serial part.
#ifndef CREMA_COLLECTOR_SCALING_SCALING_LAW_H_
#define CREMA_COLLECTOR_SCALING_SCALING_LAW_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

struct LawPoint {
  double cores = 0;
  double throughput = 0;  ///< work per second
};

/// `low` to `high` hold it with 90 % probability, if measured throughputs differ from the law by a normal relative
/// error. Without a value the law has none. Without `high` the points do not bound it.
struct FittedNumber {
  std::optional<double> value;
  double low = 0;
  std::optional<double> high;
};

struct ScalingLaw {
  std::string_view name;  ///< `amdahl`, or `usl`
  FittedNumber lambda;    ///< work per second of one core
  FittedNumber sigma;     ///< 0 to 1
  FittedNumber kappa;     ///< 0 or more; of Amdahl's law 0
  double error = 0;       ///< relative, of a point: root of the mean square, with the degrees of freedom
  FittedNumber fastest;   ///< cores with the highest throughput, whole
  /// Whole cores: the last of so many still brings at least half of what one core alone does.
  FittedNumber worthwhile;

  /// Work per second. Of the best fit.
  double ThroughputOf(double cores) const;
};

/// Fewer points draw no curve and say nothing of their own errors.
inline constexpr size_t kCoreCountsOfLaw = 4;

enum class LawKind { kAmdahl, kUsl };

/// Least squares of the relative errors, 0 <= s <= 1 and 0 <= k; intervals by the profile of their sum, which is cut
/// where Student's t says. Errors: fewer than `kCoreCountsOfLaw` different numbers of cores.
absl::StatusOr<ScalingLaw> FitLaw(LawKind kind, const std::vector<LawPoint>& points);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SCALING_SCALING_LAW_H_
