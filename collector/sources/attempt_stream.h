// The attempts in record logs, one after another: a log of any length costs the same memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "collector/records/attempt_state.h"
#include "collector/records/facts.h"
#include "collector/records/seen_numbers.h"
#include "collector/sources/record_log.h"

namespace crema {

/// What GPUs did for each chunk of a log. Its lines come after those of the chunks, so the log is looked through
/// before.
class GpuOfChunks {
 public:
  /// Reads the log's `gpu` lines; a stream, which can be read once only, gives none.
  explicit GpuOfChunks(const RecordLog& log);

  /// The sums of the chunk; nullopt where its process did not count, or not until the chunk's end. `pid`, `start_ns`
  /// and `recorder` as in the process line.
  std::optional<GpuWork> Of(int64_t pid, int64_t start_ns, int64_t recorder, const ChunkFact& chunk) const;

 private:
  struct Process {
    std::map<int64_t, GpuWork> chunks;
    std::optional<int64_t> until_ns;  ///< then, or before, it stopped counting, or vanished
  };
  std::map<std::tuple<int64_t, int64_t, int64_t>, Process> processes_;
};

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

/// A task in a worker's own log.
struct TaskOfRun {
  const AttemptProcess& process;
  const TaskFact& fact;
};

/// Views of the task hold during the call only.
using OnTask = std::function<void(const TaskOfRun&)>;

/// Puts the lines of one log together: a `begin` without its `chunk` is an attempt too. It holds what is open.
class AttemptAssembler {
 public:
  AttemptAssembler(bool running, OnAttempt on_attempt) : running_(running), on_attempt_(std::move(on_attempt)) {}
  /// Takes the next record of the log; a process record begins a process.
  void Add(const Record& record);
  /// Hands out what never ended. To be called at the end of the log.
  void Finish();
  const AttemptProcess& process() const { return process_; }

 private:
  struct Begun {
    std::string dataset, file, tree, pass;
    BeginFact fact;                  ///< its texts are stale
    std::optional<int64_t> next_ns;  ///< when its thread began its next
  };
  /// A thread begins an attempt, so the one that it began before has ended.
  void SeeThread(std::optional<uint64_t> thread, std::optional<int64_t> tid, int64_t number, int64_t start_ns);

  bool running_;
  OnAttempt on_attempt_;
  AttemptProcess process_;
  std::map<int64_t, Begun> begun_;
  std::map<uint64_t, int64_t> latest_of_thread_;  ///< number of what it began last
  std::optional<int64_t> open_at_end_;
  bool chunks_overlap_ = false;  ///< threads begin chunks while others of theirs are open
  SeenNumbers ended_;
};

/// Reads the records of one log as `ReadRecordLog` does, those of processes of other runs left out unless `all_runs`.
LogReading ReadLogOfRun(const RecordLog& log, bool running, bool all_runs,
                        const std::function<void(const Record&)>& on_record);

/// Reads the logs that `FindRecordLogs` found. Attempts come in the order of their ends, those that never ended last,
/// log by log, with what GPUs did for each.
LogReading ForEachAttempt(const RecordLogs& logs, const OnAttempt& on_attempt);

/// The same of tasks, in the order of their lines.
LogReading ForEachTask(const RecordLogs& logs, const OnTask& on_task);

}  // namespace crema
