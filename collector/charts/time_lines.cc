#include "collector/charts/time_lines.h"

#include <algorithm>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json Mark(std::string_view type, std::string_view style) {
  Json mark = {{"type", type}, {"style", style}};
  if (type == "area") mark["opacity"] = 0.22;
  return mark;
}

Json Points(const Timeline& steps, double wall_seconds, double factor) {
  Json values = Json::array();
  for (const TimelinePoint& step : steps) {
    if (step.seconds > wall_seconds) break;
    values.push_back({{"t", Rounded(step.seconds)}, {"v", Rounded(step.value * factor)}});
  }
  if (!values.empty()) values.push_back({{"t", Rounded(wall_seconds)}, {"v", values.back()["v"]}});
  return values;
}

}  // namespace

void TimePanel::AddMark(Json mark, Json values, const Json& more) {
  Json encoding = {{"x", TimeAxis("t", wall_seconds_)}, {"y", Quantity("v", y_title_)}};
  for (const Json& value : values) {
    if (value["v"].is_number()) largest_ = std::max(largest_, value["v"].get<double>());
  }
  encoding.update(more);
  layers_.push_back(
      {{"data", InlineData(std::move(values))}, {"mark", std::move(mark)}, {"encoding", std::move(encoding)}});
}

void TimePanel::AddLine(const Timeline& steps, std::string_view style, double factor) {
  Json mark = Mark("line", style);
  mark["interpolate"] = "step-after";
  AddMark(std::move(mark), Points(Reduced(steps, wall_seconds_, kMostSteps), wall_seconds_, factor), Json::object());
}

void TimePanel::AddArea(const Timeline& steps, std::string_view style, double factor) {
  Json mark = Mark("area", style);
  mark["interpolate"] = "step-after";
  AddMark(std::move(mark), Points(Reduced(steps, wall_seconds_, kMostSteps), wall_seconds_, factor), Json::object());
}

void TimePanel::AddLevel(double value, std::string_view style, const std::string& words) {
  Json level = Json::array();
  level.push_back({{"v", Rounded(value)}});
  levels_.push_back({{"data", InlineData(std::move(level))},
                     {"mark", {{"type", "rule"}, {"style", style}}},
                     {"encoding", {{"y", Quantity("v", y_title_)}}}});
  AddMeaning(style == "mean" ? "ink" : style, words);
}

void TimePanel::AddMeaning(std::string_view style, const std::string& words) {
  meaning_styles_.push_back(style);
  meanings_.push_back(words);
}

Json TimePanel::Take(double height) {
  if (!meanings_.empty()) {
    // a mark that draws nothing carries the legend
    Json meaning = Json::array();
    meaning.push_back({{"meaning", meanings_.front()}});
    layers_.push_back({{"data", InlineData(std::move(meaning))},
                       {"mark", {{"type", "square"}, {"opacity", 0}}},
                       {"encoding", {{"color", NamedColours("meaning", meanings_, meaning_styles_)}}}});
    layers_.back()["encoding"]["color"]["legend"] = {{"symbolOpacity", 1}};
  }
  for (Json& layer : layers_) {
    if (!layer["encoding"].contains("y")) continue;
    if (top_.has_value()) layer["encoding"]["y"]["scale"]["domain"] = {0, Rounded(*top_)};
    if (largest_ >= kExactBelow) LabelNumbers(largest_, &layer["encoding"]["y"]["axis"]);
  }
  for (Json& level : levels_) layers_.push_back(std::move(level));
  return {{"width", 640}, {"height", height}, {"layer", std::exchange(layers_, Json::array())}};
}

}  // namespace crema
