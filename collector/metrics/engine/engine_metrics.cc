#include "collector/metrics/engine/engine_metrics.h"

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

/// Whether an activity of the context `execute`, in seconds, takes place inside the task's call, on its thread.
bool IsInTask(const EngineFineSum& row) {
  return row.context == kExecute && row.unit == kSeconds && !absl::c_linear_search(kAroundTask, row.activity) &&
         !absl::c_linear_search(kInVain, row.activity);
}

/// Of `transfer_time_seconds`, which leaves `p2p` out.
bool IsTransfer(const EngineFineSum& row) { return row.context == "get-data" || row.context == "gather-dep"; }

using Filter = std::function<bool(const EngineFineSum&)>;

class FineSums {
 public:
  explicit FineSums(const std::vector<EngineFineSum>& rows) : rows_(rows) {}

  double SecondsOf(const Filter& passes) const {
    return SumOf<double>(rows_,
                         [&](const EngineFineSum& row) { return row.unit == kSeconds && passes(row) ? row.value : 0; });
  }
  /// Sum of one activity in one unit over the rows that pass.
  double Of(std::string_view activity, std::string_view unit = kSeconds, const Filter& passes = IsExecute) const {
    return SumOf<double>(rows_, [&](const EngineFineSum& row) {
      return row.activity == activity && row.unit == unit && passes(row) ? row.value : 0;
    });
  }
  /// The sum of several activities, in seconds.
  double OfAll(std::initializer_list<std::string_view> activities, const Filter& passes = IsExecute) const {
    return SumOf<double>(activities, [&](const std::string_view activity) { return Of(activity, kSeconds, passes); });
  }

  static bool IsExecute(const EngineFineSum& row) { return row.context == kExecute; }

 private:
  const std::vector<EngineFineSum>& rows_;
};

void SetRatioOf(std::string_view key, double part, double whole, std::string_view whole_name, double factor,
                MetricSet* metrics) {
  metrics->SetOptional(key, whole > 0 ? std::optional<double>(part / whole * factor) : std::nullopt,
                       std::string(whole_name) + " is zero");
}

void SetProcessor(const FineSums& sums, const std::set<std::string>& prefixes, MetricSet* metrics) {
  if (prefixes.empty()) {
    for (std::string_view key :
         {"processor_cpu_time_seconds", "processor_noncpu_time_seconds", "processor_cpu_percentage",
          "processor_noncpu_percentage", "overhead_cpu_time_seconds", "overhead_noncpu_time_seconds"}) {
      metrics->SetNull(key, "no chunk was joined to a task, and nobody said which tasks are the processor's");
    }
    return;
  }
  const auto of = [&](std::string_view activity, bool is_processor) {
    return sums.Of(activity, kSeconds, [&](const EngineFineSum& row) {
      return FineSums::IsExecute(row) && (prefixes.count(row.function) > 0) == is_processor;
    });
  };
  const double cpu = of("thread-cpu", true);
  const double noncpu = of("thread-noncpu", true);
  metrics->Set("processor_cpu_time_seconds", cpu);
  metrics->Set("processor_noncpu_time_seconds", noncpu);
  SetRatioOf("processor_cpu_percentage", cpu, cpu + noncpu, "the processor's time", 100, metrics);
  SetRatioOf("processor_noncpu_percentage", noncpu, cpu + noncpu, "the processor's time", 100, metrics);
  metrics->Set("overhead_cpu_time_seconds", of("thread-cpu", false));
  metrics->Set("overhead_noncpu_time_seconds", of("thread-noncpu", false));
}

/// Metrics that are the seconds of one activity inside tasks.
constexpr std::pair<std::string_view, std::string_view> kSecondsOf[] = {
    {"cpu_time_seconds", "thread-cpu"},          {"io_time_seconds", "thread-noncpu"},
    {"disk_read_time_seconds", "disk-read"},     {"disk_write_time_seconds", "disk-write"},
    {"compression_time_seconds", "compress"},    {"decompression_time_seconds", "decompress"},
    {"serialization_time_seconds", "serialize"}, {"deserialization_time_seconds", "deserialize"},
    {"failed_time_seconds", "failed"},           {"cancelled_time_seconds", "cancelled"},
};
/// And those that are a count in another unit.
constexpr std::string_view kCountsOf[][3] = {
    {"total_bytes_memory_read_dask", "memory-read", "bytes"},
    {"disk_read_bytes", "disk-read", "bytes"},
    {"disk_write_bytes", "disk-write", "bytes"},
    {"disk_read_count", "disk-read", "count"},
    {"disk_write_count", "disk-write", "count"},
};

