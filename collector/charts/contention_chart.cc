// What chunks wait for together.
#include <algorithm>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilliseconds = 1e3;

/// A line of this slope through the middle of the points.
Json Line(const Json& rows, double slope) {
  const Json& middle = rows[rows.size() / 2];
  Json line = Json::array();
  for (const Json& row : {rows.front(), rows.back()}) {
    const double lanes = row["lanes"].get<double>();
    const double value =
        middle["blocked"].get<double>() + kMilliseconds * slope * (lanes - middle["lanes"].get<double>());
    line.push_back({{"lanes", lanes}, {"blocked", Rounded(value)}});
  }
  return line;
}

}  // namespace

Drawing DrawContention(const ChartInput& input) {
  if (input.measurement->contention.empty()) return NotDrawn("no chunk ended");
  const ContentionRow& found = input.measurement->contention.front();
  Json rows = Json::array();
  for (const LanePoint& point : found.points) {
    rows.push_back({{"lanes", Rounded(point.lanes)}, {"blocked", Rounded(kMilliseconds * point.seconds)}});
  }
  if (rows.empty() || !found.slope.has_value()) {
    return NotDrawn(found.reason.empty() ? "not measured" : found.reason.str());
  }
  const Json x = Quantity("lanes", "mean of the chunks that were open"),
             y = Quantity("blocked", "blocked time an event [ms]");
  Json layers = Json::array();
  layers.push_back({{"data", InlineData(Line(rows, *found.slope))},
                    {"mark", {{"type", "line"}, {"style", "ink"}, {"strokeWidth", 1.2}}},
                    {"encoding", {{"x", x}, {"y", y}}}});
  layers.push_back({{"data", InlineData(std::move(rows))},
                    {"mark", {{"type", "circle"}, {"style", "wait"}, {"size", 50}, {"opacity", 1}}},
                    {"encoding",
                     {{"x", x},
                      {"y", y},
                      {"tooltip", Tooltip({{"lanes", "open chunks"}, {"blocked", "blocked time an event [ms]"}})}}}});
  const double low = found.slope_low.value_or(0), high = found.slope_high.value_or(0);
  std::string finding;
  if (low > 0) {
    finding = fmt::format("yes: something that all chunks share serves about {} events a second ({} to {})",
                          HumanCount(1 / *found.slope), HumanCount(1 / high), HumanCount(1 / low));
  } else if (high <= 0) {
    finding = "no";
  } else {
    finding = fmt::format("not that it could be told from chance; if so, by at most {} an event for each chunk more",
                          HumanDuration(high));
  }
  return {{{"width", 560}, {"height", 280}, {"layer", std::move(layers)}}, finding, ""};
}

}  // namespace crema
