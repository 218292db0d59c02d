#include "collector/metrics/workers/worker_life.h"

#include <queue>

namespace crema {
namespace {

/// What the attempts of one process say of it.
struct ChunkSpan {
  bool any = false;
  int64_t first_begin_ns = 0;
  int64_t last_stop_ns = 0;
  int64_t lanes_peak = 0;
  int64_t summed_may_wait = 0;  ///< 1: summed chunks may have waited for helpers, at least one at a time
  HelpedTime helped;
};

/// Whether this is a tenth or more of the time from the attempt's begin to its end.
bool IsMuchOf(const AttemptRow& attempt, int64_t own_ns) {
  constexpr int64_t kTenth = 10;
  return (attempt.stop_ns() - attempt.start_ns) / kTenth <= own_ns;
}

/// Whether the attempt's thread worked for it: it was not suspended, inside another chunk, or waiting for its helpers
/// all along. One that did not end counts.
bool IsAtWork(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
  return !owner.has_value() || IsMuchOf(attempt, attempt.duration_ns - owner->joined_ns);
}

/// Whether a thread held the attempt, and may have waited for its helpers.
bool MayWait(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  return attempt.helpers != AttemptRow::kNone && helpers[attempt.helpers].union_ns > 0 &&
         HasOwner(attempt, SplitOwnerTime(attempt, helpers)) && IsMuchOf(attempt, attempt.duration_ns);
}

std::vector<ChunkSpan> SpanOfChunks(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                                    const std::vector<ProcessRow>& processes, const std::vector<HelperTimes>& helpers) {
  std::vector<ChunkSpan> spans(processes.size());
  const auto add = [&](const AttemptRow& attempt, const RunWindow& interval) {
    ChunkSpan& span = spans[attempt.process];
    span.first_begin_ns = span.any ? std::min(span.first_begin_ns, interval.start_ns) : interval.start_ns;
    span.last_stop_ns = span.any ? std::max(span.last_stop_ns, interval.stop_ns) : interval.stop_ns;
    span.lanes_peak = std::max<int64_t>(span.lanes_peak, attempt.lanes_peak);
    span.any = true;
    if (attempt.helpers != AttemptRow::kNone) span.helped.Add(attempt, helpers[attempt.helpers].union_ns);
  };
  for (const AttemptRow& attempt : attempts) add(attempt, IntervalOf(attempt, processes));
  for (const SummedAttempts& sums : summed) {
    add(sums.row, {sums.row.start_ns, sums.stop_ns});
    if (MayWait(sums.row, helpers)) spans[sums.row.process].summed_may_wait = 1;
  }
  return spans;
}

// From its join to its leave, as the scheduler saw it; one that nobody saw join or leave was there all along, or until
// its log ends. Without a scheduler's word it lived as its process did.
RunWindow LifeOf(const ProcessRow& process, const ChunkSpan& chunks, const RunWindow& run) {
  RunWindow life = {process.start_ns, process.last_ns};
  if (process.joined_ns.has_value()) {
    const int64_t last_ns = process.is_unrecorded ? process.last_ns : run.stop_ns;
    life = {*process.joined_ns, process.left_ns.value_or(std::max(last_ns, *process.joined_ns))};
  }
  if (chunks.any) {
    // A process line that was lost leaves 0 as the start.
    const bool has_start = process.is_engine_worker || process.start_ns > 0;
    life.start_ns = has_start ? std::min(life.start_ns, chunks.first_begin_ns) : chunks.first_begin_ns;
    life.stop_ns = std::max(life.stop_ns, chunks.last_stop_ns);
  }
  return life;
}

/// The processes that have no row of their own, by index.
std::vector<bool> FindOthers(const std::vector<ProcessRow>& processes, const AttemptRows& attempts,
                             const std::vector<SummedAttempts>& summed) {
  std::vector<bool> is_other(processes.size(), false);
  if (processes.size() <= WorkerRows::kMost) return is_other;
  std::vector<double> busy_ns(processes.size(), 0);
  for (const AttemptRow& row : attempts)
    busy_ns[row.process] += static_cast<double>(std::max(row.duration_ns, int64_t{0}));
  for (const SummedAttempts& sums : summed) busy_ns[sums.row.process] += static_cast<double>(sums.row.duration_ns);
  std::vector<uint32_t> order = Indices<uint32_t>(processes.size());
  const auto last = order.begin() + WorkerRows::kMost;
  const auto is_lost = [&](uint32_t process) { return processes[process].state == ProcessState::kLost; };
  std::nth_element(order.begin(), last, order.end(), [&](uint32_t a, uint32_t b) {
    if (is_lost(a) != is_lost(b)) return is_lost(a);
    return busy_ns[a] != busy_ns[b] ? busy_ns[a] > busy_ns[b] : a < b;
  });
  for (auto other = last; other != order.end(); ++other) is_other[*other] = true;
  return is_other;
}

using Int128 = LaneTimeSum;  // bytes x ns pass 64 bits; integers add up the same in any order

/// A step of a sum over workers.
struct CountChange {
  int64_t time_ns = 0;
  int64_t step = 0;
  bool after = false;  ///< takes place after the others of its instant
};

int64_t PeakOf(std::vector<CountChange>& changes) {
  const auto instant = [](const CountChange& change) { return std::pair(change.time_ns, change.after); };
  SortBy(&changes, instant);
  int64_t sum = 0;
  int64_t peak = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    sum += changes[i].step;
    const bool settled = i + 1 == changes.size() || instant(changes[i + 1]) != instant(changes[i]);
    if (settled) peak = std::max(peak, sum);
  }
  return peak;
}

/// Value x nanoseconds of a step function from its first step or `from_ns`, the later, to `to_ns`.
Int128 IntegralOf(const std::vector<SampleStep>& steps, int64_t from_ns, int64_t to_ns) {
  Int128 integral = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t begin_ns = std::max(from_ns, steps[i].time_ns);
    const int64_t end_ns = i + 1 < steps.size() ? std::min(to_ns, steps[i + 1].time_ns) : to_ns;
    if (begin_ns < end_ns) integral += Int128{steps[i].value} * (end_ns - begin_ns);
  }
  return integral;
}

