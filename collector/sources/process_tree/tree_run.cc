#include "collector/sources/process_tree/tree_run.h"

#include <algorithm>
#include <utility>

namespace crema {
namespace {

constexpr size_t kMostPoints = 4096;

}  // namespace

void TreeGpuUse::Add(const TreeGpu& gpu) {
  name = gpu.name;
  if (gpu.energy_mj.has_value()) energy_mj = gpu.energy_mj;
  if (gpu.tree_memory_bytes == 0) return;
  // If nobody knows whose processes keep it busy, they may be the tree's.
  if (gpu.tree_memory_bytes.has_value() || gpu.utilization_percent.value_or(0) > 0) ++samples;
  peak_memory_bytes = Larger(peak_memory_bytes, gpu.tree_memory_bytes);
  if (gpu.utilization_percent.has_value()) {
    utilization_sum += *gpu.utilization_percent;
    ++utilization_samples;
  }
  if (gpu.other_percent.has_value()) {
    other_percent_sum += *gpu.other_percent;
    ++other_percent_samples;
  }
}

ProcessCounts TreeRun::CountsOf(const std::pair<int64_t, int64_t>& pid_and_start) const {
  const auto found = counts.find(pid_and_start);
  return found == counts.end() ? ProcessCounts() : found->second;
}

void TreeRun::Add(const TreeSampleFact& sample) {
  if (samples > 0) largest_gap_ns = std::max(largest_gap_ns, sample.time_ns - last_sample_ns_);
  ++samples;
  last_sample_ns_ = sample.time_ns;
  last_ns = std::max(last_ns, sample.time_ns);
  totals.cpu_user_ns = Larger(totals.cpu_user_ns, sample.cpu_user_ns);
  totals.cpu_system_ns = Larger(totals.cpu_system_ns, sample.cpu_system_ns);
  totals.tree_peak_rss_bytes = Larger(totals.tree_peak_rss_bytes, sample.rss_bytes);
  totals.tree_peak_pss_bytes = Larger(totals.tree_peak_pss_bytes, sample.pss_bytes);
  if (sample.pss_bytes.has_value()) largest_rss_with_pss = std::max(largest_rss_with_pss, sample.rss_bytes);
  totals.tree_peak_swap_bytes = Larger(totals.tree_peak_swap_bytes, sample.swap_bytes);
  if (sample.io.has_value()) totals.io = sample.io;
  if (sample.net.has_value()) totals.net = sample.net;
  totals.max_processes = Larger(totals.max_processes, sample.processes);
  totals.max_threads = Larger(totals.max_threads, sample.threads);
  for (const TreeGpu& gpu : sample.gpus) gpus[gpu.index].Add(gpu);
  if (sample.pss_bytes.has_value()) pss_since_point_ = sample.pss_bytes;
  if (samples % points_every_ == 0) {
    points.push_back({sample.time_ns, sample.cpu_user_ns + sample.cpu_system_ns, sample.rss_bytes, sample.processes,
                      sample.threads, sample.io, sample.cpu_system_ns, std::exchange(pss_since_point_, {}), sample.net,
                      sample.gpus});
  }
  if (points.size() >= kMostPoints) {
    for (size_t i = 0; 2 * i + 1 < points.size(); ++i) {
      const std::optional<int64_t> before = points[2 * i].pss_bytes;
      points[i] = points[2 * i + 1];
      if (!points[i].pss_bytes.has_value()) points[i].pss_bytes = before;
    }
    points.resize(points.size() / 2);
    points_every_ *= 2;
  }
  for (const TreeProcessFact& row : sample.process_rows) {
    if (!row.name.empty()) names[{row.pid, row.start_ns}] = row.name;
    totals.process_peak_rss_bytes =
        std::max({totals.process_peak_rss_bytes, std::optional<int64_t>(row.rss_bytes), row.counts.rss_peak_bytes});
    ProcessSample reading;
    reading.time_ns = sample.time_ns;
    reading.rss_bytes = row.rss_bytes;
    reading.cpu_ns = row.cpu_ns;
    reading.threads = row.threads;
    reading.anonymous_bytes = row.counts.anonymous_bytes;
    reading.run_delay_ns = row.counts.run_delay_ns;
    counts[{row.pid, row.start_ns}].Raise(row.counts);
    processes[{row.pid, row.start_ns}].push_back(reading);
  }
}

void TreeRun::Add(const TreeReapFact& fact) {
  last_ns = std::max(last_ns, fact.time_ns);
  reaped[fact.pid] = fact;
  reaped_user_ns_ += fact.user_ns;
  reaped_system_ns_ += fact.system_ns;
  // A sample's counters hold what was reaped before it, so only a lower bound moves here.
  totals.cpu_user_ns = Larger(totals.cpu_user_ns, reaped_user_ns_);
  totals.cpu_system_ns = Larger(totals.cpu_system_ns, reaped_system_ns_);
  totals.process_peak_rss_bytes = Larger(totals.process_peak_rss_bytes, fact.max_rss_bytes);
  totals.tree_peak_rss_bytes = Larger(totals.tree_peak_rss_bytes, fact.max_rss_bytes);
}

void TreeRun::Add(const TreeEndFact& fact) {
  last_ns = std::max(last_ns, fact.time_ns);
  totals = fact.totals;
  for (const TreeGpu& gpu : fact.gpus) gpus[gpu.index].energy_mj = gpu.energy_mj;
  end = fact;
}

}  // namespace crema
