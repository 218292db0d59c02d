// What the SDK's guards cost on this machine: measured, here and now.
#ifndef CREMA_COLLECTOR_CLI_GUARD_COST_H_
#define CREMA_COLLECTOR_CLI_GUARD_COST_H_

#include <optional>

namespace crema {

/// Nanoseconds a call, the best of three rounds: what other work on the machine adds is not the guard's.
struct GuardCost {
  double clock_ns = 0;        ///< one read of CLOCK_MONOTONIC, for comparison
  double off_ns = 0;          ///< a section while nothing records
  double section_ns = 0;      ///< a section in a chunk
  double section_cpu_ns = 0;  ///< a section with its CPU time
  double memory_ns = 0;       ///< a memory guard
  double chunk_ns = 0;        ///< a chunk with nothing in it, its two lines in the log included
};

/// Records into a temporary directory, which it removes. nullopt where recording cannot be had (CREMA_OFF=1, no
/// temporary directory). To be called in a process that records nothing else.
std::optional<GuardCost> MeasureGuardCost();

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_GUARD_COST_H_
