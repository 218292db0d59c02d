// Reads record logs into accumulators, on all cores.
#ifndef CREMA_COLLECTOR_METRICS_READ_RECORDS_H_
#define CREMA_COLLECTOR_METRICS_READ_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/metrics/record_accumulator.h"
#include "collector/sources/record_log.h"
#include "collector/sources/record_log_parts.h"

namespace crema {

/// Unix nanoseconds. What began outside is none of the run: workers of an engine serve one run after another.
struct RecordWindow {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  int64_t flushed_ns = 0;  ///< until then, workers told their activities of before `stop_ns`

  /// Sums cannot be divided: they are kept where all of them is inside.
  bool Keeps(const Record& record) const;
  bool Touches(const SumsFact& sums) const;
};

struct ReadRecordsOptions {
  /// Take the processes of every run, not only those of each log's first run.
  bool all_runs = false;
  /// 0: as many as the cores that this process may use.
  size_t threads = 0;
  /// Logs larger than this are read in parts, where there is more than one thread.
  int64_t part_bytes = int64_t{64} << 20;
  /// nullopt: everything counts.
  std::optional<RecordWindow> window;
  /// Of processes of these jobs everything counts, whatever the window is: `process.engine`, as `ProcessRow::job`.
  std::set<std::string> jobs;
  /// Takes attempts that have no room in memory; outlives what is read. nullptr: all have.
  RowSpill* spill = nullptr;
};

struct RecordsRead {
  RecordAccumulator accumulator;
  LogReading reading;
  std::vector<std::vector<ChunkStretch>> stretches;  ///< by log
};

/// Neither the number of threads nor the size of parts changes what is found.
RecordsRead ReadRecords(const std::vector<RecordLog>& logs, const ReadRecordsOptions& options);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_READ_RECORDS_H_
