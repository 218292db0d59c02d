#include "collector/detail/time_tracks.h"

#include <iterator>

namespace crema {
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

bool IsEarlier(const TimelinePoint& a, const TimelinePoint& b) { return a.seconds < b.seconds; }

/// Whether a value is of the time since the sample before; those of `crema run` begin where they hold.
bool IsSinceTheSampleBefore(std::string_view key) {
  constexpr std::string_view kWorker = "worker_", kRate = "_bps";
  if (key == "worker_cpu" || key == "worker_gil_contention") return true;
  return key.substr(0, kWorker.size()) == kWorker && key.size() > kRate.size() &&
         key.substr(key.size() - kRate.size()) == kRate;
}

}  // namespace

std::vector<double> MeanSteps(const Measurement& measurement, std::string_view key, const BinAxis& axis) {
  std::vector<double> means;
  const auto* workers = measurement.timelines.Find(key);
  if (workers == nullptr || workers->empty()) return means;
  const std::map<std::string, double> stops = WorkerStops(measurement);
  means.resize(static_cast<size_t>(axis.bins));
  const SampledSteps steps(measurement, key);
  for (const auto& [name, points] : *workers) {
    const auto stop = stops.find(name);
    const double end = axis.start + axis.width * axis.bins;
    AddSteps(steps.Of(name, points), stop == stops.end() ? end : std::min(end, stop->second), axis, &means);
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

SampledSteps::SampledSteps(const Measurement& measurement, std::string_view key) {
  const auto* workers = measurement.timelines.Find("worker_last_seen");
  if (workers == nullptr || !IsSinceTheSampleBefore(key)) return;
  for (const auto& [name, samples] : *workers) {
    if (std::is_sorted(samples.begin(), samples.end(), IsEarlier)) samples_.emplace(name, &samples);
  }
}

Timeline SampledSteps::Of(const std::string& worker, const Timeline& points) const {
  Timeline steps;
  for (const TimelinePoint& step : points) {
    if (std::isfinite(step.seconds) && std::isfinite(step.value)) steps.push_back(step);
  }
  if (!std::is_sorted(steps.begin(), steps.end(), IsEarlier)) std::stable_sort(steps.begin(), steps.end(), IsEarlier);
  const auto found = samples_.find(worker);
  if (found == samples_.end()) return steps;
  for (TimelinePoint& step : steps) {
    const auto at = std::lower_bound(found->second->begin(), found->second->end(), step, IsEarlier);
    if (at != found->second->begin()) step.seconds = std::prev(at)->seconds;
  }
  return steps;
}

}  // namespace crema
