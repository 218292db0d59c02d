#include "collector/metrics/engine/engine_metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace crema {
namespace {

constexpr std::string_view kSeconds = "seconds";
constexpr std::string_view kExecute = "execute";
/// More than any run lasts, and still a count of nanoseconds.
constexpr double kMostNs = 9e18;

// What Dask times around a task's call, and what stands for a whole task that came to nothing. Anything else is the
// call itself, split into thread-cpu, thread-noncpu and the user's own activities.
constexpr std::string_view kAroundTask[] = {"executor", "offload",    "other",     "disk-read",   "disk-write",
                                            "compress", "decompress", "serialize", "deserialize", "memory-read"};
constexpr std::string_view kInVain[] = {"failed", "cancelled"};

template <size_t kSize>
bool IsAmong(std::string_view activity, const std::string_view (&names)[kSize]) {
  return std::find(std::begin(names), std::end(names), activity) != std::end(names);
}

bool IsTransfer(const EngineFineSum& row) { return row.context == "get-data" || row.context == "gather-dep"; }

using Filter = std::function<bool(const EngineFineSum&)>;

class Sums {
 public:
  Sums(const std::vector<EngineFineSum>& rows, MetricSet* metrics) : rows_(rows), metrics_(metrics) {}

  /// Sum of one activity in one unit over the rows that pass.
  double Of(std::string_view activity, std::string_view unit, const Filter& passes = IsExecute) const {
    double sum = 0;
    for (const EngineFineSum& row : rows_) {
      if (row.activity == activity && row.unit == unit && passes(row)) sum += row.value;
    }
    return sum;
  }
  double SecondsOf(const Filter& passes) const {
    double sum = 0;
    for (const EngineFineSum& row : rows_) {
      if (row.unit == kSeconds && passes(row)) sum += row.value;
    }
    return sum;
  }
  void Set(std::string_view key, double value) const { metrics_->Set(key, value); }
  void SetCount(std::string_view key, double value) const {
    metrics_->Set(key, static_cast<int64_t>(std::llround(value)));
  }

  static bool IsExecute(const EngineFineSum& row) { return row.context == kExecute; }

