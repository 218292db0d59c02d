#include "collector/metrics/workers/process_table.h"

#include <set>

namespace crema {
namespace {

void TakeLarger(std::optional<int64_t>& value, const std::optional<int64_t>& other) {
  value = std::max(value, other);  // an empty one is less than any
}

auto SampleOrder(const ProcessSample& sample) {
  return std::tie(sample.time_ns, sample.rss_bytes, sample.cpu_ns, sample.threads, sample.open_chunks,
                  sample.memory_limit_bytes, sample.anonymous_bytes, sample.run_delay_ns);
}

using Clock = std::optional<std::pair<int64_t, int64_t>>;

void TakeBetterClock(Clock& clock, const Clock& other) {
  if (other.has_value() && (!clock.has_value() || *other < *clock)) clock = other;
}

// The offset within which a clock is as good as the scheduler's own.
std::optional<int64_t> OffsetOfClock(const Clock& clock) {
  if (!clock.has_value()) return std::nullopt;
  return std::abs(clock->second) <= clock->first ? 0 : clock->second;
}

// Puts what a second recorder of the same process saw into the process's row.
void AddRecorder(ProcessRow& row, const ProcessRow& other) {
  KeepLarger<&ProcessRow::boot_id, &ProcessRow::pid_namespace, &ProcessRow::parent_pid, &ProcessRow::last_ns,
             &ProcessRow::engine_worker, &ProcessRow::job, &ProcessRow::working_directory,
             &ProcessRow::declared_threads, &ProcessRow::lanes_peak, &ProcessRow::allowed_cores,
             &ProcessRow::granted_cores, &ProcessRow::memory_limit_bytes, &ProcessRow::waits_reason>(other, &row);
  if (other.is_engine_worker) {
    row.state =
        other.state;  // the engine's plug-in sees the worker's end, and the SDK's log may end after the last copy
  } else if (!row.is_engine_worker && row.state != other.state) {
    const bool running = row.state == ProcessState::kRunning || other.state == ProcessState::kRunning;
    row.state = running ? ProcessState::kRunning : ProcessState::kUnreported;
  }
  row.is_engine_worker = row.is_engine_worker || other.is_engine_worker;
  row.is_damaged = row.is_damaged || other.is_damaged;
  if (!row.clock_offset_ns.has_value()) row.clock_offset_ns = other.clock_offset_ns;
  if (other.overhead_ns.has_value()) row.overhead_ns = SaturatingAdd(row.overhead_ns.value_or(0), *other.overhead_ns);
  row.counts.Raise(other.counts);
  row.samples.insert(row.samples.end(), other.samples.begin(), other.samples.end());
  row.cpu_readings.insert(row.cpu_readings.end(), other.cpu_readings.begin(), other.cpu_readings.end());
}

std::optional<int64_t> LongestGap(const std::vector<ProcessSample>& samples) {
  std::optional<int64_t> longest;
  for (size_t i = 1; i < samples.size(); ++i) {
    TakeLarger(longest, samples[i].time_ns - samples[i - 1].time_ns);
  }
  return longest;
}

/// A section outside chunks, in all processes.
struct OutsideSums : SectionSums {
  absl::int128 of_workers_ns = 0;  ///< of `self_ns`

