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

/// At the centre of each part; a part without a value stays, as null: the line has a gap there.
Json Points(const std::vector<std::optional<double>>& bins, double wall_seconds, double factor) {
  Json values = Json::array();
  const double width = bins.empty() ? 0 : wall_seconds / static_cast<double>(bins.size());
  for (size_t i = 0; i < bins.size(); ++i) {
    const Json value = bins[i].has_value() ? Json(Rounded(*bins[i] * factor)) : Json();
    values.push_back({{"t", Rounded((static_cast<double>(i) + 0.5) * width)}, {"v", value}});
  }
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

void TimePanel::AddLine(const std::vector<std::optional<double>>& bins, std::string_view style, double factor) {
  AddMark(Mark("line", style), Points(bins, wall_seconds_, factor), Json::object());
}

void TimePanel::AddArea(const std::vector<std::optional<double>>& bins, std::string_view style, double factor) {
  AddMark(Mark("area", style), Points(bins, wall_seconds_, factor), Json::object());
}

void TimePanel::AddBand(const std::vector<std::optional<double>>& low, const std::vector<std::optional<double>>& high,
                        std::string_view style, double factor) {
  Json values = Points(low, wall_seconds_, factor);
  const Json upper = Points(high, wall_seconds_, factor);
  for (size_t i = 0; i < values.size(); ++i) values[i]["high"] = upper[i]["v"];
  AddMark(Mark("area", style), std::move(values), {{"y2", {{"field", "high"}}}});
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