 private:
  const std::vector<EngineFineSum>& rows_;
  MetricSet* metrics_;
};

void SetRatioOf(std::string_view key, double part, double whole, std::string_view whole_name, double factor,
                MetricSet* metrics) {
  if (whole > 0) {
    metrics->Set(key, part / whole * factor);
  } else {
    metrics->SetNull(key, std::string(whole_name) + " is zero");
  }
}

void SetProcessor(const Sums& sums, const std::set<std::string>& prefixes, MetricSet* metrics) {
  if (prefixes.empty()) {
    for (std::string_view key :
         {"processor_cpu_time_seconds", "processor_noncpu_time_seconds", "processor_cpu_percentage",
          "processor_noncpu_percentage", "overhead_cpu_time_seconds", "overhead_noncpu_time_seconds"}) {
      metrics->SetNull(key, "no chunk was joined to a task, and nobody said which tasks are the processor's");
    }
    return;
  }
  const Filter is_processor = [&](const EngineFineSum& row) {
    return Sums::IsExecute(row) && prefixes.count(row.function) > 0;
  };
  const Filter is_other = [&](const EngineFineSum& row) {
    return Sums::IsExecute(row) && prefixes.count(row.function) == 0;
  };
  const double cpu = sums.Of("thread-cpu", kSeconds, is_processor);
  const double noncpu = sums.Of("thread-noncpu", kSeconds, is_processor);
  sums.Set("processor_cpu_time_seconds", cpu);
  sums.Set("processor_noncpu_time_seconds", noncpu);
  SetRatioOf("processor_cpu_percentage", cpu, cpu + noncpu, "the processor's time", 100, metrics);
  SetRatioOf("processor_noncpu_percentage", noncpu, cpu + noncpu, "the processor's time", 100, metrics);
  sums.Set("overhead_cpu_time_seconds", sums.Of("thread-cpu", kSeconds, is_other));
  sums.Set("overhead_noncpu_time_seconds", sums.Of("thread-noncpu", kSeconds, is_other));
}

void SetMemoryAndDisk(const Sums& sums, MetricSet* metrics) {
  const double memory_bytes = sums.Of("memory-read", "bytes");
  const double disk_bytes = sums.Of("disk-read", "bytes");
  const double memory_count = sums.Of("memory-read", "count");
  const double disk_count = sums.Of("disk-read", "count");
  sums.SetCount("total_bytes_memory_read_dask", memory_bytes);
  sums.SetCount("disk_read_bytes", disk_bytes);
  sums.SetCount("disk_write_bytes", sums.Of("disk-write", "bytes"));
  sums.Set("disk_read_time_seconds", sums.Of("disk-read", kSeconds));
  sums.Set("disk_write_time_seconds", sums.Of("disk-write", kSeconds));
  sums.SetCount("disk_read_count", disk_count);
  sums.SetCount("disk_write_count", sums.Of("disk-write", "count"));
  constexpr std::string_view kNoReads = "the number of dependencies read";
  SetRatioOf("memory_read_hit_ratio", memory_count, memory_count + disk_count, kNoReads, 1, metrics);
  SetRatioOf("memory_read_hit_ratio_bytes", memory_bytes, memory_bytes + disk_bytes, kNoReads, 1, metrics);
}

void SetPair(const Sums& sums, std::string_view there, std::string_view back, std::string_view there_key,
             std::string_view back_key, std::string_view total_key) {
  const double there_seconds = sums.Of(there, kSeconds);
  const double back_seconds = sums.Of(back, kSeconds);
  sums.Set(there_key, there_seconds);
  sums.Set(back_key, back_seconds);
  sums.Set(total_key, there_seconds + back_seconds);
}

void SetTransfers(const Sums& sums) {
  sums.Set("transfer_time_seconds", sums.SecondsOf(IsTransfer));
  sums.Set("transfer_compression_seconds",
           sums.Of("compress", kSeconds, IsTransfer) + sums.Of("decompress", kSeconds, IsTransfer));
  sums.Set("transfer_serialization_seconds",
           sums.Of("serialize", kSeconds, IsTransfer) + sums.Of("deserialize", kSeconds, IsTransfer));
}

void SetFine(const EngineFacts& facts, MetricSet* metrics) {
  const Sums sums(facts.fine, metrics);
  sums.Set("cpu_time_seconds", sums.Of("thread-cpu", kSeconds));
  sums.Set("io_time_seconds", sums.Of("thread-noncpu", kSeconds));
  SetProcessor(sums, facts.processors.empty() ? ChunkPrefixes(facts.tasks, facts.join) : facts.processors, metrics);
  SetMemoryAndDisk(sums, metrics);
  SetPair(sums, "compress", "decompress", "compression_time_seconds", "decompression_time_seconds",
          "total_compression_overhead_seconds");
  SetPair(sums, "serialize", "deserialize", "serialization_time_seconds", "deserialization_time_seconds",
          "total_serialization_overhead_seconds");
  SetTransfers(sums);
  sums.Set("task_overhead_seconds",
           sums.Of("executor", kSeconds) + sums.Of("offload", kSeconds) + sums.Of("other", kSeconds));
  sums.Set("failed_time_seconds", sums.Of("failed", kSeconds));
  sums.Set("cancelled_time_seconds", sums.Of("cancelled", kSeconds));
  if (facts.active_core_seconds.has_value()) {
    sums.Set("idle_time_seconds", std::max(0.0, *facts.active_core_seconds - sums.SecondsOf(Sums::IsExecute)));
  } else {
    metrics->SetNull("idle_time_seconds", "the scheduler told of no span that was active");
  }
}

// Where no task tells it, the key stays null.
void SetSumOf(std::string_view key, int64_t TaskRow::*member, const TaskFindings& tasks, MetricSet* metrics) {
  int64_t sum_ns = 0;
  bool known = false;
  for (const TaskRow& task : tasks.rows) {
    if (task.*member < 0) continue;
    sum_ns += task.*member;
    known = true;
  }
  if (known) {
    metrics->Set(key, static_cast<double>(sum_ns) / 1e9);
  } else {
    metrics->SetNull(key, "the engine's log does not tell when a core was held for a task");
  }
}

void SetFailedTasks(const EngineFacts& facts, MetricSet* metrics) {
  struct Job {
    bool failed = false;
    bool has_chunk = false;
  };
  std::map<uint32_t, Job> jobs;
  for (size_t i = 0; i < facts.tasks.rows.size(); ++i) {
    const TaskRow& task = facts.tasks.rows[i];
    if (!task.is_last || task.job == TaskRow::kNone) continue;
    Job& job = jobs[task.job];
    job.failed |= task.outcome == TaskOutcome::kFailed;
    job.has_chunk |= facts.join.chunks_of_task[i] + facts.join.lost_of_task[i] > 0;
  }
  if (jobs.empty()) {
    for (std::string_view key : {"num_tasks", "num_failed_tasks", "num_failed_tasks_without_chunk"}) {
      metrics->SetNull(key, "no log of an engine tells of a task that ended and was not cancelled");
    }
    return;
  }
  const auto count = [&jobs](const std::function<bool(const Job&)>& passes) {
    return static_cast<int64_t>(
        std::count_if(jobs.begin(), jobs.end(), [&](const auto& entry) { return passes(entry.second); }));
  };
  metrics->Set("num_tasks", static_cast<int64_t>(jobs.size()));
  metrics->Set("num_failed_tasks", count([](const Job& job) { return job.failed; }));
  if (facts.chunks_unknown.empty()) {
    metrics->Set("num_failed_tasks_without_chunk", count([](const Job& job) { return job.failed && !job.has_chunk; }));
  } else {
    metrics->SetNull("num_failed_tasks_without_chunk", std::string(facts.chunks_unknown));
  }
}

void SetTasks(const EngineFacts& facts, MetricSet* metrics) {
  SetFailedTasks(facts, metrics);
  int64_t queue_ns = 0;
  bool queue_known = false;
  for (const TaskRow& task : facts.tasks.rows) {
    if (task.queue_ns < 0) continue;
    queue_ns += task.queue_ns;
    queue_known = true;
  }
  if (queue_known) {
    metrics->Set("task_queue_seconds", static_cast<double>(queue_ns) / 1e9);
  } else {
    metrics->SetNull("task_queue_seconds", "the engine's log does not report how long tasks waited");
  }
  SetSumOf("task_dispatch_seconds", &TaskRow::dispatch_ns, facts.tasks, metrics);
  SetSumOf("task_retrieval_seconds", &TaskRow::retrieval_ns, facts.tasks, metrics);
  if (const std::optional<double> cores = MeanCoresOfTasks(facts.tasks.rows)) {
    metrics->Set("task_cores_avg", *cores);
  } else {
    metrics->SetNull("task_cores_avg", "the engine's log does not report how many cores a task was given");
  }
  SetRatioOf("task_join_coverage", static_cast<double>(facts.join.chunks_joined),
             static_cast<double>(facts.join.chunks_joined + facts.join.chunks_unjoined), "the number of chunks", 1,
             metrics);
  if (facts.task_slot_utilization.has_value()) {
    metrics->Set("task_slot_utilization_avg", *facts.task_slot_utilization);
  }
  if (facts.gil_contention.has_value()) metrics->Set("gil_contention", *facts.gil_contention);
  if (facts.join.chunks_joined == 0) {
    for (std::string_view key :
         {"outside_chunk_time", "outside_chunk_share", "before_chunk_time", "first_before_chunk_time"}) {
      metrics->SetNull(key, "no chunk was joined to a task");
    }
    return;
  }
  metrics->Set("outside_chunk_time", static_cast<double>(facts.join.outside_ns) / 1e9);
  metrics->Set("before_chunk_time", static_cast<double>(facts.join.before_ns) / 1e9);
  metrics->Set("first_before_chunk_time", static_cast<double>(facts.join.first_before_ns) / 1e9);
  SetRatioOf("outside_chunk_share", static_cast<double>(facts.join.outside_ns),
             static_cast<double>(facts.join.chunk_task_ns), "the chunk tasks' compute", 1, metrics);
}

// What Coffea calls its tree of sums, on Dask and on TaskVine.
constexpr std::string_view kReduce[] = {"reduce", "accumulating"};
// What it calls its look at each file.
constexpr std::string_view kPreprocess[] = {"automatic_retries", "preprocessing"};

using Interval = std::pair<int64_t, int64_t>;

PhaseRow RowOf(std::string_view phase, std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  PhaseRow row;
  row.phase = std::string(phase);
  row.start_ns = intervals.front().first;
  row.stop_ns = row.start_ns;
  int64_t union_ns = 0;
  int64_t sum_ns = 0;
  for (const auto& [start_ns, stop_ns] : intervals) {
    sum_ns += stop_ns - start_ns;
    union_ns += std::max<int64_t>(0, stop_ns - std::max(start_ns, row.stop_ns));
    row.stop_ns = std::max(row.stop_ns, stop_ns);
  }
  row.wall_time = static_cast<double>(union_ns) / 1e9;
  row.task_seconds = static_cast<double>(sum_ns) / 1e9;
  return row;
}

}  // namespace

