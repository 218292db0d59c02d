// The totals of a run that more than one source can tell: which source is taken, and how far the others are from it.
#ifndef CREMA_COLLECTOR_METRICS_COFFEA_RUN_TOTALS_H_
#define CREMA_COLLECTOR_METRICS_COFFEA_RUN_TOTALS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/attempt_totals.h"
#include "collector/metrics/attempts/breakdown.h"
#include "collector/metrics/coffea/coffea_accumulator.h"

namespace crema {

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

/// What records say of bytes; nullopt: no attempt told.
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

#endif  // CREMA_COLLECTOR_METRICS_COFFEA_RUN_TOTALS_H_
