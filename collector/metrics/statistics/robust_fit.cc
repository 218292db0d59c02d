#include "collector/metrics/statistics/robust_fit.h"

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "collector/metrics/memory/large_pages.h"
#include "collector/metrics/statistics/exact_quantiles.h"

namespace crema {
namespace {

constexpr size_t kMostGroups = 256;

/// Chunks of one size, or of neighbouring sizes.
struct Group {
  double events = 0;
  double seconds = 0;
  double weight = 0;
};

double MiddleSeconds(absl::Span<const ChunkPoint> points) {
  std::vector<double> seconds;
  ReserveLargePages(seconds, points.size());
  for (const ChunkPoint& point : points) seconds.push_back(point.seconds);
  return ExactQuantiles<double>(seconds, {0.5})[0];
}

/// `points` by events. Points of equal events are never parted.
std::vector<Group> GroupBySize(absl::Span<const ChunkPoint> points) {
  size_t sizes = 0;
  for (size_t i = 0; i < points.size(); ++i) sizes += i == 0 || points[i].events != points[i - 1].events;
  const size_t least = sizes <= kMostGroups ? 1 : (points.size() + kMostGroups - 1) / kMostGroups;
  std::vector<Group> groups;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = std::min(points.size(), begin + least);
    while (end < points.size() && points[end].events == points[end - 1].events) ++end;
    const double middle_events = points[begin + (end - begin - 1) / 2].events;
    groups.push_back(
        {middle_events, MiddleSeconds(points.subspan(begin, end - begin)), static_cast<double>(end - begin)});
    begin = end;
  }
  return groups;
}

/// The slope with half of the pairs' weight on either side; the mean of two where the weight parts between them.
double MedianSlope(const std::vector<Group>& groups) {
  struct Slope {
    double value;
    double weight;
  };
  std::vector<Slope> slopes;
  slopes.reserve(groups.size() * (groups.size() - 1) / 2);
  double total = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = i + 1; j < groups.size(); ++j) {
      const double weight = groups[i].weight * groups[j].weight;
      slopes.push_back({(groups[j].seconds - groups[i].seconds) / (groups[j].events - groups[i].events), weight});
      total += weight;  // whole numbers: exact in any order
    }
  }
  std::sort(slopes.begin(), slopes.end(), [](const Slope& a, const Slope& b) { return a.value < b.value; });
  double seen = 0;
  for (size_t i = 0; i < slopes.size(); ++i) {
    seen += slopes[i].weight;
    if (2 * seen == total) return (slopes[i].value + slopes[i + 1].value) / 2;
    if (2 * seen > total) return slopes[i].value;
  }
  return 0;  // not reached: there is at least one pair
}

/// `residuals`: of `points`, from the slope alone.
void SetErrors(absl::Span<const ChunkPoint> points, std::vector<double> residuals, RobustFit& fit) {
  constexpr double kNormalScale = 1.4826;  // of the median absolute deviation of normal noise
  constexpr double kEfficiency = 0.45;  // beside least squares: the least of simulated filesets, whose sizes are uneven
  constexpr double kNormal95 = 1.959964;
  for (double& residual : residuals) residual = std::abs(residual - fit.fixed_seconds);
  const double scale = kNormalScale * ExactQuantiles<double>(residuals, {0.5})[0];
  const auto count = static_cast<double>(points.size());
  double mean = 0;
  for (const ChunkPoint& point : points) mean += point.events / count;
  double spread = 0;
  for (const ChunkPoint& point : points) spread += (point.events - mean) * (point.events - mean);
  const double of_slope = scale * scale / (kEfficiency * spread);
  const double of_median = std::acos(-1) / 2 * scale * scale / count;
  fit.slope_error = kNormal95 * std::sqrt(of_slope);
  fit.fixed_error = kNormal95 * std::sqrt(of_median + mean * mean * of_slope);
}

}  // namespace

RobustFit FitDuration(std::vector<ChunkPoint> points) { return FitDurationOf(absl::MakeSpan(points)); }

RobustFit FitDurationOf(absl::Span<ChunkPoint> points) {
  RobustFit fit;
  fit.points = static_cast<int64_t>(points.size());
  if (points.empty()) return fit;
  boost::sort::pdqsort_branchless(points.begin(), points.end(),
                                  [](const ChunkPoint& a, const ChunkPoint& b) { return a.events < b.events; });
  const std::vector<Group> groups = GroupBySize(points);
  if (groups.size() >= 2) {
    fit.slope_known = true;
    fit.seconds_per_event = MedianSlope(groups);
  }
  std::vector<double> rest;
  ReserveLargePages(rest, points.size());
  for (const ChunkPoint& point : points) rest.push_back(point.seconds - fit.seconds_per_event * point.events);
  fit.fixed_seconds = ExactQuantiles<double>(rest, {0.5})[0];
  if (fit.slope_known) SetErrors(points, std::move(rest), fit);
  return fit;
}

}  // namespace crema
