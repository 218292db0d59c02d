#include "collector/metrics/workers/worker_timelines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/memory/grouped_lists.h"
#include "collector/metrics/workers/sample_steps.h"

namespace crema {
namespace {

using ByWorker = std::map<std::string, Timeline>;

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

/// A process of the same host and pid, later on, continues the worker's line.
void Append(const std::string& worker, const Timeline& timeline, ByWorker& by_worker) {
  if (timeline.empty()) return;
  Timeline& line = by_worker[worker];
  line.insert(line.end(), timeline.begin(), timeline.end());
  std::stable_sort(line.begin(), line.end(),
                   [](const TimelinePoint& a, const TimelinePoint& b) { return a.seconds < b.seconds; });
}

std::optional<ByWorker> UnlessEmpty(ByWorker by_worker) {
  if (by_worker.empty()) return std::nullopt;
  return by_worker;
}

/// A sum of (time, step) over time.
Timeline Accumulate(std::vector<std::pair<int64_t, int64_t>> steps, const RunWindow& run) {
  std::sort(steps.begin(), steps.end());
  Timeline timeline;
  int64_t sum = 0;
  for (const auto& [time_ns, step] : steps) {
    sum += step;
    AddOnChange(SecondsSince(run, time_ns), static_cast<double>(sum), timeline);
  }
  return timeline;
}

/// `draw(worker, process)` gives one worker's line; workers without one are left out.
template <class Draw>
std::optional<ByWorker> DrawEach(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                                 Draw draw) {
  ByWorker by_worker;
  for (const WorkerLife& worker : workers) {
    if (worker.start_ns >= worker.stop_ns) continue;
    const ProcessRow& process = processes[worker.process];
    Append(process.worker(), draw(worker, process), by_worker);
  }
  return UnlessEmpty(std::move(by_worker));
}

Timeline DrawSteps(const std::vector<SampleStep>& steps, const RunWindow& run) {
  Timeline timeline;
  for (const SampleStep& step : steps) {
    AddOnChange(SecondsSince(run, step.time_ns), static_cast<double>(step.value), timeline);
  }
  return timeline;
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

/// The exact number of open chunks of one worker.
Timeline CountOpen(const WorkerLife& worker, absl::Span<const AttemptInterval> intervals, const RunWindow& run) {
  std::vector<std::pair<int64_t, int64_t>> steps = {{worker.start_ns, 0}};
  for (const AttemptInterval& interval : intervals) {
    steps.emplace_back(interval.start_ns, 1);
    steps.emplace_back(interval.stop_ns, -1);
  }
  return Accumulate(std::move(steps), run);
}

/// A stretch of time in which so many chunks were open, on average.
struct OpenChunks {
  AttemptInterval interval;
  double chunks = 1;
};

/// The mean number of open chunks of one worker in equal slices of its life.
Timeline CountOpenInSlices(const WorkerLife& worker, absl::Span<const AttemptInterval> intervals,
                           const std::vector<OpenChunks>& summed, const RunWindow& run, size_t most_slices) {
  const int64_t slices = std::min(static_cast<int64_t>(most_slices), worker.stop_ns - worker.start_ns);
  const int64_t width_ns = (worker.stop_ns - worker.start_ns + slices - 1) / slices;
  std::vector<int64_t> open_ns(static_cast<size_t>(slices), 0);
  const auto add = [&](const AttemptInterval& interval, const auto& open_within) {
    for (int64_t from_ns = interval.start_ns; from_ns < interval.stop_ns;) {
      const int64_t slice = (from_ns - worker.start_ns) / width_ns;
      const int64_t to_ns = std::min(interval.stop_ns, worker.start_ns + (slice + 1) * width_ns);
      open_ns[static_cast<size_t>(slice)] += open_within(to_ns - from_ns);
      from_ns = to_ns;
    }
  };
  for (const AttemptInterval& interval : intervals) add(interval, [](int64_t time_ns) { return time_ns; });
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

std::optional<ByWorker> DrawOpenChunks(const std::vector<WorkerLife>& workers, const AttemptRows& attempts,
                                       const std::vector<ProcessRow>& processes, const RunWindow& run,
                                       const std::vector<SummedAttempts>& summed) {
  GroupedLists<AttemptInterval> intervals(attempts.CountByProcess(processes.size()));
  for (const AttemptRow& attempt : attempts) {
    const AttemptInterval interval = IntervalOf(attempt, processes);
    const AttemptInterval inside = {run.Clip(interval.start_ns), run.Clip(interval.stop_ns)};
    if (inside.start_ns < inside.stop_ns) intervals.Add(attempt.process, inside);
  }
  std::vector<std::vector<OpenChunks>> spread(processes.size());
  for (const SummedAttempts& sums : summed) {
    const AttemptInterval inside = {run.Clip(sums.row.start_ns), run.Clip(sums.stop_ns)};
    if (inside.start_ns >= inside.stop_ns) continue;
    const auto whole_ns = static_cast<double>(sums.stop_ns - sums.row.start_ns);
    spread[sums.row.process].push_back({inside, static_cast<double>(sums.row.duration_ns) / whole_ns});
  }
  const size_t points = std::clamp(kMostPointsOfAll / std::max<size_t>(1, workers.size()), kLeastPoints, kMostPoints);
  return DrawEach(workers, processes, [&](const WorkerLife& worker, const ProcessRow&) {
    const absl::Span<const AttemptInterval> of_worker = std::as_const(intervals).Of(worker.process);
    const std::vector<OpenChunks>& of_sums = spread[worker.process];
    const bool few = 2 * of_worker.size() <= points && of_sums.empty();
    return few ? CountOpen(worker, of_worker, run) : CountOpenInSlices(worker, of_worker, of_sums, run, points);
  });
}

Timeline DrawWorkerCounts(const std::vector<WorkerLife>& workers, const RunWindow& run) {
  std::vector<std::pair<int64_t, int64_t>> steps = {{run.start_ns, 0}};
  for (const WorkerLife& worker : workers) {
    if (worker.start_ns >= worker.stop_ns) continue;
    steps.emplace_back(worker.start_ns, 1);
    steps.emplace_back(worker.stop_ns, -1);
  }
  return Accumulate(std::move(steps), run);
}

}  // namespace

WorkerTimelines DrawWorkerTimelines(const std::vector<WorkerLife>& workers, const AttemptRows& attempts,
                                    const std::vector<ProcessRow>& processes, const RunWindow& run,
                                    const std::vector<SummedAttempts>& summed) {
  const auto of_samples = [&](std::optional<int64_t> ProcessSample::*quantity) {
    return DrawEach(workers, processes, [&](const WorkerLife& worker, const ProcessRow& process) {
      return DrawSteps(StepsOfSamples(process.samples, quantity, worker.start_ns, worker.stop_ns), run);
    });
  };
  WorkerTimelines timelines;
  timelines.worker_counts = DrawWorkerCounts(workers, run);
  timelines.series.push_back({"worker_memory", of_samples(&ProcessSample::rss_bytes)});
  timelines.series.push_back({"worker_anonymous_memory", of_samples(&ProcessSample::anonymous_bytes)});
  timelines.series.push_back(
      {"worker_memory_limit", DrawEach(workers, processes, [&](const WorkerLife& worker, const ProcessRow& process) {
         return DrawSteps(StepsOfMemoryLimit(process, worker.start_ns, worker.stop_ns), run);
       })});
  timelines.series.push_back(
      {"worker_cores", DrawEach(workers, processes, [&](const WorkerLife& worker, const ProcessRow&) {
         return Timeline{{SecondsSince(run, worker.start_ns), static_cast<double>(worker.cores)},
                         {SecondsSince(run, worker.stop_ns), 0}};
       })});
  for (std::string_view key : {"worker_active_tasks", "worker_executing", "worker_nbytes", "worker_occupancy"}) {
    timelines.series.push_back({key, std::nullopt});  // a scheduler's
  }
  timelines.series.push_back(
      {"worker_last_seen", DrawEach(workers, processes, [&](const WorkerLife& worker, const ProcessRow& process) {
         return DrawLastSeen(worker, process, run);
       })});
  timelines.series.push_back(
      {"worker_cpu", DrawEach(workers, processes, [&](const WorkerLife& worker, const ProcessRow& process) {
         return DrawCpu(worker, process, run);
       })});
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

}  // namespace crema
