#include "collector/metrics/tree/oom_kills.h"

#include <fmt/format.h>

namespace crema {
namespace {

/// The kernel tells the start of a process to 10 ms.
constexpr int64_t kTolerance = 1'000'000'000;

}  // namespace

void NameOomKills(const TreeAccumulator& trees, std::vector<ProcessRow>* processes) {
  for (const TreeRun* tree : trees.Runs()) {
    const int64_t kills = tree->totals.oom_kills.value_or(0);
    if (kills <= 0) continue;
    for (ProcessRow& process : *processes) {
      const bool is_of_tree = process.host == tree->run.host && process.start_ns >= tree->run.start_ns - kTolerance &&
                              process.start_ns <= tree->last_ns;
      if (!is_of_tree || process.state != ProcessState::kLost || !process.left_reason.empty()) continue;
      process.left_reason = fmt::format("the kernel killed {} of its control group, out of memory",
                                        kills == 1 ? "a process" : fmt::format("{} processes", kills));
    }
  }
}

}  // namespace crema