std::optional<double> Ratio(Int128 numerator, Int128 denominator) {
  if (denominator <= 0) return std::nullopt;
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

void MeasureLives(const std::vector<WorkerLife>& workers, const RunWindow& run, MetricSet* metrics) {
  std::vector<CountChange> lives;
  std::vector<CountChange> cores;
  Int128 life_ns = 0;
  Int128 core_ns = 0;
  for (const WorkerLife& worker : workers) {
    const int64_t length_ns = worker.stop_ns - worker.start_ns;
    life_ns += length_ns;
    core_ns += Int128{LanesOfCores(worker.cores)} * length_ns;
    lives.push_back({worker.start_ns, 1});
    lives.push_back({worker.stop_ns, -1});
    cores.push_back({worker.start_ns, LanesOfCores(worker.cores)});
    cores.push_back({worker.stop_ns, -LanesOfCores(worker.cores)});
  }
  metrics->Set("core_seconds", LaneSeconds(core_ns));
  metrics->SetIfKnown("avg_workers", Ratio(life_ns, run.stop_ns - run.start_ns));
  metrics->SetIfKnown("total_cores", Ratio(core_ns, Int128{run.stop_ns - run.start_ns} * kOneLane));
  metrics->SetIfKnown("cores_per_worker", Ratio(core_ns, life_ns * kOneLane));
  metrics->Set("peak_workers", PeakOf(lives));
  const Number peak_cores = Number::Whole(static_cast<double>(PeakOf(cores)) / static_cast<double>(kOneLane));
  metrics->Set("peak_cores", peak_cores.is_integer() ? MetricValue(peak_cores.integer()) : MetricValue(*peak_cores));
}

void MeasureSampledWorkers(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                           MetricSet* metrics) {
  std::vector<int64_t> starts;
  std::vector<int64_t> stops;
  std::vector<int64_t> instants;
  for (const WorkerLife& worker : workers) {
    starts.push_back(worker.start_ns);
    stops.push_back(worker.stop_ns);
    for (const ProcessSample& sample : processes[worker.process].samples) {
      if (sample.time_ns >= worker.start_ns && sample.time_ns <= worker.stop_ns) instants.push_back(sample.time_ns);
    }
  }
  std::sort(starts.begin(), starts.end());
  std::sort(stops.begin(), stops.end());
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  if (instants.empty()) return;
  int64_t sum = 0;
  for (int64_t instant : instants) {
    // The last sample of a worker is taken as it ends, and sees it.
    const auto begun = std::upper_bound(starts.begin(), starts.end(), instant) - starts.begin();
    const auto gone = std::lower_bound(stops.begin(), stops.end(), instant) - stops.begin();
    sum += begun - gone;
  }
  metrics->Set("mean_sampled_workers", static_cast<double>(sum) / static_cast<double>(instants.size()));
}

void MeasureMemory(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                   MetricSet* metrics) {
  Int128 memory_integral = 0;
  Int128 sampled_ns = 0;  // since each worker's first sample
  std::optional<int64_t> peak_bytes;
  std::vector<CountChange> sum;
  for (const WorkerLife& worker : workers) {
    const std::vector<SampleStep> memory =
        StepsOfSamples(processes[worker.process].samples, &ProcessSample::rss_bytes, worker.start_ns, worker.stop_ns);
    peak_bytes = std::max(peak_bytes, processes[worker.process].counts.rss_peak_bytes);
    if (memory.empty()) continue;
    memory_integral += IntegralOf(memory, worker.start_ns, worker.stop_ns);
    sampled_ns += worker.stop_ns - memory.front().time_ns;
    int64_t held = 0;
    for (const SampleStep& step : memory) {
      peak_bytes = std::max(peak_bytes.value_or(step.value), step.value);
      sum.push_back({step.time_ns, step.value - held});
      held = step.value;
    }
    sum.push_back({worker.stop_ns, -held, true});  // a last sample taken as the worker ends counts
  }
  metrics->SetIfKnown("peak_memory_bytes", peak_bytes);
  if (sum.empty()) return;
  // While one worker was at its peak, all held at least that much.
  metrics->Set("peak_total_memory_bytes", std::max(PeakOf(sum), *peak_bytes));
  metrics->SetIfKnown("avg_memory_per_worker_bytes", Ratio(memory_integral, sampled_ns));
}

/// Over the time in which memory and limit are known.
void MeasureMemoryUtilization(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                              MetricSet* metrics) {
  Int128 memory_integral = 0;
  Int128 limit_integral = 0;
  std::optional<double> least, most;
  for (const WorkerLife& worker : workers) {
    const ProcessRow& process = processes[worker.process];
    const std::vector<SampleStep> memory =
        StepsOfSamples(process.samples, &ProcessSample::rss_bytes, worker.start_ns, worker.stop_ns);
    const std::vector<SampleStep> limits = StepsOfMemoryLimit(process, worker.start_ns, worker.stop_ns);
    if (limits.empty()) continue;
    // A peak that no sample shows is beside the last limit.
    const std::optional<int64_t> peak = process.counts.rss_peak_bytes;
    if (const std::optional<double> ratio = Ratio(peak.value_or(0), limits.back().value); peak.has_value()) {
      most = std::max(most, ratio);
    }
    if (memory.empty()) continue;
    const int64_t known_ns = std::max(memory.front().time_ns, limits.front().time_ns);
    memory_integral += IntegralOf(memory, known_ns, worker.stop_ns);
    limit_integral += IntegralOf(limits, known_ns, worker.stop_ns);
    size_t in_force = 0;
    for (const SampleStep& step : memory) {
      if (step.time_ns < known_ns) continue;
      while (in_force + 1 < limits.size() && limits[in_force + 1].time_ns <= step.time_ns) ++in_force;
      const std::optional<double> ratio = Ratio(step.value, limits[in_force].value);
      if (!ratio.has_value()) continue;
      least = std::min(least.value_or(*ratio), *ratio);
      most = std::max(most, ratio);
    }
  }
  metrics->SetIfKnown("memory_utilization_avg", Ratio(memory_integral, limit_integral));
  metrics->SetIfKnown("memory_utilization_min", least);
  metrics->SetIfKnown("memory_utilization_max", most);
}

void MeasureCpuUtilization(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                           MetricSet* metrics) {
  Int128 cpu_ns = 0;
  Int128 core_ns = 0;
  for (const WorkerLife& worker : workers) {
    const ProcessSample* first = nullptr;
    const ProcessSample* last = nullptr;
    for (const ProcessSample& sample : processes[worker.process].samples) {
      const bool inside = sample.time_ns >= worker.start_ns && sample.time_ns <= worker.stop_ns;
      if (!inside || !sample.cpu_ns.has_value()) continue;
      if (first == nullptr) first = &sample;
      last = &sample;
    }
    if (first == nullptr || *last->cpu_ns < *first->cpu_ns) continue;
    cpu_ns += *last->cpu_ns - *first->cpu_ns;
    core_ns += Int128{LanesOfCores(worker.cores)} * (last->time_ns - first->time_ns);
  }
  metrics->SetIfKnown("worker_cpu_utilization_avg", Ratio(cpu_ns * kOneLane, core_ns));
}

/// Calls `assign(index, attempt, lane)` for each ended attempt, process after process (`AssignLanes`).
template <class Assign>
void ForEachLane(const AttemptRows& attempts, const Assign& assign) {
  using Busy = std::pair<int64_t, uint32_t>;  // until when, lane
  for (const AttemptRows::Ranges& of_process : attempts.RangesByProcess()) {
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free;
    uint32_t lane_count = 0;
    // Inline, so that only what it uses is unpacked.
    attempts.ForEachByStart(of_process, [&](size_t i, const AttemptRow& attempt) ABSL_ATTRIBUTE_ALWAYS_INLINE {
      if (!HasEnded(attempt)) return;
      while (!busy.empty() && busy.top().first <= attempt.start_ns) {
        free.push(busy.top().second);
        busy.pop();
      }
      if (free.empty()) free.push(lane_count++);
      assign(i, attempt, free.top());
      busy.emplace(attempt.stop_ns(), free.top());
      free.pop();
    });
  }
}

/// As `MaxOpenChunks`, of those that count.
template <class Test>
std::vector<int64_t> MostOpen(const AttemptRows& attempts, const std::vector<ProcessRow>& processes, Test counts_it) {
  const std::vector<AttemptRows::Ranges> rows_of_process = attempts.RangesByProcess(processes.size());
  std::vector<int64_t> most(processes.size(), 0);
  for (size_t process = 0; process < processes.size(); ++process) {
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> stops_ns;  // of those that are open
    attempts.ForEachByStart(rows_of_process[process], [&](size_t, const AttemptRow& attempt) {
      if (!counts_it(attempt)) return;
      most[process] = std::max<int64_t>(most[process], 1);  // an attempt of no length was open too
      const RunWindow interval = IntervalOf(attempt, processes);
      if (interval.start_ns == interval.stop_ns) return;
      while (!stops_ns.empty() && stops_ns.top() <= interval.start_ns) stops_ns.pop();
      stops_ns.push(interval.stop_ns);
      most[process] = std::max(most[process], static_cast<int64_t>(stops_ns.size()));
    });
  }
  return most;
}

}  // namespace