  void Add(const OutsideSums& other) {
    SectionSums::Add(other);
    of_workers_ns += other.of_workers_ns;
  }
};

SectionRow RowOfOutside(std::string path, bool helper, const OutsideSums& sums) {
  SectionRow row = RowOf(std::move(path), helper, sums);
  row.self_in_workers = SecondsOf(sums.of_workers_ns);
  return row;
}

/// Each cause apart; together they are never more than the log dropped.
void AddLosses(const LossCounts& losses, ProcessFindings& findings) {
  const int64_t all = losses.all.value_or(0);
  const int64_t misused = losses.misused.value_or(0);
  findings.records_dropped = SaturatingAdd(findings.records_dropped, all);
  findings.guards_misused = SaturatingAdd(findings.guards_misused, misused);
  findings.tasks_left_out = SaturatingAdd(findings.tasks_left_out, losses.tasks_left_out.value_or(0));
  if (losses.lost_samples.has_value()) {
    findings.lost_samples = SaturatingAdd(findings.lost_samples.value_or(0), *losses.lost_samples);
  }
  int64_t left = std::max<int64_t>(0, all - misused);
  const auto take = [&left](int64_t& sum, int64_t records) {
    records = std::min(records, left);
    sum = SaturatingAdd(sum, records);
    left -= records;
  };
  take(findings.records_unwritten, losses.unwritten.value_or(0));
  take(findings.values_outside_chunks, losses.outside_chunks.value_or(0));
  const bool reports = losses.unwritten.has_value() && losses.outside_chunks.has_value();
  take(reports ? findings.records_without_room : findings.records_of_unknown_cause, left);
}

}  // namespace

LogRef ProcessTable::Add(const ProcessFact& fact, bool running) {
  LogRef ref;
  ref.run_hash = HashOf(fact.run_id);
  ref.process_hash = HashOfProcess(fact);
  ref.log_hash = HashOfLog(ref.process_hash, fact.recorder.value_or(0));
  const auto [entry, is_new] = index_.try_emplace(ref.log_hash, static_cast<uint32_t>(logs_.size()));
  ref.index = entry->second;
  if (is_new) {
    Log log;
    log.row.Identify(fact);
    log.row.last_ns = fact.start_ns;
    log.first_recorder = fact.first_recorder.value_or(log.row.recorder);
    logs_.push_back(std::move(log));
  }
  Log& log = logs_[ref.index];
  log.ref = ref;
  log.running |= running;
  log.row.Take(fact);
  TakeLarger(log.total_events, fact.total_events);
  return ref;
}

void ProcessTable::TakeSections(Log& log, int64_t time_ns, const std::vector<SectionFact>& sections) {
  if (sections.empty()) return;
  const std::pair reported(time_ns, SumOf<absl::int128>(sections, &SectionFact::total_ns));
  if (reported <= log.reported) return;
  log.reported = reported;
  log.sections.clear();
  for (const SectionFact& section : sections) {
    Section& kept = log.sections.emplace_back(Section{std::string(section.path), section.helper, {}});
    kept.sums.Add(section);
  }
}

void ProcessTable::TakeClockStep(Log& log, const std::optional<int64_t>& offset_ns) {
  if (!offset_ns.has_value()) return;
  const int64_t step =
      *offset_ns == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : std::abs(*offset_ns);
  TakeLarger(log.clock_step_ns, step);
}

void ProcessTable::Add(const LogRef& ref, const SampleFact& fact) {
  Log& log = logs_[ref.index];
  SawAlive(ref, fact.time_ns);
  TakeClockStep(log, fact.realtime_offset_ns);
  TakeSections(log, fact.time_ns, fact.sections);
  TakeLarger(log.row.overhead_ns, fact.overhead_ns);  // it grows; a process that is killed has no `end`
  log.row.counts.Raise(fact.counts);
  log.row.waits_reason = std::max(log.row.waits_reason, std::string(fact.waits_reason));
  log.row.samples.push_back({fact.time_ns, fact.rss_bytes, fact.cpu_ns, fact.threads, fact.open_chunks,
                             fact.memory_limit_bytes, fact.counts.anonymous_bytes, fact.counts.run_delay_ns});
}

void ProcessTable::Add(const LogRef& ref, const BeginFact& fact) {
  SawAlive(ref, fact.time_ns);
  SawChunk(ref);
  if (!fact.process_cpu_ns.has_value()) return;
  logs_[ref.index].row.cpu_readings.push_back({fact.time_ns, *fact.process_cpu_ns, std::nullopt});
}

void ProcessTable::Add(const LogRef& ref, const EndFact& fact) {
  Log& log = logs_[ref.index];
  SawAlive(ref, fact.time_ns);
  log.row.counts.Raise(fact.counts);
  log.row.waits_reason = std::max(log.row.waits_reason, std::string(fact.waits_reason));
  if (fact.cpu_ns.has_value()) {
    log.row.cpu_readings.push_back({fact.time_ns, *fact.cpu_ns, fact.counts.run_delay_ns});
  }
  TakeClockStep(log, fact.realtime_offset_ns);
  TakeSections(log, fact.time_ns, fact.sections);
  TakeLarger(log.end_ns, fact.time_ns);
  log.losses.Take(
      {fact.dropped, fact.misused, fact.unwritten, fact.outside_chunks, fact.tasks_left_out, fact.lost_samples});
  if (fact.chunks.has_value()) TakeLarger(log.end.chunks, *fact.chunks - fact.summed_chunks.value_or(0));
  TakeLarger(log.end.open, fact.open);
  TakeLarger(log.summed_chunks, fact.summed_chunks);
  TakeLarger(log.row.overhead_ns, fact.overhead_ns);
}

void ProcessTable::SawEngine(const LogRef& ref, std::string_view worker) {
  Log& log = logs_[ref.index];
  log.serves_engine = true;
  log.row.is_engine_worker = true;
  log.row.engine_worker = std::max(log.row.engine_worker, std::string(worker));
}

void ProcessTable::Add(const LogRef& ref, const ClockFact& fact) {
  SawAlive(ref, fact.time_ns);
  SawEngine(ref, "");
  TakeBetterClock(logs_[ref.index].clock, std::pair(fact.uncertainty_ns, fact.offset_ns));
}

std::vector<uint32_t> ProcessTable::Merge(const ProcessTable& other) {
  std::vector<uint32_t> here;
  here.reserve(other.logs_.size());
  for (const Log& theirs : other.logs_) {
    const auto [entry, is_new] = index_.try_emplace(theirs.ref.log_hash, static_cast<uint32_t>(logs_.size()));
    here.push_back(entry->second);
    if (is_new) {
      logs_.push_back(theirs);
      logs_.back().ref.index = entry->second;
      continue;
    }
    Log& log = logs_[entry->second];
    log.running |= theirs.running;
    log.serves_engine |= theirs.serves_engine;
    log.row.is_damaged |= theirs.row.is_damaged;
    log.has_chunks |= theirs.has_chunks;
    TakeBetterClock(log.clock, theirs.clock);
    log.losses.Take(theirs.losses);
    KeepLarger<&LogEnd::chunks, &LogEnd::open>(theirs.end, &log.end);
    KeepLarger<&Log::end_ns, &Log::summed_chunks, &Log::clock_step_ns, &Log::total_events>(theirs, &log);
    if (theirs.reported > log.reported) {
      log.reported = theirs.reported;
      log.sections = theirs.sections;
    }
    // What one log says of its cost is said once, at its end: not to be added up here.
    const std::optional<int64_t> overhead_ns = std::max(log.row.overhead_ns, theirs.row.overhead_ns);
    AddRecorder(log.row, theirs.row);
    log.row.overhead_ns = overhead_ns;
  }
  return here;
}

ProcessFindings ProcessTable::Finalize() const {
  ProcessFindings findings;
  std::vector<uint32_t> order = Indices<uint32_t>(logs_.size());
  SortBy(&order, [this](uint32_t log) { return std::tuple(IdentityOf(logs_[log].row), logs_[log].row.recorder); });

  GroupedSums<OutsideSums> sections(kMaxSectionPaths);
  std::set<uint64_t> workers;  // by process
  std::set<std::string> run_ids;
  std::map<std::string_view, std::optional<int64_t>> events_of_run;
  std::map<std::pair<uint64_t, int64_t>, uint32_t> writers;
  for (const Log& log : logs_) {
    if (log.has_chunks || log.row.is_engine_worker) workers.insert(log.ref.process_hash);
    const std::pair writer(log.ref.process_hash, log.first_recorder);
    findings.writer_of_log.push_back(writers.try_emplace(writer, static_cast<uint32_t>(writers.size())).first->second);
    findings.end_of_log.push_back(log.end);
  }
  findings.process_of_log.resize(logs_.size());
  for (const uint32_t index : order) {
    const Log& log = logs_[index];
    ProcessRow row = log.row;
    // Chunks whose end is in the part that cannot be read are records that are lost, not chunks.
    row.is_damaged = row.is_damaged && !log.end_ns.has_value();
    row.state = log.end_ns.has_value()           ? ProcessState::kEnded
                : log.running && !row.is_damaged ? ProcessState::kRunning
                                                 : ProcessState::kUnreported;
    if (log.end_ns.has_value()) row.last_ns = *log.end_ns;
    row.clock_offset_ns = OffsetOfClock(log.clock);
    if (!row.run_id.empty()) run_ids.insert(row.run_id);

    auto& processes = findings.processes;
    // Those that know less come first, and so find themselves in those that know more.
    size_t same = processes.size();
    for (size_t i = processes.size(); i-- > 0 && NameOf(processes[i]) == NameOf(row);) {
      if (MayBeOneProcess(processes[i], row)) same = i;
    }
    if (same < processes.size()) {
      AddRecorder(processes[same], row);
      findings.serves_engine[same] = findings.serves_engine[same] || log.serves_engine;
    } else {
      processes.push_back(std::move(row));
      findings.serves_engine.push_back(log.serves_engine);
    }
    findings.process_of_log[index] = static_cast<uint32_t>(same);

    AddLosses(log.losses, findings);
    findings.summed_chunks = SaturatingAdd(findings.summed_chunks, log.summed_chunks.value_or(0));
    TakeLarger(findings.clock_step_ns, log.clock_step_ns);
    TakeLarger(events_of_run[log.row.run_id], log.total_events);
    for (const Section& section : log.sections) {
      // The owner's rows and the helpers' are apart: the name's first letter distinguishes them.
      const std::string name = (section.helper ? "h" : "o") + section.path;
      OutsideSums reported = {section.sums};
      if (workers.count(log.ref.process_hash) > 0) reported.of_workers_ns = section.sums.self_ns;
      sections.Add(name, reported);
    }
  }
  const auto add_row = [&findings](std::string_view name, const OutsideSums& sums) {
    findings.sections.push_back(RowOfOutside(std::string(name.substr(1)), name.front() == 'h', sums));
  };
  const OutsideSums other = sections.Finalize(add_row, &findings.dropped_paths);
  OrderAsTree(findings.sections);
  if (findings.dropped_paths > 0) findings.sections.push_back(RowOfOutside(std::string(kOtherName), false, other));

  for (ProcessRow& row : findings.processes) {
    SortBy(&row.samples, SampleOrder);
    TakeLarger(findings.sampling_gap_ns, LongestGap(row.samples));
  }
  findings.run_ids.assign(run_ids.begin(), run_ids.end());
  const bool each_reported = absl::c_all_of(events_of_run, [](const auto& run) { return run.second.has_value(); });
  for (const auto& [run, events] : events_of_run) {
    if (each_reported) findings.total_events = SaturatingAdd(findings.total_events.value_or(0), *events);
  }
  return findings;
}

}  // namespace crema