void SetFine(const EngineFacts& facts, MetricSet* metrics) {
  const FineSums sums(facts.fine);
  for (const auto& [key, activity] : kSecondsOf) metrics->Set(key, sums.Of(activity));
  for (const auto& [key, activity, unit] : kCountsOf) {
    metrics->Set(key, static_cast<int64_t>(std::llround(sums.Of(activity, unit))));
  }
  SetProcessor(sums, facts.processors.empty() ? ChunkPrefixes(facts.tasks, facts.join) : facts.processors, metrics);
  for (const auto& [key, unit] : {std::pair<std::string_view, std::string_view>("memory_read_hit_ratio", "count"),
                                  {"memory_read_hit_ratio_bytes", "bytes"}}) {
    const double from_memory = sums.Of("memory-read", unit);
    SetRatioOf(key, from_memory, from_memory + sums.Of("disk-read", unit), "the number of dependencies read", 1,
               metrics);
  }
  metrics->Set("total_compression_overhead_seconds", sums.OfAll({"compress", "decompress"}));
  metrics->Set("total_serialization_overhead_seconds", sums.OfAll({"serialize", "deserialize"}));
  metrics->Set("transfer_time_seconds", sums.SecondsOf(IsTransfer));
  metrics->Set("transfer_compression_seconds", sums.OfAll({"compress", "decompress"}, IsTransfer));
  metrics->Set("transfer_serialization_seconds", sums.OfAll({"serialize", "deserialize"}, IsTransfer));
  metrics->Set("task_overhead_seconds", sums.OfAll({"executor", "offload", "other"}));
  std::optional<double> idle = facts.active_core_seconds;
  if (idle.has_value()) idle = std::max(0.0, *idle - sums.SecondsOf(FineSums::IsExecute));
  metrics->SetOptional("idle_time_seconds", idle, "the scheduler reported no span that was active");
}

// Where no task shows it, the key stays null.
void SetSumOf(std::string_view key, int64_t TaskRow::*member, const TaskFindings& tasks, std::string_view reason,
              MetricSet* metrics) {
  OptionalSum sum;
  for (const TaskRow& task : tasks.rows) {
    if (task.*member >= 0) sum.Add(task.*member);
  }
  metrics->SetOptional(key, sum.Seconds(), reason);
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
    const auto is_try = [](const TaskRow& task) { return task.job == TaskRow::kNone; };
    const bool has_tries_only = !facts.tasks.rows.empty() && absl::c_all_of(facts.tasks.rows, is_try);
    for (std::string_view key : {"num_tasks", "num_failed_tasks", "num_failed_tasks_without_chunk"}) {
      metrics->SetNull(key, has_tries_only ? "crema does not know which tries in this engine's log are of one task"
                                           : "no log of an engine has a task that ended and was not cancelled");
    }
    return;
  }
  int64_t failed = 0, without_chunk = 0;
  for (const auto& [number, job] : jobs) {
    failed += job.failed;
    without_chunk += job.failed && !job.has_chunk;
  }
  metrics->Set("num_tasks", static_cast<int64_t>(jobs.size()));
  metrics->Set("num_failed_tasks", failed);
  metrics->SetOptional("num_failed_tasks_without_chunk",
                       facts.chunks_unknown.empty() ? std::optional(without_chunk) : std::nullopt,
                       facts.chunks_unknown);
}

void SetTasks(const EngineFacts& facts, MetricSet* metrics) {
  SetFailedTasks(facts, metrics);
  SetSumOf("task_queue_seconds", &TaskRow::queue_ns, facts.tasks,
           "the engine's log does not report how long tasks waited", metrics);
  constexpr std::string_view kNotHeld = "the engine's log does not say when a core was held for a task";
  SetSumOf("task_dispatch_seconds", &TaskRow::dispatch_ns, facts.tasks, kNotHeld, metrics);
  SetSumOf("task_retrieval_seconds", &TaskRow::retrieval_ns, facts.tasks, kNotHeld, metrics);
  metrics->SetOptional("task_cores_avg", MeanCoresOfTasks(facts.tasks.rows),
                       "the engine's log does not report how many cores a task was given");
  SetRatioOf("task_join_coverage", static_cast<double>(facts.join.chunks_joined),
             static_cast<double>(facts.join.chunks_joined + facts.join.chunks_unjoined), "the number of chunks", 1,
             metrics);
  if (facts.task_slot_utilization.has_value()) metrics->Set("task_slot_utilization_avg", *facts.task_slot_utilization);
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

}  // namespace

std::vector<int64_t> OutsideTasks(const std::vector<EngineFineSum>& rows, size_t processes) {
  std::vector<int64_t> outside_ns(processes);
  for (const EngineFineSum& row : rows) {
    if (row.context != kExecute || row.unit != kSeconds || !absl::c_linear_search(kAroundTask, row.activity)) continue;
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
    metrics->SetNull("fine_metrics_coverage",
                     "the scheduler's own account of compute seconds was not seen, or began anew (client.restart), or "
                     "its tasks ran in no thread of Dask's");
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
  std::vector<Interval> preprocess, process, reduce;
  for (const TaskRow& task : tasks.rows) {
    const std::string& prefix = tasks.prefixes[task.prefix];
    std::vector<Interval>* const phase = processors.count(prefix) > 0                 ? &process
                                         : absl::c_linear_search(kReduce, prefix)     ? &reduce
                                         : absl::c_linear_search(kPreprocess, prefix) ? &preprocess
                                                                                      : nullptr;
    if (phase != nullptr) phase->emplace_back(task.start_ns, task.stop_ns);
  }
  std::vector<PhaseRow> phases;
  for (auto& [name, intervals] : {std::pair<std::string_view, std::vector<Interval>&>("preprocess", preprocess),
                                  {"process", process},
                                  {"reduce", reduce}}) {
    if (intervals.empty()) continue;
    int64_t sum_ns = 0;
    for (const auto& [start_ns, stop_ns] : intervals) sum_ns += stop_ns - start_ns;
    phases.push_back(PhaseOf(name, std::move(intervals)));
    phases.back().task_seconds = static_cast<double>(sum_ns) / 1e9;
  }
  return phases;
}

}  // namespace crema
