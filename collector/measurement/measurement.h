// A measurement of a run: its figures and tables, as the program works with them. measurement_json.h has its file
// format.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "collector/measurement/breakdowns.h"
#include "collector/measurement/findings.h"
#include "collector/measurement/measurement_schema.h"  // IWYU pragma: export
#include "collector/measurement/metric_set.h"
#include "collector/measurement/recorded.h"
#include "collector/measurement/run_facts.h"

namespace crema {

/// docs/measurements.md, "What a measurement holds". Rows stand in the document's order.
struct Measurement {
  Text schema;
  Number schema_minor;
  RunFacts run;
  MetricSet metrics;
  std::vector<PhaseRow> phases;
  std::vector<BreakdownRow> datasets;
  std::vector<BreakdownRow> files;
  std::vector<WorkerRow> workers;
  std::vector<BreakdownRow> hosts;
  std::vector<BreakdownRow> threads;
  std::vector<SectionRow> sections;
  std::vector<MemorySectionRow> memory_sections;
  std::vector<CustomMetricRow> custom_metrics;
  std::vector<CutRow> cuts;
  std::vector<RequestSumRow> requests;
  std::vector<EventLatencyRow> events;
  std::vector<ModuleRow> modules;
  std::vector<TaskThreadRow> task_threads;
  std::vector<WaitSumRow> waits;
  std::vector<FunctionRow> functions;
  std::vector<GpuKernelRow> gpu_kernels;
  std::vector<FineRow> fine;
  std::vector<BudgetRow> budget;
  Timelines timelines;
  std::vector<StragglerRow> stragglers;
  std::vector<ChunkFitRow> chunk_fits;
  std::vector<ExpectedTimeRow> expected_time;
  std::vector<SlowSpellRow> slow_spells;
  std::vector<ContentionRow> contention;
  std::vector<ProcessUseRow> processes;
  std::vector<VerdictRow> verdicts;
  Quality quality;
  Provenance provenance;
  std::vector<SectionRow> process_sections;
  std::vector<ChunkSizeAdviceRow> chunk_size_advice;
  std::vector<ResourceAdviceRow> resource_advice;
  Text headline;
  TroubleFacts trouble;

  /// A number of `metrics`, in the unit of docs/metrics.md; nullopt: not measured.
  std::optional<double> Metric(std::string_view key) const { return metrics.Number(key); }
  /// Why a metric is null; "not measured" where nothing more particular is known.
  std::string WhyNotMeasured(std::string_view key) const;
};

/// Seconds since the run's start at which each worker stopped.
std::map<std::string, double> WorkerStops(const Measurement& measurement);

/// One table of the document: what it is, its columns, and the rows that a measurement has.
struct Table {
  std::string_view key;     ///< of the document
  std::string_view about;   ///< what a row is, and in which order rows stand; empty: as the table before
  std::string_view header;  ///< what a row is, where tables of different rows have the same columns; else empty
  Kind header_kind;         ///< of that column
  std::string_view empty;   ///< why there may be no rows
  absl::Span<const Column> (*columns)();
  size_t (*size)(const Measurement& measurement);
  const void* (*row)(const Measurement& measurement, size_t index);
};

/// All tables of rows, in the document's order.
absl::Span<const Table> Tables();
/// nullptr: there is none.
const Table* FindTable(std::string_view key);

}  // namespace crema
