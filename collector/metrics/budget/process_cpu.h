// CPU and run delay of a worker's process outside its chunks and tasks (docs/metrics.md, "The core-second budget").
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_PROCESS_CPU_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_PROCESS_CPU_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/process_row.h"

namespace crema {

/// So much CPU, or run delay, of a process is of no chunk and no task, between two readings of its sum.
struct OutsideCpu {
  int64_t start_ns = 0;  ///< Unix time
  int64_t stop_ns = 0;
  int64_t cpu_ns = 0;
};

/// Compares the CPU time of one process, or its run delay, with that of its chunks. A chunk does not say when it
/// computed, so only readings at which no chunk was open are compared: what is reported is exact between them, and
/// nothing is reported before the first and after the last.
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_PROCESS_CPU_H_
