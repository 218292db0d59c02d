// What a specification looks like in a theme: fonts, axes, and the colours by their names.
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/colours.h"
#include "collector/charts/chart.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFont = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
constexpr double kSmallText = 11.5;  // the least that is easily read

std::string_view In(ChartTheme theme, const Colour& colour) {
  return theme == ChartTheme::kLight ? colour.light : colour.dark;
}

std::string_view Named(ChartTheme theme, std::string_view name) {
  for (const Colour& colour : Colours()) {
    if (colour.name == name) return In(theme, colour);
  }
  return "";
}

Json Parameters(ChartTheme theme) {
  Json parameters = Json::array();
  for (const std::vector<Colour>* table : {&Colours(), &DatasetColours()}) {
    for (const Colour& colour : *table) {
      parameters.push_back({{"name", std::string(colour.name) + "Colour"}, {"value", In(theme, colour)}});
    }
  }
  return parameters;
}

/// A mark takes its colour by `"style": "limit"`.
Json Styles(ChartTheme theme) {
  Json styles;
  for (const Colour& colour : Colours()) styles[std::string(colour.name)]["color"] = In(theme, colour);
  styles["limit"]["strokeWidth"] = 1.5;
  styles["mean"] = {{"color", Named(theme, "ink")}, {"strokeDash", {4, 3}}, {"strokeWidth", 1.2}};
  styles["baseline"]["strokeWidth"] = 1.5;
  styles["others"]["strokeWidth"] = 1;
  styles["label"] = {{"color", Named(theme, "ink")}, {"fontSize", kSmallText}, {"font", kFont}};
  styles["strong-label"] = {
      {"color", Named(theme, "ink")}, {"fontSize", kSmallText}, {"font", kFont}, {"fontWeight", 600}};
  return styles;
}

Json Ranges(ChartTheme theme) {
  Json datasets = Json::array();
  for (const Colour& colour : DatasetColours()) datasets.push_back(In(theme, colour));
  const Json map = {Named(theme, "palest"), Named(theme, "cpu"), Named(theme, "strongest")};
  return {{"category", std::move(datasets)}, {"heatmap", map}, {"ramp", map}};
}

Json Axes(ChartTheme theme) {
  const std::string_view muted = Named(theme, "muted");
  return {{"domainColor", Named(theme, "grid")},
          {"gridColor", Named(theme, "grid")},
          {"gridOpacity", 0.7},
          {"tickColor", Named(theme, "grid")},
          {"labelColor", muted},
          {"titleColor", muted},
          {"labelFont", kFont},
          {"titleFont", kFont},
          {"labelFontSize", kSmallText},
          {"titleFontSize", kSmallText},
          {"titleFontWeight", "normal"},
          {"titlePadding", 8},
          {"labelLimit", 240},
          {"labelSeparation", 6}};
}

Json Legends(ChartTheme theme) {
  return {{"labelColor", Named(theme, "ink")},
          {"titleColor", Named(theme, "muted")},
          {"labelFont", kFont},
          {"titleFont", kFont},
          {"labelFontSize", kSmallText},
          {"titleFontSize", kSmallText},
          {"titleFontWeight", "normal"},
          {"labelLimit", 420},
          {"symbolType", "square"},
          {"orient", "top"},
          {"offset", 8}};
}

Json Titles(ChartTheme theme) {
  return {{"anchor", "start"},     {"color", Named(theme, "ink")},
          {"font", kFont},         {"fontSize", 16},
          {"fontWeight", 600},     {"subtitleColor", Named(theme, "muted")},
          {"subtitleFont", kFont}, {"subtitleFontSize", 12},
          {"subtitlePadding", 5},  {"subtitleLineHeight", 16},
          {"offset", 14},          {"frame", "bounds"}};
}

}  // namespace

Json ChartConfig(ChartTheme theme) {
  Json config;
  config["params"] = Parameters(theme);
  config["background"] = Named(theme, "card");
  config["padding"] = 16;
  config["font"] = kFont;
  config["locale"] = {{"number", {{"decimal", "."}, {"thousands", " "}, {"grouping", {3}}, {"currency", {"", ""}}}}};
  config["view"] = {{"stroke", nullptr}, {"continuousWidth", 640}, {"continuousHeight", 260}};
  config["range"] = Ranges(theme);
  config["mark"] = {{"color", Named(theme, "cpu")}};
  config["rule"] = {{"color", Named(theme, "ink")}};
  config["text"] = {{"color", Named(theme, "ink")}, {"font", kFont}, {"fontSize", kSmallText}};
  config["line"] = {{"strokeWidth", 1.6}};
  config["style"] = Styles(theme);
  config["axis"] = Axes(theme);
  config["legend"] = Legends(theme);
  config["header"] = {{"labelColor", Named(theme, "ink")},
                      {"titleColor", Named(theme, "muted")},
                      {"labelFont", kFont},
                      {"titleFont", kFont},
                      {"labelFontSize", kSmallText},
                      {"labelFontWeight", 600}};
  config["title"] = Titles(theme);
  return config;
}

}  // namespace crema
