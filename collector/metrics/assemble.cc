#include "absl/time/time.h"
#include "collector/format/human_numbers.h"
#include "collector/metrics/read_records.h"
#include "crema/version.h"

namespace crema {
namespace {

/// Warns of a count that is not 0: `text` has a place for it, and for `others` behind it.
template <class... Others>
void WarnIf(int64_t count, std::string_view text, std::vector<std::string>& warnings, const Others&... others) {
  if (count > 0) warnings.push_back(fmt::format(fmt::runtime(text), count, others...));
}

void WarnOfOmissions(const RunFigures& figures, std::vector<std::string>& warnings) {
  const Omissions& omissions = figures.findings.omissions;
  WarnIf(omissions.section_paths, "{} readings of sections beyond {} paths are part of `(other)`; use fewer names",
         warnings, SectionTable::kMaxPaths);
  WarnIf(omissions.memory_paths,
         "{} readings of memory sections beyond {} paths are one row `(other)`; use fewer names", warnings,
         MemorySectionTable::kMaxPaths);
  WarnIf(omissions.metrics, "{} readings of metrics beyond {} names are together in `(other)`; use fewer names",
         warnings, CustomMetricTable::kMaxMetrics);
  WarnIf(omissions.cuts, "{} readings of cuts beyond {} were left out; use fewer names", warnings, CutTable::kMaxCuts);
  WarnIf(omissions.activities,
         "{} readings of activities were not finite, or are in `(other)`, beyond {} rows; use fewer names", warnings,
         ActivityTable::kMaxRows);
  WarnIf(omissions.attributes, "{} readings of attributes beyond {} names are one row `(other)`; use fewer names",
         warnings, AttributeTable::kMaxNames);
  WarnIf(omissions.requests, "{} requests to storage beyond {} servers and operations are one row `(other)`", warnings,
         RequestTable::kMaxRows);
  WarnIf(omissions.functions, "{} samples of functions beyond {} rows are one row `(other)`, so that no share is known",
         warnings, FunctionTable::kMaxRows);
  if (omissions.columns) {
    warnings.push_back(fmt::format("only {} of the columns' names were kept", FileTable::kMaxColumns));
  }
  if (omissions.spans) warnings.push_back(fmt::format("only the first {} spans were kept", SpanTable::kMaxSpans));
  WarnIf(omissions.inconsistent_chunks,
         "the sections of {} chunks claim more than the chunk's duration and were not used; the writer of these "
         "records is at fault",
         warnings);
  if (figures.by_worker.size() > WorkerRows::kMost) {
    warnings.push_back(fmt::format("workers beyond {} are shown together as {}", WorkerRows::kMost, kOtherName));
  }
  if (absl::c_linear_search(figures.findings.attempts.files, kOtherName)) {
    warnings.push_back(fmt::format("files beyond {}{} are shown together as {}", InputTable::kMaxInputs,
                                   figures.findings.sums.chunks > 0 ? ", and some of the chunks that were summed," : "",
                                   kOtherName));
  }
}

std::string_view WordsOf(std::string_view reason) {
  using Words = std::pair<std::string_view, std::string_view>;
  constexpr Words kWords[] = {
      {"log_share", "their lines would have taken more than a tenth of what was free on the disk"},
      {"free_space", "the disk was nearly full"},
      {"disk_full", "the disk was full, or a quota reached"},
      {"log_size", "the log came near CREMA_MAX_LOG_BYTES"},
      {"file_size", "the log came near the largest size that files may have (ulimit -f)"},
      {"asked_for", "the program asked for it (kSummed)"},
      {"write_error", "their lines could not be written"},
  };
  if (const Words* known = FindBy(kWords, &Words::first, reason)) return known->second;
  return reason.empty() ? "their process did not say why" : reason;
}

void WarnOfSums(const RunFigures& figures, std::vector<std::string>& warnings) {
  const SumsFindings& sums = figures.findings.sums;
  if (sums.chunks > 0) {
    std::vector<std::string> reasons;
    for (const auto& [reason, chunks] : sums.chunks_by_reason) {
      reasons.push_back(sums.chunks_by_reason.size() == 1 ? std::string(WordsOf(reason))
                                                          : fmt::format("{} ({})", WordsOf(reason), chunks));
    }
    const int64_t attempts = figures.totals.counts.num_attempts;
    warnings.push_back(fmt::format(
        "{} of {} chunks were summed, because {}: totals are exact for processes that have ended; quantiles, "
        "stragglers, fits, columns, lists and timelines of chunks are of the other {}",
        sums.chunks, attempts, fmt::join(reasons, "; "), attempts - sums.chunks));
  }
  WarnIf(figures.findings.processes.summed_chunks - sums.chunks,
         "{} more chunks were summed whose sums could not be read", warnings);
  WarnIf(sums.rows_left_out, "{} sums beyond {} datasets, files and processes were left out; totals are too low",
         warnings, SumsTable::kMaxRows);
}

void WarnOfWaits(const ProcessFindings& processes, Quality& quality) {
  std::map<std::string_view, int64_t> refused;  // processes by reason
  for (const ProcessRow& process : processes.processes) ++refused[process.waits_reason];
  for (const auto& [reason, count] : refused) {
    if (reason.empty() || reason == "switched off") continue;  // docs/record_log.md: nobody asked
    quality.processes_without_waits = quality.processes_without_waits.value_or(0) + static_cast<double>(count);
    quality.warnings.push_back(
        fmt::format("it is not known what threads waited for: {} (processes: {})", reason, count));
  }
}

/// What the SDK could not keep, by cause.
void WarnOfDrops(const ProcessFindings& processes, std::vector<std::string>& warnings) {
  WarnIf(processes.guards_misused,
         "{} guards were not used as they should be (a chunk that ended on another thread, sections that do not nest): "
         "what they recorded is missing. A line on the standard error of each such process names the first",
         warnings);
  WarnIf(processes.records_unwritten,
         "{} records could not be written (the disk was full, the log was removed, or files may not be larger): sums "
         "are too low",
         warnings);
  WarnIf(processes.values_outside_chunks,
         "{} values or guards were given where no chunk was open, and are missing: put them inside TrackMetrics",
         warnings);
  WarnIf(processes.records_of_unknown_cause,
         "{} records could not be written or kept by their processes (full disk, file size limit, no memory, or no "
         "open chunk; these processes do not say which)",
         warnings);
  WarnIf(processes.records_without_room,
         "{} values or records were not kept: too many names in a chunk, a cut with invalid numbers, or no memory",
         warnings);
  WarnIf(processes.tasks_left_out,
         "{} tasks have no record, because the disk of their worker was short: what is known by task is too low",
         warnings);
}

void WarnOfPartialSums(const RunFigures& figures, std::vector<std::string>& warnings) {
  const AttemptTotals& totals = figures.totals;
  const auto warn = [&](const OptionalSum& sum, const char* what) {
    if (sum.count > 0 && sum.count < totals.ended) {
      warnings.push_back(fmt::format("{} is known of {} of {} ended attempts; its sums are over these", what, sum.count,
                                     totals.ended));
    }
  };
  warn(totals.cpu_ns, "CPU time");
  warn(totals.cpu_wait_ns, "the run delay");
  // Failed attempts seldom get as far as recording it.
  const int64_t with_bytes = figures.findings.attempts.bytes.with_read;
  if (with_bytes > 0 && with_bytes + totals.counts.num_failed_attempts < totals.ended) {
    warnings.push_back(
        fmt::format("bytes read are known of {} of {} ended attempts; bytes_read_chunks is too low (use AddBytesRead)",
                    with_bytes, totals.ended));
  }
  if (totals.events.count > 0 && totals.events.count < totals.counts.num_chunks) {
    warnings.push_back(fmt::format("events are known of {} of {} chunks; event rates are too low (use SetEvents)",
                                   totals.events.count, totals.counts.num_chunks));
  }
}

void WarnOfTimes(const RunFigures& figures, const Quality& quality, std::vector<std::string>& warnings) {
  if (quality.clock_step_max_s.value_or(0) > kClockStepSeconds) {
    warnings.push_back(
        fmt::format("a wall clock stepped by {} during the run; durations are right, times of different processes may "
                    "not fit together",
                    HumanDuration(*quality.clock_step_max_s)));
  }
  const AttemptTotals& totals = figures.totals;
  const RunWindow& window = figures.bounds.window;
  if (totals.first_start_ns.has_value() &&
      (*totals.first_start_ns < window.start_ns || totals.last_stop_ns.value_or(0) > window.stop_ns)) {
    warnings.push_back("some chunks lie outside the run's bounds; they count in sums and not in time averages");
  }
  if (const int64_t open = totals.counts.num_open_attempts; open > 0) {
    warnings.push_back(fmt::format("{} still open; the figures are not final",
                                   open == 1 ? "one attempt is" : fmt::format("{} attempts are", open)));
  }
}

/// There are no records that a worker's could lack beside.
bool IsLogAlone(const RunFigures& figures) {
  return figures.engine.reports_tasks && !figures.findings.processes.has_records();
}

void WarnOfEngine(const RunFigures& figures, std::vector<std::string>& warnings) {
  const EngineFigures& engine = figures.engine;
  warnings.insert(warnings.end(), engine.complaints.begin(), engine.complaints.end());
  WarnIf(engine.lost_bytes,
         "{} bytes of records were sent and did not fit in the {}'s memory; collect the workers' directories too, or "
         "attach with a larger keep_bytes",
         warnings, engine.traits.scheduler);
  if (!IsLogAlone(figures)) {
    WarnIf(engine.workers_unseen, "{} of the {}'s workers sent no records; their {}s are missing", warnings,
           engine.traits.scheduler, engine.reports_tasks ? "chunk" : engine.traits.task);
  }
  const FineCoverage fine = engine.fine_coverage.value_or(FineCoverage{1, 0});
  if (fine.excess > 1 - kFullCoverage) {
    warnings.push_back(
        fmt::format("the engine's activities come to {} more than its own compute time: activities in seconds overlap",
                    HumanPercent(fine.excess, 1)));
  }
  if (fine.share < kFullCoverage) {
    warnings.push_back(fmt::format("the engine's activities cover {} of its own compute time; the rest was lost",
                                   HumanPercent(fine.share, 1)));
  }
  if (!figures.findings.tasks.empty() && engine.join.chunks_unjoined > 0) {
    const int64_t unjoined = engine.join.chunks_unjoined;
    warnings.push_back(fmt::format("{} to no {} that was seen, so the time around is not known",
                                   unjoined == 1 ? "one chunk belongs" : fmt::format("{} chunks belong", unjoined),
                                   engine.traits.task));
  }
  WarnIf(figures.findings.omissions.fine,
         "{} readings of the engine's activities were not finite, or found no room and are in `(other)`", warnings);
}

/// docs/metrics.md, "quality": events in records over the report's, else over what the run said that it would process.
std::optional<double> EventCoverage(const RunFigures& figures) {
  if (!figures.findings.processes.has_records() || figures.totals.counts.num_attempts == 0) return std::nullopt;
  std::optional<int64_t> expected = figures.coffea.report.entries;
  if (!expected.has_value()) expected = figures.findings.processes.total_events;
  if (!expected.has_value()) expected = figures.coffea.of_datasets.entries;
  if (!expected.has_value()) return std::nullopt;
  const std::optional<double> events = figures.totals.events.In(1);
  if (!events.has_value() && figures.totals.counts.num_chunks > 0) return std::nullopt;  // chunks did not record them
  const auto announced = static_cast<double>(*expected);
  if (figures.coffea.reports > 0 && events.value_or(0) < announced) {
    double computed = 0;  // a report counts a chunk as often as it was computed, and others may count it, too
    for (const AttemptRow& attempt : figures.findings.attempts.rows) {
      if (attempt.status == AttemptState::kOk) computed += static_cast<double>(std::max<int64_t>(0, attempt.events));
    }
    if (computed >= announced) return figures.coffea.reports == 1 ? std::optional<double>(1) : std::nullopt;
  }
  return Ratio(events.value_or(0), announced);
}

std::string IsoUtc(int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

Number KnownSeconds(const std::optional<int64_t>& nanoseconds) {
  return nanoseconds.has_value() ? Number(static_cast<double>(*nanoseconds) / 1e9) : Number();
}

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
  if (figures.engine.goes_on && !figures.bounds.stop_was_reported) return "running";
  bool any_ended = figures.bounds.stop_was_reported;
  bool any_lost = false;
  bool any_damaged = false;
  for (const ProcessRow& process : found.processes) {
    if (process.state == ProcessState::kRunning && !figures.bounds.stop_was_reported) return "running";
    any_ended |= process.state == ProcessState::kEnded && !process.is_damaged;
    any_lost |= process.state == ProcessState::kLost;
    any_damaged |= process.is_damaged;
  }
  if (figures.tree.has_value()) {
    if (figures.tree->running) return "running";
    if (figures.tree->stop_ns.has_value()) return "finished";
    // It samples once a second, or as often as it did: what ended later ended without it.
    const int64_t silent_ns = figures.tree->last_ns + std::llround(1e9 * (1 + figures.tree->sampling_gap_max_seconds));
    const bool outlived_it = absl::c_any_of(found.processes, [&](const ProcessRow& process) {
      return process.state == ProcessState::kEnded && process.last_ns > silent_ns;
    });
    if (outlived_it && !any_lost) return "finished";  // `crema run` alone was killed
    return figures.tree->origin == TreeOrigin::kPrmon ? Text() : Text("killed");
  }
  // Coffea gives its report at the end.
  if (found.processes.empty() && !figures.coffea.empty()) return "finished";
  if (any_ended) return "finished";
  if (any_damaged) return Text();
  if (!found.processes.empty()) return any_lost ? Text("killed") : Text();  // nothing says how the others ended
  return figures.engine.never_began.empty() ? Text() : Text("running");
}

Number MemoryLimit(const ProcessRow& process) {
  for (auto sample = process.samples.rbegin(); sample != process.samples.rend(); ++sample) {
    if (sample->memory_limit_bytes.has_value()) return sample->memory_limit_bytes;
  }
  return process.memory_limit_bytes;
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

/// What rows have in common: times are seconds since the run's start, chunks and processes have names.
class Assembly {
 public:
  Assembly(RunFigures* figures, Measurement* measurement) : figures_(*figures), to_(*measurement) {}

  void AddRun(const RunProvenance& provenance) {
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
    if (figures_.findings.files.columns_known) run.columns_source = "records";
    if (figures_.coffea.has_columns) run.columns_source = "coffea_report";
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
    to_.provenance = {CREMA_VERSION_STRING, provenance.sources, provenance.host, IsoUtc(provenance.created_ns),
                      Number()};
  }
  void AddBreakdowns() {
    for (PhaseRow& phase : to_.phases) {
      phase.start = SinceStart(phase.start_ns);
      phase.stop = SinceStart(phase.stop_ns);
    }
    const GpuFindings& gpu = figures_.findings.gpu;
    for (BreakdownRow& row : to_.datasets) {
      if (gpu.all.has_value()) SetGpuWork(ValueOr(gpu.by_dataset, row.name.str(), GpuWork()), &row);
    }
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
    to_.budget = std::move(figures_.budget.rows);
  }
  void AddRecorded() {
    RecordFindings& findings = figures_.findings;
    to_.sections = std::move(findings.sections.rows);
    to_.process_sections = std::move(findings.processes.sections);
    to_.events = std::move(findings.task_sums.events);
    to_.modules = std::move(findings.task_sums.modules);
    for (auto& [process, row] : findings.task_sums.threads) {
      row.worker = WorkerName(process);
      to_.task_threads.push_back(std::move(row));
    }
    to_.gpu_kernels = std::move(findings.gpu.kernels);
    for (const auto* sums : {&findings.fine, &findings.activities}) {
      for (const EngineFineSum& sum : *sums) {
        to_.fine.push_back({sum.context, Text::OrNull(sum.span), WorkerName(sum.process), Text::OrNull(sum.function),
                            sum.activity, sum.unit, sum.value});
      }
    }
  }
  /// Those of workers that have rows of their own.
  void AddTimelines() {
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
    const std::vector<LatencyStep>& steps = figures_.findings.task_sums.over_time;
    if (steps.empty()) return;
    NamedTimelines& latency = to_.timelines.series.emplace_back();
    latency.key = "event_latency";
    latency.by_worker.emplace();
    for (size_t part = 0; part < std::size(TaskSumsTable::kParts); ++part) {
      Timeline& timeline = latency.by_worker->emplace_back(TaskSumsTable::kParts[part].first, Timeline()).second;
      for (const LatencyStep& step : steps) {
        timeline.push_back({SecondsOf(step.start_ns - figures_.bounds.window.start_ns), step.seconds[part]});
      }
    }
  }
  void AddStragglers(const std::vector<EntryRange>& ranges) {
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
      row.cpu = KnownSeconds(ChunkCpu(attempt, attempts.helpers));
      row.cpu_wait = KnownSeconds(Known(attempt.cpu_wait_ns));
      row.blocked = KnownSeconds(ChunkBlocked(attempt, attempts.helpers));
      row.reason = ToString(straggler.reason);
      row.section = Text::OrNull(ranges[i].slow_section);
    }
  }
  /// One row for each dataset and pass with an `ok` attempt: the robust fit of duration over events.
  void AddFits() {
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
  void AddSlowTimes() {
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
    for (const NamedPeriod& named : figures_.slow_spells) {
      if (to_.slow_spells.size() == kMostSlowPeriods) break;
      const SlowPeriod& period = named.period;
      to_.slow_spells.push_back({Text::OrNull(named.name), ToString(period.of), SinceStart(period.start_ns),
                                 SinceStart(period.stop_ns), period.attempts, period.duration_seconds,
                                 period.predicted_seconds, ToString(period.reason), Text::OrNull(named.section)});
    }
  }

 private:
  WorkerRow WorkerOf(BreakdownRow breakdown, const WorkerLife* life) const {
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
    row.state = ToString(process.state);
    std::optional<int64_t> peak = process.counts.rss_peak_bytes;
    for (const ProcessSample& sample : process.samples) peak = std::max(peak, sample.rss_bytes);
    row.peak_memory_bytes = peak;
    row.anonymous_memory_bytes = process.counts.anonymous_bytes;
    row.file_memory_bytes = process.counts.file_bytes;
    row.allowed_cores = process.allowed_cores;
    row.throttled = KnownSeconds(process.counts.throttled_ns);
    row.memory_limit_bytes = MemoryLimit(process);
    row.disk_bytes = process.disk_bytes;
    row.left_reason = Text::OrNull(process.left_reason);
    row.engine_cpu = KnownSeconds(process.engine_cpu_ns);
    row.engine_peak_memory_bytes = process.engine_peak_memory_bytes;
    row.time_limit = KnownSeconds(process.time_limit_ns);
    return row;
  }
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

constexpr std::string_view kTooFewCores =
    "the chunks used more CPU time than their cores have: the number of cores is too low (CREMA_THREADS)";

/// From 0 to `most`, or to the figure `most_key`.
struct Limit {
  std::string_view key;
  std::string_view reason;
  double most = 1;
  std::string_view most_key = {};
};

constexpr Limit kLimits[] = {
    {"cpu_efficiency", kTooFewCores},
    {"core_efficiency", kTooManySeconds},
    {"balance", kTooManySeconds},
    {"io_overhead", kTooManySeconds},
    {"io_overhead_pct", kTooManySeconds, 100},
    {"section_coverage", kTooManySeconds},
    {"decompression_share", kTooManySeconds},
    {"instrumentation_overhead", kTooManySeconds},
    {"ideal_wall_time", "it is longer than the elapsed time", 0, "wall_time"},
    {"tail_time", "it is longer than the elapsed time", 0, "wall_time"},
};

/// nullopt: it is beyond `most` by more than clocks and rounding explain.
std::optional<double> Bounded(double value, double most) {
  if (value < 0 || value > most * (1 + kReadingTolerance)) return std::nullopt;
  return std::min(value, most);
}

}  // namespace

Quality JudgeQuality(const RunFigures& figures, Quality quality) {
  const ProcessFindings& processes = figures.findings.processes;
  const AttemptTotals& totals = figures.totals;
  const EngineFigures& engine = figures.engine;
  const int64_t records_lost = figures.findings.attempts.records_lost;
  quality.records_dropped = processes.records_dropped;
  quality.guards_misused = processes.guards_misused;
  if (processes.records_of_unknown_cause == 0) {
    quality.records_unwritten = processes.records_unwritten;
    quality.values_outside_chunks = processes.values_outside_chunks;
  }
  quality.tasks_left_out = processes.tasks_left_out;
  quality.lost_samples = processes.lost_samples;
  quality.summed_chunks = figures.findings.sums.chunks;
  quality.sections_dropped = figures.findings.omissions.section_paths;
  if (processes.has_records()) {
    quality.records_lost = records_lost;
    quality.chunks_without_events = totals.counts.num_chunks - totals.events.count;
  }
  const auto in_state = [&processes](ProcessState state) {
    return absl::c_count_if(processes.processes, [state](const ProcessRow& process) { return process.state == state; });
  };
  quality.processes_ended = in_state(ProcessState::kEnded);
  quality.processes_running = in_state(ProcessState::kRunning);
  quality.processes_lost = in_state(ProcessState::kLost);
  quality.processes_unreported = in_state(ProcessState::kUnreported);
  quality.tasks_read = figures.findings.tasks.rows.size();
  if (!figures.findings.tasks.empty()) {
    quality.chunks_joined_to_tasks = engine.join.chunks_joined;
    quality.chunks_unjoined = engine.join.chunks_unjoined;
    if (figures.findings.sums.chunks == 0) quality.tasks_without_chunk = engine.join.tasks_without_chunk;
  }
  if (engine.fine_coverage.has_value()) quality.fine_metrics_coverage = engine.fine_coverage->share;
  if (engine.has_scheduler) {
    if (!IsLogAlone(figures)) quality.workers_unseen = engine.workers_unseen;
    quality.records_lost_bytes = engine.lost_bytes;
  }
  quality.allocations_cost_s = KnownSeconds(figures.findings.allocations.cost_ns);
  quality.event_coverage = EventCoverage(figures);
  if (processes.clock_step_ns.has_value()) quality.clock_step_max_s = SecondsOf(*processes.clock_step_ns);
  if (processes.sampling_gap_ns.has_value()) quality.sampling_gap_max_s = SecondsOf(*processes.sampling_gap_ns);
  if (figures.tree.has_value()) {
    if (figures.tree->samples > 1) {
      quality.sampling_gap_max_s =
          std::max(quality.sampling_gap_max_s.value_or(0), figures.tree->sampling_gap_max_seconds);
    }
    quality.tree_cpu_sampled = figures.tree->totals.tree_cpu_sampled;
    quality.processes_left_running = figures.tree->totals.processes_left_running;
  }
  WarnOfWaits(processes, quality);
  WarnOfDrops(processes, quality.warnings);
  Append(&quality.warnings, QuotedAttribute(AttributeRow::kCounters, figures.findings.tables.attributes, quality));
  WarnOfSums(figures, quality.warnings);
  if (records_lost > 0) {
    quality.warnings.push_back(fmt::format(
        "the {} of {} that ended {} lost, so sums are too low: recording was off, the disk had no room, or the log is "
        "damaged",
        records_lost == 1 ? "record" : "records",
        records_lost == 1 ? "one chunk" : fmt::format("{} chunks", records_lost), records_lost == 1 ? "is" : "are"));
  }
  WarnOfOmissions(figures, quality.warnings);
  WarnOfPartialSums(figures, quality.warnings);
  for (const ProcessRow& process : processes.processes) {
    if (!process.clock_offset_ns.has_value()) continue;
    const double offset = std::abs(SecondsOf(*process.clock_offset_ns));
    quality.clock_offset_max_s = std::max(quality.clock_offset_max_s.value_or(0), offset);
  }
  WarnOfTimes(figures, quality, quality.warnings);
  WarnOfEngine(figures, quality.warnings);
  Append(&quality.warnings, CompareSources(figures.chosen, totals, figures.bytes_read_chunks(), figures.coffea,
                                           figures.findings.tables.datasets));
  return quality;
}

Measurement Assemble(RunFigures figures, Quality quality, const std::vector<EntryRange>& straggler_ranges,
                     const RunProvenance& provenance) {
  Measurement measurement = std::move(figures.findings.tables);
  measurement.schema = kMeasurementSchema;
  measurement.schema_minor = kMeasurementSchemaMinor;
  measurement.metrics = figures.metrics;
  Assembly assembly(&figures, &measurement);
  assembly.AddRun(provenance);
  assembly.AddTimelines();
  assembly.AddStragglers(straggler_ranges);
  assembly.AddFits();
  assembly.AddSlowTimes();
  assembly.AddRecorded();
  assembly.AddBreakdowns();
  quality.missing_values = std::move(measurement.quality.missing_values);
  measurement.quality = std::move(quality);
  return measurement;
}

void RefuseImpossible(MetricSet* metrics) {
  for (const Limit& limit : kLimits) {
    const std::optional<double> value = metrics->Number(limit.key);
    const std::optional<double> most = limit.most_key.empty() ? limit.most : metrics->Number(limit.most_key);
    if (!value.has_value() || !most.has_value() || (*value >= 0 && *value <= *most)) continue;
    if (const std::optional<double> bounded = Bounded(*value, *most)) {
      metrics->Set(limit.key, *bounded);
    } else {
      metrics->SetNull(limit.key, limit.reason);
    }
  }
}

}  // namespace crema
