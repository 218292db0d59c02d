#include "collector/sources/prmon/prmon_fields.h"

#include <algorithm>
#include <string_view>

namespace crema {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kKibibyte = 1024;

std::optional<int64_t> Find(const PrmonValues& values, std::string_view name, int64_t unit = 1) {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  return found->second * unit;
}

}  // namespace

TreeTotals TotalsOf(const PrmonValues& values) {
  TreeTotals totals;
  totals.cpu_user_ns = Find(values, "utime", kSecondNs);
  totals.cpu_system_ns = Find(values, "stime", kSecondNs);
  totals.tree_peak_rss_bytes = Find(values, "rss", kKibibyte);
  totals.tree_peak_pss_bytes = Find(values, "pss", kKibibyte);
  totals.tree_peak_swap_bytes = Find(values, "swap", kKibibyte);
  totals.max_processes = Find(values, "nprocs");
  totals.max_threads = Find(values, "nthreads");
  const std::optional<int64_t> read = Find(values, "read_bytes"), written = Find(values, "write_bytes"),
                               rchar = Find(values, "rchar"), wchar = Find(values, "wchar");
  if (read.has_value() && written.has_value() && rchar.has_value() && wchar.has_value()) {
    totals.io = TreeIo{*read, *written, *rchar, *wchar};
  }
  return totals;
}

TreeSampleFact SampleOf(const PrmonValues& row) {
  const TreeTotals now = TotalsOf(row);
  TreeSampleFact sample;
  sample.time_ns = Find(row, "Time", kSecondNs).value_or(0);
  sample.rss_bytes = now.tree_peak_rss_bytes.value_or(0);
  sample.pss_bytes = now.tree_peak_pss_bytes;
  sample.swap_bytes = now.tree_peak_swap_bytes;
  sample.cpu_user_ns = now.cpu_user_ns.value_or(0);
  sample.cpu_system_ns = now.cpu_system_ns.value_or(0);
  sample.processes = now.max_processes.value_or(0);
  sample.threads = now.max_threads.value_or(0);
  sample.io = now.io;
  return sample;
}

std::string NowCalled(const std::string& name) {
  static const std::map<std::string_view, const char*> kNames = {
      {"VMEM", "vmem"},
      {"PSS", "pss"},
      {"RSS", "rss"},
      {"Swap", "swap"},
      {"rbytes", "read_bytes"},
      {"wbytes", "write_bytes"},
      {"maxVMEM", "vmem"},
      {"maxPSS", "pss"},
      {"maxRSS", "rss"},
      {"maxSwap", "swap"},
      {"totRCHAR", "rchar"},
      {"totWCHAR", "wchar"},
      {"totRBYTES", "read_bytes"},
      {"totWBYTES", "write_bytes"},
  };
  const auto found = kNames.find(name);
  return found == kNames.end() ? name : found->second;
}

std::optional<int64_t> WallSeconds(const PrmonValues& values) { return Find(values, "wtime"); }

void RaiseTo(const PrmonValues& values, PrmonValues* largest) {
  for (const auto& [name, value] : values) {
    const auto [entry, is_new] = largest->try_emplace(name, value);
    if (!is_new) entry->second = std::max(entry->second, value);
  }
}

}  // namespace crema
