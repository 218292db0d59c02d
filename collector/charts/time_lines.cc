#include "collector/charts/time_lines.h"

#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/detail/attempt_list.h"
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

namespace {

/// The steps of one worker, from the run's start on.
Timeline StepsOf(const SampledSteps& reader, const std::string& worker, const Timeline& points) {
  Timeline steps = reader.Of(worker, points);
  for (TimelinePoint& step : steps) step.seconds = std::max(0.0, step.seconds);
  return steps;
}

/// Adds a value that held from `from` to `to`.
void AddTo(std::vector<SeriesBin>* bins, double bin_seconds, double from, double to, double value) {
  const double last = static_cast<double>(bins->size()) * bin_seconds;
  to = std::min(to, last);
  if (!(to > from)) return;
  const size_t end = std::min(bins->size(), static_cast<size_t>(std::ceil(to / bin_seconds)));
  for (auto bin = static_cast<size_t>(from / bin_seconds); bin < end; ++bin) {
    const double begin = std::max(from, static_cast<double>(bin) * bin_seconds);
    const double stop = std::min(to, static_cast<double>(bin + 1) * bin_seconds);
    if (stop <= begin) continue;
    (*bins)[bin].integral += value * (stop - begin);
    (*bins)[bin].covered_seconds += stop - begin;
  }
}

void AddSteps(const Timeline& steps, double stop, double bin_seconds, std::vector<SeriesBin>* bins) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const double until = i + 1 < steps.size() ? std::min(stop, steps[i + 1].seconds) : stop;
    AddTo(bins, bin_seconds, steps[i].seconds, until, steps[i].value);
  }
}

double StopOf(const std::map<std::string, double>& stops, const std::string& worker, double wall_seconds) {
  const auto found = stops.find(worker);
  return found == stops.end() ? wall_seconds : std::min(found->second, wall_seconds);
}

}  // namespace

std::optional<double> SeriesOfWorkers::SumAt(size_t bin) const {
  double sum = 0, covered = 0;
  for (const WorkerSeries& series : workers) {
    sum += series.bins[bin].integral;
    covered += series.bins[bin].covered_seconds;
  }
  return covered > 0 ? std::optional<double>(sum / bin_seconds) : std::nullopt;
}

const WorkerSeries* SeriesOfWorkers::Find(std::string_view worker) const {
  for (const WorkerSeries& series : workers) {
    if (series.worker == worker) return &series;
  }
  return nullptr;
}

SeriesOfWorkers ReadWorkerSeries(const Measurement& measurement, std::string_view key, size_t bins) {
  SeriesOfWorkers read;
  const auto* timelines = measurement.timelines.Find(key);
  const double wall_seconds = measurement.Metric("wall_time").value_or(0);
  if (timelines == nullptr || !(wall_seconds > 0) || bins == 0) return read;
  read.bin_seconds = wall_seconds / static_cast<double>(bins);
  const std::map<std::string, double> stops = WorkerStops(measurement);
  const SampledSteps reader(measurement, key);
  for (const auto& [worker, points] : *timelines) {
    const Timeline steps = StepsOf(reader, worker, points);
    if (steps.empty()) continue;
    WorkerSeries series{worker, std::vector<SeriesBin>(bins), steps.front().value};
    for (const TimelinePoint& step : steps) series.peak = std::max(series.peak, step.value);
    AddSteps(steps, StopOf(stops, worker, wall_seconds), read.bin_seconds, &series.bins);
    read.workers.push_back(std::move(series));
  }
  return read;
}

Timeline SumOfSteps(const Measurement& measurement, std::string_view key) {
  const auto* timelines = measurement.timelines.Find(key);
  if (timelines == nullptr) return {};
  const double wall_seconds = measurement.Metric("wall_time").value_or(0);
  const std::map<std::string, double> stops = WorkerStops(measurement);
  const SampledSteps reader(measurement, key);
  std::map<double, double> changes;
  for (const auto& [worker, points] : *timelines) {
    double value = 0;
    for (const TimelinePoint& step : StepsOf(reader, worker, points)) {
      changes[step.seconds] += step.value - value;
      value = step.value;
    }
    const double stop = StopOf(stops, worker, wall_seconds);
    if (value != 0 && stop < wall_seconds) changes[stop] -= value;
  }
  Timeline steps;
  double sum = 0;
  for (const auto& [seconds, change] : changes) {
    sum += change;
    // what is left of a sum that came back to 0
    if (std::fabs(sum) < 1e-9) sum = 0;
    steps.push_back({seconds, sum});
  }
  return steps;
}

double LargestOf(const Timeline& steps) {
  double largest = 0;
  for (const TimelinePoint& step : steps) largest = std::max(largest, step.value);
  return largest;
}

Timeline Reduced(Timeline steps, double wall_seconds, size_t most) {
  if (steps.size() <= most || !(wall_seconds > 0)) return steps;
  std::vector<SeriesBin> bins(most);
  const double bin_seconds = wall_seconds / static_cast<double>(most);
  AddSteps(steps, wall_seconds, bin_seconds, &bins);
  Timeline reduced;
  for (size_t i = 0; i < most; ++i) {
    if (const auto mean = bins[i].mean()) reduced.push_back({static_cast<double>(i) * bin_seconds, *mean});
  }
  return reduced;
}

WorkerNames NamesOfWorkers(const Measurement& measurement) {
  std::set<std::string> names;
  for (const WorkerRow& worker : measurement.workers) names.insert(worker.name);
  for (const char* series : {"worker_memory", "worker_cpu", "worker_active_tasks"}) {
    const auto* workers = measurement.timelines.Find(series);
    if (workers == nullptr) continue;
    for (const auto& [name, points] : *workers) names.insert(name);
  }
  return WorkerNames(names);
}

}  // namespace crema
