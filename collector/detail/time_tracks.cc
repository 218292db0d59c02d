#include "collector/detail/time_tracks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

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

namespace {

constexpr std::string_view kOfWorkers = "samples of the workers";
constexpr std::string_view kOfChunks = "chunks, each spread evenly over its time";

bool HasAny(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

void AddSteps(const Timeline& steps, double end, const BinAxis& axis, std::vector<double>* means) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const double from = std::max(axis.start, steps[i].seconds);
    const double to = i + 1 < steps.size() ? std::min(end, steps[i + 1].seconds) : end;
    if (!(to > from)) continue;
    const double integral = steps[i].value * (to - from);
    axis.Spread(from, to,
                [&](int bin, double share) { (*means)[static_cast<size_t>(bin)] += integral * share / axis.width; });
  }
}

size_t SeriesIn(const Measurement& measurement, std::string_view key) {
  const auto* series = measurement.timelines.Find(key);
  return series == nullptr ? 0 : series->size();
}

/// `worker` is a key of timelines; `chunks` are sums of seconds or bytes in each bin.
TimeTrack TrackOf(const Measurement& measurement, const BinAxis& axis, std::string_view worker,
                  const std::vector<double>& chunks) {
  TimeTrack track;
  track.values = MeanSteps(measurement, worker, axis);
  track.source = kOfWorkers;
  if (!HasAny(track.values)) {
    track.values = chunks;
    for (double& value : track.values) value /= axis.width;
    track.source = kOfChunks;
  }
  if (!HasAny(track.values)) track.values.clear();
  return track;
}

}  // namespace

std::vector<double> MeanSteps(const Measurement& measurement, std::string_view key, const BinAxis& axis) {
  std::vector<double> means;
  const auto* workers = measurement.timelines.Find(key);
  if (workers == nullptr || workers->empty()) return means;
  const std::map<std::string, double> stops = WorkerStops(measurement);
  means.resize(static_cast<size_t>(axis.bins));
  for (const auto& [name, points] : *workers) {
    const auto stop = stops.find(name);
    const double end = axis.start + axis.width * axis.bins;
    AddSteps(PointsOf(points), stop == stops.end() ? end : std::min(end, stop->second), axis, &means);
  }
  return means;
}

std::vector<TimeTrack> TracksOf(const Measurement& measurement, const TimeBins& over_time) {
  const BinAxis axis = {over_time.start_seconds, over_time.bin_seconds,
                        static_cast<int>(over_time.busy_seconds.size())};
  std::vector<TimeTrack> tracks;
  TimeTrack memory = TrackOf(measurement, axis, "worker_memory", {});
  memory.name = "Memory";
  memory.unit = "B";
  if (memory.source == kOfWorkers &&
      SeriesIn(measurement, "worker_memory_limit") == SeriesIn(measurement, "worker_memory")) {
    memory.limit = MeanSteps(measurement, "worker_memory_limit", axis);
    memory.limit_name = "limits of the workers";
  }
  tracks.push_back(std::move(memory));
  TimeTrack cpu = TrackOf(measurement, axis, "worker_cpu", over_time.cpu_seconds);
  cpu.name = cpu.source == kOfChunks ? "CPU of chunks" : "CPU";
  cpu.unit = "cores";
  cpu.limit = over_time.lanes_available;
  cpu.limit_name = "cores";
  tracks.push_back(std::move(cpu));
  const bool chunks_told = HasAny(over_time.bytes_read);
  TimeTrack read = TrackOf(measurement, axis, chunks_told ? "" : "worker_disk_read_bps", over_time.bytes_read);
  read.name = "Read";
  read.unit = "B/s";
  tracks.push_back(std::move(read));
  tracks.erase(
      std::remove_if(tracks.begin(), tracks.end(), [](const TimeTrack& track) { return track.values.empty(); }),
      tracks.end());
  return tracks;
}

}  // namespace crema
