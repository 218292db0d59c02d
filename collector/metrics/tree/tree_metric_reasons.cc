#include "collector/metrics/tree/tree_metric_reasons.h"

namespace crema {
namespace {

bool BeginsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

bool IsIo(std::string_view key) {
  return key == "tree_read_bytes" || key == "tree_write_bytes" || key == "tree_rchar_bytes" ||
         key == "tree_wchar_bytes";
}

std::string_view WhyOfPrmon(std::string_view key) {
  if (BeginsWith(key, "net_")) return "prmon counts every device of the host, loopback and other people's traffic too";
  if (key == "process_peak_rss_bytes") return "prmon samples the tree's memory, never a process's own peak";
  if (key == "major_faults" || key == "context_switches_involuntary") return "prmon does not record it";
  return "prmon's files do not have it: its monitor was switched off";
}

}  // namespace

const std::vector<std::string_view>& TreeMetricKeys() {
  static const std::vector<std::string_view> kKeys = {"tree_cpu_user",
                                                      "tree_cpu_system",
                                                      "job_cpu_efficiency",
                                                      "cpu_outside_chunks_share",
                                                      "process_peak_rss_bytes",
                                                      "tree_peak_rss_bytes",
                                                      "tree_peak_pss_bytes",
                                                      "tree_peak_memory_bytes",
                                                      "tree_peak_swap_bytes",
                                                      "tree_read_bytes",
                                                      "tree_write_bytes",
                                                      "tree_rchar_bytes",
                                                      "tree_wchar_bytes",
                                                      "max_processes",
                                                      "max_threads",
                                                      "major_faults",
                                                      "context_switches_involuntary",
                                                      "net_rx_bytes",
                                                      "net_tx_bytes"};
  return kKeys;
}

std::string_view WhyTreeMetricIsUnknown(TreeOrigin origin, std::string_view key) {
  if (origin == TreeOrigin::kPrmon) return WhyOfPrmon(key);
  if (origin == TreeOrigin::kWatched && key == "context_switches_involuntary") {
    return "only the parent of a process is told (wait4), and `crema run --pid` is none";
  }
  if (key == "tree_peak_pss_bytes") {
    return "it was never read near the peak: the run was too short, /proc/PID/smaps_rollup cannot be read, or a thread "
           "was of a real-time class, which must not wait for the reading";
  }
  if (key == "tree_peak_swap_bytes") return "the kernel does not tell VmSwap, or the run ended before its first sample";
  if (IsIo(key)) return "/proc/PID/io could not be read";
  if (BeginsWith(key, "net_")) return "/proc/net/dev could not be read";
  if (key == "major_faults" || key == "context_switches_involuntary") {
    return "`crema run` was killed, or still runs: this is known when the command has ended";
  }
  return "no sample was taken: `crema run` was killed before the first, or /proc is another pid namespace's";
}

}  // namespace crema
