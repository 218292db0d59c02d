#include "examples/zjets/histogram.h"

#include <cmath>

namespace zjets {

void Histogram::Fill(double value, double weight) {
  const double position = (value - axis_.low) / (axis_.high - axis_.low) * axis_.bins;
  std::size_t bin = 0;
  if (position >= axis_.bins) {
    bin = bins_.size() - 1;
  } else if (position >= 0) {
    bin = 1 + static_cast<std::size_t>(position);
  }
  ++bins_[bin].entries;
  bins_[bin].weights.Add(weight);
  bins_[bin].squared_weights.Add(weight * weight);
}

void Histogram::Merge(const Histogram& other) {
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    bins_[i].entries += other.bins_[i].entries;
    bins_[i].weights.Merge(other.bins_[i].weights);
    bins_[i].squared_weights.Merge(other.bins_[i].squared_weights);
  }
}

}  // namespace zjets
