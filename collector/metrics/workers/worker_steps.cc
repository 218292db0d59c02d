#include "collector/metrics/workers/worker_steps.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "collector/metrics/budget/lane_sweep.h"
#include "collector/metrics/workers/sample_steps.h"

namespace crema {
namespace {

using Int128 = LaneTimeSum;  // bytes x ns pass 64 bits; integers add up the same in any order

/// A step of a sum over workers.
struct CountChange {
  int64_t time_ns = 0;
  int64_t step = 0;
  bool after = false;  ///< takes place after the others of its instant
};

int64_t PeakOf(std::vector<CountChange>& changes) {
  std::sort(changes.begin(), changes.end(), [](const CountChange& a, const CountChange& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.after < b.after;
  });
  int64_t sum = 0;
  int64_t peak = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    sum += changes[i].step;
    const bool settled = i + 1 == changes.size() || changes[i + 1].time_ns != changes[i].time_ns ||
                         changes[i + 1].after != changes[i].after;
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

void MeasureLives(const std::vector<WorkerLife>& workers, const RunWindow& run, WorkerSteps& result) {
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
  result.worker_seconds = static_cast<double>(life_ns) / 1e9;
  result.core_seconds = LaneSeconds(core_ns);
  result.avg_workers = Ratio(life_ns, run.stop_ns - run.start_ns);
  result.total_cores = Ratio(core_ns, Int128{run.stop_ns - run.start_ns} * kOneLane);
  result.cores_per_worker = Ratio(core_ns, life_ns * kOneLane);
  result.peak_workers = PeakOf(lives);
  result.peak_cores = static_cast<double>(PeakOf(cores)) / static_cast<double>(kOneLane);
}

void MeasureSampledWorkers(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                           WorkerSteps& result) {
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
  result.mean_sampled_workers = static_cast<double>(sum) / static_cast<double>(instants.size());
}

void MeasureMemory(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                   WorkerSteps& result) {
  Int128 memory_integral = 0;
  Int128 sampled_ns = 0;  // since each worker's first sample
  std::vector<CountChange> sum;
  for (const WorkerLife& worker : workers) {
    const std::vector<SampleStep> memory =
        StepsOfSamples(processes[worker.process].samples, &ProcessSample::rss_bytes, worker.start_ns, worker.stop_ns);
    result.peak_memory_bytes = std::max(result.peak_memory_bytes, processes[worker.process].counts.rss_peak_bytes);
    if (memory.empty()) continue;
    memory_integral += IntegralOf(memory, worker.start_ns, worker.stop_ns);
    sampled_ns += worker.stop_ns - memory.front().time_ns;
    int64_t held = 0;
    for (const SampleStep& step : memory) {
      result.peak_memory_bytes = std::max(result.peak_memory_bytes.value_or(step.value), step.value);
      sum.push_back({step.time_ns, step.value - held});
      held = step.value;
    }
    sum.push_back({worker.stop_ns, -held, true});  // a last sample taken as the worker ends counts
  }
  if (sum.empty()) return;
  // While one worker was at its peak, all held at least that much.
  result.peak_total_memory_bytes = std::max(PeakOf(sum), *result.peak_memory_bytes);
  result.avg_memory_per_worker_bytes = Ratio(memory_integral, sampled_ns);
}

/// Over the time in which memory and limit are known.
void MeasureMemoryUtilization(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                              WorkerSteps& result) {
  Int128 memory_integral = 0;
  Int128 limit_integral = 0;
  for (const WorkerLife& worker : workers) {
    const ProcessRow& process = processes[worker.process];
    const std::vector<SampleStep> memory =
        StepsOfSamples(process.samples, &ProcessSample::rss_bytes, worker.start_ns, worker.stop_ns);
    const std::vector<SampleStep> limits = StepsOfMemoryLimit(process, worker.start_ns, worker.stop_ns);
    if (limits.empty()) continue;
    // A peak that no sample shows stands beside the last limit.
    const std::optional<int64_t> peak = process.counts.rss_peak_bytes;
    if (const std::optional<double> ratio = Ratio(peak.value_or(0), limits.back().value); peak.has_value()) {
      result.memory_utilization_max = std::max(result.memory_utilization_max, ratio);
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
      result.memory_utilization_min = std::min(result.memory_utilization_min.value_or(*ratio), *ratio);
      result.memory_utilization_max = std::max(result.memory_utilization_max.value_or(*ratio), *ratio);
    }
  }
  result.memory_utilization_avg = Ratio(memory_integral, limit_integral);
}

void MeasureCpuUtilization(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                           WorkerSteps& result) {
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
  result.worker_cpu_utilization_avg = Ratio(cpu_ns * kOneLane, core_ns);
}

}  // namespace

WorkerSteps MeasureWorkers(const std::vector<WorkerLife>& workers, const std::vector<ProcessRow>& processes,
                           const RunWindow& run) {
  std::vector<WorkerLife> inside;  // a worker that lived outside the run is none of it
  std::copy_if(workers.begin(), workers.end(), std::back_inserter(inside),
               [](const WorkerLife& worker) { return worker.stop_ns > worker.start_ns; });
  WorkerSteps result;
  MeasureLives(inside, run, result);
  MeasureSampledWorkers(inside, processes, result);
  MeasureMemory(inside, processes, result);
  MeasureMemoryUtilization(inside, processes, result);
  MeasureCpuUtilization(inside, processes, result);
  return result;
}

}  // namespace crema
