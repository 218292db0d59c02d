// The run, its quality and its lines over time: what a measurement holds beside its tables and metrics.
#pragma once

#include "collector/measurement/column.h"

namespace crema {

/// A named stretch of the run.
struct RunSpan {
  Text name;
  Text path;
  Number start_ns;  ///< Unix time
  Number stop_ns;
  static absl::Span<const Column> Columns();
};

/// What Coffea's report says, under Coffea's names: where records say the same, both values are kept.
struct CoffeaReportFacts {
  Number reports;
  Number bytesread;
  Number entries;
  Number processtime;
  Number chunks;
  Number columns;
  static absl::Span<const Column> Columns();
};

/// Coffea's figures by dataset, summed.
struct CoffeaDatasetFacts {
  Number datasets;
  Number entries;
  Number duration;
  Number num_requested_bytes;
  static absl::Span<const Column> Columns();
};

/// Why jobs of a batch system never began.
struct NeverBegunRow {
  Text reason;
  Number jobs;
  static absl::Span<const Column> Columns();
};

/// docs/measurements.md, "What a measurement holds".
struct RunFacts {
  Text id;
  Text name;
  std::optional<std::vector<std::string>> command;
  Number start_ns;  ///< Unix time
  Number stop_ns;
  Text start;  ///< ISO 8601, UTC
  Text boundary;
  Text cores_source;
  Text busy_time_source;
  Text num_chunks_source;
  Text total_events_source;
  Text bytes_source;
  Text columns_source;
  Text datasets_source;
  Text cpu_time_source;
  Text io_overhead_source;
  Text allocated_cores_source;
  Number exit_status;
  Text state;
  Text error;  ///< the exception that ended the program or the block
  Text engine;
  std::vector<NeverBegunRow> never_began;
  Flag net_host_wide;
  Text commit;
  Text commit_source;
  std::vector<std::string> run_ids;
  std::optional<CoffeaReportFacts> coffea_report;
  std::optional<CoffeaDatasetFacts> metrics_by_dataset;
  std::vector<RunSpan> spans;
  static absl::Span<const Column> Columns();
};

struct NamedCount {
  std::string name;
  int64_t count = 0;
};
using CountsByName = std::vector<NamedCount>;
void WriteValue(const CountsByName& member, Json* value);
void ReadValue(const Json& value, CountsByName* member);

/// How far the measurement can be trusted.
struct Quality {
  Number records_read;
  Number records_malformed;
  Number records_torn;
  Number records_unknown;
  Number logs_left_out;
  Number logs_damaged;
  Number logs_missing;
  Number records_dropped;
  Number guards_misused;
  Number records_unwritten;
  Number values_outside_chunks;
  Number records_lost;
  Number sections_dropped;
  Number summed_chunks;
  Number tasks_read;
  Number tasks_left_out;
  Number lost_samples;
  Number chunks_without_events;
  Number processes_ended;
  Number processes_running;
  Number processes_lost;
  Number processes_unreported;
  Number chunks_joined_to_tasks;
  Number chunks_unjoined;
  Number tasks_without_chunk;
  Number event_coverage;
  Number fine_metrics_coverage;
  Number clock_offset_max_s;
  Number clock_step_max_s;
  Number allocations_cost_s;
  Number sampling_gap_max_s;
  Number workers_unseen;
  Number records_lost_bytes;
  Number tree_cpu_sampled;
  Number processes_left_running;
  Number processes_without_waits;
  CountsByName missing_values;
  std::vector<std::string> warnings;
  static absl::Span<const Column> Columns();
};

/// Where a measurement comes from and who made it.
struct Provenance {
  Text crema;  ///< its version
  std::vector<std::string> sources;
  Text host;     ///< on which it was made
  Text created;  ///< ISO 8601, UTC
  Number logs;   ///< that it was made from
  static absl::Span<const Column> Columns();
};

/// What is before all else, for scripts.
struct TroubleFacts {
  Text state;
  Text mark;
  std::vector<std::string> clauses;
  static absl::Span<const Column> Columns();
};

struct TimelinePoint {
  double seconds = 0;  ///< since the run's start
  double value = 0;    ///< NaN: not known
};
using Timeline = std::vector<TimelinePoint>;

struct NamedTimelines {
  std::string key;  ///< `worker_memory` and so on
  /// By worker; nullopt: not measured.
  std::optional<std::vector<std::pair<std::string, Timeline>>> by_worker;
};

struct Timelines {
  Timeline worker_counts;
  std::vector<NamedTimelines> series;  ///< every other key, in docs/metrics.md's order

  /// nullptr where there is no such series, or it was not measured.
  const std::vector<std::pair<std::string, Timeline>>* Find(std::string_view key) const;
};
void WriteValue(const Timelines& member, Json* value);
void ReadValue(const Json& value, Timelines* member);

struct TimelineKind {
  std::string_view key;
  std::string_view unit;
  std::string_view meaning;
};

/// The keys of `timelines`; `worker_counts` is one series, the others have one for each worker.
absl::Span<const TimelineKind> TimelineKinds();

}  // namespace crema