bool IsInTask(const EngineFineSum& row) {
  return row.context == kExecute && row.unit == kSeconds && !IsAmong(row.activity, kAroundTask) &&
         !IsAmong(row.activity, kInVain);
}

std::vector<int64_t> OutsideTasks(const std::vector<EngineFineSum>& rows, size_t processes) {
  std::vector<int64_t> outside_ns(processes);
  for (const EngineFineSum& row : rows) {
    if (row.context != kExecute || row.unit != kSeconds || !IsAmong(row.activity, kAroundTask)) continue;
    outside_ns[row.process] += static_cast<int64_t>(std::clamp(row.value * 1e9, 0.0, kMostNs));
  }
  return outside_ns;
}

std::set<std::string> ChunkPrefixes(const TaskFindings& tasks, const TaskJoin& join) {
  std::set<std::string> prefixes;
  for (size_t i = 0; i < tasks.rows.size(); ++i) {
    if (join.chunks_of_task[i] > 0) prefixes.insert(tasks.prefixes[tasks.rows[i].prefix]);
  }
  return prefixes;
}

std::optional<FineCoverage> CoverageOf(const EngineFacts& facts) {
  std::map<std::string_view, double> in_task;
  std::set<std::string_view> metered;
  for (const EngineFineSum& row : facts.fine) {
    metered.insert(row.function);
    if (IsInTask(row)) in_task[row.function] += row.value;
  }
  double compute = 0, covered = 0, excess = 0;
  for (const auto& [prefix, seconds] : facts.compute_seconds) {
    // In another executor than Dask's threads: it meters the call as a whole (`executor`), and nothing inside.
    if (metered.count(prefix) > 0 && in_task.count(prefix) == 0) continue;
    compute += seconds;
    covered += std::clamp(in_task[prefix], 0.0, seconds);
    excess += std::max(in_task[prefix] - seconds, 0.0);
  }
  if (compute <= 0) return std::nullopt;
  return FineCoverage{covered / compute, excess / compute};
}

