// Memory and CPU of the workers against what they had, as time went on.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/appearance/worker_names.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "collector/charts/time_lines.h"
#include "collector/charts/worker_series.h"
#include "collector/insight/key_figure_bands.h"
#include "collector/insight/key_figures.h"
#include "collector/insight/run_evidence.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Bins = std::vector<std::optional<double>>;

constexpr size_t kBins = 300;
constexpr size_t kMostLines = 24;  ///< workers with a line each; of more, the range of all and those with the highest

/// What share of `below` the workers' `above` is; both are keys of `timelines`.
struct Utilization {
  std::string_view above;
  std::string_view below;
  std::string_view what;     ///< of the axis
  std::string_view average;  ///< metric of the run
  bool has_danger;           ///< a worker that comes near 100 % is killed
  std::string_view reason;   ///< why it is not there
};

constexpr Utilization kMemory = {"worker_memory",
                                 "worker_memory_limit",
                                 "memory, of the limit [%]",
                                 "memory_utilization_avg",
                                 true,
                                 "no worker told both its memory and a limit to it"};
constexpr Utilization kCpu = {"worker_cpu",
                              "worker_cores",
                              "CPU, of the worker's cores [%]",
                              "worker_cpu_utilization_avg",
                              false,
                              "no worker told its CPU time while it ran"};

struct WorkerRatio {
  std::string worker;
  Bins bins;
  double mean = 0;
  double peak = 0;  ///< largest bin
};

struct Ratios {
  double wall_seconds = 0;
  Bins mean;  ///< ratio of the sums
  Bins low, high;
  std::vector<WorkerRatio> workers;  ///< highest first
};

WorkerRatio RatioOf(const WorkerSeries& above, const WorkerSeries& below) {
  WorkerRatio ratio{above.worker, Bins(above.bins.size()), 0, 0};
  double sum = 0, count = 0;
  for (size_t bin = 0; bin < above.bins.size(); ++bin) {
    const auto value = above.bins[bin].mean(), limit = below.bins[bin].mean();
    if (!value.has_value() || !limit.has_value() || !(*limit > 0)) continue;
    ratio.bins[bin] = *value / *limit;
    ratio.peak = std::max(ratio.peak, *ratio.bins[bin]);
    sum += *ratio.bins[bin];
    ++count;
  }
  if (count > 0) ratio.mean = sum / count;
  return ratio;
}

std::optional<Ratios> ReadRatios(const Measurement& measurement, const Utilization& utilization) {
  const SeriesOfWorkers above = ReadWorkerSeries(measurement, utilization.above, kBins);
  const SeriesOfWorkers below = ReadWorkerSeries(measurement, utilization.below, kBins);
  Ratios ratios{measurement.Metric("wall_time").value_or(0), RatioOfSums(above, below), Bins(kBins), Bins(kBins), {}};
  for (const WorkerSeries& series : above.workers) {
    const WorkerSeries* limit = below.Find(series.worker);
    if (limit == nullptr) continue;
    WorkerRatio ratio = RatioOf(series, *limit);
    for (size_t bin = 0; bin < kBins; ++bin) {
      if (!ratio.bins[bin].has_value()) continue;
      ratios.low[bin] = std::min(ratios.low[bin].value_or(*ratio.bins[bin]), *ratio.bins[bin]);
      ratios.high[bin] = std::max(ratios.high[bin].value_or(*ratio.bins[bin]), *ratio.bins[bin]);
    }
    ratios.workers.push_back(std::move(ratio));
  }
  const auto has_value = [](const std::optional<double>& value) { return value.has_value(); };
  if (std::none_of(ratios.mean.begin(), ratios.mean.end(), has_value)) return std::nullopt;
  std::stable_sort(ratios.workers.begin(), ratios.workers.end(),
                   [](const WorkerRatio& a, const WorkerRatio& b) { return a.peak > b.peak; });
  return ratios;
}

double Largest(const Bins& bins) {
  double largest = 0;
  for (const auto& value : bins) largest = std::max(largest, value.value_or(0));
  return largest;
}

