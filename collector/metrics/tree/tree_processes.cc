#include "collector/metrics/tree/tree_processes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace crema {

std::vector<ProcessUse> LargestProcesses(const TreeAccumulator& trees) {
  std::vector<ProcessUse> processes;
  for (const TreeRun* tree : trees.Runs()) {
    for (const auto& [key, samples] : tree->processes) {
      ProcessUse use;
      use.host = tree->run.host;
      std::tie(use.pid, use.start_ns) = key;
      if (const auto named = tree->names.find(key); named != tree->names.end()) use.name = named->second;
      use.counts = tree->CountsOf(key);
      use.peak_memory_bytes = use.counts.rss_peak_bytes;
      for (const ProcessSample& sample : samples) {
        use.last_ns = std::max(use.last_ns, sample.time_ns);
        use.cpu_ns = Larger(use.cpu_ns, sample.cpu_ns);
        use.peak_memory_bytes = Larger(use.peak_memory_bytes, sample.rss_bytes);
        use.threads = Larger(use.threads, sample.threads);
      }
      processes.push_back(std::move(use));
    }
  }
  std::sort(processes.begin(), processes.end(), [](const ProcessUse& a, const ProcessUse& b) {
    return std::make_tuple(-a.cpu_ns.value_or(0), a.start_ns, a.host, a.pid) <
           std::make_tuple(-b.cpu_ns.value_or(0), b.start_ns, b.host, b.pid);
  });
  if (processes.size() > kMostProcessRows) processes.resize(kMostProcessRows);
  return processes;
}

}  // namespace crema
