#include "collector/writers/step_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace crema {
namespace {

struct Columns {
  double width;                  ///< seconds of one column
  std::vector<double> integral;  ///< value x seconds
  std::vector<double> covered;   ///< seconds on which the sum is known; workers are not told apart

  void Add(double from, double to, double value) {
    if (!(to > from)) return;
    const auto last = static_cast<double>(integral.size() - 1);
    const auto first_column = static_cast<size_t>(std::clamp(std::floor(from / width), 0.0, last));
    const auto last_column = static_cast<size_t>(std::clamp(std::floor(to / width), 0.0, last));
    for (size_t at = first_column; at <= last_column; ++at) {
      const double begin = std::max(from, static_cast<double>(at) * width);
      const double end = std::min(to, static_cast<double>(at + 1) * width);
      if (end <= begin) continue;
      integral[at] += value * (end - begin);
      covered[at] += end - begin;
    }
  }
};

}  // namespace

std::vector<std::optional<double>> TimelineColumns(const Measurement& measurement, std::string_view series,
                                                   int columns) {
  const std::vector<std::pair<std::string, Timeline>>* workers = measurement.timelines.Find(series);
  const double wall_time = measurement.Metric("wall_time").value_or(0);
  if (workers == nullptr || !(wall_time > 0) || columns <= 0) return {};
  const std::map<std::string, double> stops = WorkerStops(measurement);
  const auto count = static_cast<size_t>(columns);
  Columns sums{wall_time / columns, std::vector<double>(count, 0), std::vector<double>(count, 0)};
  bool has_point = false;
  for (const auto& [worker, points] : *workers) {
    const auto stop = stops.find(worker);
    const double last = std::min(wall_time, stop == stops.end() ? wall_time : stop->second);
    for (size_t at = 0; at < points.size(); ++at) {
      if (std::isnan(points[at].value)) continue;
      has_point = true;
      const bool is_last = at + 1 == points.size() || std::isnan(points[at + 1].value);
      const double until = is_last ? last : std::min(last, points[at + 1].seconds);
      sums.Add(std::max(0.0, points[at].seconds), until, points[at].value);
    }
  }
  if (!has_point) return {};
  std::vector<std::optional<double>> values(count);
  for (size_t at = 0; at < count; ++at) {
    if (sums.covered[at] > 0) values[at] = sums.integral[at] / sums.width;
  }
  return values;
}

}  // namespace crema
