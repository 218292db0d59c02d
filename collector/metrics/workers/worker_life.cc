#include "collector/metrics/workers/worker_life.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "collector/metrics/attempts/attempt_interval.h"
#include "collector/metrics/attempts/owner_time.h"
#include "collector/metrics/workers/lanes.h"
#include "collector/records/facts.h"

namespace crema {
namespace {

/// What the attempts of one process say of it.
struct ChunkSpan {
  bool any = false;
  int64_t first_begin_ns = 0;
  int64_t last_stop_ns = 0;
  int64_t lanes_peak = 0;
  bool has_sums = false;
  HelpedTime helped;
};

std::vector<ChunkSpan> SpanOfChunks(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                                    const std::vector<ProcessRow>& processes, const std::vector<HelperTimes>& helpers) {
  std::vector<ChunkSpan> spans(processes.size());
  const auto add = [&](const AttemptRow& attempt, const AttemptInterval& interval) {
    ChunkSpan& span = spans[attempt.process];
    span.first_begin_ns = span.any ? std::min(span.first_begin_ns, interval.start_ns) : interval.start_ns;
    span.last_stop_ns = span.any ? std::max(span.last_stop_ns, interval.stop_ns) : interval.stop_ns;
    span.lanes_peak = std::max<int64_t>(span.lanes_peak, attempt.lanes_peak);
    span.any = true;
    if (attempt.helpers == AttemptRow::kNone || attempt.duration_ns < 0) return;
    span.helped.helpers_ns += std::min(helpers[attempt.helpers].union_ns, attempt.duration_ns);
    if (const auto owner = SplitOwnerTime(attempt, helpers)) span.helped.joined_ns += owner->joined_ns;
  };
  for (const AttemptRow& attempt : attempts) add(attempt, IntervalOf(attempt, processes));
  for (const SummedAttempts& sums : summed) {
    add(sums.row, {sums.row.start_ns, sums.stop_ns});
    spans[sums.row.process].has_sums = true;
  }
  return spans;
}

/// A chunk, or several that overlap, on one thread.
struct OnThread {
  uint32_t process = 0;
  uint32_t thread = 0;
  AttemptInterval interval;
  int64_t duration_ns = 0;
  int64_t elsewhere_ns = 0;  ///< of the interval: other chunks inside it, or suspension

