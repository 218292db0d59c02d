// Logs that were found and left out, for who keeps them: a newer crema may read them.
#ifndef CREMA_COLLECTOR_SOURCES_LEFT_OUT_LOGS_H_
#define CREMA_COLLECTOR_SOURCES_LEFT_OUT_LOGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/sources/record_log.h"

namespace crema {

/// As `FindRecordLogs`. Adds the paths of `RecordLogs::logs_left_out` to `*left_out`, but for those that cannot be
/// read.
absl::StatusOr<RecordLogs> FindRecordLogs(const std::vector<std::string>& sources, const std::string& run,
                                          bool takes_streams, std::vector<std::string>* left_out);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_LEFT_OUT_LOGS_H_
