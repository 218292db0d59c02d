// Record logs `crema.records/1` (docs/record_log.md) as a source: finds them in directories and reads their facts.
#pragma once

#include "collector/compression/decompressed_file.h"
#include "collector/engines/engines.h"
#include "collector/records/facts.h"
#include "collector/records/sums_so_far.h"
#include "collector/sources/prmon_paths.h"

namespace crema {

/// Whether a process holds the log open for writing (flock(2)); it still may write more.
bool IsHeldByItsProcess(const std::string& path);

/// Whether the log is a copy that was made while its process ran, as its name says: `x.live.jsonl`,
/// `x.live.tree.ndjson`. That it has no end says nothing about the process.
bool IsLiveCopy(std::string_view path);

/// The name of such a copy, of a log's name; that of a copy is itself.
std::string LiveCopyName(std::string_view name);

/// Either of both: what it lacks is no loss.
bool MayLackItsEnd(const std::string& path);

/// `x.jsonl` is `x` and `.jsonl`, `x.live.tree.ndjson.gz` is `x` and `.live.tree.ndjson.gz`: where the name of a log
/// ends and its kind begins.
std::string_view KindOfLog(std::string_view name);

/// One `*.jsonl` file: the log of one recorder in one process.
struct RecordLog : ProcessIdentity {
  std::string path;
  int64_t bytes = 0;
  /// False: the first record is of no process, so the above is what the file's name says, and where that says nothing,
  /// `start_ns` is the time of the first record.
  bool has_process_line = false;
  /// A pipe, or what standard input brings: logs one after another, read once as they come. The above are not
  /// known, except `run_id` where a run was chosen.
  bool is_stream = false;
  /// Children of the process have logs here, too. What its chunks say of its children's CPU time is in those logs.
  bool has_recorded_children = false;
};

struct RecordLogs {
  std::vector<RecordLog> logs;           ///< by path
  std::vector<std::string> tree_logs;    ///< paths of `*.tree.ndjson`, which `crema run` writes, sorted
  std::vector<EngineLog> engine_logs;    ///< what engines reported, by path
  std::vector<PrmonPaths> prmon;         ///< jobs that prmon watched
  std::vector<std::string> directories;  ///< those that held logs
  std::vector<std::string> warnings;
  int64_t logs_left_out = 0;  ///< empty, of another schema, or without a record that can be read
  int64_t logs_missing = 0;   ///< that measurements were made from, and that are no longer in them
  bool all_runs = false;      ///< asked for: logs are read whole, whatever runs their processes are of
};

/// The schemes of all engines' addresses.
std::string Schemes();

/// For a source that does not exist: how an address is written, where it is one, or the names of entries beside a path.
std::string DidYouMeanSource(const std::string& source);

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

/// When a record was written, or what it describes began, Unix nanoseconds; 0: it has no time.
int64_t TimeOf(const Record& record);

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

/// Reads a file line by line in blocks, so that a log of any size costs the same memory.
struct LogLine {
  int64_t number = 0;     ///< from 1, among the lines read
  int64_t offset = 0;     ///< of its first byte in the file, as it was before compression
  std::string_view text;  ///< without its newline; followed by `RecordParser::kPadding` readable bytes
  bool whole = true;      ///< false: the file ended before a newline
  bool too_long = false;  ///< longer than `kMaxLineBytes`; `text` is its beginning
};

/// A part of a log: the lines whose first byte is one of these. So the parts of a file that was cut anywhere have each
/// line once.
struct LogPart {
  int64_t begin = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
};

/// Calls `on_line` for each line of `part` that is not blank, until it returns false. `text` holds during the call
/// only. A file that grows meanwhile is read to where its end was last seen. Returns the number of lines, blank ones
/// too. Nothing of `file` was read yet.
/// Errors: what `file` says; the lines before it were delivered.
absl::StatusOr<int64_t> ForEachLine(DecompressedFile& file, const LogPart& part,
                                    const std::function<bool(const LogLine&)>& on_line);

/// Where chunk lines are in a log: some kilobytes of it, and when the chunks in them began. With it a few chunks are
/// found again without reading all.
struct ChunkStretch {
  int64_t offset = 0;          ///< of its first line; it reaches to the next one's
  int64_t first_start_ns = 0;  ///< earliest and latest `start_ns`, Unix time
  int64_t last_start_ns = 0;
};

/// The parts of the log with the stretches in which a chunk may be that began at one of these times. `begins` are
/// sorted.
std::vector<LogPart> PartsWithBegins(const RecordLog& log, const std::vector<ChunkStretch>& stretches,
                                     const std::vector<int64_t>& begins);

struct LogProblem {
  int64_t line = 0;  ///< from 1, counted from the part's first line
  std::string what;  ///< what it is, and what was done
};

/// What reading one part came to.
struct LogPartReading {
  int64_t lines = 0;                 ///< all of them
  LogReading counts;                 ///< of its records, and of problems beyond the first
  std::vector<LogProblem> problems;  ///< the first `LogReading::kMaxWarnings`
  std::string failure;               ///< why reading ended early; empty: it did not
  /// Another major schema began: nothing after it in the log may be used.
  std::optional<LogProblem> refused;
  std::vector<ChunkStretch> stretches;  ///< by offset
};

/// Cuts a log into parts of `bytes_each`, the last one without an end: it takes what is written meanwhile. A compressed
/// log is one part.
std::vector<LogPart> CutRecordLog(const RecordLog& log, int64_t bytes_each);

/// Reads a part of a log, to its present end, and hands every record to `on_record`; in the part that begins at 0 a
/// process record first (made from the file's name where the log has none). `running` is what `MayLackItsEnd` said
/// before: then the unfinished last line is waited for, not counted.
LogPartReading ReadLogPart(const RecordLog& log, const LogPart& part, bool running,
                           const std::function<void(const Record&)>& on_record);

/// What the parts of a log, all of them and in order, came to: the same as if it had been read in one. After one that
/// was `refused` come no others.
LogReading JoinParts(const RecordLog& log, const std::vector<LogPartReading>& parts);

/// Whose chunk it was.
struct AttemptProcess : ProcessIdentity {
  std::string worker = {};             ///< `<host>:<pid>`, or an engine's name for it: as the document has it
  std::string job = {};                ///< the name of the engine that runs it, and its task's: `taskvine 14`
  std::string working_directory = {};  ///< empty: not known
};

struct Attempt {
  const AttemptProcess& process;
  AttemptState state = AttemptState::kOk;
  /// If the attempt has no record of its end, only number, start, thread, tid and input are known; `stop_ns` is 0.
  const ChunkFact& chunk;
  std::optional<GpuWork> gpu = {};  ///< what GPUs did for it; nullopt: not counted, or not asked for

