// The entry ranges of a few chunks.
#ifndef CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_
#define CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_

#include <vector>

#include "collector/metrics/attempt_tables.h"
#include "collector/metrics/chunk_search.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// Of the first `kMaxStragglerRows` stragglers, by their index.
std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const SearchedLogs& logs);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_
