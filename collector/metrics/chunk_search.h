// A few chunks, found again in the logs: attempts do not keep all that their records told (millions of them leave no
// room).
#ifndef CREMA_COLLECTOR_METRICS_CHUNK_SEARCH_H_
#define CREMA_COLLECTOR_METRICS_CHUNK_SEARCH_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "collector/metrics/record_accumulator.h"
#include "collector/records/facts.h"
#include "collector/sources/record_log.h"
#include "collector/sources/record_log_parts.h"

namespace crema {

/// The logs of a run; `stretches` by log, as `ReadRecords` noted them.
struct SearchedLogs {
  const std::vector<RecordLog>& logs;
  const std::vector<std::vector<ChunkStretch>>& stretches;
};

/// Calls `visit(i, chunk)` for the record of the i-th of the `attempts` (indices of the findings' rows), in the order
/// of the logs; not for those that stand in a stream. Only those stretches of a log are read in which a chunk that
/// began when one of them did may stand.
void FindChunks(const RecordFindings& findings, const std::vector<size_t>& attempts, const SearchedLogs& where,
                const std::function<void(size_t, const ChunkFact&)>& visit);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CHUNK_SEARCH_H_