std::vector<uint32_t> AssignLanes(const AttemptRows& attempts) {
  std::vector<uint32_t> lanes(attempts.size(), AttemptRow::kNone);
  ForEachLane(attempts, [&lanes](size_t i, const AttemptRow&, uint32_t lane) { lanes[i] = lane; });
  return lanes;
}

std::optional<double> LoadImbalance(const AttemptRows& attempts) {
  std::vector<std::vector<int64_t>> busy;  // by process, by lane
  bool was_suspended = false;
  ForEachLane(attempts, [&](size_t, const AttemptRow& attempt, uint32_t lane) {
    was_suspended = was_suspended || attempt.suspended_ns > 0;
    GrownAt(&GrownAt(&busy, attempt.process), lane) += attempt.stop_ns() - attempt.start_ns;
  });
  if (was_suspended) return std::nullopt;
  int64_t total = 0;
  int64_t most = 0;
  int64_t count = 0;
  for (const std::vector<int64_t>& of_process : busy) {
    for (int64_t nanoseconds : of_process) {
      total += nanoseconds;
      most = std::max(most, nanoseconds);
      ++count;
    }
  }
  if (total <= 0) return std::nullopt;
  return static_cast<double>(most) * static_cast<double>(count) / static_cast<double>(total) - 1;
}

