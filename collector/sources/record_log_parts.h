// Record logs read in parts, so that one large log keeps several threads busy.
#ifndef CREMA_COLLECTOR_SOURCES_RECORD_LOG_PARTS_H_
#define CREMA_COLLECTOR_SOURCES_RECORD_LOG_PARTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/records/facts.h"
#include "collector/sources/record_log.h"
#include "collector/sources/record_log_lines.h"

namespace crema {

/// Where chunk lines stand in a log: some kilobytes of it, and when the chunks in them began. With it a few chunks are
/// found again without reading all.
struct ChunkStretch {
  int64_t offset = 0;          ///< of its first line; it reaches to the next one's
  int64_t first_start_ns = 0;  ///< earliest and latest `start_ns`, Unix time
  int64_t last_start_ns = 0;
};

struct LogProblem {
  int64_t line = 0;  ///< from 1, counted from the part's first line
  std::string what;  ///< what it is, and what was done
};

/// What reading one part came to.
struct LogPartReading {
  int64_t lines = 0;  ///< all of them
  int64_t records_read = 0;
  int64_t records_malformed = 0;
  int64_t records_torn = 0;
  int64_t records_unknown = 0;
  std::vector<LogProblem> problems;  ///< the first `LogReading::kMaxWarnings`
  int64_t more_problems = 0;
  std::string failure;  ///< why reading ended early; empty: it did not
  /// Another major schema began: nothing after it in the log may be used.
  std::optional<LogProblem> refused;
  std::vector<ChunkStretch> stretches;  ///< by offset
};

/// Cuts a log into parts of `bytes_each`, the last one without an end: it takes what is written meanwhile. A compressed
/// log is one part.
std::vector<LogPart> CutRecordLog(const RecordLog& log, int64_t bytes_each);

/// Reads a part as `ReadRecordLog` reads the whole. The first record of the part that begins at 0 is of a process.
LogPartReading ReadLogPart(const RecordLog& log, const LogPart& part, bool running,
                           const std::function<void(const Record&)>& on_record);

/// What the parts of a log, all of them and in order, came to: the same as if it had been read in one. After one that
/// was `refused` come no others.
LogReading JoinParts(const RecordLog& log, const std::vector<LogPartReading>& parts);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_RECORD_LOG_PARTS_H_
