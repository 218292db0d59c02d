#include "collector/metrics/process_tree/tree_accumulator.h"

#include <cstdlib>
#include <set>

#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"

namespace crema {
namespace {

bool IsIo(std::string_view key) {
  return key == "tree_read_bytes" || key == "tree_write_bytes" || key == "tree_rchar_bytes" ||
         key == "tree_wchar_bytes";
}

std::string_view WhyOfPrmon(std::string_view key) {
  if (BeginsWith(key, "net_")) return "prmon counts every device of the host, loopback and other people's traffic too";
  if (key == "process_peak_rss_bytes") return "prmon samples the tree's memory, never a process's own peak";
  if (key == "major_faults" || key == "context_switches_involuntary" || key == "tree_cpu_wait") {
    return "prmon does not record it";
  }
  return "prmon's files do not have it: its monitor was switched off";
}

/// One sentence for `quality.not_measured`: why a tree of this origin does not give this metric.
std::string_view WhyTreeMetricIsUnknown(TreeOrigin origin, std::string_view key) {
  if (origin == TreeOrigin::kPrmon) return WhyOfPrmon(key);
  if (origin == TreeOrigin::kWatched && key == "context_switches_involuntary") {
    return "the kernel reports it to the parent of a process only (wait4), not to `crema run --pid`";
  }
  if (key == "tree_peak_pss_bytes") {
    return "it was never read near the peak: the run was too short, /proc/PID/smaps_rollup cannot be read, or a thread "
           "was of a real-time class, which must not wait for the reading";
  }
  if (key == "tree_peak_swap_bytes") return "the kernel has no VmSwap, or the run ended before its first sample";
  if (key == "tree_cpu_wait") return "the kernel has no /proc/PID/schedstat, or the number of cores is not known";
  if (IsIo(key)) return "/proc/PID/io could not be read";
  if (BeginsWith(key, "net_")) return "/proc/net/dev could not be read";
  if (key == "major_faults" || key == "context_switches_involuntary") {
    return "`crema run` was killed, or still runs: this is known when the command has ended";
  }
  return "no sample was taken: `crema run` was killed before the first, or /proc is another pid namespace's";
}

constexpr double kNanosecond = 1e-9;

TreeIo operator+(TreeIo a, const TreeIo& b) {
  for (const auto& [key, member] : kTreeIoFields) a.*member += b.*member;
  return a;
}

TreeNet operator+(const TreeNet& a, const TreeNet& b) { return {a.rx_bytes + b.rx_bytes, a.tx_bytes + b.tx_bytes}; }

template <class Value>
std::optional<Value> Sum(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a.has_value() && b.has_value() ? std::optional<Value>(*a + *b) : std::nullopt;
}

// Two trees: what was used adds up, if it is known of both.
TreeTotals Together(const TreeTotals& a, const TreeTotals& b) {
  TreeTotals both;
  for (const auto& [key, member, adds_up] : kTreeTotalFields) {
    both.*member = adds_up ? Sum(a.*member, b.*member) : Larger(a.*member, b.*member);
  }
  both.io = Sum(a.io, b.io);
  both.net = Sum(a.net, b.net);
  return both;
}

// PSS is read seldom. Where the tree held less than half of its peak at all of these times (a job of less than a second
// is read right after its start), the largest of them is not a peak.
TreeTotals WithTruePeaks(const TreeRun& tree) {
  TreeTotals totals = tree.totals;
  if (tree.samples > 0 && tree.largest_rss_with_pss < totals.tree_peak_rss_bytes.value_or(0) / 2) {
    totals.tree_peak_pss_bytes.reset();
  }
  return totals;
}

bool Fuller(const TreeRun& a, const TreeRun& b) {
  if (a.end.has_value() != b.end.has_value()) return a.end.has_value();
  return std::make_pair(a.last_ns, a.samples) > std::make_pair(b.last_ns, b.samples);
}

// CPUs granted, each host once: nested or successive runs on one host share them.
void SetCores(const std::map<std::string, std::pair<double, std::string>>& by_host, TreeFigures* figures) {
  std::set<std::string> sources;
  double cores = 0;
  for (const auto& [host, granted] : by_host) {
    cores += granted.first;
    sources.insert(granted.second);
  }
  if (by_host.empty()) return;
  figures->allocated_cores = cores;
  figures->allocated_cores_source = sources.size() == 1 ? *sources.begin() : "mixed";
}

std::optional<double> OptionalSeconds(std::optional<int64_t> nanoseconds) {
  if (!nanoseconds.has_value()) return std::nullopt;
  return static_cast<double>(*nanoseconds) * kNanosecond;
}

void SetGpus(const std::vector<TreeGpuUse>& gpus, MetricSet* metrics) {
  int64_t utilization = 0, utilization_samples = 0, others = 0, others_samples = 0;
  std::optional<int64_t> memory_bytes = 0, energy_mj = 0;
  for (const TreeGpuUse& gpu : gpus) {
    utilization += gpu.utilization_sum;
    utilization_samples += gpu.utilization_samples;
    others += gpu.other_percent_sum;
    others_samples += gpu.other_percent_samples;
    memory_bytes = Sum(memory_bytes, gpu.peak_memory_bytes);
    energy_mj = Sum(energy_mj, gpu.energy_mj);
  }
  const auto set_share = [metrics](std::string_view key, int64_t percent_sum, int64_t samples) {
    constexpr double kPercent = 0.01;
    if (samples > 0) metrics->Set(key, kPercent * static_cast<double>(percent_sum) / static_cast<double>(samples));
  };
  set_share("gpu_utilization", utilization, utilization_samples);
  set_share("gpu_utilization_of_others", others, others_samples);
  if (gpus.empty()) return;
  metrics->SetOptional("gpu_peak_memory_bytes", memory_bytes, "the driver does not show whose memory it is");
  if (energy_mj.has_value()) metrics->Set("gpu_energy", static_cast<double>(*energy_mj) / 1e3);
}

}  // namespace

void TreeAccumulator::Add(TreeRun run) {
  auto key = std::make_tuple(run.run.host, run.run.pid, run.run.start_ns);
  if (auto found = runs_.find(key); found == runs_.end()) {
    runs_.emplace(std::move(key), std::move(run));
  } else if (Fuller(run, found->second)) {
    found->second = std::move(run);
  }
}

std::vector<std::string> TreeAccumulator::run_ids() const {
  std::set<std::string> ids;
  for (const auto& [key, run] : runs_) ids.insert(run.run.run_id);
  return {ids.begin(), ids.end()};
}

void TreeAccumulator::KeepRun(std::string_view run_id) {
  for (auto run = runs_.begin(); run != runs_.end();) {
    const std::string& id = run->second.run.run_id;
    run = id == run_id || id.empty() ? std::next(run) : runs_.erase(run);
  }
}

std::vector<const TreeRun*> TreeAccumulator::Runs() const {
  std::vector<const TreeRun*> by_start;
  for (const auto& [key, run] : runs_) by_start.push_back(&run);
  SortBy(&by_start, [](const TreeRun* run) { return run->run.start_ns; });
  return by_start;
}

std::optional<TreeFigures> TreeAccumulator::Finalize() const {
  if (runs_.empty()) return std::nullopt;
  const std::vector<const TreeRun*> by_start = Runs();
  TreeFigures figures;
  const TreeRunFact& first = by_start.front()->run;
  static_cast<TreeRunFact&>(figures) = first;
  const bool is_one_commit = std::all_of(by_start.begin(), by_start.end(),
                                         [&](const TreeRun* tree) { return tree->run.commit == first.commit; });
  if (!is_one_commit || first.commit.empty()) figures.commit = figures.commit_source = "";

  std::map<std::string, std::pair<double, std::string>> cores_by_host;
  bool all_ended = true;
  int64_t stop_ns = 0;
  figures.totals = WithTruePeaks(*by_start.front());
  for (const TreeRun* tree : by_start) {
    const bool is_first = tree == by_start.front();
    if (!is_first) figures.totals = Together(figures.totals, WithTruePeaks(*tree));
    figures.cpu_wait_ns = is_first ? tree->cpu_wait_ns : Sum(figures.cpu_wait_ns, tree->cpu_wait_ns);
    figures.origin = std::max(figures.origin, tree->run.origin);
    figures.last_ns = std::max({figures.last_ns, tree->last_ns, tree->run.start_ns});
    figures.samples += tree->samples;
    for (const auto& [index, gpu] : tree->gpus) {
      if (gpu.samples > 0) figures.gpus.push_back(gpu);
    }
    figures.running = figures.running || tree->running;
    figures.net_host_wide = figures.net_host_wide || tree->run.net_host_wide;
    figures.sampling_gap_max_seconds =
        std::max(figures.sampling_gap_max_seconds, static_cast<double>(tree->largest_gap_ns) * kNanosecond);
    if (tree->run.memory_limit_bytes.has_value()) {
      figures.memory_limit_bytes = std::min(*tree->run.memory_limit_bytes,
                                            figures.memory_limit_bytes.value_or(std::numeric_limits<int64_t>::max()));
    }
    if (tree->run.allocated_cores.has_value()) {
      std::pair<double, std::string> granted(*tree->run.allocated_cores, tree->run.allocated_cores_source);
      auto [host, is_new] = cores_by_host.try_emplace(tree->run.host, granted);
      if (!is_new) host->second = std::max(host->second, granted);
    }
    if (tree->end.has_value()) {
      stop_ns = std::max(stop_ns, tree->end->time_ns);
      if (figures.exit_status.value_or(0) == 0 && tree->end->exit_status.has_value()) {
        figures.exit_status = tree->end->exit_status;
      }
    } else {
      all_ended = false;
    }
  }
  if (all_ended) figures.stop_ns = stop_ns;
  SetCores(cores_by_host, &figures);
  return figures;
}

TreeProcesses::TreeProcesses(const TreeAccumulator& trees) {
  for (const auto& [key, tree] : trees.runs_) {
    for (const auto& process : tree.processes)
      seen_[{std::get<0>(key), process.first.first}].push_back({&tree, &process});
  }
}

TreeProcesses::Seen TreeProcesses::Find(std::string_view host, int64_t pid, int64_t start_ns) const {
  const auto found = seen_.find({host, pid});
  if (found == seen_.end()) return {};
  // Nested runs see the same process: the one with more samples knows more.
  return *absl::c_min_element(found->second, [start_ns](const Seen& a, const Seen& b) {
    const auto order = [start_ns](const Seen& seen) {
      const auto& [key, samples] = *seen.process;
      return std::pair(std::abs(key.second - start_ns), -static_cast<int64_t>(samples.size()));
    };
    return order(a) < order(b);
  });
}

void SetTreeMetrics(const std::optional<TreeFigures>& figures, std::optional<double> wall_time_seconds,
                    std::optional<double> chunk_cpu_seconds, MetricSet* metrics) {
  const auto why = [&figures](std::string_view key) -> std::string_view {
    return figures.has_value() ? WhyTreeMetricIsUnknown(figures->origin, key)
                               : "no process tree was sampled: the command was not run under `crema run`";
  };
  const auto set = [&why, metrics](std::string_view key, const auto& value) {
    metrics->SetOptional(key, value, why(key));
  };
  const TreeTotals totals = figures.has_value() ? figures->totals : TreeTotals();
  set("tree_cpu_user", OptionalSeconds(totals.cpu_user_ns));
  set("tree_cpu_system", OptionalSeconds(totals.cpu_system_ns));
  if (figures.has_value()) set("tree_cpu_wait", OptionalSeconds(figures->cpu_wait_ns));
  set("process_peak_rss_bytes", totals.process_peak_rss_bytes);
  set("tree_peak_rss_bytes", totals.tree_peak_rss_bytes);
  set("tree_peak_pss_bytes", totals.tree_peak_pss_bytes);
  set("tree_peak_memory_bytes", totals.tree_peak_pss_bytes.has_value()
                                    ? std::max(totals.tree_peak_pss_bytes, totals.process_peak_rss_bytes)
                                    : totals.tree_peak_rss_bytes);
  set("tree_peak_swap_bytes", totals.tree_peak_swap_bytes);
  for (const auto& [key, member] : kTreeIoFields) set("tree_" + std::string(key), Field(totals.io, member));
  set("max_processes", totals.max_processes);
  set("max_threads", totals.max_threads);
  set("major_faults", totals.major_faults);
  set("context_switches_involuntary", totals.context_switches_involuntary);
  set("net_rx_bytes", Field(totals.net, &TreeNet::rx_bytes));
  set("net_tx_bytes", Field(totals.net, &TreeNet::tx_bytes));

  if (figures.has_value()) SetGpus(figures->gpus, metrics);
  if (figures.has_value() && figures->allocated_cores.has_value()) {
    metrics->Set("allocated_cores", MetricValue(*figures->allocated_cores));
  }
  const std::optional<double> tree_cpu = OptionalSeconds(Sum(totals.cpu_user_ns, totals.cpu_system_ns));
  if (!tree_cpu.has_value()) {
    for (const char* key : {"job_cpu_efficiency", "cpu_outside_chunks_share"}) {
      metrics->SetNull(key, why("tree_cpu_user"));
    }
    return;
  }
  if (const double granted = wall_time_seconds.value_or(0) * figures->allocated_cores.value_or(0); granted > 0) {
    metrics->Set("job_cpu_efficiency", MetricValue(*tree_cpu / granted));
  } else {
    metrics->SetNull("job_cpu_efficiency", figures->allocated_cores.has_value()
                                               ? "the run has no wall time"
                                               : "the number of allocated cores is not known");
  }
  if (chunk_cpu_seconds.has_value() && *tree_cpu > 0) {
    metrics->Set("cpu_outside_chunks_share", MetricValue(1 - *chunk_cpu_seconds / *tree_cpu));
  } else {
    metrics->SetNull("cpu_outside_chunks_share", chunk_cpu_seconds.has_value() ? "the process tree used no CPU time"
                                                                               : "no chunk recorded its CPU time");
  }
}

std::vector<ProcessUseRow> LargestProcesses(const TreeAccumulator& trees, int64_t run_start_ns) {
  const auto seconds = [](const std::optional<int64_t>& nanoseconds) {
    return nanoseconds.has_value() ? Number(static_cast<double>(*nanoseconds) / 1e9) : Number();
  };
  using Order = std::tuple<int64_t, int64_t, std::string, int64_t>;  // CPU time, start, host, pid
  std::vector<std::pair<Order, ProcessUseRow>> processes;
  for (const TreeRun* tree : trees.Runs()) {
    for (const auto& [key, samples] : tree->processes) {
      const auto [pid, start_ns] = key;
      const ProcessCounts counts = tree->CountsOf(key);
      std::optional<int64_t> cpu_ns, threads, peak_bytes = counts.rss_peak_bytes;
      int64_t last_ns = 0;
      for (const ProcessSample& sample : samples) {
        last_ns = std::max(last_ns, sample.time_ns);
        cpu_ns = Larger(cpu_ns, sample.cpu_ns);
        peak_bytes = Larger(peak_bytes, sample.rss_bytes);
        threads = Larger(threads, sample.threads);
      }
      const auto named = tree->names.find(key);
      // the kernel counts begins in hundredths of a second
      const Number start = seconds(std::max(start_ns, run_start_ns) - run_start_ns);
      processes.emplace_back(
          Order(-cpu_ns.value_or(0), start_ns, tree->run.host, pid),
          ProcessUseRow{Text::OrNull(named == tree->names.end() ? "" : named->second), Text::OrNull(tree->run.host),
                        pid, start, seconds(last_ns - run_start_ns), seconds(cpu_ns), peak_bytes,
                        counts.anonymous_bytes, counts.file_bytes, seconds(counts.run_delay_ns), threads});
    }
  }
  std::sort(processes.begin(), processes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ProcessUseRow> rows;
  for (auto& [order, row] : processes) {
    if (rows.size() < kMostProcessRows) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace crema