std::vector<int64_t> MaxOpenChunks(const AttemptRows& attempts, const std::vector<ProcessRow>& processes) {
  return MostOpen(attempts, processes, [](const AttemptRow&) { return true; });
}

WorkerCores CoresOf(const ProcessRow& process, int64_t lanes_peak, absl::FunctionRef<int64_t()> most_open,
                    absl::FunctionRef<int64_t(int64_t)> of_lanes) {
  if (process.is_engine_worker) {
    if (!process.declared_threads.has_value()) {
      return {static_cast<double>(std::max<int64_t>(1, lanes_peak)), CoresSource::kLanesPeak};
    }
    return {static_cast<double>(*process.declared_threads), CoresSource::kScheduler};
  }
  if (process.declared_threads.value_or(0) > 0) {
    return {static_cast<double>(*process.declared_threads), CoresSource::kDeclared};
  }
  constexpr double kAny = std::numeric_limits<double>::infinity();
  double allowed_cores = process.allowed_cores.value_or(0) > 0 ? *process.allowed_cores : kAny;
  if (process.granted_cores.has_value()) {
    allowed_cores = std::min(allowed_cores, static_cast<double>(*process.granted_cores));
  }
  const auto cores = static_cast<double>(lanes_peak > 0 ? of_lanes(lanes_peak) : most_open());
  if (cores > allowed_cores) return {allowed_cores, CoresSource::kAllowed};
  return {cores, lanes_peak > 0 ? CoresSource::kLanesPeak : CoresSource::kOpenChunks};
}

