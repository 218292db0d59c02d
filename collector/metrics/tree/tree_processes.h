// The single processes of a command, as they were sampled.
#ifndef CREMA_COLLECTOR_METRICS_TREE_TREE_PROCESSES_H_
#define CREMA_COLLECTOR_METRICS_TREE_TREE_PROCESSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/tree/tree_accumulator.h"

namespace crema {

/// What samples tell: a process that began and ended between two of them is not there, and what one did after its last
/// is not in its figures.
struct ProcessUse {
  std::string name;  ///< of the kernel, at most 15 bytes; empty: not told
  std::string host;
  int64_t pid = 0;
  int64_t start_ns = 0;  ///< Unix time
  int64_t last_ns = 0;   ///< its last sample
  std::optional<int64_t> cpu_ns;
  std::optional<int64_t> peak_memory_bytes;
  ProcessCounts counts;
  std::optional<int64_t> threads;  ///< at most
};

inline constexpr size_t kMostProcessRows = 200;

/// Most CPU time first, at most `kMostProcessRows`.
std::vector<ProcessUse> LargestProcesses(const TreeAccumulator& trees);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_TREE_TREE_PROCESSES_H_
