#include "collector/metrics/rss_slope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "collector/metrics/attempt_interval.h"
#include "collector/metrics/quantile_rank.h"

namespace crema {
namespace {

constexpr size_t kLeastChunks = 20;
constexpr size_t kMostBins = 200;
constexpr double kTwoSided95 = 1.959963984540054;  // standard normal

struct Reading {
  int64_t number = 0;
  int64_t start_ns = 0;
  double rss_bytes = 0;
  int64_t events = AttemptRow::kUnknown;
};

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
std::vector<BinPoint> MediansOfBins(const std::vector<Reading>& readings, size_t first) {
  const size_t count = readings.size() - first;
  const size_t bins = std::min(kMostBins, count);
  std::vector<BinPoint> medians;
  std::vector<double> numbers;
  std::vector<double> rss;
  for (size_t bin = 0; bin < bins; ++bin) {
    numbers.clear();
    rss.clear();
    for (size_t i = first + bin * count / bins; i < first + (bin + 1) * count / bins; ++i) {
      numbers.push_back(static_cast<double>(readings[i].number));
      rss.push_back(readings[i].rss_bytes);
    }
    medians.push_back({ExactQuantile(numbers, 0.5), ExactQuantile(rss, 0.5)});
  }
  return medians;
}

/// Theil-Sen, in bytes per chunk; nullopt where no two points differ in number.
std::optional<Interval> SlopeOf(const std::vector<BinPoint>& points) {
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;
      if (run != 0) slopes.push_back((points[j].rss_bytes - points[i].rss_bytes) / run);
    }
  }
  if (slopes.empty()) return std::nullopt;
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

std::optional<RssSlope> SlopeOfProcess(std::vector<Reading>& readings, uint32_t process) {
  if (readings.size() < kLeastChunks) return std::nullopt;
  std::sort(readings.begin(), readings.end(), [](const Reading& a, const Reading& b) {
    return a.number != b.number ? a.number < b.number : a.start_ns < b.start_ns;
  });
  const size_t first = readings.size() / 10;  // warming up: libraries, caches, histograms
  int64_t events = 0;
  int64_t known = 0;
  for (size_t i = first; i < readings.size(); ++i) {
    if (readings[i].events == AttemptRow::kUnknown) continue;
    events += readings[i].events;
    ++known;
  }
  if (events <= 0) return std::nullopt;
  const std::optional<Interval> slope = SlopeOf(MediansOfBins(readings, first));
  if (!slope.has_value()) return std::nullopt;
  const double per_1000_events = 1000 * static_cast<double>(known) / static_cast<double>(events);
  return RssSlope{slope->middle * per_1000_events, slope->low * per_1000_events, slope->high * per_1000_events,
                  process};
}

}  // namespace

std::optional<RssSlope> LargestRssSlope(const std::vector<AttemptRow>& attempts) {
  std::vector<std::vector<Reading>> by_process;
  for (const AttemptRow& attempt : attempts) {
    if (!HasEnded(attempt) || attempt.rss_stop_bytes == AttemptRow::kUnknown) continue;
    if (attempt.process >= by_process.size()) by_process.resize(attempt.process + size_t{1});
    by_process[attempt.process].push_back(
        {attempt.number, attempt.start_ns, static_cast<double>(attempt.rss_stop_bytes), attempt.events});
  }
  std::optional<RssSlope> largest;
  for (uint32_t process = 0; process < by_process.size(); ++process) {
    const std::optional<RssSlope> slope = SlopeOfProcess(by_process[process], process);
    if (slope.has_value() && (!largest.has_value() || slope->slope > largest->slope)) largest = slope;
  }
  return largest;
}

}  // namespace crema
