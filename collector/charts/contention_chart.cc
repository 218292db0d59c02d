// What chunks wait for together.
#include <algorithm>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/document/document_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilliseconds = 1e3;

double At(const Json& pair, size_t index) {
  return pair.is_array() && pair.size() == 2 && pair[index].is_number() ? pair[index].get<double>() : 0;
}

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
  const Json& table = ListField(*input.document, "contention");
  if (table.empty()) return NotDrawn("no chunk ended");
  const Json& found = table.front();
  Json rows = Json::array();
  for (const Json& pair : ListField(found, "points")) {
    rows.push_back({{"lanes", Rounded(At(pair, 0))}, {"blocked", Rounded(kMilliseconds * At(pair, 1))}});
  }
  const auto slope = NumberField(found, "slope");
  if (rows.empty() || !slope.has_value()) {
    const std::string reason = TextField(found, "reason");
    return NotDrawn(reason.empty() ? "not measured" : reason);
  }
  const Json x = Quantity("lanes", "mean of the chunks that were open"),
             y = Quantity("blocked", "blocked time an event [ms]");
  Json layers = Json::array();
  layers.push_back({{"data", InlineData(Line(rows, *slope))},
                    {"mark", {{"type", "line"}, {"style", "ink"}, {"strokeWidth", 1.2}}},
                    {"encoding", {{"x", x}, {"y", y}}}});
  layers.push_back({{"data", InlineData(std::move(rows))},
                    {"mark", {{"type", "circle"}, {"style", "wait"}, {"size", 50}, {"opacity", 1}}},
                    {"encoding",
                     {{"x", x},
                      {"y", y},
                      {"tooltip", Tooltip({{"lanes", "open chunks"}, {"blocked", "blocked time an event [ms]"}})}}}});
  const double low = NumberField(found, "slope_low").value_or(0), high = NumberField(found, "slope_high").value_or(0);
  std::string finding;
  if (low > 0) {
    finding = fmt::format("yes: something that all chunks share serves about {} events a second ({} to {})",
                          HumanCount(1 / *slope), HumanCount(1 / high), HumanCount(1 / low));
  } else if (high <= 0) {
    finding = "no";
  } else {
    finding = fmt::format("not that it could be told from chance; if so, by at most {} an event for each chunk more",
                          HumanDuration(high));
  }
  return {{{"width", 560}, {"height", 280}, {"layer", std::move(layers)}}, finding, ""};
}

}  // namespace crema
