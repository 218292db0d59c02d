#include "collector/metrics/statistics/value_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace crema {
namespace {

constexpr double kMostBins = 40;
constexpr double kLogarithmicSpan = 100;

std::vector<double> EdgesOf(double min, double max, bool whole) {
  if (!(min < max)) return {min, max};
  // Half on each side, as the difference of two large numbers may be infinite.
  const double half_span = max / 2 - min / 2;
  if (whole && half_span < kMostBins / 2) {
    std::vector<double> edges;
    for (double at = min; at <= max + 1; ++at) edges.push_back(at - 0.5);
    return edges;
  }
  const bool logarithmic = min > 0 && max / min > kLogarithmicSpan;
  // The widest bucket: 2 x its relative error at the larger end.
  const double bucket = 2 * QuantileSketch::kRelativeError * std::max(std::abs(min), std::abs(max));
  const double bins = logarithmic ? kMostBins : std::clamp(std::floor(half_span / bucket), 1.0, kMostBins);
  std::vector<double> edges = {min};
  for (double i = 1; i < bins; ++i) {
    edges.push_back(logarithmic ? min * std::pow(max / min, i / bins) : min + half_span * (2 * i / bins));
  }
  edges.push_back(max);
  return edges;
}

}  // namespace

ValueHistogram HistogramOf(const QuantileSketch& values, double min, double max, bool whole) {
  ValueHistogram histogram;
  histogram.edges = EdgesOf(min, max, whole);
  histogram.counts.assign(histogram.edges.size() - 1, 0);
  const auto inner_begin = histogram.edges.begin() + 1, inner_end = histogram.edges.end() - 1;
  values.ForEach([&](double middle, uint64_t count) {
    const auto bin = std::upper_bound(inner_begin, inner_end, std::clamp(middle, min, max)) - inner_begin;
    histogram.counts[static_cast<size_t>(bin)] += count;
  });
  return histogram;
}

}  // namespace crema
