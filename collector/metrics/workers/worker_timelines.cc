#include "collector/metrics/workers/worker_timelines.h"

namespace crema {
namespace {

using Lines = std::map<std::string, Timeline>;  // by name

// A screen has fewer columns than 2,000 points; all workers' lines together are bounded too.
constexpr size_t kMostPoints = 2000;
constexpr size_t kLeastPoints = 20;
constexpr size_t kMostPointsOfAll = 200'000;

double SecondsSince(const RunWindow& run, int64_t time_ns) { return static_cast<double>(time_ns - run.start_ns) / 1e9; }

/// Adds a point where the value changes; the last word on an instant replaces those before it.
void AddOnChange(double seconds, double value, Timeline& timeline) {
  if (!timeline.empty() && timeline.back().seconds == seconds) timeline.pop_back();
  if (timeline.empty() || timeline.back().value != value) timeline.push_back({seconds, value});
}

std::optional<Lines> IfAny(Lines lines) {
  for (auto line = lines.begin(); line != lines.end();) line = line->second.empty() ? lines.erase(line) : ++line;
  return lines.empty() ? std::nullopt : std::optional(std::move(lines));
}

/// `draw(worker, process, run)` gives one worker's line; workers without one are left out.
template <class Draw>
std::optional<Lines> DrawEach(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                              const RunWindow& run, Draw draw) {
  Lines by_worker;
  for (const WorkerLife& worker : workers) {
    if (worker.start_ns >= worker.stop_ns) continue;
    const ProcessRow& process = processes[worker.process];
    const Timeline drawn = draw(worker, process, run);
    Timeline& line = by_worker[process.worker()];  // a process of the same host and pid, later on, continues it
    line.insert(line.end(), drawn.begin(), drawn.end());
  }
  for (auto& [name, line] : by_worker) SortBy(&line, &TimelinePoint::seconds);
  return IfAny(std::move(by_worker));
}

Timeline DrawSteps(const std::vector<SampleStep>& steps, const RunWindow& run) {
  Timeline timeline;
  for (const SampleStep& step : steps) {
    AddOnChange(SecondsSince(run, step.time_ns), static_cast<double>(step.value), timeline);
  }
  return timeline;
}

Timeline DrawMemoryLimit(const WorkerLife& worker, const ProcessRow& process, const RunWindow& run) {
  return DrawSteps(StepsOfMemoryLimit(process, worker.start_ns, worker.stop_ns), run);
}

Timeline DrawCores(const WorkerLife& worker, const ProcessRow& /*process*/, const RunWindow& run) {
  return {{SecondsSince(run, worker.start_ns), static_cast<double>(worker.cores)},
          {SecondsSince(run, worker.stop_ns), 0}};
}

Timeline DrawCpu(const WorkerLife& worker, const ProcessRow& process, const RunWindow& run) {
  Timeline timeline;
  const ProcessSample* before = nullptr;
  for (const ProcessSample& sample : process.samples) {
    if (!sample.cpu_ns.has_value() || sample.time_ns < worker.start_ns || sample.time_ns > worker.stop_ns) continue;
    if (before != nullptr && sample.time_ns > before->time_ns && *sample.cpu_ns >= *before->cpu_ns) {
      const double cores =
          static_cast<double>(*sample.cpu_ns - *before->cpu_ns) / static_cast<double>(sample.time_ns - before->time_ns);
      AddOnChange(SecondsSince(run, sample.time_ns), cores, timeline);
    }
    before = &sample;
  }
  return timeline;
}

Timeline DrawLastSeen(const WorkerLife& worker, const ProcessRow& process, const RunWindow& run) {
  Timeline timeline;
  for (const ProcessSample& sample : process.samples) {
    if (sample.time_ns < worker.start_ns || sample.time_ns > worker.stop_ns) continue;
    const double seconds = SecondsSince(run, sample.time_ns);
    AddOnChange(seconds, seconds, timeline);
  }
  return timeline;
}

/// The exact number of intervals that are open, from `start_ns` on. `for_each(visit)` calls `visit(interval)` for each.
template <class ForEach>
Timeline CountOpen(int64_t start_ns, const ForEach& for_each, const RunWindow& run) {
  std::vector<std::pair<int64_t, int64_t>> steps = {{start_ns, 0}};
  for_each([&steps](const RunWindow& interval) {
    steps.emplace_back(interval.start_ns, 1);
    steps.emplace_back(interval.stop_ns, -1);
  });
  absl::c_sort(steps);
  Timeline timeline;
  int64_t open = 0;
  for (const auto& [time_ns, step] : steps) {
    open += step;
    AddOnChange(SecondsSince(run, time_ns), static_cast<double>(open), timeline);
  }
  return timeline;
}

/// A stretch of time in which so many chunks were open, on average.
struct OpenChunks {
  RunWindow interval;
  double chunks = 1;
};

/// The mean number of open chunks of one worker in equal slices of its life.
template <class ForEach>
Timeline CountOpenInSlices(const WorkerLife& worker, const ForEach& for_each, const std::vector<OpenChunks>& summed,
                           const RunWindow& run, size_t most_slices) {
  const int64_t slices = std::min(static_cast<int64_t>(most_slices), worker.stop_ns - worker.start_ns);
  const int64_t width_ns = (worker.stop_ns - worker.start_ns + slices - 1) / slices;
  std::vector<int64_t> open_ns(static_cast<size_t>(slices), 0);
  const auto add = [&](const RunWindow& interval, const auto& open_within) {
    for (int64_t from_ns = interval.start_ns; from_ns < interval.stop_ns;) {
      const int64_t slice = (from_ns - worker.start_ns) / width_ns;
      const int64_t to_ns = std::min(interval.stop_ns, worker.start_ns + (slice + 1) * width_ns);
      open_ns[static_cast<size_t>(slice)] += open_within(to_ns - from_ns);
      from_ns = to_ns;
    }
  };
  for_each([&](const RunWindow& interval) { add(interval, [](int64_t time_ns) { return time_ns; }); });
  for (const auto& [interval, chunks] : summed) {
    const double mean = chunks;
    add(interval, [mean](int64_t time_ns) { return std::llround(mean * static_cast<double>(time_ns)); });
  }
  Timeline timeline;
  for (int64_t slice = 0; slice < slices; ++slice) {
    const int64_t from_ns = worker.start_ns + slice * width_ns;
    const int64_t to_ns = std::min(from_ns + width_ns, worker.stop_ns);
    if (from_ns >= to_ns) break;  // the width is rounded up
    const double mean = static_cast<double>(open_ns[static_cast<size_t>(slice)]) / static_cast<double>(to_ns - from_ns);
    AddOnChange(SecondsSince(run, from_ns), mean, timeline);
  }
  AddOnChange(SecondsSince(run, worker.stop_ns), 0, timeline);
  return timeline;
}

std::optional<Lines> DrawOpenChunks(const std::vector<WorkerLife>& workers, const AttemptRows& attempts,
                                    const std::vector<ProcessRow>& processes, const RunWindow& run,
                                    const std::vector<SummedAttempts>& summed) {
  const std::vector<AttemptRows::Ranges> rows_of_process = attempts.RangesByProcess(processes.size());
  std::vector<std::vector<OpenChunks>> spread(processes.size());
  for (const SummedAttempts& sums : summed) {
    const RunWindow inside = {run.Clip(sums.row.start_ns), run.Clip(sums.stop_ns)};
    if (inside.start_ns >= inside.stop_ns) continue;
    const auto whole_ns = static_cast<double>(sums.stop_ns - sums.row.start_ns);
    spread[sums.row.process].push_back({inside, static_cast<double>(sums.row.duration_ns) / whole_ns});
  }
  const size_t points = std::clamp(kMostPointsOfAll / std::max<size_t>(1, workers.size()), kLeastPoints, kMostPoints);
  return DrawEach(workers, processes, run, [&](const WorkerLife& worker, const ProcessRow&, const RunWindow&) {
    const auto for_each = [&](const auto& visit) {
      attempts.ForEachOf(rows_of_process[worker.process], [&](size_t, const AttemptRow& attempt) {
        const RunWindow interval = IntervalOf(attempt, processes);
        const RunWindow inside = {run.Clip(interval.start_ns), run.Clip(interval.stop_ns)};
        if (inside.start_ns < inside.stop_ns) visit(inside);
      });
    };
    const std::vector<OpenChunks>& of_sums = spread[worker.process];
    size_t count = 0;
    for_each([&count](const RunWindow&) { ++count; });
    const bool few = 2 * count <= points && of_sums.empty();
    return few ? CountOpen(worker.start_ns, for_each, run) : CountOpenInSlices(worker, for_each, of_sums, run, points);
  });
}

Timeline DrawWorkerCounts(const std::vector<WorkerLife>& workers, const RunWindow& run) {
  const auto for_each = [&workers](const auto& visit) {
    for (const WorkerLife& worker : workers) {
      if (worker.start_ns < worker.stop_ns) visit({worker.start_ns, worker.stop_ns});
    }
  };
  return CountOpen(run.start_ns, for_each, run);
}

using Reading = std::function<std::optional<double>(const ClusterSampleFact&)>;

template <class T>
Reading Of(std::optional<T> ClusterSampleFact::*member) {
  return [member](const ClusterSampleFact& sample) -> std::optional<double> {
    const std::optional<T>& value = sample.*member;
    if (!value.has_value()) return std::nullopt;
    return static_cast<double>(*value);
  };
}

void AddPoint(double seconds, double value, Timeline* line) {
  if (!line->empty() && line->back().value == value) return;
  line->push_back({seconds, value});
}

Timeline Draw(const ClusterWorkerFact& worker, const Reading& reading, const RunWindow& run) {
  Timeline timeline;
  for (const ClusterSampleFact& sample : worker.samples) {
    if (sample.time_ns < run.start_ns || sample.time_ns > run.stop_ns) continue;
    const std::optional<double> value = reading(sample);
    if (value.has_value()) AddPoint(SecondsSince(run, sample.time_ns), *value, &timeline);
  }
  return timeline;
}

constexpr size_t kMostByCpu = 24, kMostByMemory = 8;

using ProcessKey = std::pair<int64_t, int64_t>;  // pid, start

// A rate holds from the reading before: it is what was used since then.
template <class Reading>
void AddRates(const std::vector<Reading>& readings, std::optional<int64_t> (*counter)(const Reading&), double unit,
              const RunWindow& run, Timeline* line) {
  const Reading* before = nullptr;
  for (const Reading& reading : readings) {
    if (before != nullptr && reading.time_ns > before->time_ns) {
      const auto now = counter(reading), then = counter(*before);
      const double seconds = static_cast<double>(reading.time_ns - before->time_ns) / 1e9;
      if (now.has_value() && then.has_value()) {
        const double rate = unit * static_cast<double>(std::max<int64_t>(0, *now - *then)) / seconds;
        AddPoint(std::max(0.0, SecondsSince(run, before->time_ns)), rate, line);
      }
    }
    before = &reading;
  }
  if (before != nullptr && !line->empty()) AddPoint(SecondsSince(run, before->time_ns), 0, line);
}

template <class Reading>
void AddLevels(const std::vector<Reading>& readings, std::optional<int64_t> (*level)(const Reading&),
               const RunWindow& run, Timeline* line) {
  for (const Reading& reading : readings) {
    const auto value = level(reading);
    if (value.has_value())
      AddPoint(std::max(0.0, SecondsSince(run, reading.time_ns)), static_cast<double>(*value), line);
  }
  if (readings.size() < 2 || line->empty()) return;
  // What was there at the last reading had ended before the next.
  const int64_t last_ns = readings.back().time_ns;
  const int64_t next_ns = std::min(run.stop_ns, 2 * last_ns - readings[readings.size() - 2].time_ns);
  if (next_ns > last_ns) AddPoint(SecondsSince(run, next_ns), 0, line);
}

// Those with a line of their own.
std::set<ProcessKey> Largest(const TreeRun& tree) {
  std::vector<std::pair<int64_t, ProcessKey>> cpu, memory;
  for (const auto& [key, samples] : tree.processes) {
    int64_t used = 0, held = 0;
    for (const ProcessSample& sample : samples) {
      used = std::max(used, sample.cpu_ns.value_or(0));
      held = std::max(held, sample.rss_bytes.value_or(0));
    }
    cpu.emplace_back(used, key);
    memory.emplace_back(held, key);
  }
  std::set<ProcessKey> largest;
  const auto take = [&largest](std::vector<std::pair<int64_t, ProcessKey>>& by, size_t most) {
    std::sort(by.rbegin(), by.rend());
    for (size_t i = 0; i < std::min(most, by.size()); ++i) largest.insert(by[i].second);
  };
  take(cpu, kMostByCpu);
  take(memory, kMostByMemory);
  return largest;
}

/// What readings have of a series. With a unit it is a counter, and the series the rate at which it grows.
template <class Reading>
struct ReadSeries {
  std::string_view key;
  std::optional<int64_t> (*value)(const Reading&);
  double unit = 0;
};

struct GpuPoint : TreeGpu {
  int64_t time_ns = 0;
};

template <auto kMember, class Reading>
std::optional<int64_t> Member(const Reading& reading) {
  return reading.*kMember;
}

template <auto kGroup, auto kMember>
std::optional<int64_t> InGroup(const TreeSampleFact& point) {
  return Field(point.*kGroup, kMember);
}

constexpr ReadSeries<TreeSampleFact> kOfTrees[] = {
    {"tree_cpu", [](const TreeSampleFact& point) { return std::optional(point.cpu_user_ns + point.cpu_system_ns); },
     1e-9},
    {"tree_cpu_system", Member<&TreeSampleFact::cpu_system_ns>, 1e-9},
    {"tree_memory", Member<&TreeSampleFact::rss_bytes>},
    {"tree_pss", Member<&TreeSampleFact::pss_bytes>},
    {"tree_processes", Member<&TreeSampleFact::processes>},
    {"tree_threads", Member<&TreeSampleFact::threads>},
    {"tree_read_bps", InGroup<&TreeSampleFact::io, &TreeIo::read_bytes>, 1},
    {"tree_write_bps", InGroup<&TreeSampleFact::io, &TreeIo::write_bytes>, 1},
    {"tree_rchar_bps", InGroup<&TreeSampleFact::io, &TreeIo::rchar_bytes>, 1},
    {"tree_wchar_bps", InGroup<&TreeSampleFact::io, &TreeIo::wchar_bytes>, 1},
    {"tree_net_rx_bps", InGroup<&TreeSampleFact::net, &TreeNet::rx_bytes>, 1},
    {"tree_net_tx_bps", InGroup<&TreeSampleFact::net, &TreeNet::tx_bytes>, 1},
};
constexpr ReadSeries<GpuPoint> kOfGpus[] = {{"gpu_utilization_percent", Member<&TreeGpu::utilization_percent>},
                                            {"gpu_memory", Member<&TreeGpu::memory_used_bytes>},
                                            {"gpu_power_mw", Member<&TreeGpu::power_mw>}};
constexpr ReadSeries<ProcessSample> kOfProcesses[] = {{"process_cpu", Member<&ProcessSample::cpu_ns>, 1e-9},
                                                      {"process_memory", Member<&ProcessSample::rss_bytes>},
                                                      {"process_threads", Member<&ProcessSample::threads>}};

/// The GPU at each of the points.
std::vector<GpuPoint> PointsOf(int64_t gpu, const std::vector<TreeSampleFact>& points) {
  std::vector<GpuPoint> of_gpu(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    for (const TreeGpu& reading : points[i].gpus) {
      if (reading.index == gpu) static_cast<TreeGpu&>(of_gpu[i]) = reading;
    }
    of_gpu[i].time_ns = points[i].time_ns;
  }
  return of_gpu;
}

}  // namespace

WorkerTimelines DrawWorkerTimelines(const std::vector<WorkerLife>& workers, const AttemptRows& attempts,
                                    const std::vector<ProcessRow>& processes, const RunWindow& run,
                                    const std::vector<SummedAttempts>& summed) {
  const auto of_samples = [&](std::optional<int64_t> ProcessSample::*quantity) {
    return DrawEach(workers, processes, run,
                    [&](const WorkerLife& worker, const ProcessRow& process, const RunWindow&) {
                      return DrawSteps(StepsOfSamples(process.samples, quantity, worker.start_ns, worker.stop_ns), run);
                    });
  };
  WorkerTimelines timelines;
  timelines.worker_counts = DrawWorkerCounts(workers, run);
  timelines.series.push_back({"worker_memory", of_samples(&ProcessSample::rss_bytes)});
  timelines.series.push_back({"worker_anonymous_memory", of_samples(&ProcessSample::anonymous_bytes)});
  timelines.series.push_back({"worker_memory_limit", DrawEach(workers, processes, run, DrawMemoryLimit)});
  timelines.series.push_back({"worker_cores", DrawEach(workers, processes, run, DrawCores)});
  for (std::string_view key : {"worker_active_tasks", "worker_executing", "worker_nbytes", "worker_occupancy"}) {
    timelines.series.push_back({key, std::nullopt});  // a scheduler's
  }
  timelines.series.push_back({"worker_last_seen", DrawEach(workers, processes, run, DrawLastSeen)});
  timelines.series.push_back({"worker_cpu", DrawEach(workers, processes, run, DrawCpu)});
  for (std::string_view key :
       {"worker_spilled_bytes", "worker_managed_bytes", "worker_network_read_bps", "worker_network_write_bps",
        "worker_disk_read_bps", "worker_disk_write_bps", "worker_event_loop_interval", "worker_gil_contention"}) {
    timelines.series.push_back({key, std::nullopt});  // an engine worker's own metrics
  }
  timelines.series.push_back({"worker_open_chunks", DrawOpenChunks(workers, attempts, processes, run, summed)});
  timelines.series.push_back({"worker_fds", std::nullopt});
  timelines.series.push_back({"worker_threads", of_samples(&ProcessSample::threads)});
  return timelines;
}

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

void AddTreeTimelines(const TreeAccumulator& trees, const RunWindow& run, WorkerTimelines* timelines) {
  std::map<std::string_view, Lines> lines;
  const auto add = [&](const auto& table, const auto& readings, const std::string& label) {
    for (const auto& series : table) {
      Timeline* const line = &lines[series.key][label];
      if (series.unit > 0) {
        AddRates(readings, series.value, series.unit, run, line);
      } else {
        AddLevels(readings, series.value, run, line);
      }
    }
  };
  for (const TreeRun* tree : trees.Runs()) {
    add(kOfTrees, tree->points, fmt::format("{}:{}", tree->run.host, tree->run.pid));
    for (const auto& [index, gpu] : tree->gpus) {
      add(kOfGpus, PointsOf(index, tree->points), fmt::format("{}:{}", tree->run.host, index));
    }
    for (const ProcessKey& key : Largest(*tree)) {
      const std::string& name = ValueOr(tree->names, key, tree->run.host);
      add(kOfProcesses, tree->processes.at(key), fmt::format("{}:{}", name, key.first));
    }
  }
  const auto finish = [&lines, timelines](const auto& table) {
    for (const auto& series : table) timelines->series.push_back({series.key, IfAny(std::move(lines[series.key]))});
  };
  finish(kOfTrees);
  finish(kOfGpus);
  finish(kOfProcesses);
}

}  // namespace crema
