// A measurement of a run: its figures and tables, as the program works with them, and as measurement.json holds them.
#pragma once

#include <functional>
#include <map>

#include "collector/measurement/breakdowns.h"
#include "collector/measurement/column.h"
#include "collector/measurement/findings.h"
#include "collector/measurement/recorded.h"
#include "collector/measurement/run_facts.h"

namespace crema {

/// A reader refuses another major number; `schema_minor` only adds.
inline constexpr std::string_view kMeasurementSchema = "crema.measurement/1";
inline constexpr int kMeasurementSchemaMinor = 11;  ///< docs/changelog.md says what each number brought

// The finished figures: every key of the metric set with its value, or with the reason why there is none.

/// `std::monostate` is "not measured".
using MetricValue = std::variant<std::monostate, int64_t, double, std::vector<std::string>>;

class MetricSet {
 public:
  /// Sets a measured value and forgets an earlier reason. A double that is not finite is "not measured".
  void Set(std::string_view key, MetricValue value, std::string_view reason_if_null = "not measured");

  /// As `Set`, with nothing where the optional is empty.
  template <class T>
  void SetOptional(std::string_view key, const std::optional<T>& value, std::string_view reason_if_null) {
    if (value.has_value()) {
      Set(key, MetricValue(*value), reason_if_null);
    } else {
      SetNull(key, reason_if_null);
    }
  }

  /// Leaves the key as it is where the optional is empty.
  template <class T>
  void SetIfKnown(std::string_view key, const std::optional<T>& value) {
    if (value.has_value()) Set(key, MetricValue(*value));
  }
  /// States that the key was not measured, and why in one sentence.
  void SetNull(std::string_view key, std::string_view reason);

  const MetricValue* Find(std::string_view key) const;
  /// The value as a number; nullopt where it is not measured, absent or a list.
  std::optional<double> Number(std::string_view key) const;
  /// Why the key is null; empty where it is not.
  std::string_view Reason(std::string_view key) const;

  const std::map<std::string, MetricValue, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, MetricValue, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> reasons_;
};

/// Why a share is null whose parts come to more than the whole.
inline constexpr std::string_view kTooManySeconds = "its parts take longer than the time that there was for them";

/// docs/measurements.md, "What a measurement holds". Rows are in the document's order.
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
  std::vector<AttributeRow> attributes;
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
  std::vector<SlowPeriodRow> slow_spells;
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
  /// Why a metric is null; "not measured" if no reason is known.
  std::string WhyNotMeasured(std::string_view key) const;
  /// Whether guards recorded an attempt at a chunk.
  bool HasChunks() const { return Metric("num_attempts").value_or(0) > 0; }
  /// Whether stacks of functions were to be taken; there may be none.
  bool AskedForStacks() const { return !functions.empty() || quality.lost_samples.has_value(); }
  /// Whether no process could see what its threads waited for; `quality.warnings` says why.
  bool CannotSeeWaits() const { return waits.empty() && quality.processes_without_waits.has_value(); }
  /// Whether functions of waits are known, as after `crema run --waits`.
  bool HasWaitingFunctions() const {
    return std::any_of(waits.begin(), waits.end(), [](const WaitSumRow& row) { return row.function.has_value(); });
  }
};

/// Seconds since the run's start at which each worker stopped.
std::map<std::string, double> WorkerStops(const Measurement& measurement);

/// What chunks say by an attribute, quoted: a sentence for each value that has a row, with its attempts. Anybody may
/// set it, and the attributes of chunks that were summed are not known.
std::vector<std::string> QuotedAttribute(std::string_view name, const std::vector<AttributeRow>& rows,
                                         const Quality& quality);

/// Why a table has no rows, and what would fill it.
struct WhyEmpty {
  constexpr WhyEmpty(const char* usual, std::string (*of)(const Measurement&) = nullptr)  // NOLINT: a text is enough
      : text(usual), here(of) {}
  std::string_view text;                    ///< what is usually so
  std::string (*here)(const Measurement&);  ///< what is so in this measurement; empty: `text`. nullptr: always `text`
};

/// How a warning begins that says why a process took no stacks.
inline constexpr char kNoNativeStacks[] = "stacks of native functions are missing: ";
/// Why a run without chunks has no rows of chunks, or of functions and waits, and what to do.
inline constexpr char kNoChunk[] = "no chunk was recorded; put TrackMetrics around a chunk of work";
inline constexpr char kInsideNeedsGuards[] =
    "no chunk was recorded: stacks and waits need guards; put TrackMetrics around a chunk of work";

/// One table of the document: what it is, its columns, and the rows that a measurement has.
struct Table {
  std::string_view key;     ///< of the document
  std::string_view about;   ///< what a row is, and in which order rows stand; empty: as the table before
  std::string_view header;  ///< what a row is, where tables of different rows have the same columns; else empty
  Kind header_kind;         ///< of that column
  WhyEmpty empty;           ///< why there may be no rows
  absl::Span<const Column> (*columns)();
  size_t (*size)(const Measurement& measurement);
  const void* (*row)(const Measurement& measurement, size_t index);
};

/// All tables of rows, in the document's order.
absl::Span<const Table> Tables();
/// nullptr: there is none.
const Table* FindTable(std::string_view key);
/// Why one of these tables has no rows in the measurement, and what would fill it.
std::string WhyNoRows(std::string_view table, const Measurement& measurement);

// The file format of a measurement, `crema.measurement/1`: docs/measurements.md.

/// Every key, in the order in which people read them.
Json JsonOf(const Measurement& measurement);

/// A metric: null, a number or a list of names.
Json JsonOf(const MetricValue& value);
Json JsonOf(const Number& number);
/// Null where the text is empty.
Json TextOrNull(std::string_view text);

/// Never fails: a key that is not known is ignored, a value of another type is null, what is absent has no rows.
Measurement MeasurementOf(const Json& document);

// Rows of any type as cells, for tables that people see and for spreadsheets.

struct CellColumn {
  std::string_view key;
  std::string header;
  Kind kind = Kind::kCount;
  int rank = 0;
  bool opt_in = false;
};

struct CellTable {
  std::vector<CellColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< one cell for each column
};

/// Rows as people are shown them: the columns that have a header, by their place.
CellTable CellsOf(absl::Span<const Column> columns, size_t rows, const std::function<const void*(size_t)>& row);
template <class Row>
CellTable CellsOf(const std::vector<Row>& rows) {
  return CellsOf(Row::Columns(), rows.size(), [&rows](size_t index) { return &rows[index]; });
}

/// A table of the document as people are shown it; its first column says what a row is.
CellTable CellsOf(const Table& table, const Measurement& measurement);

/// A number; nullopt: the cell is null, or something else.
std::optional<double> NumberOf(const Cell& cell);
inline bool IsNull(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }
/// All its digits, as JSON has them.
std::string DigitsOf(const Number& number);

}  // namespace crema