void SetEngineMetrics(const EngineFacts& facts, MetricSet* metrics) {
  if (!facts.fine.empty()) SetFine(facts, metrics);
  if (!facts.tasks.empty()) SetTasks(facts, metrics);
  if (const std::optional<FineCoverage> coverage = CoverageOf(facts)) {
    metrics->Set("fine_metrics_coverage", coverage->share);
  } else if (!facts.fine.empty()) {
    metrics->SetNull(
        "fine_metrics_coverage",
        "the scheduler's own account of compute seconds was not seen, or its tasks ran in no thread of Dask's");
  }
}

std::optional<double> GilContention(const std::vector<ClusterWorker>& workers, const RunWindow& run) {
  double sum = 0, weights = 0;
  for (const ClusterWorker& worker : workers) {
    const std::vector<ClusterSampleFact>& samples = worker.fact->samples;
    for (size_t i = 1; i < samples.size(); ++i) {
      const int64_t begin_ns = std::max(samples[i - 1].time_ns, run.start_ns);
      const int64_t end_ns = std::min(samples[i].time_ns, run.stop_ns);
      const int64_t tasks = samples[i].executing.value_or(0);
      if (!samples[i].gil_contention.has_value() || tasks < 2 || end_ns <= begin_ns) continue;
      const double weight = static_cast<double>(end_ns - begin_ns) * static_cast<double>(tasks);
      sum += weight * std::clamp(*samples[i].gil_contention, 0.0, 1.0);
      weights += weight;
    }
  }
  if (weights <= 0) return std::nullopt;
  return sum / weights;
}

std::vector<PhaseRow> FindTaskPhases(const TaskFindings& tasks, const TaskJoin& join) {
  const std::set<std::string> processors = ChunkPrefixes(tasks, join);
  if (processors.empty()) return {};  // what the tasks are for is not known
  std::vector<Interval> preprocess;
  std::vector<Interval> process;
  std::vector<Interval> reduce;
  for (const TaskRow& task : tasks.rows) {
    const std::string& prefix = tasks.prefixes[task.prefix];
    const Interval interval = {task.start_ns, task.stop_ns};
    if (processors.count(prefix) > 0) {
      process.push_back(interval);
    } else if (IsAmong(prefix, kReduce)) {
      reduce.push_back(interval);
    } else if (IsAmong(prefix, kPreprocess)) {
      preprocess.push_back(interval);
    }
  }
  std::vector<PhaseRow> phases;
  if (!preprocess.empty()) phases.push_back(RowOf("preprocess", std::move(preprocess)));
  phases.push_back(RowOf("process", std::move(process)));
  if (!reduce.empty()) phases.push_back(RowOf("reduce", std::move(reduce)));
  return phases;
}

}  // namespace crema