std::vector<WorkerLife> FindWorkerLives(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                                        const std::vector<HelperTimes>& helpers, const RunWindow& run,
                                        const std::vector<SummedAttempts>& summed) {
  const std::vector<ChunkSpan> spans = SpanOfChunks(attempts, summed, processes, helpers);
  std::vector<int64_t> open_chunks, at_work, waiting;  // counted only where they are needed
  const auto most_open = [&](size_t process) {
    if (open_chunks.empty()) open_chunks = MaxOpenChunks(attempts, processes);
    return std::max<int64_t>(1, open_chunks[process]);  // sums may not have it
  };
  const auto cores_of_lanes = [&](size_t process, int64_t lanes_peak) {
    const HelpedTime& helped = spans[process].helped;
    if (!helped.owners_wait()) return CoresOfLanes(lanes_peak, 0, 0, helped);
    if (at_work.empty()) {
      at_work = MostOpen(attempts, processes, [&](const AttemptRow& row) { return IsAtWork(row, helpers); });
      waiting = MostOpen(attempts, processes, [&](const AttemptRow& row) { return MayWait(row, helpers); });
    }
    return CoresOfLanes(lanes_peak, at_work[process], std::max(waiting[process], spans[process].summed_may_wait),
                        helped);
  };
  std::vector<WorkerLife> workers;
  for (size_t i = 0; i < processes.size(); ++i) {
    const ProcessRow& process = processes[i];
    if (!spans[i].any && !process.is_engine_worker) continue;
    const int64_t lanes_peak = std::max(process.lanes_peak, spans[i].lanes_peak);
    const WorkerCores cores = CoresOf(
        process, lanes_peak, [&] { return most_open(i); }, [&](int64_t lanes) { return cores_of_lanes(i, lanes); });
    const RunWindow life = LifeOf(process, spans[i], run);
    workers.push_back(
        {static_cast<uint32_t>(i), run.Clip(life.start_ns), run.Clip(life.stop_ns), cores.cores, cores.source});
  }
  return workers;
}

