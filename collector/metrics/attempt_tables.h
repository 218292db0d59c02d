// Tables of what was found among attempts: which were slow, where, and what a chunk costs.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPT_TABLES_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPT_TABLES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/document_tables.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// Entry ranges of stragglers, which attempts do not keep: by index into `RunFigures::stragglers.stragglers`.
struct EntryRange {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
};
/// Rows listed in the document; the count is in the metrics.
inline constexpr size_t kMaxStragglerRows = 1000;
/// The first stragglers, as many as there are ranges.
Json StragglerTable(const RunFigures& figures, const std::vector<EntryRange>& ranges);

/// One row for each dataset with an `ok` attempt: the robust fit of duration over events.
Json ChunkFitTable(const RunFigures& figures);
inline constexpr size_t kMaxExpectedRows = 500;
/// Workers, then files, at most `kMaxExpectedRows` of each.
Json ExpectedTimeTable(const RunFigures& figures);
/// At most 100.
Json SlowSpellTable(const RunFigures& figures);
/// One row; none where no attempt ended.
Json ContentionTable(const RunFigures& figures);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPT_TABLES_H_
