// A sum of floating-point numbers that hardly depends on their order.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_REAL_SUM_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_REAL_SUM_H_

#include <cmath>

namespace crema {

/// Double-double accumulation: the rounding error of each addition is kept and added too (Knuth's TwoSum; Ogita, Rump,
/// Oishi: SIAM J. Sci. Comput. 26, 2005), so about 106 bits carry the sum and weights of either sign may cancel.
class RealSum {
 public:
  void Add(double value) {
    const double sum = high_ + value;
    const double part = sum - high_;
    low_ += (high_ - (sum - part)) + (value - part);
    high_ = sum;
  }
  void Add(const RealSum& other) {
    Add(other.high_);
    Add(other.low_);
  }
  /// Infinite or NaN where the sum left the range of a double.
  double value() const { return std::isfinite(high_) ? high_ + low_ : high_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_REAL_SUM_H_