  bool has_ended() const { return HasEnded(state); }
};

/// Views of the attempt hold during the call only.
using OnAttempt = std::function<void(const Attempt&)>;

/// What a first reading of logs notes, so that a second one finds a few attempts that ended without reading all.
struct ChunkPlaces {
  std::vector<std::vector<ChunkStretch>> stretches;  ///< by log; empty: this is the first reading
  std::vector<int64_t> begins;                       ///< Unix time, sorted: the second reading's attempts
};

/// Calls back with attempts; `MeasuredSource::ForEachAttempt` is one. With places it does not look for what GPUs did.
/// With those of a first reading, it leaves out most of the attempts that began at other times.
class AttemptReader {
 public:
  AttemptReader() = default;  // reads nothing
  template <class Read>
  AttemptReader(Read read) {  // NOLINT(google-explicit-constructor): a reader of all attempts is one
    if constexpr (std::is_invocable_v<Read, const OnAttempt&, ChunkPlaces*>) {
      read_ = std::move(read);
    } else {
      read_ = [read = std::move(read)](const OnAttempt& on_attempt, ChunkPlaces*) { return read(on_attempt); };
    }
  }
  absl::Status operator()(const OnAttempt& on_attempt, ChunkPlaces* places = nullptr) const {
    return read_ == nullptr ? absl::OkStatus() : read_(on_attempt, places);
  }

 private:
  std::function<absl::Status(const OnAttempt&, ChunkPlaces*)> read_;
};

/// A task in a worker's own log.
struct TaskOfRun {
  const AttemptProcess& process;
  const TaskFact& fact;
};

/// Views of the task hold during the call only.
using OnTask = std::function<void(const TaskOfRun&)>;

/// An attempt that has begun. Its end is not recorded so far.
struct BegunAttempt {
  std::string dataset, file, tree, pass, attributes;
  BeginFact fact;                  ///< its texts are stale
  std::optional<int64_t> next_ns;  ///< when its thread began its next
};

/// Puts the lines of one log together: a `begin` without its `chunk` is an attempt too. It holds what is open.
class AttemptAssembler {
 public:
  AttemptAssembler(bool running, OnAttempt on_attempt) : running_(running), on_attempt_(std::move(on_attempt)) {}
  /// Takes the next record of the log; a process record begins a process. False: the same line was there before.
  bool Add(const Record& record);
  /// Hands out what never ended. To be called at the end of the log.
  void Finish();
  const AttemptProcess& process() const { return process_; }

  /// How many attempts have begun and have no record of their end. Only the record is missing of those whose thread has
  /// begun its next.
  size_t begun() const { return begun_.size(); }
  size_t unrecorded() const { return chunks_overlap_ ? 0 : overtaken_; }
  /// Calls `visit(begun)` for each of the others, by number: they are open.
  template <class Visit>
  void ForEachOpen(const Visit& visit) const {
    for (const auto& [number, begun] : begun_) {
      if (chunks_overlap_ || !begun.next_ns.has_value()) visit(begun);
    }
  }

 private:
  /// A thread begins an attempt, so the one that it began before has ended.
  void SeeThread(uint64_t thread, int64_t number, int64_t start_ns);
  void Forget(int64_t number);
  static constexpr size_t kFewThreads = 100;
  /// Those whose latest attempt has ended.
  void ForgetThreads();

  bool running_;
  OnAttempt on_attempt_;
  AttemptProcess process_;
  std::map<int64_t, BegunAttempt> begun_;
  size_t overtaken_ = 0;                          ///< of these, those with a `next_ns`
  std::map<uint64_t, int64_t> latest_of_thread_;  ///< number of what it began last
  std::optional<int64_t> open_at_end_;
  bool chunks_overlap_ = false;  ///< threads begin chunks while others of theirs are open
  SeenNumbers ended_;
};

/// Reads the records of one log as `ReadLogPart` does, those of processes of other runs left out unless `all_runs`.
/// Adds to `*stretches` where its chunks stand.
LogReading ReadLogOfRun(const RecordLog& log, bool running, bool all_runs,
                        const std::function<void(const Record&)>& on_record,
                        std::vector<ChunkStretch>* stretches = nullptr);

/// Reads the logs that `FindRecordLogs` found. Attempts come in the order of their ends, those that never ended last,
/// log by log, with what GPUs did for each. `places`: as for an `AttemptReader`.
LogReading ForEachAttempt(const RecordLogs& logs, const OnAttempt& on_attempt, ChunkPlaces* places = nullptr);

/// The same of tasks, in the order of their lines.
LogReading ForEachTask(const RecordLogs& logs, const OnTask& on_task);

}  // namespace crema
