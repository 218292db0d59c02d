#include "collector/metrics/tree_accumulator.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

namespace crema {
namespace {

constexpr double kNanosecond = 1e-9;

std::optional<int64_t> Larger(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a.has_value()) return b;
  if (!b.has_value()) return a;
  return std::max(*a, *b);
}

void AddIo(const std::optional<TreeIo>& more, std::optional<TreeIo>* sum) {
  if (!more.has_value()) return;
  if (!sum->has_value()) sum->emplace();
  (*sum)->read_bytes += more->read_bytes;
  (*sum)->write_bytes += more->write_bytes;
  (*sum)->rchar_bytes += more->rchar_bytes;
  (*sum)->wchar_bytes += more->wchar_bytes;
}

void AddNet(const std::optional<TreeNet>& more, std::optional<TreeNet>* sum) {
  if (!more.has_value()) return;
  if (!sum->has_value()) sum->emplace();
  (*sum)->rx_bytes += more->rx_bytes;
  (*sum)->tx_bytes += more->tx_bytes;
}

// Two trees: what was used adds up; what was held at one instant cannot be added, as the instants differ.
void AddTotals(const TreeTotals& more, TreeTotals* sum) {
  sum->cpu_user_ns += more.cpu_user_ns;
  sum->cpu_system_ns += more.cpu_system_ns;
  sum->process_peak_rss_bytes = std::max(sum->process_peak_rss_bytes, more.process_peak_rss_bytes);
  sum->tree_peak_rss_bytes = std::max(sum->tree_peak_rss_bytes, more.tree_peak_rss_bytes);
  sum->tree_peak_pss_bytes = Larger(sum->tree_peak_pss_bytes, more.tree_peak_pss_bytes);
  sum->tree_peak_swap_bytes = Larger(sum->tree_peak_swap_bytes, more.tree_peak_swap_bytes);
  AddIo(more.io, &sum->io);
  AddNet(more.net, &sum->net);
  sum->max_processes = std::max(sum->max_processes, more.max_processes);
  sum->max_threads = std::max(sum->max_threads, more.max_threads);
  sum->major_faults += more.major_faults;
  sum->context_switches_involuntary += more.context_switches_involuntary;
  sum->tree_cpu_sampled += more.tree_cpu_sampled;
  sum->processes_left_running += more.processes_left_running;
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

void SetSeconds(std::string_view key, int64_t nanoseconds, MetricSet* metrics) {
  metrics->Set(key, MetricValue(static_cast<double>(nanoseconds) * kNanosecond));
}

}  // namespace

void TreeRun::Add(const TreeSampleFact& sample) {
  if (samples > 0) largest_gap_ns = std::max(largest_gap_ns, sample.time_ns - last_sample_ns_);
  ++samples;
  last_sample_ns_ = sample.time_ns;
  last_ns = std::max(last_ns, sample.time_ns);
  totals.cpu_user_ns = std::max(totals.cpu_user_ns, sample.cpu_user_ns);
  totals.cpu_system_ns = std::max(totals.cpu_system_ns, sample.cpu_system_ns);
  totals.tree_peak_rss_bytes = std::max(totals.tree_peak_rss_bytes, sample.rss_bytes);
  totals.tree_peak_pss_bytes = Larger(totals.tree_peak_pss_bytes, sample.pss_bytes);
  totals.tree_peak_swap_bytes = Larger(totals.tree_peak_swap_bytes, sample.swap_bytes);
  if (sample.io.has_value()) totals.io = sample.io;
  if (sample.net.has_value()) totals.net = sample.net;
  totals.max_processes = std::max(totals.max_processes, sample.processes);
  totals.max_threads = std::max(totals.max_threads, sample.threads);
  for (const TreeProcessFact& row : sample.process_rows) {
    totals.process_peak_rss_bytes = std::max(totals.process_peak_rss_bytes, row.rss_bytes);
    ProcessSample reading;
    reading.time_ns = sample.time_ns;
    reading.rss_bytes = row.rss_bytes;
    reading.cpu_ns = row.cpu_ns;
    reading.threads = row.threads;
    processes[{row.pid, row.start_ns}].push_back(reading);
  }
}

void TreeRun::Add(const TreeReapFact& reaped) {
  last_ns = std::max(last_ns, reaped.time_ns);
  reaped_user_ns_ += reaped.user_ns;
  reaped_system_ns_ += reaped.system_ns;
  // A sample's counters hold what was reaped before it, so only a lower bound moves here.
  totals.cpu_user_ns = std::max(totals.cpu_user_ns, reaped_user_ns_);
  totals.cpu_system_ns = std::max(totals.cpu_system_ns, reaped_system_ns_);
  totals.process_peak_rss_bytes = std::max(totals.process_peak_rss_bytes, reaped.max_rss_bytes);
  totals.tree_peak_rss_bytes = std::max(totals.tree_peak_rss_bytes, reaped.max_rss_bytes);
  totals.major_faults += reaped.major_faults;
  totals.context_switches_involuntary += reaped.context_switches_involuntary;
}

void TreeRun::Add(const TreeEndFact& fact) {
  last_ns = std::max(last_ns, fact.time_ns);
  totals = fact.totals;
  end = fact;
}

void TreeAccumulator::Add(TreeRun run) {
  auto key = std::make_tuple(run.run.host, run.run.pid, run.run.start_ns);
  auto found = runs_.find(key);
  if (found == runs_.end()) {
    runs_.emplace(std::move(key), std::move(run));
  } else if (Fuller(run, found->second)) {
    found->second = std::move(run);
  }
}

void TreeAccumulator::Merge(const TreeAccumulator& other) {
  for (const auto& [key, run] : other.runs_) Add(run);
}

std::vector<std::string> TreeAccumulator::run_ids() const {
  std::set<std::string> ids;
  for (const auto& [key, run] : runs_) ids.insert(run.run.run_id);
  return {ids.begin(), ids.end()};
}

void TreeAccumulator::KeepRun(std::string_view run_id) {
  for (auto run = runs_.begin(); run != runs_.end();) {
    run = run->second.run.run_id == run_id ? std::next(run) : runs_.erase(run);
  }
}

std::optional<TreeFigures> TreeAccumulator::Finalize() const {
  if (runs_.empty()) return std::nullopt;
  std::vector<const TreeRun*> by_start;
  for (const auto& [key, run] : runs_) by_start.push_back(&run);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const TreeRun* a, const TreeRun* b) { return a->run.start_ns < b->run.start_ns; });

  TreeFigures figures;
  const TreeRunFact& first = by_start.front()->run;
  figures.run_id = first.run_id;
  figures.name = first.name;
  figures.command = first.command;
  figures.start_ns = first.start_ns;

  std::map<std::string, std::pair<double, std::string>> cores_by_host;
  bool all_ended = true;
  int64_t stop_ns = 0;
  for (const TreeRun* tree : by_start) {
    AddTotals(tree->totals, &figures.totals);
    figures.last_ns = std::max({figures.last_ns, tree->last_ns, tree->run.start_ns});
    figures.samples += tree->samples;
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
      if (figures.exit_status.value_or(0) == 0) figures.exit_status = tree->end->exit_status;
    } else {
      all_ended = false;
    }
  }
  if (all_ended) figures.stop_ns = stop_ns;
  SetCores(cores_by_host, &figures);
  return figures;
}

