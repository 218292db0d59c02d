#include "collector/charts/time_lines.h"

#include <algorithm>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/drawing.h"
#include "fmt/format.h"

namespace crema {

using Json = nlohmann::ordered_json;

Json StepRows(const Timeline& steps, double wall_seconds, double factor) {
  Json rows = Json::array();
  for (const TimelinePoint& step : Reduced(steps, wall_seconds, kMostSteps)) {
    if (step.seconds > wall_seconds) break;
    rows.push_back({{"t", Rounded(step.seconds)}, {"v", Rounded(step.value * factor)}});
  }
  if (!rows.empty()) rows.push_back({{"t", Rounded(wall_seconds)}, {"v", rows.back()["v"]}});
  return rows;
}

TimePanel::TimePanel(double wall_seconds, std::string_view y_title, double factor)
    : wall_seconds_(wall_seconds),
      factor_(factor),
      values_({{"title", y_title}, {"time", TimeAxis(wall_seconds)}, {"areas and lines", Json::array()}}) {}

void TimePanel::Add(const Timeline& steps, std::string_view type, std::string_view style, const std::string& words) {
  Json mark = {{"type", type}, {"style", style}, {"steps", StepRows(steps, wall_seconds_, factor_)}};
  if (type == "area") mark["opacity"] = 0.22;
  for (const Json& row : mark["steps"]) largest_ = std::max(largest_, row["v"].get<double>());
  values_["areas and lines"].push_back(std::move(mark));
  if (!words.empty()) AddMeaning(style, words);
}

void TimePanel::AddMeaning(std::string_view style, const std::string& words) {
  meaning_styles_.push_back(style == "mean" ? "ink" : style);
  meanings_.push_back(words);
}

void TimePanel::AddLine(const Timeline& steps, std::string_view style, const std::string& words) {
  Add(steps, "line", style, words);
}

void TimePanel::AddArea(const Timeline& steps, std::string_view style, const std::string& words) {
  Add(steps, "area", style, words);
}

void TimePanel::AddFilledLine(const Timeline& steps, std::string_view style, const std::string& words) {
  AddArea(steps, style);
  AddLine(steps, style, words);
}

void TimePanel::AddMean(double value) {
  values_["levels"].push_back({{"v", Rounded(value)}});
  AddMeaning("ink", fmt::format("mean {} (dashed)", HumanCount(value)));
}

Json TimePanel::Take(double height) {
  values_["height"] = height;
  if (largest_ >= kExactBelow) values_["axis"] = NumberLabels(largest_);
  if (!meanings_.empty()) {
    values_["first meaning"] = meanings_.front();
    values_["meanings"] = ColourScale(meanings_, meaning_styles_);
  }
  return FilledTemplate("time_panel", values_);
}

}  // namespace crema
