#include "collector/detail/sample_series.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collector/detail/bin_axis.h"

namespace crema {
namespace {

/// Of the timelines of docs/metrics.md those by worker.
constexpr std::array<std::string_view, 19> kKeys = {
    "worker_memory",         "worker_memory_limit",     "worker_cpu",
    "worker_cores",          "worker_active_tasks",     "worker_executing",
    "worker_nbytes",         "worker_occupancy",        "worker_spilled_bytes",
    "worker_managed_bytes",  "worker_network_read_bps", "worker_network_write_bps",
    "worker_disk_read_bps",  "worker_disk_write_bps",   "worker_event_loop_interval",
    "worker_gil_contention", "worker_open_chunks",      "worker_fds",
    "worker_threads"};

/// Values hold until the next one, so the mean is over time; a bin without a change of its own is left out, as the
/// value before still holds.
SampleSeries Reduce(const std::string& worker, const Timeline& points, const BinAxis& axis) {
  SampleSeries series;
  series.worker = worker;
  series.bin_seconds = axis.width;
  double weight = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto bin = static_cast<uint32_t>(axis.At(points[i].seconds));
    const double value = points[i].value;
    series.peak = i == 0 ? value : std::max(series.peak, value);
    const double until = i + 1 < points.size() ? points[i + 1].seconds : points[i].seconds;
    const double holds = std::max(1e-9, std::min(until, axis.width * (bin + 1)) - points[i].seconds);
    if (series.bins.empty() || series.bins.back() != bin) {
      series.bins.push_back(bin);
      series.min.push_back(value);
      series.mean.push_back(value);
      series.max.push_back(value);
      weight = holds;
      continue;
    }
    series.min.back() = std::min(series.min.back(), value);
    series.max.back() = std::max(series.max.back(), value);
    series.mean.back() += (value - series.mean.back()) * holds / (weight + holds);
    weight += holds;
  }
  return series;
}

}  // namespace

Timeline PointsOf(const Timeline& points) {
  Timeline steps;
  for (const TimelinePoint& step : points) {
    if (std::isfinite(step.seconds) && std::isfinite(step.value)) steps.push_back(step);
  }
  const auto earlier = [](const TimelinePoint& a, const TimelinePoint& b) { return a.seconds < b.seconds; };
  if (!std::is_sorted(steps.begin(), steps.end(), earlier)) std::stable_sort(steps.begin(), steps.end(), earlier);
  return steps;
}

std::vector<SampledQuantity> ReadSamples(const Measurement& measurement, double seconds, const DetailOptions& options) {
  std::vector<SampledQuantity> quantities;
  const BinAxis axis = {0, std::max(seconds, 1e-9) / options.series_bins, options.series_bins};
  for (const std::string_view key : kKeys) {
    const auto* workers = measurement.timelines.Find(key);
    if (workers == nullptr) continue;
    SampledQuantity quantity;
    quantity.key = key;
    for (const auto& [name, points] : *workers) {
      const Timeline steps = PointsOf(points);
      if (!steps.empty()) quantity.workers.push_back(Reduce(name, steps, axis));
    }
    std::stable_sort(quantity.workers.begin(), quantity.workers.end(),
                     [](const SampleSeries& a, const SampleSeries& b) { return a.peak > b.peak; });
    if (quantity.workers.size() > options.series_rows) {
      quantity.left_out = quantity.workers.size() - options.series_rows;
      quantity.workers.resize(options.series_rows);
    }
    if (!quantity.workers.empty()) quantities.push_back(std::move(quantity));
  }
  return quantities;
}

}  // namespace crema