/// Of its whole life the baseline's mean, in the same parts of its own time.
void AddBaseline(const ChartInput& input, const Utilization& utilization, double wall_seconds, TimePanel* panel) {
  if (input.baseline == nullptr) return;
  const std::optional<Ratios> ratios = ReadRatios(*input.baseline, utilization);
  if (!ratios.has_value()) return;
  Timeline steps;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const double seconds = static_cast<double>(bin) * ratios->wall_seconds / kBins;
    if (ratios->mean[bin].has_value() && seconds <= wall_seconds) steps.push_back({seconds, *ratios->mean[bin]});
  }
  panel->AddLine(steps, "baseline", 100);
  panel->AddMeaning("baseline", "baseline");
}

double TopOf(const Ratios& ratios) { return std::max(100.0, 100 * Largest(ratios.high)); }

TimePanel PanelOf(const ChartInput& input, const Utilization& utilization, const Ratios& ratios) {
  TimePanel panel(ratios.wall_seconds, std::string(utilization.what));
  panel.SetTop(TopOf(ratios));
  AddBaseline(input, utilization, ratios.wall_seconds, &panel);
  return panel;
}

Drawing DrawMean(const ChartInput& input, const Utilization& utilization) {
  const Measurement& measurement = *input.measurement;
  const std::optional<Ratios> ratios = ReadRatios(measurement, utilization);
  if (!ratios.has_value()) return NotDrawn(std::string(utilization.reason));
  TimePanel panel = PanelOf(input, utilization, *ratios);
  panel.AddBand(ratios->low, ratios->high, "cpu", 100);
  panel.AddLine(ratios->mean, "cpu", 100);
  panel.AddMeaning("cpu", "all workers together; pale: least to most of one worker");
  if (utilization.has_danger) {
    const double bad = MemoryBand(measurement.run.engine).bad;
    panel.AddLevel(100 * bad, "limit", fmt::format("from {} on a worker is in danger", HumanPercent(bad, 0)));
  }
  std::string finding;
  const std::optional<double> average = measurement.Metric(utilization.average);
  if (average.has_value()) finding = HumanPercent(*average) + " on average, ";
  return {panel.Take(), finding + HumanPercent(ratios->workers.front().peak) + " at most in one worker", ""};
}

/// Lines of single workers, the highest in colour.
void AddWorkerLines(const Ratios& ratios, size_t count, TimePanel* panel) {
  for (size_t i = count; i-- > 1;) panel->AddLine(ratios.workers[i].bins, "others", 100);
  panel->AddLine(ratios.workers.front().bins, "wait", 100);
}

Drawing DrawPerWorker(const ChartInput& input, const Utilization& utilization) {
  const std::optional<Ratios> ratios = ReadRatios(*input.measurement, utilization);
  if (!ratios.has_value()) return NotDrawn(std::string(utilization.reason));
  TimePanel panel = PanelOf(input, utilization, *ratios);
  const size_t workers = ratios->workers.size();
  constexpr size_t kHighest = 8;
  ShownNames names;
  const std::string highest = names.Of(WorkerName(ratios->workers.front().worker));
  if (workers > kMostLines) {
    panel.AddBand(ratios->low, ratios->high, "cpu", 100);
    panel.AddLine(ratios->mean, "cpu", 100);
    panel.AddMeaning("cpu", fmt::format("all {} workers together; pale: least to most of one", workers));
  }
  const size_t lines = workers > kMostLines ? kHighest : workers;
  AddWorkerLines(*ratios, lines, &panel);
  panel.AddMeaning("wait", highest);
  if (lines > 1) panel.AddMeaning("others", workers > kMostLines ? "the next seven" : "other workers");
  return {panel.Take(),
          fmt::format("highest in {}: {} at most, {} on average; {}", highest,
                      HumanPercent(ratios->workers.front().peak), HumanPercent(ratios->workers.front().mean),
                      Counted(static_cast<double>(workers), "worker", "workers")),
          ""};
}

}  // namespace

Drawing DrawMeanMemoryUtilization(const ChartInput& input) { return DrawMean(input, kMemory); }

Drawing DrawMemoryUtilizationPerWorker(const ChartInput& input) { return DrawPerWorker(input, kMemory); }

Drawing DrawMeanCpuUtilization(const ChartInput& input) { return DrawMean(input, kCpu); }

Drawing DrawCpuUtilizationPerWorker(const ChartInput& input) { return DrawPerWorker(input, kCpu); }

}  // namespace crema
