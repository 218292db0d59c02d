// Histogram: weighted counts in bins of equal width.
#ifndef CREMA_EXAMPLES_ZJETS_HISTOGRAM_H_
#define CREMA_EXAMPLES_ZJETS_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "examples/zjets/exact_sum.h"

namespace zjets {

struct HistogramAxis {
  const char* name;
  const char* unit;
  int bins;
  double low;
  double high;
};

struct HistogramBin {
  std::int64_t entries = 0;
  ExactSum weights;
  ExactSum squared_weights;  ///< for the statistical error
};

/// Bin 0 is the underflow, bin `axis.bins + 1` the overflow. Merging is exact: order and grouping do not matter.
class Histogram {
 public:
  explicit Histogram(const HistogramAxis& axis) : axis_(axis), bins_(static_cast<std::size_t>(axis.bins) + 2) {}

  void Fill(double value, double weight);
  /// `other` must have the same axis.
  void Merge(const Histogram& other);
  const HistogramAxis& axis() const { return axis_; }
  const std::vector<HistogramBin>& bins() const { return bins_; }
  std::vector<HistogramBin>& bins() { return bins_; }

 private:
  HistogramAxis axis_;
  std::vector<HistogramBin> bins_;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_HISTOGRAM_H_
