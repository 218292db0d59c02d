// What attempts, workers, processes and core-seconds add up to: the rows of `phases`, `datasets`, `files`, `workers`,
// `hosts`, `threads`, `budget` and `processes`.
#pragma once

#include "collector/measurement/column.h"

namespace crema {

/// A phase of the run.
struct PhaseRow {
  Text phase;
  Number wall_time;
  Number task_seconds;
  Number start;
  Number stop;
  int64_t start_ns = 0;  ///< Unix time; not in the document, as the next
  int64_t stop_ns = 0;
  static absl::Span<const Column> Columns();
};

/// Attempts summed by dataset, file, worker, host or thread. `chunks` and `events` are of results, `attempts failed
/// lost` of all attempts, the rest of ended ones: quantiles and `rss_delta_mean` of those that have a line. Counts of
/// attempts and times are null where the row is not from records.
struct BreakdownRow {
  Text name;
  Number chunks;
  Number attempts;
  Number failed;
  Number lost;
  Number events;
  Number bytes_read;
  Number bytes_uncompressed;
  Number duration_sum;
  Number duration_mean;
  Number duration_p50;
  Number duration_p95;
  Number duration_max;
  Number cpu_sum;
  Number cpu_wait_sum;
  Number blocked_sum;
  Number system_cpu_sum;
  Number minor_faults;
  Number major_faults;
  Number event_rate;
  Number events_per_cpu_second;
  Number rss_delta_mean;
  Number gpu_seconds;  ///< of datasets only, as the next four
  Number gpu_launches;
  Number gpu_copy_seconds;
  Number gpu_to_device_bytes;
  Number gpu_from_device_bytes;
  uint32_t group = 0;  ///< the index it was grouped by; not in the document
  static absl::Span<const Column> Columns();
};

/// A worker: the breakdown, and its life, cores, state and memory.
struct WorkerRow : BreakdownRow {
  Text process;
  Number start;
  Number stop;
  Number first_chunk;
  Number last_chunk;
  Number cores;
  Text state;
  Number peak_memory_bytes;
  Number anonymous_memory_bytes;
  Number file_memory_bytes;
  Number memory_limit_bytes;
  Number allowed_cores;
  Number throttled;
  Number disk_bytes;
  Text left_reason;
  Number engine_cpu;
  Number engine_peak_memory_bytes;
  Number time_limit;
  static absl::Span<const Column> Columns();
};

/// A part of the core-seconds.
struct BudgetRow {
  Text part;
  Text group;
  Number core_seconds;
  Number share;
  static absl::Span<const Column> Columns();
};

/// A process of `crema run`, as sampled.
struct ProcessUseRow {
  Text name;
  Text host;
  Number pid;
  Number start;
  Number stop;
  Number cpu;
  Number peak_memory_bytes;
  Number anonymous_memory_bytes;
  Number file_memory_bytes;
  Number cpu_wait;
  Number threads;
  static absl::Span<const Column> Columns();
};

}  // namespace crema
