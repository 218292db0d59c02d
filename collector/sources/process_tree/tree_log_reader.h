// Reads the process-tree log that `crema run` leaves beside the record logs (`*.tree.ndjson`, `crema.tree/1`).
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_READER_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/sources/process_tree/tree_log_format.h"
#include "collector/sources/process_tree/tree_run.h"

namespace crema {

/// What was read, and what could not be.
struct TreeLogReading {
  TreeRun run;
  int64_t lines = 0;
  int64_t malformed = 0;
  int64_t torn = 0;                   ///< a last line without its end: the writer was killed in it, or is at it
  int64_t unknown = 0;                ///< lines of a type that this reader does not know
  std::vector<std::string> problems;  ///< `file:line: what`, the first ten
};

/// Called for each sample, in the order of the log, where a series is wanted and not only what it comes to.
using OnTreeSample = std::function<void(const TreeSampleFact&)>;

/// Reads one log. Bad lines are counted and named, the rest is used. A log still locked by its writer is `running`.
/// Errors: it cannot be opened; its first line is no `run` line of this schema (another program's file, or torn).
absl::StatusOr<TreeLogReading> ReadTreeLog(const std::string& path, const OnTreeSample& on_sample = {});

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_READER_H_
