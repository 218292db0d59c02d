// The totals of a run that more than one source can know: which source is taken, and how far the others are from it.
#pragma once

#include <map>
#include <set>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/breakdown.h"
#include "collector/sources/coffea_report.h"

namespace crema {

/// Sums over the items that report the quantity; nullopt where none does.
struct CoffeaSums {
  std::optional<int64_t> entries;  ///< events
  std::optional<double> duration;  ///< seconds, wall, around process()
  std::optional<int64_t> bytes;    ///< requested from files
};

struct CoffeaFigures {
  int64_t reports = 0;
  CoffeaSums report;                 ///< Coffea's `entries`, `processtime`, `bytesread`
  std::optional<int64_t> chunks;     ///< work items, of reports
  std::vector<std::string> columns;  ///< of reports, sorted
  bool has_columns = false;
  std::map<std::string, CoffeaSums> datasets;  ///< by name
  CoffeaSums of_datasets;                      ///< their sum

  bool empty() const { return reports == 0 && datasets.empty(); }
};

/// Accumulator of reports and of figures by dataset. Counts beyond 64 bits stay at the largest integer.
class CoffeaAccumulator {
 public:
  void Add(const CoffeaReport& report);
  void Add(const MetricsByDataset& metrics);
  void Merge(const CoffeaAccumulator& other);
  CoffeaFigures Finalize() const;

 private:
  CoffeaFigures sums_;  // `columns` and `of_datasets` are made at the end
  std::set<std::string> columns_;
};

/// A value and the source it is from: `records`, `coffea_report` or `metrics_by_dataset`; empty: not measured.
template <class T>
struct SourcedValue {
  std::optional<T> value;
  std::string_view source;
};

/// docs/metrics.md, "Rules".
struct RunTotals {
  SourcedValue<double> busy_time;  ///< seconds
  SourcedValue<int64_t> num_chunks;
  SourcedValue<int64_t> total_events;
  SourcedValue<int64_t> bytes_read;  ///< `bytes_read_compressed`
};

/// What records say of bytes; nullopt: no attempt recorded them.
using RecordedBytes = std::optional<int64_t>;

/// Records come first, but for bytes, where the report's come first; figures by dataset come last. Records without any
/// attempt are none. `has_processes`: some process opened a log, so that no chunk is a measured zero.
RunTotals ChooseTotals(bool has_processes, const AttemptTotals& totals, const RecordedBytes& bytes_read_chunks,
                       const CoffeaFigures& coffea);

/// Adds a row for each dataset that only Coffea's figures by dataset know; chunks, attempts and CPU are not known of
/// them. Returns `run.datasets_source`: one of the sources, `mixed`, or empty where there are no rows.
std::string_view FillDatasets(const CoffeaFigures& coffea, std::vector<BreakdownRow>* by_dataset);

/// One line for each quantity that two sources give and that differs by over 1 % (docs/metrics.md, "Rules").
/// `by_dataset` as after `FillDatasets`.
std::vector<std::string> CompareSources(const RunTotals& chosen, const AttemptTotals& totals,
                                        const RecordedBytes& bytes_read_chunks, const CoffeaFigures& coffea,
                                        const std::vector<BreakdownRow>& by_dataset);

}  // namespace crema
