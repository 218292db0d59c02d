// ExactSum: a sum of numbers that does not depend on their order.
#ifndef CREMA_EXAMPLES_ZJETS_EXACT_SUM_H_
#define CREMA_EXAMPLES_ZJETS_EXACT_SUM_H_

#include <cmath>
#include <stdexcept>

#include "absl/numeric/int128.h"

namespace zjets {

/// Adds numbers as whole billionths in 128 bits. Floating-point addition is not associative, so chunks that are merged
/// in another order would differ in the last digits; this sum is the same to the bit. Event weights of Les Houches
/// files carry 8 or 9 digits, which is more than what rounding to 1e-9 takes from weights of a picobarn.
class ExactSum {
 public:
  /// Throws std::range_error when `value` is not finite or beyond 1e20.
  void Add(double value) {
    if (!(std::fabs(value) < 1e20)) throw std::range_error("event weight is not finite, or beyond 1e20");
    billionths_ += absl::int128(std::nearbyint(value * 1e9));
  }
  void Merge(const ExactSum& other) { billionths_ += other.billionths_; }
  double value() const { return static_cast<double>(billionths_) / 1e9; }

  friend bool operator==(const ExactSum& a, const ExactSum& b) { return a.billionths_ == b.billionths_; }

 private:
  absl::int128 billionths_ = 0;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_EXACT_SUM_H_
