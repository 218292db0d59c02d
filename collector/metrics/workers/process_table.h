// The recorded processes: who they were, how long they lived, what their samples and last words say.
#pragma once

#include <map>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/recorded/section_table.h"
#include "collector/records/facts.h"

namespace crema {

/// A log as accumulators know it. `log_hash` is its identity, `process_hash` its process's (which may have several
/// recorders, each with a log), `run_hash` its run's; they are the same wherever the log is read.
struct LogRef {
  uint32_t index = 0;
  uint64_t log_hash = 0;
  uint64_t process_hash = 0;
  uint64_t run_hash = 0;
};

/// What the end of a log says of its chunks.
struct LogEnd {
  std::optional<int64_t> chunks;  ///< how many ended and were not summed
  std::optional<int64_t> open;    ///< how many were still open
};

/// What a log's end says of what is not in it.
struct LossCounts {
  std::optional<int64_t> all;
  std::optional<int64_t> misused;
  std::optional<int64_t> unwritten;
  std::optional<int64_t> outside_chunks;
  std::optional<int64_t> tasks_left_out;
  std::optional<int64_t> lost_samples;

  /// Keeps the larger value of each count.
  void Take(const LossCounts& other) {
    KeepLarger<&LossCounts::all, &LossCounts::misused, &LossCounts::unwritten, &LossCounts::outside_chunks,
               &LossCounts::tasks_left_out, &LossCounts::lost_samples>(other, this);
  }
};

/// What the table comes to.
struct ProcessFindings {
  std::vector<ProcessRow> processes;       ///< by (run, host, pid, start); those that recorded nothing come last
  size_t without_records = 0;              ///< an engine's workers of which only the scheduler knows
  std::vector<uint32_t> process_of_log;    ///< by log index
  std::vector<uint32_t> writer_of_log;     ///< by log index: the same for logs that one copy of the SDK wrote
  std::vector<LogEnd> end_of_log;          ///< by log index; nothing where the log has no end
  std::vector<SectionRow> sections;        ///< outside chunks, summed over processes
  std::vector<std::string> run_ids;        ///< those that are not empty, sorted
  std::vector<bool> serves_engine;         ///< by process: it ran an engine's tasks
  int64_t records_dropped = 0;             ///< said by the SDK
  int64_t guards_misused = 0;              ///< of these, guards that were not used as they should be
  int64_t records_unwritten = 0;           ///< of these, lines that the disk did not take
  int64_t values_outside_chunks = 0;       ///< of these, values and guards where no chunk was open
  int64_t records_without_room = 0;        ///< of these, those for which there was no memory, or no place in a chunk
  int64_t records_of_unknown_cause = 0;    ///< of these, those of logs that do not say causes
  int64_t tasks_left_out = 0;              ///< tasks without a line, as the processes that ended say
  std::optional<int64_t> lost_samples;     ///< samples of native stacks without a line; nullopt: nobody took them
  int64_t summed_chunks = 0;               ///< chunks without a line, as the processes that ended say
  std::optional<int64_t> clock_step_ns;    ///< the largest step of a wall clock; nullopt: nobody looked
  std::optional<int64_t> sampling_gap_ns;  ///< the longest time between two samples of one process
  std::optional<int64_t> total_events;     ///< what the runs said they would process; nullopt: not each run did
  int64_t dropped_paths = 0;               ///< readings of section paths beyond the limit

  bool has_records() const { return processes.size() > without_records; }
};

/// Accumulator of process, sample and end lines.
class ProcessTable {
 public:
  /// Sections outside chunks kept for a run; beyond it they are counted.
  static constexpr size_t kMaxSectionPaths = 1000;

  /// `running`: the process still holds its log. A log that was added before is found again.
  LogRef Add(const ProcessFact& fact, bool running);
  void Add(const LogRef& log, const SampleFact& fact);
  void Add(const LogRef& log, const BeginFact& fact);
  void Add(const LogRef& log, const EndFact& fact);
  /// Any line shows that its process was alive then.
  void SawAlive(const LogRef& log, int64_t time_ns) {
    ProcessRow& row = logs_[log.index].row;
    row.last_ns = std::max(row.last_ns, time_ns);
  }
  void SawLanes(const LogRef& log, int64_t lanes) {
    ProcessRow& row = logs_[log.index].row;
    row.lanes_peak = std::max(row.lanes_peak, lanes);
  }
  /// A chunk of it knew so much of its process's memory.
  void SawPeak(const LogRef& log, const std::optional<int64_t>& rss_peak_bytes) {
    ProcessCounts& counts = logs_[log.index].row.counts;
    counts.rss_peak_bytes = std::max(counts.rss_peak_bytes, rss_peak_bytes);
  }
  /// A chunk began or ended in it: its process is a worker.
  void SawChunk(const LogRef& log) { logs_[log.index].has_chunks = true; }
  /// The rest of the log could not be read.
  void SawDamage(const LogRef& log) { logs_[log.index].row.is_damaged = true; }
  /// An engine's plug-in writes this log; `worker` is the engine's name for the process, where it is known.
  void SawEngine(const LogRef& log, std::string_view worker);
  void Add(const LogRef& log, const ClockFact& fact);

  /// Entry i of the result is the index here of the other's log i.
  std::vector<uint32_t> Merge(const ProcessTable& other);
  ProcessFindings Finalize() const;

 private:
  struct Section {
    std::string path;
    bool helper;
    SectionSums sums;
  };
  struct Log {
    LogRef ref;
    ProcessRow row;
    int64_t first_recorder = 0;
    bool running = false;
    std::optional<int64_t> end_ns;
    LossCounts losses;
    LogEnd end;
    std::optional<int64_t> summed_chunks;
    std::optional<int64_t> clock_step_ns;
    std::optional<int64_t> total_events;
    bool serves_engine = false;
    bool has_chunks = false;
    std::optional<std::pair<int64_t, int64_t>> clock;  // uncertainty and offset: the best that was reported
    // Sections outside chunks are recorded as sums since the process began: the latest line is the whole truth.
    // `reported` is when, and how much, which decides between two lines of one moment.
    std::pair<int64_t, absl::int128> reported = {-1, 0};
    std::vector<Section> sections;
  };

  static void TakeSections(Log& log, int64_t time_ns, const std::vector<SectionFact>& sections);
  static void TakeClockStep(Log& log, const std::optional<int64_t>& offset_ns);

  std::vector<Log> logs_;
  std::map<uint64_t, uint32_t> index_;  // by log hash
};

}  // namespace crema
