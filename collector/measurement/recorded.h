// What guards and engines recorded, summed: the rows of `sections`, `process_sections`, `memory_sections`,
// `custom_metrics`, `attributes`, `cuts`, `requests`, `functions` and `fine`.
#pragma once

#include "collector/measurement/column.h"

namespace crema {

/// A path of sections.
struct SectionRow {
  /// The path; of a helper's section `path (helper)`.
  std::string Label() const { return path.str() + (helper.value_or(false) ? " (helper)" : ""); }

  Text path;
  Flag helper;
  Number count, total, self, min, max, mean, cpu, failed;
  Number chunks, p50, p95, p99, mean_per_chunk, mean_when_run, share, self_in_workers;
  Number allocations, allocated_bytes, live_bytes, peak_live_bytes, live_growth_bytes;
  Number gpu_seconds, gpu_launches, gpu_copy_seconds, gpu_to_device_bytes, gpu_from_device_bytes;
  Number gpu_wait_seconds, gpu_wait_cpu_seconds;
  static absl::Span<const Column> Columns();
};

/// A path of memory sections.
struct MemorySectionRow {
  Text path;
  Number count, delta_bytes, min_bytes, max_bytes, rss_start_bytes, rss_stop_bytes, peak_bytes;
  static absl::Span<const Column> Columns();
};

/// Bin i holds the values from `edges[i]` to below `edges[i + 1]`, the last one its upper edge too.
struct ValueHistogram {
  std::vector<double> edges;
  std::vector<uint64_t> counts;  ///< one less than edges
};
void WriteValue(const std::optional<ValueHistogram>& member, Json* value);
void ReadValue(const Json& value, std::optional<ValueHistogram>* member);

/// Figures of one metric, of `ok` attempts; what failed ones recorded is apart.
struct CustomMetricFigures {
  Number count, sum, mean, min, max, p50, p95;
  Text quantiles_of;
  Number invalid, failed_count, failed_sum;
  /// Null where not all values are known; the table `custom_metrics` has it beside the figures.
  std::optional<ValueHistogram> histogram;
  static absl::Span<const Column> Columns();
};

using FiguresByDataset = std::vector<std::pair<std::string, CustomMetricFigures>>;  ///< by name
void WriteValue(const FiguresByDataset& member, Json* value);
void ReadValue(const Json& value, FiguresByDataset* member);

/// A metric of the user's.
struct CustomMetricRow : CustomMetricFigures {
  Text name;
  Text unit;  ///< may be empty
  FiguresByDataset by_dataset;
  static absl::Span<const Column> Columns();
};

/// A value of an attribute (`SetAttribute`).
struct AttributeRow {
  /// Names that the SDK uses: why counters of TrackPerfCounters, or figures of ROOT's reading, are missing.
  static constexpr std::string_view kCounters = "perf_counters", kReading = "reading";
  Text name, value;
  Number chunks;
  static absl::Span<const Column> Columns();
};

/// A cut of the flow.
struct CutRow {
  Text name;
  Number events, weights, step_efficiency, total_efficiency, seen;
  Text path, flow;
  static absl::Span<const Column> Columns();

  /// If it is one of a list, it is not known which events it was asked about.
  static bool AreList(const std::vector<CutRow>& cuts);
  size_t Depth() const;  ///< how many cuts are before it
  /// The name; of the first cut of a flow with the flow: `ttbar, loop 2: all events`.
  std::string Shown() const;
  /// `ttbar, loop 2: all events/jets/MET`, or the name where it is one of a list.
  std::string Label() const;
};

/// What was asked of a server by an operation (the SDK has a RequestRow of its own).
struct RequestSumRow {
  Text server, operation;
  Number calls, bytes, seconds, max_seconds, errors;
  static absl::Span<const Column> Columns();
};

/// Events of a dataset that go from thread to thread: where their latency went, and their critical paths.
struct EventLatencyRow {
  Text dataset;
  Number events, failed, events_per_second, in_flight, latency_seconds, p50_seconds, p95_seconds, max_seconds;
  Number active_seconds, queued_seconds, external_seconds, rest_seconds, critical_run_seconds, critical_queue_seconds;
  Number critical_external_seconds, critical_gap_seconds, tasks, work_seconds, parallel, not_divided;
  std::optional<ValueHistogram> histogram;
  static absl::Span<const Column> Columns();
};

/// Tasks of one name, or requests of events.
struct ModuleRow {
  Text module, operation;
  Number calls, failed, own_seconds, share, cpu_seconds, cpu_wait_seconds, blocked_seconds, max_seconds, queued_calls;
  Number queue_seconds, queue_max_seconds, behind_seconds, stolen_seconds, at_once, union_seconds, ceiling;
  Number critical_run_seconds, critical_queue_seconds, latency_share;
  static absl::Span<const Column> Columns();
};

/// A thread that ran tasks.
struct TaskThreadRow {
  Text worker;
  Number tid, threads, tasks, task_seconds, task_cpu_seconds, task_cpu_wait_seconds;
  Number between_seconds, between_cpu_seconds;
  static absl::Span<const Column> Columns();
};

/// What threads waited for in a section of chunks of a dataset: a part of the time in which they were blocked.
struct WaitSumRow {
  Text dataset, section, kind, object, function;
  Number seconds, share, low, high, samples;
  Flag coarse;
  static absl::Span<const Column> Columns();
};

/// A function that ran itself, inside a section of chunks of a dataset.
struct FunctionRow {
  Text section, dataset, function, file;
  Number line, samples, share, share_error;
  std::string build_id;  ///< of `file`, where that is a program or library and `function` an address in it; not in the
                         ///< document, as the next
  int64_t squares = 0;   ///< the sum of each sighting's samples, squared
  static absl::Span<const Column> Columns();
};

/// A kernel that ran on GPUs, launched in a section of chunks of a dataset.
struct GpuKernelRow {
  Text section, dataset, kernel;
  Number launches, seconds, max_seconds;
  static absl::Span<const Column> Columns();
};

/// An activity.
struct FineRow {
  Text context, span, worker, function, activity, unit;
  Number value;
  /// Of data between workers, not of a task.
  bool IsTransfer() const { return context == "get-data" || context == "gather-dep" || context == "p2p"; }
  static absl::Span<const Column> Columns();
};

}  // namespace crema
