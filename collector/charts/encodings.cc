#include "collector/charts/encodings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct TimeFormat {
  std::string_view title;
  std::string_view label;  ///< an expression over `datum.value`, in seconds
};

TimeFormat FormatFor(double seconds) {
  if (seconds < 120) return {"time since the start [s]", ""};
  if (seconds < 7200) {
    return {"time since the start [min:s]",
            "floor(datum.value / 60) + ':' + pad(toString(round(datum.value % 60)), 2, '0', 'left')"};
  }
  if (seconds < 172800) {
    return {"time since the start [h:min]",
            "floor(datum.value / 3600) + ':' + pad(toString(round(datum.value % 3600 / 60)), 2, '0', 'left')"};
  }
  return {"time since the start [days]", "format(datum.value / 86400, '.3~f')"};
}

}  // namespace

Json InlineData(Json values) { return {{"values", std::move(values)}}; }

Json Quantity(std::string_view field, std::string_view title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", title}};
}

Json Names(std::string_view field, std::string_view title) {
  return {{"field", field}, {"type", "nominal"}, {"title", title}, {"sort", nullptr}};
}

Json TimeAxis(std::string_view field, double seconds, int most_ticks) {
  const TimeFormat format = FormatFor(seconds);
  const double step = RoundTimeStep(seconds, most_ticks);
  Json ticks = Json::array();
  for (int i = 0; i * step <= seconds * (1 + 1e-9); ++i) ticks.push_back(Rounded(i * step));
  Json axis = {{"values", std::move(ticks)}, {"grid", false}};
  if (!format.label.empty()) axis["labelExpr"] = format.label;
  return {{"field", field},
          {"type", "quantitative"},
          {"title", format.title},
          {"scale", {{"domain", {0, Rounded(seconds)}}, {"nice", false}}},
          {"axis", std::move(axis)}};
}

void LabelNumbers(double largest, Json* axis) {
  // 553 k, as it is written elsewhere
  if (largest < kExactBelow) {
    (*axis)["format"] = ",~r";
  } else {
    (*axis)["labelExpr"] = "replace(format(datum.value, '~s'), regexp('([a-zA-Zµ])$'), ' $1')";
  }
}

Json ColourNamed(std::string_view name) { return {{"expr", std::string(name) + "Colour"}}; }

Json NamedColours(std::string_view field, const std::vector<std::string>& names,
                  const std::vector<std::string_view>& colours) {
  Json range = Json::array();
  for (std::string_view colour : colours) range.push_back(ColourNamed(colour));
  return {{"field", field},
          {"type", "nominal"},
          {"title", nullptr},
          {"sort", nullptr},
          {"scale", {{"domain", names}, {"range", std::move(range)}}}};
}

Json Tooltip(const std::vector<Told>& lines) {
  Json tooltip = Json::array();
  for (const Told& line : lines) {
    const std::string_view type = line.type.empty() ? "quantitative" : line.type;
    Json entry = {{"field", line.field}, {"type", type}, {"title", line.title}};
    if (line.type.empty()) entry["format"] = ",.4~r";
    tooltip.push_back(std::move(entry));
  }
  return tooltip;
}

Json RealOf(const Number& number) { return number.has_value() ? Json(*number) : Json(); }

double Rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

}  // namespace crema
