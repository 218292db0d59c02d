// One recorded process: its life, its cores, its memory.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_PROCESS_ROW_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_PROCESS_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/records/facts.h"

namespace crema {

enum class ProcessState : uint8_t {
  kEnded,       // wrote its `end` line, or its engine reports an orderly end
  kRunning,     // its log is still locked by it
  kLost,        // it vanished in a chunk, or somebody reports a failure (workers/process_ends.h)
  kUnreported,  // nothing says how it ended: a signal or `_exit` between two chunks leaves no line
};

/// CPU time and run delay of a process since it began.
struct CpuReading {
  int64_t time_ns = 0;
  int64_t cpu_ns = 0;
  std::optional<int64_t> run_delay_ns;
};

/// A process that opened a record log. With chunks in it, it is a worker (docs/metrics.md, "Runs and workers").
struct ProcessRow {
  std::string run_id;
  std::string host;
  int64_t pid = 0;
  std::optional<int64_t> pid_namespace;
  int64_t parent_pid = 0;
  int64_t start_ns = 0;  ///< Unix time
  std::string boot_id;   ///< empty: not known
  int64_t last_ns = 0;   ///< its `end` line's time, else the latest time stamp on any of its lines
  ProcessState state = ProcessState::kUnreported;
  bool is_damaged = false;                  ///< its log could not be read to its end: what became of it is not known
  std::optional<int64_t> declared_threads;  ///< CREMA_THREADS or Enable
  int64_t lanes_peak = 0;                   ///< largest `lanes_peak` of its chunks; 0: not recorded
  std::optional<double> allowed_cores;      ///< affinity and cgroup quota, the smaller
  std::optional<int64_t> memory_limit_bytes;
  std::optional<int64_t> overhead_ns;    ///< what the SDK says it cost
  ProcessCounts counts;                  ///< the largest of each that it, or `crema run`, read
  std::vector<ProcessSample> samples;    ///< by time
  std::vector<CpuReading> cpu_readings;  ///< by time; beside those in `samples`

  // Where it says that an engine started it for one task.
  std::string job;                ///< the engine's name, the task's and its step, `slurm 14.0`; empty: not told
  std::string working_directory;  ///< empty: not told

  /// Cores that its engine or batch system gave it, where its environment tells; nullopt: it does not.
  std::optional<int64_t> granted_cores;

  // Of an engine's worker only.
  bool is_engine_worker = false;
  std::string engine_worker;             ///< the engine's name for it
  std::optional<int64_t> joined_ns;      ///< on the scheduler's clock, as the next; nullopt: not seen
  std::optional<int64_t> left_ns;        ///< nullopt: it was there to the last
  std::string left_reason;               ///< why it left, in the engine's words; empty: not told
  std::optional<int64_t> disk_bytes;     ///< that it offers to tasks
  std::optional<int64_t> engine_cpu_ns;  ///< that its batch system counted, as the next
  std::optional<int64_t> engine_peak_memory_bytes;
  bool is_unrecorded = false;              ///< what it did is not known: it sent no records, or none were found
  bool is_job = false;                     ///< of a batch system: its cores are its own, whatever it does
  std::optional<int64_t> time_limit_ns;    ///< that its batch system gave it
  std::optional<int64_t> clock_offset_ns;  ///< what the scheduler's clock is ahead of its own

  /// `<host>:<pid>`.
  std::string process() const { return host + ":" + std::to_string(pid); }
  /// The worker's name in every table: the engine's, else the process's.
  std::string worker() const { return engine_worker.empty() ? process() : engine_worker; }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_PROCESS_ROW_H_
