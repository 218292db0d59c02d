// How many workers, cores and tasks there were, as time went on.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/families.h"
#include "collector/charts/time_lines.h"
#include "collector/charts/worker_series.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr char kNoScheduler[] =
    "no scheduler told how many tasks each worker had; measure the run through its engine to see it";

double WallSeconds(const Measurement& measurement) { return measurement.Metric("wall_time").value_or(0); }

double Largest(const Timeline& steps) {
  double largest = 0;
  for (const TimelinePoint& step : steps) largest = std::max(largest, step.value);
  return largest;
}

/// Integral over the run, by its seconds.
double MeanOf(const Timeline& steps, double wall_seconds) {
  double integral = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double until = i + 1 < steps.size() ? std::min(steps[i + 1].seconds, wall_seconds) : wall_seconds;
    integral += steps[i].value * std::max(0.0, until - steps[i].seconds);
  }
  return integral / wall_seconds;
}

void AddBaseline(const ChartInput& input, Timeline steps, TimePanel* panel) {
  if (input.baseline == nullptr || steps.empty()) return;
  steps.push_back({WallSeconds(*input.baseline), 0});
  panel->AddLine(steps, "baseline");
  panel->AddMeaning("baseline", "baseline");
}

Timeline BaselineSum(const ChartInput& input, std::string_view key) {
  return input.baseline == nullptr ? Timeline() : SumOfSteps(*input.baseline, key);
}

}  // namespace

Drawing DrawConcurrency(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const Timeline open = SumOfSteps(measurement, "worker_open_chunks");
  const double wall_seconds = WallSeconds(measurement);
  if (open.empty() || !(wall_seconds > 0))
    return NotDrawn("no chunk records: it is not known when which chunk was open");
  const Timeline cores = SumOfSteps(measurement, "worker_cores");
  TimePanel panel(wall_seconds, "chunks open at once");
  AddBaseline(input, BaselineSum(input, "worker_open_chunks"), &panel);
  panel.AddArea(open, "cpu");
  panel.AddLine(open, "cpu");
  panel.AddMeaning("cpu", "chunks open");
  const double mean = MeanOf(open, wall_seconds);
  std::string finding = fmt::format("{} chunks open on average", HumanCount(mean));
  if (!cores.empty()) {
    panel.AddLine(cores, "mean");
    panel.AddMeaning("ink", "cores");
    finding += fmt::format(", of {} cores", HumanCount(MeanOf(cores, wall_seconds)));
  }
  return {panel.Take(), finding, ""};
}

Drawing DrawTotalActiveTasks(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const Timeline active = SumOfSteps(measurement, "worker_active_tasks");
  const double wall_seconds = WallSeconds(measurement);
  if (active.empty() || !(wall_seconds > 0)) return NotDrawn(kNoScheduler);
  const Timeline executing = SumOfSteps(measurement, "worker_executing");
  TimePanel panel(wall_seconds, "tasks on workers");
  AddBaseline(input, BaselineSum(input, "worker_active_tasks"), &panel);
  panel.AddArea(active, "wait");
  panel.AddLine(active, "wait");
  panel.AddMeaning("wait", "queued or executing");
  if (!executing.empty()) {
    panel.AddArea(executing, "cpu");
    panel.AddLine(executing, "cpu");
    panel.AddMeaning("cpu", "executing");
  }
  return {panel.Take(),
          fmt::format("{} at most on workers, {} on average", Counted(Largest(active), "task", "tasks"),
                      HumanCount(MeanOf(active, wall_seconds))),
          ""};
}

}  // namespace crema
