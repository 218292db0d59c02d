#include "collector/metrics/engine/cluster_timelines.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace crema {
namespace {

using Reading = std::function<std::optional<double>(const ClusterSampleFact&)>;

template <class T>
Reading Of(std::optional<T> ClusterSampleFact::*member) {
  return [member](const ClusterSampleFact& sample) -> std::optional<double> {
    const std::optional<T>& value = sample.*member;
    if (!value.has_value()) return std::nullopt;
    return static_cast<double>(*value);
  };
}

double SecondsSince(const RunWindow& run, int64_t time_ns) { return static_cast<double>(time_ns - run.start_ns) / 1e9; }

Timeline Draw(const ClusterWorkerFact& worker, const Reading& reading, const RunWindow& run) {
  Timeline timeline;
  for (const ClusterSampleFact& sample : worker.samples) {
    if (sample.time_ns < run.start_ns || sample.time_ns > run.stop_ns) continue;
    const std::optional<double> value = reading(sample);
    if (!value.has_value() || (!timeline.empty() && timeline.back().value == *value)) continue;
    timeline.push_back({SecondsSince(run, sample.time_ns), *value});
  }
  return timeline;
}

}  // namespace

void AddClusterTimelines(const std::vector<ClusterWorker>& workers, const RunWindow& run, WorkerTimelines* timelines) {
  const std::map<std::string_view, Reading> readings = {
      {"worker_active_tasks", Of(&ClusterSampleFact::active)},
      {"worker_executing", Of(&ClusterSampleFact::executing)},
      {"worker_nbytes", Of(&ClusterSampleFact::nbytes)},
      {"worker_occupancy", Of(&ClusterSampleFact::occupancy)},
      {"worker_last_seen",
       [&run](const ClusterSampleFact& sample) -> std::optional<double> {
         if (!sample.last_seen_ns.has_value()) return std::nullopt;
         return SecondsSince(run, *sample.last_seen_ns);
       }},
      {"worker_cpu",
       [](const ClusterSampleFact& sample) -> std::optional<double> {
         if (!sample.cpu_percent.has_value()) return std::nullopt;
         return *sample.cpu_percent / 100;
       }},
      {"worker_spilled_bytes", Of(&ClusterSampleFact::spilled_bytes)},
      {"worker_managed_bytes", Of(&ClusterSampleFact::managed_bytes)},
      {"worker_network_read_bps", Of(&ClusterSampleFact::network_read_bps)},
      {"worker_network_write_bps", Of(&ClusterSampleFact::network_write_bps)},
      {"worker_disk_read_bps", Of(&ClusterSampleFact::disk_read_bps)},
      {"worker_disk_write_bps", Of(&ClusterSampleFact::disk_write_bps)},
      {"worker_event_loop_interval", Of(&ClusterSampleFact::event_loop_interval)},
      {"worker_fds", Of(&ClusterSampleFact::fds)},
      {"worker_gil_contention", Of(&ClusterSampleFact::gil_contention)},
  };
  for (TimelinesByWorker& series : timelines->series) {
    const auto reading = readings.find(series.key);
    if (reading == readings.end()) continue;
    for (const ClusterWorker& worker : workers) {
      Timeline timeline = Draw(*worker.fact, reading->second, run);
      if (timeline.empty()) continue;
      if (!series.by_worker.has_value()) series.by_worker.emplace();
      const auto [line, is_new] = series.by_worker->try_emplace(worker.fact->address, timeline);
      const bool continues = !is_new && line->second.back().seconds < timeline.front().seconds;
      if (continues) line->second.insert(line->second.end(), timeline.begin(), timeline.end());
    }
  }
}

}  // namespace crema
