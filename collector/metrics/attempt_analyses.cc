#include "collector/metrics/attempt_analyses.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "collector/metrics/attempts/spell_reasons.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/workers/lanes.h"

namespace crema {
namespace {

constexpr size_t kMostSampledSpells = 10;  // a look into the logs for each

// Memory that the analyses take beside the attempts, in bytes an attempt.
constexpr size_t kStragglerBytes = 40;     // a point; while fits are drawn, less
constexpr size_t kTimeBytes = 24;          // begin and stop, and indices by worker
constexpr size_t kDistributionBytes = 24;  // three values
constexpr size_t kBreakdownBytes = 24;     // a duration for inputs, processes and threads
constexpr size_t kContentionBytes = 16;    // a start and an index
constexpr size_t kLaneBytes = 20;          // a lane, its begin and an index

/// Where no chunk has a line of its own, that is why there is nothing to describe.
void SayAllSummed(std::string_view key, MetricSet& metrics) {
  for (const char* suffix : {"_mean", "_min", "_max", "_std", "_p50", "_p90", "_p95", "_p99"}) {
    metrics.SetNull(std::string(key) + suffix, "all chunks were summed: single ones are not known");
  }
}

void SetDistribution(const ChunkDistribution& described, RunFigures& figures) {
  const Distribution& distribution = described.distribution;
  const auto set = [&](const char* suffix, const std::optional<double>& value) {
    if (value.has_value()) figures.metrics.Set(std::string(described.key) + suffix, *value);
  };
  set("_mean", distribution.mean);
  set("_min", distribution.min);
  set("_max", distribution.max);
  set("_std", distribution.std);
  set("_p50", distribution.p50);
  set("_p90", distribution.p90);
  set("_p95", distribution.p95);
  set("_p99", distribution.p99);
  if (distribution.count == 0 && !figures.findings.attempts.summed.empty()) {
    SayAllSummed(described.key, figures.metrics);
  }
  if (described.unknown > 0) figures.missing_values.push_back({described.key, described.unknown});
}

std::vector<std::string> WithStandIns(std::vector<std::string> names) {
  for (std::string& name : names) {
    if (name.empty()) name = std::string(kNoName);
  }
  return names;
}

struct Hosts {
  std::vector<std::string> names;  // sorted
  std::vector<uint32_t> of_process;
};

Hosts IndexHosts(const std::vector<ProcessRow>& processes) {
  Hosts hosts;
  for (const ProcessRow& process : processes) hosts.names.push_back(process.host);
  std::sort(hosts.names.begin(), hosts.names.end());
  hosts.names.erase(std::unique(hosts.names.begin(), hosts.names.end()), hosts.names.end());
  for (const ProcessRow& process : processes) {
    const auto name = std::lower_bound(hosts.names.begin(), hosts.names.end(), process.host);
    hosts.of_process.push_back(static_cast<uint32_t>(name - hosts.names.begin()));
  }
  return hosts;
}

// Where no chunk names its file there is nothing to tell apart.
bool IsNameless(const std::vector<std::string>& names) { return names.size() == 1 && names[0].empty(); }
bool IsNameless(const std::vector<BreakdownRow>& rows) { return rows.size() == 1 && rows[0].name == kNoName; }

void BreakDownAttempts(RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  figures.worker_rows = ChooseWorkerRows(processes, attempts.rows, attempts.summed, attempts.bytes_of_process);
  const WorkerRows& workers = figures.worker_rows;
  const Hosts hosts = IndexHosts(processes);
  std::vector<ByteSums> bytes_of_host(hosts.names.size());
  for (size_t i = 0; i < processes.size(); ++i) {
    bytes_of_host[hosts.of_process[i]].Add(attempts.bytes_of_process[i]);
  }
  const std::vector<std::string> datasets = WithStandIns(attempts.datasets);
  const std::vector<std::string> files = WithStandIns(attempts.files);
  std::vector<std::vector<BreakdownRow>> tables =
      BreakDown(attempts.rows, attempts.summed, attempts.helpers,
                {{&AttemptRow::input, &attempts.dataset_of_input, &datasets, &attempts.bytes_of_dataset},
                 {&AttemptRow::input, &attempts.file_of_input, &files, &attempts.bytes_of_file},
                 {&AttemptRow::process, &workers.group_of_process, &workers.names, &workers.bytes},
                 {&AttemptRow::process, &hosts.of_process, &hosts.names, &bytes_of_host},
                 {&AttemptRow::thread, nullptr, &attempts.threads, &attempts.bytes_of_thread}});
  if (!IsNameless(tables[0])) figures.by_dataset = std::move(tables[0]);
  figures.datasets_source = FillDatasets(figures.coffea, &figures.by_dataset);
  if (!IsNameless(tables[1])) figures.by_file = std::move(tables[1]);
  figures.by_worker = std::move(tables[2]);
  figures.by_host = std::move(tables[3]);
  figures.by_thread = std::move(tables[4]);
}

std::vector<NamedSpell> FindNamedSpells(const RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  const std::vector<ProcessRow>& processes = figures.findings.processes.processes;
  const Hosts hosts = IndexHosts(processes);
  const auto name_of = [&](const SlowSpell& spell) -> std::string {
    switch (spell.of) {
      case SpellOf::kFile:
        return attempts.files[spell.group];
      case SpellOf::kWorker:
        return processes[spell.group].worker();
      case SpellOf::kHost:
        return hosts.names[spell.group];
      case SpellOf::kDataset:
        return attempts.datasets[attempts.kinds[spell.group].first];
      case SpellOf::kRun:
        break;
    }
    return "";
  };
  std::vector<NamedSpell> named;
  const SpellGroups groups = {attempts.kind_of_input, attempts.file_of_input, hosts.of_process,
                              !IsNameless(attempts.files), !IsNameless(attempts.datasets)};
  std::vector<SlowSpell> spells = FindSlowSpells(attempts.rows, groups, figures.stragglers.datasets);
  ExplainSpells(attempts.rows, attempts.helpers, groups, figures.stragglers.datasets, &spells);
  for (const SlowSpell& spell : spells) {
    named.push_back({spell, name_of(spell), "", {}});
    if (named.size() > kMostSampledSpells) continue;
    named.back().sample = SampleSpell(attempts.rows, spell, groups, figures.stragglers.datasets);
  }
  return named;
}

void FindSlowChunks(RunFigures& figures) {
  const AttemptFindings& attempts = figures.findings.attempts;
  figures.stragglers = FindStragglers(attempts.rows, attempts.helpers, attempts.kind_of_input);
  const std::vector<DatasetFit>& fits = figures.stragglers.datasets;
  ExpectedTimes expected = FindExpectedTimes(attempts.rows, attempts.kind_of_input, attempts.file_of_input, fits);
  figures.expected_by_worker = std::move(expected.by_process);
  figures.expected_by_file = std::move(expected.by_file);
  figures.slow_spells = FindNamedSpells(figures);
}

void MeasureLanes(const RunFigures& figures, AttemptAnalyses& analyses) {
  const AttemptRows& rows = figures.findings.attempts.rows;
  analyses.load_imbalance = LoadImbalance(rows);
  const std::vector<int64_t> open = MaxOpenChunks(rows, figures.findings.processes.processes);
  if (!rows.empty()) analyses.max_open_chunks = *std::max_element(open.begin(), open.end());
}

}  // namespace

AttemptAnalyses AnalyseAttempts(const WorkLimits& limits, const std::function<void()>& measure_time,
                                RunFigures* figures) {
  const AttemptFindings& attempts = figures->findings.attempts;
  const size_t count = attempts.rows.size();
  AttemptAnalyses analyses;
  // What takes longest is first, so that no thread is left alone with it at the end.
  std::vector<Piece> pieces = {
      {kTimeBytes * count, measure_time},
      {kStragglerBytes * count, [&] { FindSlowChunks(*figures); }},
      {kBreakdownBytes * count, [&] { BreakDownAttempts(*figures); }},
      {kContentionBytes * count,
       [&] { figures->contention = FindContention(attempts.rows, attempts.helpers, attempts.kind_of_input); }},
  };
  if (attempts.summed.empty()) {
    pieces.push_back({kLaneBytes * count, [&] { MeasureLanes(*figures, analyses); }});
  }
  pieces.push_back(
      {0, [&] { analyses.rss_slope = LargestRssSlope(attempts.rows, figures->findings.processes.processes); }});
  for (size_t pass = 0; pass < kDistributionPasses; ++pass) {
    pieces.push_back({kDistributionBytes * count, [&, pass] {
                        analyses.distributions[pass] = DescribeChunks(pass, attempts.rows, attempts.helpers);
                      }});
  }
  RunSideBySide(pieces, limits);
  return analyses;
}

void SetDistributions(const AttemptAnalyses& analyses, RunFigures* figures) {
  for (const std::vector<ChunkDistribution>& pass : analyses.distributions) {
    for (const ChunkDistribution& described : pass) SetDistribution(described, *figures);
  }
}

void SetAnalyses(const AttemptAnalyses& analyses, RunFigures* figures) {
  MetricSet& metrics = figures->metrics;
  const auto set = [&metrics](std::string_view key, const auto& value) {
    if (value.has_value()) metrics.Set(key, *value);
  };
  set("straggler_chunks", figures->stragglers.straggler_chunks);
  set("oversized_chunks", figures->stragglers.oversized_chunks);
  if (analyses.rss_slope.has_value()) {
    metrics.Set("rss_slope", analyses.rss_slope->slope);
    metrics.Set("rss_slope_low", analyses.rss_slope->low);
    metrics.Set("rss_slope_high", analyses.rss_slope->high);
  }
  set("load_imbalance", analyses.load_imbalance);
  set("max_open_chunks", analyses.max_open_chunks);
  if (figures->findings.attempts.summed.empty()) return;
  for (std::string_view key :
       {"straggler_chunks", "oversized_chunks", "rss_slope", "rss_slope_low", "rss_slope_high"}) {
    if (metrics.Number(key).has_value()) continue;
    metrics.SetNull(key, "too few chunks have a line of their own, the others were summed, or they told too little");
  }
  constexpr std::string_view kReason = "chunks were summed: when each of them was open is not known";
  metrics.SetNull("load_imbalance", kReason);
  metrics.SetNull("max_open_chunks", kReason);
}

void AddWorkersWithoutChunks(RunFigures* figures) {
  absl::flat_hash_set<uint32_t> with_row;
  for (const BreakdownRow& row : figures->by_worker) with_row.insert(row.group);
  for (const WorkerLife& worker : figures->workers) {
    const ProcessRow& process = figures->findings.processes.processes[worker.process];
    if (!process.is_engine_worker) continue;
    if (!with_row.insert(figures->worker_rows.group_of_process[worker.process]).second) continue;
    BreakdownRow& row = figures->by_worker.emplace_back();
    row.name = process.worker();
    row.group = worker.process;
    row.chunks = row.attempts = row.failed = row.lost = 0;
  }
}

}  // namespace crema
