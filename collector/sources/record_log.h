// Record logs `crema.records/1` (docs/record_log.md) as a source: finds them in directories and reads their facts.
#ifndef CREMA_COLLECTOR_SOURCES_RECORD_LOG_H_
#define CREMA_COLLECTOR_SOURCES_RECORD_LOG_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/engines/engines.h"
#include "collector/records/facts.h"
#include "collector/sources/prmon_paths.h"

namespace crema {

/// One `*.jsonl` file: the log of one recorder in one process.
struct RecordLog {
  std::string path;
  int64_t bytes = 0;
  std::string run_id;  ///< empty: none
  std::string host;
  int64_t pid = 0;
  std::optional<int64_t> pid_namespace;
  int64_t start_ns = 0;
  std::string boot_id;  ///< empty: not known
  int64_t recorder = 0;
  /// False: the first record is of no process, so the above is what the file's name says, and where that says nothing,
  /// `start_ns` is the time of the first record.
  bool has_process_line = false;
  /// A pipe, or what standard input brings: logs one after another, read once as they come. Of the above only `run_id`
  /// is known, where a run was chosen.
  bool is_stream = false;
};

struct RecordLogs {
  std::vector<RecordLog> logs;           ///< by path
  std::vector<std::string> tree_logs;    ///< paths of `*.tree.ndjson`, which `crema run` writes, sorted
  std::vector<EngineLog> engine_logs;    ///< what engines told, by path
  std::vector<PrmonPaths> prmon;         ///< jobs that prmon watched
  std::vector<std::string> directories;  ///< those that held logs
  std::vector<std::string> warnings;
  int64_t logs_left_out = 0;  ///< empty, of another schema, or without a record that can be read
  int64_t logs_missing = 0;   ///< that measurements were made from, and that are no longer in them
  bool all_runs = false;      ///< asked for: logs are read whole, whatever runs their processes are of
};

/// Finds the logs of one run. A source is a directory of logs, a directory with a folder `records` (a measurement), or
/// one log, or files of prmon or a directory that holds them; a directory in which `crema run` watched the same job has
/// no need of them. `run` is a run's id, `all`, or empty for the only one there is. A log that is there twice (linked,
/// or a copy that was made while it grew) is taken once, and one without a record that can be read is left out, with a
/// warning. Logs of another major schema are left out with a warning.
/// With `takes_streams` a source may be a named pipe or `-`, standard input. Adds the paths of `logs_left_out` that can
/// be read to `*left_out`, for who keeps them.
/// Errors: a source that does not exist or holds no readable log; several runs where none was chosen: they are listed.
absl::StatusOr<RecordLogs> FindRecordLogs(const std::vector<std::string>& sources, const std::string& run,
                                          bool takes_streams = false, std::vector<std::string>* left_out = nullptr);

/// Whether a source is such a stream.
bool IsStream(const std::string& source);

/// What reading logs came to. Adding readings up in the order of the logs gives the same result for any split.
struct LogReading {
  int64_t records_read = 0;
  int64_t records_malformed = 0;
  int64_t records_torn = 0;
  int64_t records_unknown = 0;
  int64_t logs_damaged = 0;           ///< not read to their end
  std::vector<std::string> warnings;  ///< `file:line: what; what was done`, the first `kMaxWarnings`
  int64_t more_warnings = 0;          ///< those beyond
  std::vector<std::string> stops;     ///< where reading ended before the log did, and why; the first `kMaxWarnings`
  int64_t more_stops = 0;

  static constexpr size_t kMaxWarnings = 20;
  void Warn(std::string warning);
  /// Lines after it were neither read nor counted: that is said whatever else there is to say.
  void Stop(std::string why);
  void Add(const LogReading& other);
};

/// Reads one log to its present end and hands every record to `on_record`, a process record first (made from the file's
/// name where the log has none). `running` is what `MayLackItsEnd` said before: then the unfinished last line is
/// waited for, not counted.
LogReading ReadRecordLog(const RecordLog& log, bool running, const std::function<void(const Record&)>& on_record);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_RECORD_LOG_H_
