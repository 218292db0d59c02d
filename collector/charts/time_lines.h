// A panel of steps over the run's time: what timelines are put together from.
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

/// Rows of a step line: each value holds until the next one, the last one until the end.
nlohmann::ordered_json StepRows(const Timeline& steps, double wall_seconds, double factor = 1);

/// Areas and lines are drawn in the order in which they are added.
class TimePanel {
 public:
  /// `y_title` has the unit; `factor` converts to it.
  TimePanel(double wall_seconds, std::string_view y_title, double factor = 1);

  /// `style` names a colour; `words` say what has it, in a line above the panel.
  void AddLine(const Timeline& steps, std::string_view style, const std::string& words = "");
  void AddArea(const Timeline& steps, std::string_view style, const std::string& words = "");
  void AddFilledLine(const Timeline& steps, std::string_view style, const std::string& words = "");
  /// A dashed line at one value, in the axis's unit.
  void AddMean(double value);
  /// Fixes the y axis instead of what the data asks for.
  void SetTop(double top) { values_["scale"] = {{"domain", {0, top}}}; }

  nlohmann::ordered_json Take(double height = 260);

 private:
  void Add(const Timeline& steps, std::string_view type, std::string_view style, const std::string& words);
  void AddMeaning(std::string_view style, const std::string& words);

  double wall_seconds_;
  double factor_;
  double largest_ = 0;
  nlohmann::ordered_json values_;
  std::vector<std::string> meanings_;
  std::vector<std::string_view> meaning_styles_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_TIME_LINES_H_
