#include "collector/detail/time_tracks.h"

#include <algorithm>
#include <map>
#include <string>

#include "collector/detail/sample_series.h"
#include "collector/document/document_fields.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOfWorkers = "samples of the workers";
constexpr std::string_view kOfTree = "samples of the process tree";
constexpr std::string_view kOfChunks = "chunks, each spread evenly over its time";

bool HasAny(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

void AddSteps(const std::vector<SamplePoint>& steps, double end, const BinAxis& axis, std::vector<double>* means) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const double from = std::max(axis.start, steps[i].seconds);
    const double to = i + 1 < steps.size() ? std::min(end, steps[i + 1].seconds) : end;
    if (!(to > from)) continue;
    const double integral = steps[i].value * (to - from);
    axis.Spread(from, to,
                [&](int bin, double share) { (*means)[static_cast<size_t>(bin)] += integral * share / axis.width; });
  }
}

size_t SeriesIn(const Json& document, std::string_view key) {
  const Json& series = Field(Field(document, "timelines"), key);
  return series.is_object() ? series.size() : 0;
}

/// One function for the whole run.
std::vector<double> MeanOfOne(const Json& document, std::string_view key, const BinAxis& axis) {
  std::vector<double> means;
  const std::vector<SamplePoint> steps = PointsOf(Field(Field(document, "timelines"), key));
  if (steps.empty()) return means;
  means.resize(static_cast<size_t>(axis.bins));
  // the last reading holds until the command ended, which nobody sampled
  AddSteps(steps, axis.start + axis.width * axis.bins, axis, &means);
  return means;
}

/// `worker` and `tree` are keys of timelines; `chunks` are sums of seconds or bytes in each bin.
TimeTrack TrackOf(const Json& document, const BinAxis& axis, std::string_view worker, std::string_view tree,
                  const std::vector<double>& chunks) {
  TimeTrack track;
  track.values = MeanSteps(document, worker, axis);
  track.source = kOfWorkers;
  if (!HasAny(track.values)) {
    track.values = MeanOfOne(document, tree, axis);
    track.source = kOfTree;
  }
  if (!HasAny(track.values)) {
    track.values = chunks;
    for (double& value : track.values) value /= axis.width;
    track.source = kOfChunks;
  }
  if (!HasAny(track.values)) track.values.clear();
  return track;
}

}  // namespace

std::vector<double> MeanSteps(const Json& document, std::string_view key, const BinAxis& axis) {
  std::vector<double> means;
  const Json& workers = Field(Field(document, "timelines"), key);
  if (!workers.is_object() || workers.empty()) return means;
  std::map<std::string, double> stops;
  for (const Json& worker : ListField(document, "workers")) {
    if (const std::optional<double> stop = NumberField(worker, "stop")) stops[TextField(worker, "name")] = *stop;
  }
  means.resize(static_cast<size_t>(axis.bins));
  for (const auto& [name, points] : workers.items()) {
    const auto stop = stops.find(name);
    const double end = axis.start + axis.width * axis.bins;
    AddSteps(PointsOf(points), stop == stops.end() ? end : std::min(end, stop->second), axis, &means);
  }
  return means;
}

std::vector<TimeTrack> TracksOf(const Json& document, const TimeBins& over_time) {
  const BinAxis axis = {over_time.start_seconds, over_time.bin_seconds,
                        static_cast<int>(over_time.busy_seconds.size())};
  std::vector<TimeTrack> tracks;
  TimeTrack memory = TrackOf(document, axis, "worker_memory", "tree_memory", {});
  memory.name = "Memory";
  memory.unit = "B";
  if (memory.source == kOfWorkers && SeriesIn(document, "worker_memory_limit") == SeriesIn(document, "worker_memory")) {
    memory.limit = MeanSteps(document, "worker_memory_limit", axis);
    memory.limit_name = "limits of the workers";
  }
  tracks.push_back(std::move(memory));
  TimeTrack cpu = TrackOf(document, axis, "worker_cpu", "tree_cpu", over_time.cpu_seconds);
  cpu.name = cpu.source == kOfChunks ? "CPU of chunks" : "CPU";
  cpu.unit = "cores";
  cpu.limit = over_time.lanes_available;
  cpu.limit_name = "cores";
  tracks.push_back(std::move(cpu));
  const bool chunks_told = HasAny(over_time.bytes_read);
  TimeTrack read = TrackOf(document, axis, chunks_told ? "" : "worker_disk_read_bps",
                           chunks_told ? "" : "tree_read_bps", over_time.bytes_read);
  read.name = "Read";
  read.unit = "B/s";
  tracks.push_back(std::move(read));
  tracks.erase(
      std::remove_if(tracks.begin(), tracks.end(), [](const TimeTrack& track) { return track.values.empty(); }),
      tracks.end());
  return tracks;
}

}  // namespace crema
