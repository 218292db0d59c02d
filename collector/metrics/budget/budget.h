// Where the core-seconds went: docs/metrics.md, "The core-second budget".
#pragma once

#include "collector/measurement/breakdowns.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/budget/lane_time.h"
#include "collector/metrics/engine/task_join.h"
#include "collector/metrics/workers/worker_life.h"

namespace crema {

/// So much CPU, or run delay, of a process is of no chunk and no task.
struct OutsideCpu {
  /// Between two readings of the process's sum, in Unix time.
  struct Piece {
    int64_t start_ns = 0;
    int64_t stop_ns = 0;
    int64_t most_ns = 0;  ///< by how much the sum rose: no more of `cpu_ns` is in this piece
  };
  int64_t cpu_ns = 0;
  std::vector<Piece> pieces;  ///< in order of time; those in which nothing rose are left out
};

/// Compares the CPU time of one process, or its run delay, with that of its chunks. A chunk does not say when it
/// computed, so only readings at which no chunk was open are compared: what is reported is exact between them, and
/// nothing is reported before the first and after the last. The readings between them limit where it can have been.
class ProcessCpu {
 public:
  enum class Quantity : uint8_t { kCpu, kRunDelay };

  explicit ProcessCpu(const ProcessRow& process, Quantity quantity = Quantity::kCpu);

  /// The CPU time of the process is known at two times or more.
  bool is_known() const { return readings_.size() > 1; }
  /// A chunk, with its helpers, whose CPU time is known.
  void AddChunk(int64_t start_ns, int64_t stop_ns, int64_t cpu_ns);
  /// A thread was in a chunk or task whose CPU time is not known: all of this time may have been CPU.
  void AddUnknown(int64_t start_ns, int64_t stop_ns);

  /// In order of time; stretches without such CPU are left out.
  std::vector<OutsideCpu> Find() const;

 private:
  struct Reading {
    int64_t time_ns = 0;
    int64_t cpu_ns = 0;        ///< of the process, since it began
    int64_t chunk_cpu_ns = 0;  ///< of chunks that began between this reading and the next
    int64_t unknown_ns = 0;    ///< of threads, between this reading and the next
    int64_t opened = 0;        ///< chunks open at this reading that were not at the one before, less those that ended
  };

  /// The last reading that is not after `time_ns`; readings_.size() where there is none.
  size_t ReadingBefore(int64_t time_ns);

  std::vector<Reading> readings_;  ///< by time
  size_t hint_ = 0;                ///< where the last one was looked for: chunks come nearly in order
};

/// Lane nanoseconds x `kOneLane`.
struct FreeTime {
  LaneTimeSum startup = 0;
  LaneTimeSum idle = 0;
  LaneTimeSum tail = 0;
  LaneTimeSum shutdown = 0;

  static constexpr LaneTimeSum FreeTime::*kParts[] = {&FreeTime::startup, &FreeTime::idle, &FreeTime::tail,
                                                      &FreeTime::shutdown};
  LaneTimeSum sum() const { return startup + idle + tail + shutdown; }
  FreeTime& operator+=(const FreeTime& other) {
    for (const auto part : kParts) this->*part += other.*part;
    return *this;
  }
};

/// Lane nanoseconds x `kOneLane`; all but `oversubscribed` add up to what no lane took.
struct FreeParts {
  FreeTime free;
  FreeTime process_cpu;      ///< by the free time that it took
  LaneTimeSum cpu_wait = 0;  ///< threads outside chunks were ready to run
  LaneTimeSum joined = 0;
  LaneTimeSum framework = 0;
  LaneTimeSum oversubscribed = 0;
  bool process_cpu_known = false;