  bool Holds(const OnThread& inner) const {
    return inner.interval.stop_ns <= interval.stop_ns && inner.duration_ns > 0 && inner.duration_ns <= elsewhere_ns;
  }
};

/// By process: the most threads that had a chunk open at once; 0 where no chunk lies inside another one on its thread,
/// or helpers were at work. A thread is one lane, however many chunks it has open.
std::vector<int64_t> MostNestingThreads(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                                        const std::vector<ChunkSpan>& spans) {
  std::vector<bool> may_nest(processes.size());
  for (const AttemptRow& attempt : attempts) {
    const ChunkSpan& span = spans[attempt.process];
    if (attempt.suspended_ns > 0 && span.helped.helpers_ns == 0 && !span.has_sums) may_nest[attempt.process] = true;
  }
  std::vector<OnThread> chunks;
  for (const AttemptRow& attempt : attempts) {
    if (!may_nest[attempt.process]) continue;
    const AttemptInterval interval = IntervalOf(attempt, processes);
    if (interval.start_ns == interval.stop_ns) continue;
    chunks.push_back({attempt.process, attempt.thread, interval, attempt.duration_ns, attempt.suspended_ns});
  }
  std::sort(chunks.begin(), chunks.end(), [](const OnThread& a, const OnThread& b) {
    return std::tie(a.process, a.thread, a.interval.start_ns, b.interval.stop_ns, b.elsewhere_ns) <
           std::tie(b.process, b.thread, b.interval.start_ns, a.interval.stop_ns, a.elsewhere_ns);
  });
  std::vector<int64_t> most(processes.size(), 0);
  std::vector<bool> nests(processes.size());
  std::vector<std::tuple<uint32_t, int64_t, int>> changes;  // process, time, threads more or fewer
  for (size_t first = 0; first < chunks.size();) {
    OnThread outer = chunks[first];
    size_t next = first + 1;
    for (; next < chunks.size(); ++next) {
      const OnThread& chunk = chunks[next];
      const bool is_of_outer = chunk.process == outer.process && chunk.thread == outer.thread;
      if (!is_of_outer || chunk.interval.start_ns >= outer.interval.stop_ns) break;
      if (outer.Holds(chunk)) nests[chunk.process] = true;
      if (chunk.interval.stop_ns > outer.interval.stop_ns) outer = chunk;
    }
    changes.emplace_back(outer.process, chunks[first].interval.start_ns, 1);
    changes.emplace_back(outer.process, outer.interval.stop_ns, -1);
    first = next;
  }
  std::sort(changes.begin(), changes.end());
  int64_t threads = 0;
  for (const auto& [process, time_ns, change] : changes) {
    threads += change;
    if (nests[process]) most[process] = std::max(most[process], threads);
  }
  return most;
}

struct EngineLife {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
};

// From its join to its leave, as the scheduler saw it; one that nobody saw join or leave was there all along, or until
// its log ends. Without a scheduler's word it lived as its process did.
EngineLife LifeOf(const ProcessRow& process, const ChunkSpan& chunks, const RunWindow& run) {
  EngineLife life = {process.start_ns, process.last_ns};
  if (process.joined_ns.has_value()) {
    const int64_t last_ns = process.is_unrecorded ? process.last_ns : run.stop_ns;
    life = {*process.joined_ns, process.left_ns.value_or(std::max(last_ns, *process.joined_ns))};
  }
  if (chunks.any) {
    life.start_ns = std::min(life.start_ns, chunks.first_begin_ns);
    life.stop_ns = std::max(life.stop_ns, chunks.last_stop_ns);
  }
  return life;
}

}  // namespace

std::vector<WorkerLife> FindWorkerLives(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                                        const std::vector<HelperTimes>& helpers, const RunWindow& run,
                                        const std::vector<SummedAttempts>& summed) {
  const std::vector<ChunkSpan> spans = SpanOfChunks(attempts, summed, processes, helpers);
  std::vector<int64_t> open_chunks;  // counted only where they are needed
  const auto most_open = [&](size_t process) {
    if (open_chunks.empty()) open_chunks = MaxOpenChunks(attempts, processes);
    return std::max<int64_t>(1, open_chunks[process]);  // sums may not tell it
  };
  const std::vector<int64_t> nesting_threads = MostNestingThreads(attempts, processes, spans);
  std::vector<WorkerLife> workers;
  for (size_t i = 0; i < processes.size(); ++i) {
    const ProcessRow& process = processes[i];
    if (!spans[i].any && !process.is_engine_worker) continue;
    WorkerLife worker;
    worker.process = static_cast<uint32_t>(i);
    if (process.is_engine_worker) {
      const EngineLife life = LifeOf(process, spans[i], run);
      worker.start_ns = run.Clip(life.start_ns);
      worker.stop_ns = run.Clip(life.stop_ns);
      worker.cores = static_cast<double>(process.declared_threads.value_or(std::max<int64_t>(1, spans[i].lanes_peak)));
      worker.cores_source = process.declared_threads.has_value() ? CoresSource::kScheduler : CoresSource::kLanesPeak;
      workers.push_back(worker);
      continue;
    }
    // A process line that was lost leaves 0 as the start.
    const int64_t start_ns =
        process.start_ns <= 0 ? spans[i].first_begin_ns : std::min(process.start_ns, spans[i].first_begin_ns);
    worker.start_ns = run.Clip(start_ns);
    worker.stop_ns = run.Clip(std::max(process.last_ns, spans[i].last_stop_ns));
    const int64_t lanes_peak = std::max(process.lanes_peak, spans[i].lanes_peak);
    if (process.declared_threads.value_or(0) > 0) {
      worker.cores = static_cast<double>(*process.declared_threads);
      worker.cores_source = CoresSource::kDeclared;
      workers.push_back(worker);
      continue;
    }
    worker.cores_source = lanes_peak > 0 ? CoresSource::kLanesPeak : CoresSource::kOpenChunks;
    const bool needs_open = lanes_peak <= 0 || spans[i].helped.owners_wait();
    int64_t lanes = CoresOfLanes(lanes_peak, needs_open ? most_open(i) : 0, spans[i].helped);
    if (nesting_threads[i] > 0) lanes = std::min(lanes, nesting_threads[i]);
    worker.cores = static_cast<double>(lanes);
    constexpr double kAny = std::numeric_limits<double>::infinity();
    double allowed_cores = process.allowed_cores.value_or(0) > 0 ? *process.allowed_cores : kAny;
    if (process.granted_cores.has_value()) {
      allowed_cores = std::min(allowed_cores, static_cast<double>(*process.granted_cores));
    }
    if (worker.cores > allowed_cores) {
      worker.cores = allowed_cores;
      worker.cores_source = CoresSource::kAllowed;
    }
    workers.push_back(worker);
  }
  return workers;
}

std::string_view NameCoresSource(const std::vector<WorkerLife>& workers) {
  if (workers.empty()) return "";
  for (const WorkerLife& worker : workers) {
    if (worker.cores_source != workers.front().cores_source) return "mixed";
  }
  switch (workers.front().cores_source) {
    case CoresSource::kDeclared:
      return "declared";
    case CoresSource::kLanesPeak:
      return "lanes_peak";
    case CoresSource::kScheduler:
      return "scheduler";
    case CoresSource::kOpenChunks:
      return "open_chunks";
    case CoresSource::kAllowed:
      return "allowed";
  }
  return "";
}

std::optional<double> AllowedCores(const std::vector<ProcessRow>& processes) {
  std::map<std::string_view, double> by_host;  // 0: not told
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

}  // namespace crema