std::string_view NameCoresSource(const std::vector<WorkerLife>& workers) {
  if (workers.empty()) return "";
  for (const WorkerLife& worker : workers) {
    if (worker.cores_source != workers.front().cores_source) return "mixed";
  }
  constexpr std::string_view kNames[] = {"declared", "lanes_peak", "scheduler", "open_chunks", "allowed"};
  return kNames[static_cast<size_t>(workers.front().cores_source)];
}

std::optional<double> AllowedCores(const std::vector<ProcessRow>& processes) {
  std::map<std::string_view, double> by_host;  // 0: not known
  for (const ProcessRow& process : processes) {
    double& cores = by_host[process.host];
    cores = std::max(cores, process.allowed_cores.value_or(0));
  }
  double sum = 0;
  for (const auto& [host, cores] : by_host) {
    if (cores <= 0) return std::nullopt;
    sum += cores;
  }
  return by_host.empty() ? std::nullopt : std::optional<double>(sum);
}

WorkerRows ChooseWorkerRows(const std::vector<ProcessRow>& processes, const AttemptRows& attempts,
                            const std::vector<SummedAttempts>& summed, const std::vector<ByteSums>& bytes_of_process) {
  const std::vector<bool> is_other = FindOthers(processes, attempts, summed);
  WorkerRows rows;
  rows.bytes.resize(processes.size() + 1);
  const auto other = static_cast<uint32_t>(processes.size());
  for (uint32_t i = 0; i < other; ++i) {
    const uint32_t group = is_other[i] ? other : i;
    rows.group_of_process.push_back(group);
    rows.names.push_back(is_other[i] ? std::string() : processes[i].worker());
    if (i < bytes_of_process.size()) rows.bytes[group].Add(bytes_of_process[i]);
  }
  rows.names.emplace_back(kOtherName);
  return rows;
}

std::vector<SampleStep> StepsOfSamples(const std::vector<ProcessSample>& samples,
                                       std::optional<int64_t> ProcessSample::*quantity, int64_t start_ns,
                                       int64_t stop_ns) {
  std::vector<SampleStep> steps;
  for (const ProcessSample& sample : samples) {
    const std::optional<int64_t>& value = sample.*quantity;
    if (!value.has_value() || sample.time_ns > stop_ns) continue;
    if (sample.time_ns <= start_ns) steps.clear();
    steps.push_back({std::max(sample.time_ns, start_ns), *value});
  }
  return steps;
}

std::vector<SampleStep> StepsOfMemoryLimit(const ProcessRow& process, int64_t start_ns, int64_t stop_ns) {
  std::vector<SampleStep> steps =
      StepsOfSamples(process.samples, &ProcessSample::memory_limit_bytes, start_ns, stop_ns);
  const bool unknown_at_start = steps.empty() || steps.front().time_ns > start_ns;
  if (unknown_at_start && process.memory_limit_bytes.has_value()) {
    steps.insert(steps.begin(), {start_ns, *process.memory_limit_bytes});
  }
  return steps;
}

void MeasureWorkers(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                    const RunWindow& run, MetricSet* metrics) {
  if (run.stop_ns <= run.start_ns) return;
  std::vector<WorkerLife> inside;  // a worker that lived outside the run is none of it
  std::copy_if(workers.begin(), workers.end(), std::back_inserter(inside),
               [](const WorkerLife& worker) { return worker.stop_ns > worker.start_ns; });
  MeasureLives(inside, run, metrics);
  MeasureSampledWorkers(inside, processes, metrics);
  MeasureMemory(inside, processes, metrics);
  MeasureMemoryUtilization(inside, processes, metrics);
  MeasureCpuUtilization(inside, processes, metrics);
}

}  // namespace crema