std::vector<ProcessSample> TreeAccumulator::SamplesOf(std::string_view host, int64_t pid, int64_t start_ns) const {
  const std::vector<ProcessSample>* nearest = nullptr;
  int64_t least_distance = std::numeric_limits<int64_t>::max();
  for (const auto& [key, tree] : runs_) {
    if (std::get<0>(key) != host) continue;
    auto process = tree.processes.lower_bound({pid, std::numeric_limits<int64_t>::min()});
    for (; process != tree.processes.end() && process->first.first == pid; ++process) {
      const int64_t distance = std::abs(process->first.second - start_ns);
      // Nested runs see the same process: the one with more samples tells more.
      if (distance < least_distance ||
          (distance == least_distance && nearest != nullptr && process->second.size() > nearest->size())) {
        least_distance = distance;
        nearest = &process->second;
      }
    }
  }
  return nearest == nullptr ? std::vector<ProcessSample>() : *nearest;
}

void SetTreeMetrics(const std::optional<TreeFigures>& figures, std::optional<double> wall_time_seconds,
                    std::optional<double> chunk_cpu_seconds, MetricSet* metrics) {
  if (!figures.has_value()) {
    for (const char* key :
         {"tree_cpu_user", "tree_cpu_system", "job_cpu_efficiency", "cpu_outside_chunks_share",
          "process_peak_rss_bytes", "tree_peak_rss_bytes", "tree_peak_pss_bytes", "tree_peak_swap_bytes",
          "tree_read_bytes", "tree_write_bytes", "tree_rchar_bytes", "tree_wchar_bytes", "max_processes", "max_threads",
          "major_faults", "context_switches_involuntary", "net_rx_bytes", "net_tx_bytes"}) {
      metrics->SetNull(key, "no process tree was sampled: the command was not run under `crema run`");
    }
    return;
  }
  const TreeTotals& totals = figures->totals;
  SetSeconds("tree_cpu_user", totals.cpu_user_ns, metrics);
  SetSeconds("tree_cpu_system", totals.cpu_system_ns, metrics);
  metrics->Set("process_peak_rss_bytes", MetricValue(totals.process_peak_rss_bytes));
  metrics->Set("tree_peak_rss_bytes", MetricValue(totals.tree_peak_rss_bytes));
  metrics->SetOptional(
      "tree_peak_pss_bytes", totals.tree_peak_pss_bytes,
      "the kernel's /proc/PID/smaps_rollup could not be read, or the run ended before its first reading");
  metrics->SetOptional("tree_peak_swap_bytes", totals.tree_peak_swap_bytes, "the kernel does not tell VmSwap");
  std::optional<int64_t> read, written, rchar, wchar, received, sent;
  if (totals.io.has_value()) {
    read = totals.io->read_bytes;
    written = totals.io->write_bytes;
    rchar = totals.io->rchar_bytes;
    wchar = totals.io->wchar_bytes;
  }
  const std::string_view no_io = "/proc/PID/io could not be read";
  metrics->SetOptional("tree_read_bytes", read, no_io);
  metrics->SetOptional("tree_write_bytes", written, no_io);
  metrics->SetOptional("tree_rchar_bytes", rchar, no_io);
  metrics->SetOptional("tree_wchar_bytes", wchar, no_io);
  metrics->Set("max_processes", MetricValue(totals.max_processes));
  metrics->Set("max_threads", MetricValue(totals.max_threads));
  metrics->Set("major_faults", MetricValue(totals.major_faults));
  metrics->Set("context_switches_involuntary", MetricValue(totals.context_switches_involuntary));
  if (totals.net.has_value()) {
    received = totals.net->rx_bytes;
    sent = totals.net->tx_bytes;
  }
  metrics->SetOptional("net_rx_bytes", received, "/proc/net/dev could not be read");
  metrics->SetOptional("net_tx_bytes", sent, "/proc/net/dev could not be read");

  const double tree_cpu = static_cast<double>(totals.cpu_user_ns + totals.cpu_system_ns) * kNanosecond;
  if (figures->allocated_cores.has_value()) {
    metrics->Set("allocated_cores", MetricValue(*figures->allocated_cores));
  }
  const double granted = wall_time_seconds.value_or(0) * figures->allocated_cores.value_or(0);
  if (granted > 0) {
    metrics->Set("job_cpu_efficiency", MetricValue(tree_cpu / granted));
  } else {
    metrics->SetNull("job_cpu_efficiency", figures->allocated_cores.has_value()
                                               ? "the run has no wall time"
                                               : "the number of allocated cores is not known");
  }
  if (chunk_cpu_seconds.has_value() && tree_cpu > 0) {
    metrics->Set("cpu_outside_chunks_share", MetricValue(1 - *chunk_cpu_seconds / tree_cpu));
  } else {
    metrics->SetNull("cpu_outside_chunks_share", chunk_cpu_seconds.has_value() ? "the process tree used no CPU time"
                                                                               : "no chunk recorded its CPU time");
  }
}

}  // namespace crema
