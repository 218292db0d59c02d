// The entry ranges and the slow sections of a few chunks.
#ifndef CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_
#define CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/chunk_search.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// What attempts do not keep.
struct EntryRange {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  std::string slow_section;  ///< docs/metrics.md, `stragglers.section`; empty: none
};

/// Rows listed in the document; the count is in the metrics.
inline constexpr size_t kMaxStragglerRows = 1000;

/// Of the first `kMaxStragglerRows` stragglers, by their index.
std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const SearchedLogs& logs);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_
