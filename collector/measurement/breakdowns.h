// What attempts, workers, processes and core-seconds add up to: the rows of `phases`, `datasets`, `files`, `workers`,
// `hosts`, `threads`, `budget` and `processes`.
#pragma once

#include "collector/measurement/column.h"

namespace crema {

/// A phase of the run.
struct PhaseRow {
  Text phase;
  Number wall_time, task_seconds, start, stop;
  int64_t start_ns = 0;  ///< Unix time; not in the document, as the next
  int64_t stop_ns = 0;
  static absl::Span<const Column> Columns();
};

/// Attempts summed by dataset, file, worker, host or thread. `chunks` and `events` are of results, `attempts failed
/// lost` of all attempts, the rest of ended ones: quantiles and `rss_delta_mean` of those that have a line. Counts of
/// attempts and times are null where the row is not from records.
struct BreakdownRow {
  Text name;
  Number chunks, attempts, failed, lost, events, bytes_read, bytes_uncompressed, duration_sum, duration_mean;
  Number duration_p50, duration_p95, duration_max, cpu_sum, cpu_wait_sum, blocked_sum, system_cpu_sum, minor_faults;
  Number major_faults, event_rate, events_per_cpu_second, rss_delta_mean;
  Number gpu_seconds;  ///< of datasets only, as the next four
  Number gpu_launches, gpu_copy_seconds, gpu_to_device_bytes, gpu_from_device_bytes;
  uint32_t group = 0;  ///< the index it was grouped by; not in the document
  static absl::Span<const Column> Columns();
};

/// A worker: the breakdown, and its life, cores, state and memory.
struct WorkerRow : BreakdownRow {
  Text process;
  Number start, stop, first_chunk, last_chunk, cores;
  Text state;
  Number peak_memory_bytes, anonymous_memory_bytes, file_memory_bytes, memory_limit_bytes, allowed_cores, throttled;
  Number disk_bytes;
  Text left_reason;
  Number engine_cpu, engine_peak_memory_bytes, time_limit;
  static absl::Span<const Column> Columns();
};

/// A part of the core-seconds.
struct BudgetRow {
  Text part, group;
  Number core_seconds, share;
  static absl::Span<const Column> Columns();
};

/// A process of `crema run`, as sampled.
struct ProcessUseRow {
  Text name, host;
  Number pid, start, stop, cpu, peak_memory_bytes, anonymous_memory_bytes, file_memory_bytes, cpu_wait, threads;
  static absl::Span<const Column> Columns();
};

}  // namespace crema
