#include "collector/writers/step_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "collector/document/document_fields.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds since the run's start at which each worker stopped.
std::map<std::string, double> WorkerStops(const Json& document) {
  std::map<std::string, double> stops;
  for (const Json& worker : ListField(document, "workers")) {
    const std::optional<double> stop = NumberField(worker, "stop");
    if (stop.has_value()) stops[TextField(worker, "name")] = *stop;
  }
  return stops;
}

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

bool IsPoint(const Json& point) {
  return point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
}

}  // namespace

std::vector<std::optional<double>> TimelineColumns(const Json& document, std::string_view series, int columns) {
  const Json& workers = Field(Field(document, "timelines"), series);
  const double wall_time = Metric(document, "wall_time").value_or(0);
  if (!workers.is_object() || !(wall_time > 0) || columns <= 0) return {};
  const std::map<std::string, double> stops = WorkerStops(document);
  const auto count = static_cast<size_t>(columns);
  Columns sums{wall_time / columns, std::vector<double>(count, 0), std::vector<double>(count, 0)};
  bool has_point = false;
  for (const auto& [worker, points] : workers.items()) {
    const auto stop = stops.find(worker);
    const double last = std::min(wall_time, stop == stops.end() ? wall_time : stop->second);
    for (size_t at = 0; points.is_array() && at < points.size(); ++at) {
      if (!IsPoint(points[at])) continue;
      has_point = true;
      const bool is_last = at + 1 == points.size() || !IsPoint(points[at + 1]);
      const double until = is_last ? last : std::min(last, points[at + 1][0].get<double>());
      sums.Add(std::max(0.0, points[at][0].get<double>()), until, points[at][1].get<double>());
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
