// Step lines over the run's time, with what is behind them: the layers that timelines are put together from.
#ifndef CREMA_COLLECTOR_CHARTS_TIME_LINES_H_
#define CREMA_COLLECTOR_CHARTS_TIME_LINES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/charts/worker_series.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Steps of a timeline that are drawn; of more, means over equal parts of the run.
inline constexpr size_t kMostSteps = 1'000;

/// A panel whose x axis is the run's time; layers are drawn in the order in which they are added.
class TimePanel {
 public:
  /// `y_title` has the unit.
  TimePanel(double wall_seconds, std::string y_title) : wall_seconds_(wall_seconds), y_title_(std::move(y_title)) {}

  /// A value that holds until the next one. `style` names a colour; `factor` converts to the axis's unit.
  void AddLine(const Timeline& steps, std::string_view style, double factor = 1);
  void AddArea(const Timeline& steps, std::string_view style, double factor = 1);
  /// A horizontal line; its words stand with the meanings.
  void AddLevel(double value, std::string_view style, const std::string& words);
  /// What the marks of a style stand for, in a line of text above the panel.
  void AddMeaning(std::string_view style, const std::string& words);
  /// Fixes the y axis instead of what the data asks for.
  void SetTop(double top) { top_ = top; }

  /// The layered view. Leaves nothing behind.
  nlohmann::ordered_json Take(double height = 260);

 private:
  void AddMark(nlohmann::ordered_json mark, nlohmann::ordered_json values, const nlohmann::ordered_json& more);

  double wall_seconds_;
  std::string y_title_;
  std::optional<double> top_;
  double largest_ = 0;
  nlohmann::ordered_json layers_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json levels_ = nlohmann::ordered_json::array();
  std::vector<std::string> meanings_;
  std::vector<std::string_view> meaning_styles_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_TIME_LINES_H_