  FreeParts& operator+=(const FreeParts& other);
  /// Attempts of which it is not known when they occupied a lane (helpers, suspension, other chunks inside) are spread
  /// evenly: up to `spread` of what is beyond the cores was in time that seems free, in `idle` first. Returns what that
  /// gave.
  LaneTimeSum FillWithSpread(LaneTimeSum spread);
  /// Cores were free while owners waited for their helpers, which had others: so much of `idle`, then of `tail`.
  void MoveToJoined(LaneTimeSum joined_ns);
  /// Execution outside tasks has no time stamps: it took place in idle time, as far as that goes, and some of it was
  /// CPU.
  void MoveToFramework(int64_t outside_tasks_ns);
};

/// The free time of one worker, in each stretch of CPU or run delay outside its chunks and between them.
class FreeByStretch {
 public:
  FreeByStretch(std::vector<OutsideCpu> cpu, std::vector<OutsideCpu> wait, const RunWindow& life);

  /// So that no step of the sweep is in two stretches.
  void AddBoundaries(Changes& changes) const {
    for (const int64_t boundary_ns : boundaries_ns_) changes.others.push_back({boundary_ns});
  }
  /// Where free time from this moment on is added. Moments come in order.
  FreeTime& At(int64_t time_ns);
  /// All free time: the CPU of each stretch takes what was free in its pieces, in each of them at most what the process
  /// used there; so does the run delay of what that leaves.
  FreeParts Split();

 private:
  /// What the stretches took, by the free time that it was.
  FreeTime Take(const std::vector<OutsideCpu>& stretches);

  std::vector<OutsideCpu> cpu_;  // by time
  std::vector<OutsideCpu> wait_;
  RunWindow life_;
  std::vector<int64_t> boundaries_ns_;  // where a stretch begins or ends
  std::vector<FreeTime> free_;          // before the first of them, between two, and after the last
  size_t at_ = 0;
};

/// What an engine did with its workers' cores beside the chunks.
struct EngineTime {
  std::vector<TaskStretch> stretches;     ///< tasks, while no chunk of theirs was open
  std::vector<int64_t> outside_tasks_ns;  ///< by process: execution outside tasks, which has no time stamps
  std::vector<TaskCores> cores_of_tasks;  ///< of all tasks; empty where none was given more than one
};

struct Budget {
  /// The parts in docs/metrics.md's order. Five exceptions: `gpu_wait` is there only after `SetGpuWait`; where no task
  /// was given more than one core, there is no `unused_by_tasks`. Where the run delay of a result is not known,
  /// `cpu_wait` and `blocked` are one row `waiting`. Where no worker's CPU time is known, there is no `process_cpu`.
  /// Where attempts are still open (a live run), or the record of one is lost, or a result's CPU time is not known, a
  /// last row `unmeasured` (group "Not measured") holds their lane time, so that it passes for nothing else.
  std::vector<BudgetRow> rows;
  double core_seconds = 0;                 ///< the rows add up to this
  double occupied_core_seconds = 0;        ///< of these, cores that attempts had
  double oversubscribed_core_seconds = 0;  ///< lanes occupied beyond the cores of their worker; in no row
  std::optional<int64_t> tail_start_ns;    ///< T, Unix time; nullopt where it lies among sums
  std::optional<double> tail_time;         ///< last stop - T, seconds; nullopt: there is no T
  /// Seconds of cores that attempts or tasks occupied over seconds of cores, from the first begin of a chunk to T
  /// (where there is none, to the last stop). nullopt: no attempt ended.
  std::optional<double> balance;
};

/// Puts the time in which results waited for GPUs into a part of its own: what they spun comes out of `compute`, the
/// rest out of `blocked` (or `waiting`); no more than there is.
void SetGpuWait(double spun_seconds, double blocked_seconds, Budget* budget);

/// Exact: integer nanoseconds, one sweep over the begins and stops of each worker's attempts, so the order of the rows
/// does not matter. An attempt that reaches out of the run counts with the share of its duration inside it. Summed
/// attempts fill the lanes that are free in their process between their first begin and their last end, evenly.
Budget ComputeBudget(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                     const std::vector<HelperTimes>& helpers, const std::vector<WorkerLife>& workers,
                     const RunWindow& run, const EngineTime& engine = {},
                     const std::vector<SummedAttempts>& summed = {});

}  // namespace crema
