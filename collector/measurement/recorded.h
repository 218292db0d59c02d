// What guards and engines recorded, summed: the rows of `sections`, `process_sections`, `memory_sections`,
// `custom_metrics`, `cuts`, `requests`, `functions` and `fine`.
#pragma once

#include "collector/measurement/column.h"

namespace crema {

/// A path of sections.
struct SectionRow {
  Text path;
  Flag helper;
  Number count;
  Number total;
  Number self;
  Number min;
  Number max;
  Number mean;
  Number cpu;
  Number failed;
  Number chunks;
  Number p50;
  Number p95;
  Number p99;
  Number mean_per_chunk;
  Number mean_when_run;
  Number share;
  Number self_in_workers;
  Number allocations;
  Number allocated_bytes;
  Number live_bytes;
  Number peak_live_bytes;
  Number live_growth_bytes;
  Number gpu_seconds;
  Number gpu_launches;
  Number gpu_copy_seconds;
  Number gpu_to_device_bytes;
  Number gpu_from_device_bytes;
  Number gpu_wait_seconds;
  Number gpu_wait_cpu_seconds;
  static absl::Span<const Column> Columns();
};

/// A path of memory sections.
struct MemorySectionRow {
  Text path;
  Number count;
  Number delta_bytes;
  Number min_bytes;
  Number max_bytes;
  Number rss_start_bytes;
  Number rss_stop_bytes;
  Number peak_bytes;
  static absl::Span<const Column> Columns();
};

/// Bin i holds the values from `edges[i]` to below `edges[i + 1]`, the last one its upper edge too.
struct ValueHistogram {
  std::vector<double> edges;
  std::vector<uint64_t> counts;  ///< one less than edges
};
void WriteValue(const std::optional<ValueHistogram>& member, Json* value);
void ReadValue(const Json& value, std::optional<ValueHistogram>* member);

/// Figures of one metric, of `ok` attempts; what failed ones recorded stands apart.
struct CustomMetricFigures {
  Number count;
  Number sum;
  Number mean;
  Number min;
  Number max;
  Number p50;
  Number p95;
  Text quantiles_of;
  Number invalid;
  Number failed_count;
  Number failed_sum;
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
  Text name;
  Text value;
  Number chunks;
  static absl::Span<const Column> Columns();
};

/// A cut of the flow.
struct CutRow {
  Text name;
  Number events;
  Number weights;
  Number step_efficiency;
  Number total_efficiency;
  Number seen;
  Text path;
  Text flow;
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
  Text server;
  Text operation;
  Number calls;
  Number bytes;
  Number seconds;
  Number max_seconds;
  Number errors;
  static absl::Span<const Column> Columns();
};

/// Events of a dataset that go from thread to thread: where their latency went, and their critical paths.
struct EventLatencyRow {
  Text dataset;
  Number events;
  Number failed;
  Number events_per_second;
  Number in_flight;
  Number latency_seconds;
  Number p50_seconds;
  Number p95_seconds;
  Number max_seconds;
  Number active_seconds;
  Number queued_seconds;
  Number external_seconds;
  Number rest_seconds;
  Number critical_run_seconds;
  Number critical_queue_seconds;
  Number critical_external_seconds;
  Number critical_gap_seconds;
  Number tasks;
  Number work_seconds;
  Number parallel;
  Number not_divided;
  std::optional<ValueHistogram> histogram;
  static absl::Span<const Column> Columns();
};

/// Tasks of one name, or requests of events.
struct ModuleRow {
  Text module;
  Text operation;
  Number calls;
  Number failed;
  Number own_seconds;
  Number share;
  Number cpu_seconds;
  Number cpu_wait_seconds;
  Number blocked_seconds;
  Number max_seconds;
  Number queued_calls;
  Number queue_seconds;
  Number queue_max_seconds;
  Number behind_seconds;
  Number stolen_seconds;
  Number at_once;
  Number union_seconds;
  Number ceiling;
  Number critical_run_seconds;
  Number critical_queue_seconds;
  Number latency_share;
  static absl::Span<const Column> Columns();
};

/// A thread that ran tasks.
struct TaskThreadRow {
  Text worker;
  Number tid;
  Number threads;
  Number tasks;
  Number task_seconds;
  Number task_cpu_seconds;
  Number task_cpu_wait_seconds;
  Number between_seconds;
  Number between_cpu_seconds;
  static absl::Span<const Column> Columns();
};

/// What threads waited for in a section of chunks of a dataset: a part of the time in which they were blocked.
struct WaitSumRow {
  Text dataset;
  Text section;
  Text kind;
  Text object;
  Text function;
  Number seconds;
  Number share;
  Number low;
  Number high;
  Number samples;
  Flag coarse;
  static absl::Span<const Column> Columns();
};

/// A function that ran itself, inside a section of chunks of a dataset.
struct FunctionRow {
  Text section;
  Text dataset;
  Text function;
  Text file;
  Number line;
  Number samples;
  Number share;
  Number share_error;
  std::string build_id;  ///< of `file`, where that is a program or library and `function` an address in it; not in the
                         ///< document, as the next
  int64_t squares = 0;   ///< the sum of each sighting's samples, squared
  static absl::Span<const Column> Columns();
};

/// A kernel that ran on GPUs, launched in a section of chunks of a dataset.
struct GpuKernelRow {
  Text section;
  Text dataset;
  Text kernel;
  Number launches;
  Number seconds;
  Number max_seconds;
  static absl::Span<const Column> Columns();
};

/// An activity.
struct FineRow {
  Text context;
  Text span;
  Text worker;
  Text function;
  Text activity;
  Text unit;
  Number value;
  static absl::Span<const Column> Columns();
};

}  // namespace crema
