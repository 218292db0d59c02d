#include "collector/metrics/attempts/rss_slope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/statistics/quantile_rank.h"

namespace crema {
namespace {

constexpr size_t kLeastChunks = 20;
constexpr size_t kMostBins = 200;
constexpr double kRounding = 1e-9;  // far above that of a division and a product
constexpr double kNoSlopeYet = std::numeric_limits<double>::lowest();
constexpr double kTwoSided95 = 1.959963984540054;  // standard normal

/// Attempts of one process, as indices.
using Readings = std::vector<uint32_t>;

struct BinPoint {
  double number = 0;
  double rss_bytes = 0;
};

struct Interval {
  double middle = 0;
  double low = 0;
  double high = 0;
};

/// Readings in order of chunk number, in at most 200 runs whose lengths differ by one at most.
std::vector<BinPoint> MediansOfBins(const std::vector<AttemptRow>& attempts, const Readings& readings, size_t first) {
  const size_t count = readings.size() - first;
  const size_t bins = std::min(kMostBins, count);
  std::vector<BinPoint> medians;
  std::vector<int64_t> rss;
  for (size_t bin = 0; bin < bins; ++bin) {
    const size_t begin = first + bin * count / bins;
    const size_t end = first + (bin + 1) * count / bins;
    rss.clear();
    for (size_t i = begin; i < end; ++i) rss.push_back(attempts[readings[i]].rss_stop_bytes);
    const AttemptRow& middle = attempts[readings[begin + QuantileRank(0.5, end - begin) - 1]];
    medians.push_back({static_cast<double>(middle.number), static_cast<double>(ExactQuantile(rss, 0.5))});
  }
  return medians;
}

/// Theil-Sen, in bytes per chunk; nullopt where no two points differ in number, or where the slope is surely not above
/// `at_least`: then the cost of finding it is spared.
std::optional<Interval> SlopeOf(const std::vector<BinPoint>& points, double at_least) {
  const double surely = at_least - std::abs(at_least) * kRounding;
  size_t pairs = 0;
  size_t above = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;  // never negative
      pairs += run != 0;
      above += run != 0 && points[j].rss_bytes - points[i].rss_bytes > surely * run;
    }
  }
  if (pairs == 0 || 2 * above < pairs) return std::nullopt;
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;
      if (run != 0) slopes.push_back((points[j].rss_bytes - points[i].rss_bytes) / run);
    }
  }
  std::sort(slopes.begin(), slopes.end());
  const double count = static_cast<double>(slopes.size());
  const double n = static_cast<double>(points.size());
  // From rank M1 = (N - z sigma) / 2 to rank M2 + 1 = (N + z sigma) / 2 + 1 of the N slopes, sigma^2 the variance of
  // Kendall's S; `at` counts from 0.
  const double reach = kTwoSided95 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto at = [&](double rank) {
    return slopes[static_cast<size_t>(std::clamp(std::round(rank), 0.0, count - 1))];
  };
  const size_t half = slopes.size() / 2;
  const double middle = slopes.size() % 2 == 1 ? slopes[half] : (slopes[half - 1] + slopes[half]) / 2;
  return Interval{middle, at((count - reach) / 2 - 1), at((count + reach) / 2)};
}

/// nullopt too where the process's slope is surely not above `at_least`.
std::optional<RssSlope> SlopeOfProcess(const std::vector<AttemptRow>& attempts, Readings& readings, uint32_t process,
                                       double at_least) {
  if (readings.size() < kLeastChunks) return std::nullopt;
  const auto earlier = [&attempts](uint32_t a, uint32_t b) {
    const AttemptRow& left = attempts[a];
    const AttemptRow& right = attempts[b];
    return left.number != right.number ? left.number < right.number : left.start_ns < right.start_ns;
  };
  if (!std::is_sorted(readings.begin(), readings.end(), earlier)) {
    std::sort(readings.begin(), readings.end(), earlier);
  }
  const size_t first = readings.size() / 10;  // warming up: libraries, caches, histograms
  int64_t events = 0;
  int64_t known = 0;
  for (size_t i = first; i < readings.size(); ++i) {
    if (attempts[readings[i]].events == AttemptRow::kUnknown) continue;
    events += attempts[readings[i]].events;
    ++known;
  }
  if (events <= 0) return std::nullopt;
  const double per_1000_events = 1000 * static_cast<double>(known) / static_cast<double>(events);
  const std::optional<Interval> slope = SlopeOf(MediansOfBins(attempts, readings, first), at_least / per_1000_events);
  if (!slope.has_value()) return std::nullopt;
  return RssSlope{slope->middle * per_1000_events, slope->low * per_1000_events, slope->high * per_1000_events,
                  process};
}

}  // namespace

std::optional<RssSlope> LargestRssSlope(const std::vector<AttemptRow>& attempts) {
  std::vector<Readings> by_process;
  for (uint32_t i = 0; i < attempts.size(); ++i) {
    const AttemptRow& attempt = attempts[i];
    if (!HasEnded(attempt) || attempt.rss_stop_bytes == AttemptRow::kUnknown) continue;
    const uint32_t process = attempt.recording_process();
    if (process >= by_process.size()) by_process.resize(process + size_t{1});
    by_process[process].push_back(i);
  }
  std::optional<RssSlope> largest;
  for (uint32_t process = 0; process < by_process.size(); ++process) {
    const std::optional<RssSlope> slope =
        SlopeOfProcess(attempts, by_process[process], process, largest.has_value() ? largest->slope : kNoSlopeYet);
    if (slope.has_value() && (!largest.has_value() || slope->slope > largest->slope)) largest = slope;
  }
  return largest;
}

}  // namespace crema
