#include "collector/metrics/document_tables.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

namespace crema {
namespace {

Json BreakdownFields(const BreakdownRow& row) {
  return {{"name", row.name},
          {"chunks", OrNull(row.chunks)},
          {"attempts", OrNull(row.attempts)},
          {"failed", OrNull(row.failed)},
          {"lost", OrNull(row.lost)},
          {"events", OrNull(row.events)},
          {"bytes_read", OrNull(row.bytes_read)},
          {"bytes_uncompressed", OrNull(row.bytes_uncompressed)},
          {"duration_sum", OrNull(row.duration_sum)},
          {"duration_mean", OrNull(row.duration_mean)},
          {"duration_p50", OrNull(row.duration_p50)},
          {"duration_p95", OrNull(row.duration_p95)},
          {"duration_max", OrNull(row.duration_max)},
          {"cpu_sum", OrNull(row.cpu_sum)},
          {"cpu_wait_sum", OrNull(row.cpu_wait_sum)},
          {"blocked_sum", OrNull(row.blocked_sum)},
          {"event_rate", OrNull(row.event_rate)},
          {"events_per_cpu_second", OrNull(row.events_per_cpu_second)},
          {"rss_delta_mean", OrNull(row.rss_delta_mean)}};
}

const char* NameOf(ProcessState state) {
  switch (state) {
    case ProcessState::kEnded:
      return "ended";
    case ProcessState::kRunning:
      return "running";
    case ProcessState::kLost:
      return "lost";
  }
  return "lost";
}

std::optional<int64_t> PeakMemory(const ProcessRow& process) {
  std::optional<int64_t> peak;
  for (const ProcessSample& sample : process.samples) peak = std::max(peak, sample.rss_bytes);
  return peak;
}

std::optional<int64_t> MemoryLimit(const ProcessRow& process) {
  for (auto sample = process.samples.rbegin(); sample != process.samples.rend(); ++sample) {
    if (sample->memory_limit_bytes.has_value()) return sample->memory_limit_bytes;
  }
  return process.memory_limit_bytes;
}

Json SecondsOrNull(const std::optional<int64_t>& duration_ns) {
  return duration_ns.has_value() ? Json(static_cast<double>(*duration_ns) / 1e9) : Json();
}

double SecondsSince(const RunWindow& window, int64_t time_ns) {
  return static_cast<double>(time_ns - window.start_ns) / 1e9;
}

Json Points(const Timeline& timeline) {
  Json points = Json::array();
  for (const TimelinePoint& point : timeline) points.push_back({point.seconds, OrNull(point.value)});
  return points;
}

}  // namespace

Json BreakdownTable(const std::vector<BreakdownRow>& rows) {
  Json table = Json::array();
  for (const BreakdownRow& row : rows) table.push_back(BreakdownFields(row));
  return table;
}

Json WorkerTable(const RunFigures& figures) {
  const RunWindow& window = figures.bounds.window;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  absl::flat_hash_map<uint32_t, const WorkerLife*> lives;
  for (const WorkerLife& life : figures.workers) lives.emplace(life.process, &life);
  Json table = Json::array();
  for (const BreakdownRow& row : figures.by_worker) {
    const ProcessRow* process = row.group < processes.size() ? &processes[row.group] : nullptr;  // not of `(other)`
    const auto found = lives.find(row.group);
    const WorkerLife* life = found != lives.end() ? found->second : nullptr;
    Json fields = BreakdownFields(row);
    fields["process"] = process != nullptr ? Json(process->process()) : Json();
    fields["start"] = life != nullptr ? Json(SecondsSince(window, life->start_ns)) : Json();
    fields["stop"] = life != nullptr ? Json(SecondsSince(window, life->stop_ns)) : Json();
    fields["cores"] = life != nullptr ? Json(life->cores) : Json();
    fields["state"] = process != nullptr ? Json(NameOf(process->state)) : Json();
    fields["peak_memory_bytes"] = process != nullptr ? OrNull(PeakMemory(*process)) : Json();
    fields["memory_limit_bytes"] = process != nullptr ? OrNull(MemoryLimit(*process)) : Json();
    fields["disk_bytes"] = process != nullptr ? OrNull(process->disk_bytes) : Json();
    fields["left_reason"] = process != nullptr ? NameOrNull(process->left_reason) : Json();
    fields["engine_cpu"] = process != nullptr ? SecondsOrNull(process->engine_cpu_ns) : Json();
    fields["engine_peak_memory_bytes"] = process != nullptr ? OrNull(process->engine_peak_memory_bytes) : Json();
    fields["time_limit"] = process != nullptr ? SecondsOrNull(process->time_limit_ns) : Json();
    table.push_back(std::move(fields));
  }
  return table;
}

namespace {

/// `names` and `members` of the sums; null where nothing was counted.
void AddGpu(const std::optional<GpuSums>& gpu, bool with_waits, Json* row) {
  const auto count = [&gpu](int64_t GpuSums::*member) { return gpu.has_value() ? Json((*gpu).*member) : Json(); };
  const auto seconds = [&gpu](int64_t GpuSums::*member) {
    return gpu.has_value() ? SecondsOrNull((*gpu).*member) : Json();
  };
  (*row)["gpu_seconds"] = seconds(&GpuSums::kernel_ns);
  (*row)["gpu_launches"] = count(&GpuSums::launches);
  (*row)["gpu_copy_seconds"] = seconds(&GpuSums::copy_ns);
  (*row)["gpu_to_device_bytes"] = count(&GpuSums::to_device_bytes);
  (*row)["gpu_from_device_bytes"] = count(&GpuSums::from_device_bytes);
  if (!with_waits) return;
  (*row)["gpu_wait_seconds"] = seconds(&GpuSums::wait_ns);
  (*row)["gpu_wait_cpu_seconds"] = gpu.has_value() ? SecondsOrNull(gpu->wait_cpu_ns) : Json();
}

}  // namespace

Json DatasetTable(const RunFigures& figures) {
  Json table = BreakdownTable(figures.by_dataset);
  const GpuFindings& found = figures.findings.gpu;
  for (Json& row : table) {
    std::optional<GpuSums> gpu;
    if (found.all.has_value()) {
      const auto of_dataset = found.by_dataset.find(row["name"].get<std::string>());
      gpu = of_dataset == found.by_dataset.end() ? GpuSums() : of_dataset->second;
    }
    AddGpu(gpu, false, &row);
  }
  return table;
}

Json SectionTableOf(const std::vector<SectionRow>& rows) {
  Json table = Json::array();
  for (const SectionRow& row : rows) {
    const auto allocated = [&row](auto member) {
      return row.allocated.has_value() ? OrNull(std::optional<int64_t>((*row.allocated).*member)) : Json();
    };
    table.push_back({{"path", row.path},
                     {"helper", row.helper},
                     {"count", row.count},
                     {"total", OrNull(row.total)},
                     {"self", OrNull(row.self)},
                     {"min", OrNull(row.min)},
                     {"max", OrNull(row.max)},
                     {"mean", OrNull(row.mean)},
                     {"cpu", OrNull(row.cpu)},
                     {"failed", row.failed},
                     {"chunks", OrNull(row.chunks)},
                     {"p50", OrNull(row.p50)},
                     {"p95", OrNull(row.p95)},
                     {"p99", OrNull(row.p99)},
                     {"mean_per_chunk", OrNull(row.mean_per_chunk)},
                     {"mean_when_run", OrNull(row.mean_when_run)},
                     {"share", OrNull(row.share)},
                     {"self_in_workers", OrNull(row.self_in_workers)},
                     {"allocations", allocated(&AllocationSums::allocations)},
                     {"allocated_bytes", allocated(&AllocationSums::allocated_bytes)},
                     {"live_bytes", allocated(&AllocationSums::live_bytes)},
                     {"peak_live_bytes", allocated(&AllocationSums::peak_live_bytes)},
                     {"live_growth_bytes", allocated(&AllocationSums::live_growth_bytes)}});
    AddGpu(row.gpu, true, &table.back());
  }
  return table;
}

Json MemorySectionTableOf(const std::vector<MemorySectionRow>& rows) {
  Json table = Json::array();
  for (const MemorySectionRow& row : rows) {
    table.push_back({{"path", row.path},
                     {"count", row.count},
                     {"delta_bytes", OrNull(row.delta_bytes)},
                     {"min_bytes", OrNull(row.min_bytes)},
                     {"max_bytes", OrNull(row.max_bytes)},
                     {"rss_start_bytes", OrNull(row.rss_start_bytes)},
                     {"rss_stop_bytes", OrNull(row.rss_stop_bytes)},
                     {"peak_bytes", OrNull(row.peak_bytes)}});
  }
  return table;
}

Json CustomMetricTableOf(const std::vector<CustomMetricRow>& rows) {
  const auto figures_of = [](Json fields, const CustomMetricFigures& figures) {
    fields["count"] = figures.count;
    fields["sum"] = OrNull(figures.sum);
    fields["mean"] = OrNull(figures.mean);
    fields["min"] = OrNull(figures.min);
    fields["max"] = OrNull(figures.max);
    fields["p50"] = OrNull(figures.p50);
    fields["p95"] = OrNull(figures.p95);
    fields["quantiles_of"] = figures.quantiles_of_means ? "chunk means" : "values";
    fields["invalid"] = figures.invalid;
    fields["failed_count"] = figures.failed_count;
    fields["failed_sum"] = OrNull(figures.failed_sum);
    return fields;
  };
  Json table = Json::array();
  for (const CustomMetricRow& row : rows) {
    Json fields = figures_of({{"name", row.name}, {"unit", row.unit}}, row.figures);
    Json by_dataset = Json::object();
    for (const auto& [dataset, figures] : row.by_dataset) by_dataset[dataset] = figures_of(Json::object(), figures);
    fields["by_dataset"] = std::move(by_dataset);
    const auto& histogram = row.figures.histogram;
    fields["histogram"] =
        histogram.has_value() ? Json({{"edges", histogram->edges}, {"counts", histogram->counts}}) : Json();
    table.push_back(std::move(fields));
  }
  return table;
}

Json CutTableOf(const std::vector<CutRow>& rows) {
  Json table = Json::array();
  for (const CutRow& row : rows) {
    table.push_back({{"name", row.name},
                     {"events", row.events},
                     {"weights", OrNull(row.weights)},
                     {"step_efficiency", OrNull(row.step_efficiency)},
                     {"total_efficiency", OrNull(row.total_efficiency)}});
  }
  return table;
}

Json RequestTableOf(const std::vector<RequestSumRow>& rows) {
  Json table = Json::array();
  for (const RequestSumRow& row : rows) {
    table.push_back({{"server", row.server},
                     {"operation", row.operation},
                     {"calls", row.calls},
                     {"bytes", OrNull(row.bytes)},
                     {"seconds", row.seconds},
                     {"max_seconds", row.max_seconds},
                     {"errors", row.errors}});
  }
  return table;
}

Json FunctionTableOf(const std::vector<FunctionRow>& rows) {
  Json table = Json::array();
  for (const FunctionRow& row : rows) {
    table.push_back({{"section", row.section},
                     {"dataset", NameOrNull(row.dataset)},
                     {"function", row.function},
                     {"file", NameOrNull(row.file)},
                     {"line", OrNull(row.line)},
                     {"samples", row.samples},
                     {"share", OrNull(row.share)},
                     {"share_error", OrNull(row.share_error)}});
  }
  return table;
}

Json GpuKernelTableOf(const std::vector<GpuKernelSumRow>& rows) {
  Json table = Json::array();
  for (const GpuKernelSumRow& row : rows) {
    table.push_back({{"section", row.section},
                     {"dataset", NameOrNull(row.dataset)},
                     {"kernel", row.kernel},
                     {"launches", row.launches},
                     {"seconds", row.seconds},
                     {"max_seconds", row.max_seconds}});
  }
  return table;
}

Json FineTableOf(const std::vector<ActivitySumRow>& rows, const std::vector<FineRow>& engine_rows,
                 const std::vector<ProcessRow>& processes) {
  Json table = Json::array();
  const auto worker_of = [&processes](uint32_t process) {
    return process == ProcessSums::kAllProcesses ? std::string(kOtherName) : processes[process].worker();
  };
  for (const FineRow& row : engine_rows) {
    table.push_back({{"context", row.context},
                     {"span", NameOrNull(row.span)},
                     {"worker", worker_of(row.process)},
                     {"function", NameOrNull(row.function)},
                     {"activity", row.activity},
                     {"unit", row.unit},
                     {"value", OrNull(row.value)}});
  }
  for (const ActivitySumRow& row : rows) {
    table.push_back({{"context", "native"},
                     {"span", NameOrNull(row.span)},
                     {"worker", worker_of(row.process)},
                     {"function", Json()},  // a task's prefix: there is no task
                     {"activity", row.activity},
                     {"unit", row.unit},
                     {"value", OrNull(row.value)}});
  }
  return table;
}

Json PhaseTable(const std::vector<PhaseRow>& rows, const RunWindow& window) {
  Json table = Json::array();
  for (const PhaseRow& row : rows) {
    table.push_back({{"phase", row.phase},
                     {"wall_time", row.wall_time},
                     {"task_seconds", OrNull(row.task_seconds)},
                     {"start", SecondsSince(window, row.start_ns)},
                     {"stop", SecondsSince(window, row.stop_ns)}});
  }
  return table;
}

Json BudgetTable(const Budget& budget) {
  Json table = Json::array();
  for (const BudgetRow& row : budget.rows) {
    table.push_back({{"part", row.part},
                     {"group", row.group},
                     {"core_seconds", OrNull(row.core_seconds)},
                     {"share", OrNull(row.share)}});
  }
  return table;
}

Json TimelineTable(const RunFigures& figures) {
  const std::vector<std::string>& names = figures.worker_rows.names;
  const bool has_others = figures.by_worker.size() > WorkerRows::kMost;
  const absl::flat_hash_set<std::string_view> with_row(names.begin(), names.end());
  Json table = Json::object();
  table["worker_counts"] = Points(figures.timelines.worker_counts);
  for (const NamedTimelines& series : figures.timelines.series) {
    Json by_worker;
    if (series.by_worker.has_value()) {
      Json::object_t lines;
      for (const auto& [worker, timeline] : *series.by_worker) {
        // Names differ: looking for each among all those before it would take too long.
        if (!has_others || with_row.contains(worker)) lines.Container::emplace_back(worker, Points(timeline));
      }
      by_worker = std::move(lines);
    }
    table[std::string(series.key)] = std::move(by_worker);
  }
  return table;
}

Json ProcessUseTable(const RunFigures& figures) {
  Json table = Json::array();
  const int64_t start_ns = figures.bounds.window.start_ns;
  for (const ProcessUse& process : figures.processes) {
    table.push_back({{"name", NameOrNull(process.name)},
                     {"host", NameOrNull(process.host)},
                     {"pid", process.pid},
                     // the kernel counts begins in hundredths of a second
                     {"start", static_cast<double>(std::max<int64_t>(0, process.start_ns - start_ns)) / 1e9},
                     {"stop", static_cast<double>(process.last_ns - start_ns) / 1e9},
                     {"cpu", process.cpu_ns.has_value() ? Json(static_cast<double>(*process.cpu_ns) / 1e9) : Json()},
                     {"peak_memory_bytes", OrNull(process.peak_memory_bytes)},
                     {"threads", OrNull(process.threads)}});
  }
  return table;
}

}  // namespace crema
