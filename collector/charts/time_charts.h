// Quantities of workers over time, and a panel of steps over the run's time: what timelines are put together from.
#pragma once

#include "collector/format/worker_names.h"
#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Part of a timeline: the integral of the value and the seconds over which there was one.
struct SeriesBin {
  double integral = 0;
  double covered_seconds = 0;

  std::optional<double> mean() const {
    return covered_seconds > 0 ? std::optional<double>(integral / covered_seconds) : std::nullopt;
  }
};

struct WorkerSeries {
  std::string worker;
  std::vector<SeriesBin> bins;
  double peak = 0;  ///< the largest value, exact
};

/// One quantity of all workers that have it.
struct SeriesOfWorkers {
  double bin_seconds = 0;
  std::vector<WorkerSeries> workers;  ///< in the measurement's order

  bool empty() const { return workers.empty(); }
  double CentreOf(size_t bin) const { return (static_cast<double>(bin) + 0.5) * bin_seconds; }
  /// Mean of the sum over the workers; nullopt where none had a value.
  std::optional<double> SumAt(size_t bin) const;
  const WorkerSeries* Find(std::string_view worker) const;
};

/// `timelines[key]` in `bins` equal parts of the wall time; a value holds until the next one, or until its worker
/// stopped. Empty where the series or the wall time was not measured.
SeriesOfWorkers ReadWorkerSeries(const Measurement& measurement, std::string_view key, size_t bins);

/// Sum over workers of `timelines[key]` as a step function, exact: each value holds until the next one. Empty where
/// there is none.
Timeline SumOfSteps(const Measurement& measurement, std::string_view key);

double LargestOf(const Timeline& steps);

/// The same where there are more than `most` steps: means over equal parts of the run, which keep the integral.
Timeline Reduced(Timeline steps, double wall_seconds, size_t most);

/// The workers of the measurement's table and of its timelines: an engine may report the one or the other.
WorkerNames NamesOfWorkers(const Measurement& measurement);

/// Steps of a timeline that are drawn; of more, means over equal parts of the run.
inline constexpr size_t kMostSteps = 1'000;

/// Areas and lines are drawn in the order in which they are added.
class TimePanel {
 public:
  /// `y_title` has the unit; `factor` converts to it.
  TimePanel(double wall_seconds, std::string_view y_title, double factor = 1);

  /// `style` names a colour; `words` say what has it, in a line above the panel.
  void AddLine(const Timeline& steps, std::string_view style, const std::string& words = "") {
    Add(steps, "line", style, words);
  }
  void AddArea(const Timeline& steps, std::string_view style, const std::string& words = "") {
    Add(steps, "area", style, words);
  }
  void AddFilledLine(const Timeline& steps, std::string_view style, const std::string& words = "");
  /// A dashed line at one value, in the axis's unit.
  void AddMean(double value);
  /// Fixes the y axis instead of what the data asks for.
  void SetTop(double top) { values_["scale"] = {{"domain", {0, top}}}; }

  Json Take(double height = 260);

 private:
  void Add(const Timeline& steps, std::string_view type, std::string_view style, const std::string& words);
  void AddMeaning(std::string_view style, const std::string& words);

  double wall_seconds_;
  double factor_;
  double largest_ = 0;
  Json values_;
  std::vector<std::string> meanings_;
  std::vector<std::string_view> meaning_styles_;
};

}  // namespace crema
