// Reads record logs into accumulators, on all cores.
#pragma once

#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/run_figures.h"
#include "collector/records/facts.h"
#include "collector/sources/record_log.h"

namespace crema {

/// Unix nanoseconds. What began outside is none of the run: workers of an engine serve one run after another.
struct RecordWindow {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  int64_t flushed_ns = 0;  ///< until then, workers reported their activities of before `stop_ns`

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
  /// Everything of processes of these jobs counts, whatever the window is: `process.engine`, as `ProcessRow::job`.
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

/// The logs of a run; `stretches` by log, as `ReadRecords` noted them.
struct SearchedLogs {
  const std::vector<RecordLog>& logs;
  const std::vector<std::vector<ChunkStretch>>& stretches;
};

/// Finds a few chunks again, because attempts do not keep all that their records hold: millions of them leave no room.
/// Calls `visit(i, chunk)` for the record of the i-th of the `attempts` (indices of the findings' rows), in the order
/// of the logs; not for those that are in a stream. Only those stretches of a log are read in which a chunk that
/// began when one of them did may be.
void FindChunks(const RecordFindings& findings, const std::vector<size_t>& attempts, const SearchedLogs& where,
                const std::function<void(size_t, const ChunkFact&)>& visit);

/// What attempts do not keep.
struct EntryRange {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  std::string slow_section;  ///< docs/metrics.md, `stragglers.section`; empty: none
};

/// Rows listed in the document; the count is in the metrics.
inline constexpr size_t kMaxStragglerRows = 1000;

/// Finds the ranges of the first `kMaxStragglerRows` stragglers, by their index.
std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const SearchedLogs& logs);

/// Sets `section` of the periods that have a sample: the one whose own time took half or more of what the period's
/// chunks took beyond the usual. The usual is the share that the section has in chunks of the same datasets elsewhere.
/// Sections of helpers do not count: their time is beside the chunk's. Reads the records of the samples again.
void NamePeriodSections(const SearchedLogs& logs, RunFigures* figures);

}  // namespace crema
