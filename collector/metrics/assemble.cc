#include "collector/metrics/assemble.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "collector/metrics/attempts/attempt_quantities.h"
#include "collector/metrics/engine_figures.h"
#include "crema/version.h"

namespace crema {
namespace {

std::string IsoUtc(int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

Number SecondsOf(const std::optional<int64_t>& nanoseconds) {
  return nanoseconds.has_value() ? Number(static_cast<double>(*nanoseconds) / 1e9) : Number();
}

/// What rows have in common: times are seconds since the run's start, chunks and processes have names.
class Assembly {
 public:
  Assembly(RunFigures* figures, Measurement* measurement) : figures_(*figures), to_(*measurement) {}

  void AddRun(const RunProvenance& provenance);
  void AddBreakdowns();
  void AddRecorded();
  void AddTimelines();
  void AddStragglers(const std::vector<EntryRange>& ranges);
  void AddFits();
  void AddSlowTimes();
  void AddContention();
  void AddProcesses();
  void AddQuality(Quality quality);

 private:
  WorkerRow WorkerOf(BreakdownRow breakdown, const WorkerLife* life) const;
  Number SinceStart(int64_t time_ns) const {
    return static_cast<double>(time_ns - figures_.bounds.window.start_ns) / 1e9;
  }
  std::string WorkerName(uint32_t process) const {
    return process == ProcessSums::kAllProcesses ? std::string(kOtherName) : processes()[process].worker();
  }
  const std::vector<ProcessRow>& processes() const { return figures_.findings.processes.processes; }

  RunFigures& figures_;
  Measurement& to_;
};

/// Null: the log has no end, and what became of the run is not known.
Text StateOf(const RunFigures& figures, const RunProvenance& provenance) {
  if (!provenance.failure.empty()) return "failed";
  if (figures.engine.ended) return "finished";  // its workers may serve others
  const ProcessFindings& found = figures.findings.processes;
  const auto recorded_end = found.processes.end() - static_cast<long>(found.without_records);
  const bool any_writes = std::any_of(found.processes.begin(), recorded_end, [](const ProcessRow& process) {
    return process.state == ProcessState::kRunning;
  });
  if (figures.engine.went_silent && !any_writes) return Text();
  if (figures.engine.goes_on && !figures.bounds.stop_was_told) return "running";
  bool any_ended = figures.bounds.stop_was_told;
  bool any_lost = false;
  bool any_damaged = false;
  for (const ProcessRow& process : found.processes) {
    if (process.state == ProcessState::kRunning && !figures.bounds.stop_was_told) return "running";
    any_ended |= process.state == ProcessState::kEnded && !process.is_damaged;
    any_lost |= process.state == ProcessState::kLost;
    any_damaged |= process.is_damaged;
  }
  if (figures.tree.has_value()) {
    if (figures.tree->running) return "running";
    if (figures.tree->stop_ns.has_value()) return "finished";
    return figures.tree->origin == TreeOrigin::kPrmon ? Text() : Text("killed");
  }
  // Coffea gives its report at the end.
  if (found.processes.empty() && !figures.coffea.empty()) return "finished";
  if (any_ended) return "finished";
  if (any_damaged) return Text();
  if (!found.processes.empty()) return any_lost ? Text("killed") : Text();  // nothing says how the others ended
  return figures.engine.never_began.empty() ? Text() : Text("running");
}

const char* NameOf(ProcessState state) {
  switch (state) {
    case ProcessState::kEnded:
      return "ended";
    case ProcessState::kRunning:
      return "running";
    case ProcessState::kLost:
      return "lost";
    case ProcessState::kUnreported:
      break;
  }
  return "unreported";
}

std::string_view ColumnsSource(const RunFigures& figures) {
  if (figures.coffea.has_columns) return "coffea_report";
  return figures.findings.files.columns_known ? "records" : "";
}

Number PeakMemory(const ProcessRow& process) {
  std::optional<int64_t> peak = process.counts.rss_peak_bytes;
  for (const ProcessSample& sample : process.samples) peak = std::max(peak, sample.rss_bytes);
  return peak;
}

Number MemoryLimit(const ProcessRow& process) {
  for (auto sample = process.samples.rbegin(); sample != process.samples.rend(); ++sample) {
    if (sample->memory_limit_bytes.has_value()) return sample->memory_limit_bytes;
  }
  return process.memory_limit_bytes;
}

void Assembly::AddRun(const RunProvenance& provenance) {
  const std::vector<std::string>& ids = figures_.findings.processes.run_ids;
  const std::optional<TreeFigures>& tree = figures_.tree;
  RunFacts& run = to_.run;
  run.id = Text::OrNull(ids.size() == 1 ? ids.front() : "");
  run.name = Text::OrNull(provenance.run_name);
  if (!figures_.bounds.boundary.empty()) {
    run.start_ns = figures_.bounds.window.start_ns;
    run.stop_ns = figures_.bounds.window.stop_ns;
    run.start = IsoUtc(figures_.bounds.window.start_ns);
  }
  run.boundary = Text::OrNull(figures_.bounds.boundary);
  run.cores_source = Text::OrNull(NameCoresSource(figures_.workers));
  run.busy_time_source = Text::OrNull(figures_.chosen.busy_time.source);
  run.num_chunks_source = Text::OrNull(figures_.chosen.num_chunks.source);
  run.total_events_source = Text::OrNull(figures_.chosen.total_events.source);
  run.bytes_source = Text::OrNull(figures_.chosen.bytes_read.source);
  run.columns_source = Text::OrNull(ColumnsSource(figures_));
  run.datasets_source = Text::OrNull(figures_.datasets_source);
  run.cpu_time_source = Text::OrNull(figures_.cpu_time_source);
  run.io_overhead_source = Text::OrNull(figures_.io_overhead_source);
  run.allocated_cores_source = Text::OrNull(figures_.allocated_cores_source);
  run.exit_status = provenance.exit_status;
  run.state = StateOf(figures_, provenance);
  run.error = Text::OrNull(provenance.failure);
  run.engine = Text::OrNull(figures_.engine.name);
  for (const auto& [why, jobs] : figures_.engine.never_began) run.never_began.push_back({why, jobs});
  if (tree.has_value()) {
    if (ids.empty()) run.id = Text::OrNull(tree->run_id);
    if (!tree->command.empty()) run.command = tree->command;
    run.exit_status = tree->exit_status;
    run.net_host_wide = tree->net_host_wide;
    run.commit = Text::OrNull(tree->commit);
    run.commit_source = Text::OrNull(tree->commit_source);
  }
  run.run_ids = ids;
  const CoffeaFigures& coffea = figures_.coffea;
  if (coffea.reports > 0) {
    run.coffea_report = {coffea.reports,         coffea.report.bytes, coffea.report.entries,
                         coffea.report.duration, coffea.chunks,       Number()};
    if (coffea.has_columns) run.coffea_report->columns = coffea.columns.size();
  }
  if (!coffea.datasets.empty()) {
    run.metrics_by_dataset = {coffea.datasets.size(), coffea.of_datasets.entries, coffea.of_datasets.duration,
                              coffea.of_datasets.bytes};
  }
  for (const SpanRow& span : figures_.findings.spans) {
    run.spans.push_back({span.name, span.path, span.start_ns, span.stop_ns});
  }
  to_.provenance = {CREMA_VERSION_STRING, provenance.sources, provenance.host, IsoUtc(provenance.created_ns), Number()};
}

WorkerRow Assembly::WorkerOf(BreakdownRow breakdown, const WorkerLife* life) const {
  WorkerRow row;
  static_cast<BreakdownRow&>(row) = std::move(breakdown);
  if (life != nullptr) {
    row.start = SinceStart(life->start_ns);
    row.stop = SinceStart(life->stop_ns);
    if (!HasUnknownCores(processes()[life->process])) row.cores = Number::Whole(life->cores);
  }
  if (row.group >= processes().size()) return row;  // of `(other)`
  const ProcessRow& process = processes()[row.group];
  row.process = process.process();
  row.state = NameOf(process.state);
  row.peak_memory_bytes = PeakMemory(process);
  row.anonymous_memory_bytes = process.counts.anonymous_bytes;
  row.file_memory_bytes = process.counts.file_bytes;
  row.allowed_cores = process.allowed_cores;
  row.throttled = SecondsOf(process.counts.throttled_ns);
  row.memory_limit_bytes = MemoryLimit(process);
  row.disk_bytes = process.disk_bytes;
  row.left_reason = Text::OrNull(process.left_reason);
  row.engine_cpu = SecondsOf(process.engine_cpu_ns);
  row.engine_peak_memory_bytes = process.engine_peak_memory_bytes;
  row.time_limit = SecondsOf(process.time_limit_ns);
  return row;
}

/// When each process began its first chunk, and ended its last one; `kNever`, 0: none.
std::vector<RunWindow> ChunkTimes(const AttemptFindings& attempts, size_t processes) {
  std::vector<RunWindow> times(processes, {kNever, 0});
  const auto add = [&times](uint32_t process, int64_t start_ns, int64_t stop_ns) {
    times[process].start_ns = std::min(times[process].start_ns, start_ns);
    times[process].stop_ns = std::max(times[process].stop_ns, stop_ns);
  };
  for (const AttemptRow& attempt : attempts.rows) {
    add(attempt.process, attempt.start_ns, HasEnded(attempt) ? attempt.stop_ns() : 0);
  }
  for (const SummedAttempts& sums : attempts.summed) add(sums.row.process, sums.row.start_ns, sums.stop_ns);
  return times;
}

void Assembly::AddBreakdowns() {
  to_.phases = std::move(figures_.phases);
  for (PhaseRow& phase : to_.phases) {
    phase.start = SinceStart(phase.start_ns);
    phase.stop = SinceStart(phase.stop_ns);
  }
  to_.datasets = std::move(figures_.by_dataset);
  const GpuFindings& gpu = figures_.findings.gpu;
  for (BreakdownRow& row : to_.datasets) {
    const auto found = gpu.by_dataset.find(row.name.str());
    if (gpu.all.has_value()) SetGpuWork(found == gpu.by_dataset.end() ? GpuSums() : found->second, &row);
  }
  to_.files = std::move(figures_.by_file);
  absl::flat_hash_map<uint32_t, const WorkerLife*> lives;
  for (const WorkerLife& life : figures_.workers) lives.emplace(life.process, &life);
  const std::vector<RunWindow> chunk_times = ChunkTimes(figures_.findings.attempts, processes().size());
  for (BreakdownRow& breakdown : figures_.by_worker) {
    const auto life = lives.find(breakdown.group);
    WorkerRow& row =
        to_.workers.emplace_back(WorkerOf(std::move(breakdown), life != lives.end() ? life->second : nullptr));
    if (row.group >= chunk_times.size()) continue;
    const RunWindow& times = chunk_times[row.group];
    if (times.start_ns != kNever) row.first_chunk = SinceStart(times.start_ns);
    if (times.stop_ns > 0) row.last_chunk = SinceStart(times.stop_ns);
  }
  to_.hosts = std::move(figures_.by_host);
  to_.threads = std::move(figures_.by_thread);
  to_.budget = std::move(figures_.budget.rows);
}

void Assembly::AddRecorded() {
  RecordFindings& findings = figures_.findings;
  to_.sections = std::move(findings.sections.rows);
  to_.process_sections = std::move(findings.processes.sections);
  to_.memory_sections = std::move(findings.memory_sections);
  to_.custom_metrics = std::move(findings.custom_metrics);
  to_.cuts = std::move(findings.cuts);
  to_.requests = std::move(findings.requests);
  to_.waits = std::move(figures_.waits);
  to_.events = std::move(findings.task_sums.events);
  to_.modules = std::move(findings.task_sums.modules);
  for (auto& [process, row] : findings.task_sums.threads) {
    row.worker = WorkerName(process);
    to_.task_threads.push_back(std::move(row));
  }
  to_.functions = std::move(findings.functions);
  to_.gpu_kernels = std::move(findings.gpu.kernels);
  for (const EngineFineSum& sum : findings.fine) {
    to_.fine.push_back({sum.context, Text::OrNull(sum.span), WorkerName(sum.process), Text::OrNull(sum.function),
                        sum.activity, sum.unit, sum.value});
  }
  for (const ActivitySumRow& sum : findings.activities) {  // a task's prefix is null: there is no task
    to_.fine.push_back(
        {"native", Text::OrNull(sum.span), WorkerName(sum.process), Text(), sum.activity, sum.unit, sum.value});
  }
}

/// Those of workers that have rows of their own.
void Assembly::AddTimelines() {
  const std::vector<std::string>& names = figures_.worker_rows.names;
  const bool has_others = figures_.by_worker.size() > WorkerRows::kMost;
  const absl::flat_hash_set<std::string_view> with_row(names.begin(), names.end());
  to_.timelines.worker_counts = std::move(figures_.timelines.worker_counts);
  for (TimelinesByWorker& series : figures_.timelines.series) {
    NamedTimelines& named = to_.timelines.series.emplace_back();
    named.key = series.key;
    if (!series.by_worker.has_value()) continue;
    named.by_worker.emplace();
    for (auto& [worker, timeline] : *series.by_worker) {
      if (!has_others || with_row.contains(worker)) named.by_worker->emplace_back(worker, std::move(timeline));
    }
  }
}

void Assembly::AddStragglers(const std::vector<EntryRange>& ranges) {
  const AttemptFindings& attempts = figures_.findings.attempts;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Straggler& straggler = figures_.stragglers.stragglers[i];
    const AttemptRow& attempt = attempts.rows[straggler.attempt];
    StragglerRow& row = to_.stragglers.emplace_back();
    row.chunk = attempt.number;
    row.dataset = Text::OrNull(attempts.datasets[attempts.dataset_of_input[attempt.input]]);
    row.file = Text::OrNull(attempts.files[attempts.file_of_input[attempt.input]]);
    row.entry_start = ranges[i].start;
    row.entry_stop = ranges[i].stop;
    row.worker = processes()[attempt.process].worker();
    row.start = SinceStart(attempt.start_ns);
    row.duration = static_cast<double>(attempt.duration_ns) / 1e9;
    row.predicted = straggler.predicted_seconds;
    row.events = Known(attempt.events);
    row.cpu = SecondsOf(ChunkCpu(attempt, attempts.helpers));
    row.cpu_wait = SecondsOf(Known(attempt.cpu_wait_ns));
    row.blocked = SecondsOf(ChunkBlocked(attempt, attempts.helpers));
    row.reason = ToString(straggler.reason);
    row.section = Text::OrNull(ranges[i].slow_section);
  }
}

/// One row for each dataset and pass with an `ok` attempt: the robust fit of duration over events.
void Assembly::AddFits() {
  for (const DatasetFit& dataset : figures_.stragglers.datasets) {
    const RobustFit& fit = dataset.fit;
    ChunkFitRow& row = to_.chunk_fits.emplace_back();
    const auto& [number, pass] = figures_.findings.attempts.kinds[dataset.dataset];
    row.dataset = Text::OrNull(figures_.findings.attempts.datasets[number]);
    row.pass = Text::OrNull(pass);
    row.attempts = fit.points;
    if (fit.slope_known) {
      // The chunks that the fit has take it, too: where their time falls with their events, the largest.
      const double most = std::min(fit.At(dataset.events_min), fit.At(dataset.events_max));
      row.fixed_seconds = std::min(fit.fixed_seconds, most);
      row.fixed_seconds_low = std::min(fit.fixed_seconds - fit.fixed_error, most);
      row.fixed_seconds_high = fit.seconds_per_event < 0 ? most : fit.fixed_seconds + fit.fixed_error;
      row.seconds_per_event = fit.seconds_per_event;
      row.seconds_per_event_low = fit.seconds_per_event - fit.slope_error;
      row.seconds_per_event_high = fit.seconds_per_event + fit.slope_error;
    }
    if (dataset.by_events) {
      row.events_min = std::llround(dataset.events_min);
      row.events_p50 = std::llround(dataset.events_p50);
      row.events_max = std::llround(dataset.events_max);
    }
    if (fit.points >= kLeastFittedAttempts) row.stragglers = dataset.stragglers;
    row.oversized = dataset.oversized;
  }
}

void Assembly::AddSlowTimes() {
  constexpr size_t kMostSpells = 100;
  const auto add = [this](const char* by, const std::vector<ExpectedTime>& times, const auto& name_of) {
    constexpr size_t kMostExpectedRows = 500;
    for (size_t i = 0; i < std::min(times.size(), kMostExpectedRows); ++i) {
      to_.expected_time.push_back(
          {name_of(times[i].group), by, times[i].attempts, times[i].duration_seconds, times[i].predicted_seconds});
    }
  };
  add("worker", figures_.expected_by_worker, [&](uint32_t process) { return Text(processes()[process].worker()); });
  add("file", figures_.expected_by_file,
      [&](uint32_t file) { return Text::OrNull(figures_.findings.attempts.files[file]); });
  for (const NamedSpell& named : figures_.slow_spells) {
    if (to_.slow_spells.size() == kMostSpells) break;
    const SlowSpell& spell = named.spell;
    to_.slow_spells.push_back({Text::OrNull(named.name), ToString(spell.of), SinceStart(spell.start_ns),
                               SinceStart(spell.stop_ns), spell.attempts, spell.duration_seconds,
                               spell.predicted_seconds, ToString(spell.reason), Text::OrNull(named.section)});
  }
}

/// One row; none where no attempt ended.
void Assembly::AddContention() {
  const Contention& found = figures_.contention;
  if (figures_.findings.attempts.rows.empty()) return;
  ContentionRow& row = to_.contention.emplace_back();
  row.attempts = found.attempts;
  if (found.lanes_high > 0) {
    row.lanes_low = found.lanes_low;
    row.lanes_high = found.lanes_high;
  }
  for (const auto& [lanes, seconds] : found.points) row.points.push_back({lanes, seconds});
  if (!found.why_not.empty()) {
    row.reason = found.why_not;
    return;
  }
  row.slope = found.slope;
  row.slope_low = found.slope_low;
  row.slope_high = found.slope_high;
  row.excess = found.excess_seconds;
  row.excess_low = found.excess_low_seconds;
  if (found.slope_low <= 0) return;
  row.ceiling = 1 / found.slope;
  row.ceiling_low = 1 / found.slope_high;
  row.ceiling_high = 1 / found.slope_low;
}

void Assembly::AddProcesses() {
  for (const ProcessUse& process : figures_.processes) {
    ProcessUseRow& row = to_.processes.emplace_back();
    row.name = Text::OrNull(process.name);
    row.host = Text::OrNull(process.host);
    row.pid = process.pid;
    // the kernel counts begins in hundredths of a second
    row.start = SinceStart(std::max(process.start_ns, figures_.bounds.window.start_ns));
    row.stop = SinceStart(process.last_ns);
    row.cpu = SecondsOf(process.cpu_ns);
    row.peak_memory_bytes = process.peak_memory_bytes;
    row.anonymous_memory_bytes = process.counts.anonymous_bytes;
    row.file_memory_bytes = process.counts.file_bytes;
    row.cpu_wait = SecondsOf(process.counts.run_delay_ns);
    row.threads = process.threads;
  }
}

void Assembly::AddQuality(Quality quality) {
  to_.quality = std::move(quality);
  for (const MissingValues& values : figures_.missing_values) {
    to_.quality.missing_values.push_back({std::string(values.quantity), values.attempts});
  }
}

}  // namespace

Measurement Assemble(RunFigures figures, Quality quality, const std::vector<EntryRange>& straggler_ranges,
                     const RunProvenance& provenance) {
  Measurement measurement;
  measurement.schema = kMeasurementSchema;
  measurement.schema_minor = kMeasurementSchemaMinor;
  measurement.metrics = figures.metrics;
  Assembly assembly(&figures, &measurement);
  assembly.AddRun(provenance);
  assembly.AddTimelines();
  assembly.AddStragglers(straggler_ranges);
  assembly.AddFits();
  assembly.AddSlowTimes();
  assembly.AddContention();
  assembly.AddProcesses();
  assembly.AddRecorded();
  assembly.AddBreakdowns();
  assembly.AddQuality(std::move(quality));
  return measurement;
}

}  // namespace crema
