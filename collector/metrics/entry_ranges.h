// The entry ranges of a few chunks, found again in the logs: attempts do not keep them (millions of them leave no
// room).
#ifndef CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_
#define CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_

#include <vector>

#include "collector/metrics/document_tables.h"
#include "collector/metrics/run_figures.h"
#include "collector/sources/record_log.h"
#include "collector/sources/record_log_parts.h"

namespace crema {

/// Of the first `kMaxStragglerRows` stragglers, by their index. Only those stretches of a log are read in which a chunk
/// that began when a straggler did may stand; `stretches` by log, as `ReadRecords` noted them.
std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const std::vector<RecordLog>& logs,
                                        const std::vector<std::vector<ChunkStretch>>& stretches);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENTRY_RANGES_H_
