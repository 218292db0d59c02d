#include "collector/metrics/read_records.h"

#include <atomic>

namespace crema {

bool RecordWindow::Keeps(const Record& record) const {
  const int64_t time_ns = TimeOf(record);
  const bool is_inside = time_ns >= start_ns && time_ns < stop_ns;
  switch (record.type) {
    case RecordType::kBegin:
    case RecordType::kChunk:
    case RecordType::kTask:
    case RecordType::kSpan:
      return is_inside;
    case RecordType::kSums:
      return is_inside && record.sums.last_stop_ns <= stop_ns;
    case RecordType::kFine:
    case RecordType::kStacks:
    case RecordType::kGpu:
      return time_ns >= start_ns && time_ns <= flushed_ns;
    case RecordType::kAllocations:
      return false;  // it says what the process allocated since it began, perhaps before this run
    default:
      return true;
  }
}

bool RecordWindow::Touches(const SumsFact& sums) const {
  return sums.first_start_ns < stop_ns && sums.last_stop_ns > start_ns;
}

namespace {

// Each part has sums of its own, so a log has no more parts than about these, however large it is.
constexpr int64_t kMostParts = 1000;

/// How large the parts of a log are. Where there are few in all, there are as many for each thread, so that the threads
/// end together.
class PartSize {
 public:
  PartSize(const std::vector<RecordLog>& logs, size_t threads, int64_t most_bytes)
      : threads_(static_cast<int64_t>(threads)), most_bytes_(most_bytes) {
    int64_t parts = 0;
    for (const RecordLog& log : logs) parts += RoundedUp(log.bytes, MostOf(log));
    are_few_ = parts < kManyParts * threads_;
  }

  int64_t Of(const RecordLog& log) const {
    const int64_t most = MostOf(log);
    if (!are_few_ || log.bytes <= most) return most;
    const int64_t parts = threads_ * RoundedUp(log.bytes, threads_ * most);
    return std::max(RoundedUp(log.bytes, parts), most_bytes_ / 4);
  }

 private:
  static constexpr int64_t kManyParts = 16;  // for each thread: one more or less is little then

  static int64_t RoundedUp(int64_t part, int64_t whole) { return (part + whole - 1) / whole; }
  int64_t MostOf(const RecordLog& log) const { return std::max(most_bytes_, log.bytes / kMostParts); }

  int64_t threads_;
  int64_t most_bytes_;
  bool are_few_;
};

struct PartRead {
  LogPartReading reading;
  bool other_process = false;                      ///< a process began in it, other than the log's first
  int64_t of_other_runs = 0;                       ///< processes that were passed over
  int64_t again = 0;                               ///< the same, because they were there before
  SeenNumbers ended;                               ///< chunks of the last process in it
  int64_t repeated = 0;                            ///< lines of chunks that had ended before: left out
  int64_t sums_across = 0;                         ///< sums that are only in part of the window: left out
  bool has_process_metrics = false;                ///< which are sums since the process began: left out in a window
  std::unique_ptr<RecordAccumulator> accumulator;  ///< of a log in several parts; else the thread's own is used
};

struct LogInParts {
  const RecordLog* log = nullptr;
  bool running = false;
  std::vector<LogPart> parts;
  std::vector<PartRead> reads;
};

using ProcessOfLog =
    std::tuple<std::string, std::string, int64_t, int64_t, std::string, std::optional<int64_t>, int64_t>;

// Feeds a part of a log into an accumulator. A log may hold several processes one after another (logs put together);
// those of other runs are passed over, and so are those of a stream that came before: a log that was sent twice. A
// later part takes the log's first process for its own, which is right unless an earlier part says otherwise.
PartRead ReadPart(const LogInParts& log, const LogPart& part, const ReadRecordsOptions& options,
                  RecordAccumulator& accumulator) {
  LogRef process;
  bool taken = false;
  bool has_window = false;
  int64_t processes = 0;
  PartRead read;
  std::string run_id = log.log->run_id;
  const bool any_run = options.all_runs || (!log.log->has_process_line && !log.log->is_stream);
  std::set<ProcessOfLog> streamed;
  const auto begin_process = [&](const ProcessFact& fact) {
    if (log.log->is_stream && processes == 0 && run_id.empty()) run_id = fact.run_id;
    ++processes;
    taken = any_run || fact.run_id == run_id;
    has_window = options.window.has_value() &&
                 (options.jobs.count(JobOf(fact.engine)) + options.jobs.count(StepOf(fact.engine)) == 0);
    read.of_other_runs += !taken;
    if (taken && log.log->is_stream) {
      taken = streamed.emplace(std::tuple_cat(IdentityOf(fact), std::make_tuple(fact.recorder.value_or(0)))).second;
      read.again += !taken;
    }
    if (taken) process = accumulator.AddProcess(fact, log.running);
  };
  if (part.begin > 0) {
    ReadLogPart(*log.log, LogPart{0, 1}, log.running, [&](const Record& record) {
      if (record.type == RecordType::kProcess && processes == 0) begin_process(record.process);
    });
  }
  const int64_t known_processes = part.begin > 0 ? processes : 1;
  const auto is_repeated = [&read](const Record& record) {
    if (record.type == RecordType::kChunk) return !read.ended.Insert(record.chunk.number);
    return record.type == RecordType::kBegin && read.ended.Contains(record.begin.number);
  };
  read.reading = ReadLogPart(*log.log, part, log.running, [&](const Record& record) {
    if (record.type == RecordType::kProcess) {
      begin_process(record.process);
      read.ended = SeenNumbers();
    } else if (is_repeated(record)) {
      ++read.repeated;
    } else if (taken && has_window && (record.type == RecordType::kEnd || record.type == RecordType::kSample)) {
      Record within = record;
      within.end.chunks = within.end.open = std::nullopt;  // an end counts what lies outside, too
      auto& metrics = record.type == RecordType::kEnd ? within.end.metrics : within.sample.metrics;
      read.has_process_metrics |= !metrics.empty();
      metrics.clear();
      accumulator.Add(process, within);
    } else if (taken && (!has_window || options.window->Keeps(record))) {
      accumulator.Add(process, record);
    } else if (taken && record.type == RecordType::kSums) {
      read.sums_across += options.window->Touches(record.sums);
    }
  });
  if (taken && (!read.reading.failure.empty() || read.reading.refused.has_value())) accumulator.SawDamage(process);
  // A log whose first line is blank does not show its process at once: the log is read as a whole then.
  read.other_process = processes != known_processes || known_processes == 0;
  return read;
}

// Logs in the order of their processes, so that what is read together ends up together.
std::vector<size_t> OrderOfProcesses(const std::vector<RecordLog>& logs) {
  std::vector<size_t> order = Indices<size_t>(logs.size());
  SortBy(&order, [&logs](size_t i) { return std::tuple_cat(IdentityOf(logs[i]), std::tie(logs[i].recorder)); });
  return order;
}

// Whether the parts can be: each knew whose its lines are, nothing ended the log before its end, and no line is
// there again in another part.
bool AreGood(LogInParts& log) {
  SeenNumbers ended;
  for (PartRead& read : log.reads) {
    if (read.other_process || read.reading.refused || ended.Overlaps(read.ended)) return false;
    ended.Add(read.ended);
  }
  return true;
}

// Reads a part into an accumulator of its own.
PartRead ReadApart(const LogInParts& log, const LogPart& part, const ReadRecordsOptions& options) {
  auto accumulator = std::make_unique<RecordAccumulator>();
  accumulator->SpillTo(options.spill);
  PartRead read = ReadPart(log, part, options, *accumulator);
  accumulator->Seal();
  read.accumulator = std::move(accumulator);
  return read;
}

void Join(LogInParts& log, const ReadRecordsOptions& options, std::vector<ChunkStretch>& stretches,
          RecordsRead& records) {
  if (log.parts.size() > 1) {
    if (!AreGood(log)) {
      log.reads.clear();
      log.reads.push_back(ReadApart(log, LogPart{}, options));
    }
    for (PartRead& read : log.reads) {
      records.accumulator.Merge(std::move(*read.accumulator));
      read.accumulator.reset();
    }
  }
  const auto sum = [&log](auto counter) { return SumOf<int64_t>(log.reads, counter); };
  const int64_t repeated = sum(&PartRead::repeated), sums_across = sum(&PartRead::sums_across);
  const int64_t of_other_runs = sum(&PartRead::of_other_runs), again = sum(&PartRead::again);
  const bool has_process_metrics = sum(&PartRead::has_process_metrics) > 0;
  std::vector<LogPartReading> readings;
  for (PartRead& read : log.reads) {
    Append(&stretches, std::move(read.reading.stretches));
    readings.push_back(std::move(read.reading));
  }
  log.reads.clear();
  LogReading reading = JoinParts(*log.log, readings);
  if (repeated > 0) {
    reading.records_read -= repeated;
    reading.records_malformed += repeated;
    reading.Warn(
        fmt::format("{}: {} lines of chunks that had ended before; they were left out", log.log->path, repeated));
  }
  if (sums_across > 0) {
    reading.Warn(fmt::format(
        "{}: chunks were summed beyond the run's bounds; their sums of this run are not known, and were left out",
        log.log->path));
  }
  if (has_process_metrics) {
    reading.Warn(fmt::format(
        "{}: values of no chunk are sums since the process began, perhaps before this run; they were left out",
        log.log->path));
  }
  if (log.log->is_stream && of_other_runs > 0) {
    reading.Warn(fmt::format(
        "{}: {} logs of other runs were left out; choose one with --run ID, or take them together with --run all",
        log.log->path, of_other_runs));
  }
  if (again > 0) {
    reading.Warn(fmt::format("{}: {} logs came twice; the first of each counts", log.log->path, again));
  }
  records.reading.Add(reading);
}

using Process = std::tuple<std::string, std::string, int64_t, int64_t>;  // run, host, pid, start
using Chunk = std::pair<int64_t, int64_t>;                               // start, number
using WantedChunks = std::map<Chunk, size_t>;                            // index in the list

class ChunkSearch {
 public:
  ChunkSearch(const RecordFindings& findings, const std::vector<size_t>& attempts,
              const std::function<void(size_t, const ChunkFact&)>& visit)
      : visit_(visit) {
    for (size_t i = 0; i < attempts.size(); ++i) {
      const AttemptRow& attempt = findings.attempts.rows[attempts[i]];
      const ProcessRow& process = findings.processes.processes[attempt.recording_process()];
      // The record has the time of its own clock.
      const int64_t start_ns = attempt.start_ns - process.clock_offset_ns.value_or(0);
      wanted_[Process(NameOf(process))][Chunk(start_ns, attempt.number)] = i;
    }
  }

  /// Looks for chunks of the log's first process.
  void Read(const RecordLog& log, const std::vector<ChunkStretch>& stretches) {
    if (log.is_stream) return;
    const auto chunks = wanted_.find(Process(NameOf(log)));
    if (chunks == wanted_.end()) return;
    std::vector<int64_t> begins;
    for (const auto& [chunk, i] : chunks->second) begins.push_back(chunk.first);
    for (const LogPart& part : PartsWithBegins(log, stretches, begins)) {
      ReadLogPart(log, part, false, [&](const Record& record) { Take(record, chunks->second); });
    }
  }

  /// Looks for chunks of the processes that follow in the log.
  void ReadWhole(const RecordLog& log) {
    if (log.is_stream) return;
    const WantedChunks none;
    const WantedChunks* chunks = &none;
    ReadLogPart(log, LogPart{}, false, [&](const Record& record) {
      if (record.type == RecordType::kProcess) {
        const auto found = wanted_.find(Process(NameOf(record.process)));
        chunks = found == wanted_.end() ? &none : &found->second;
      }
      Take(record, *chunks);
    });
  }

  /// Whether a wanted process is the first one of no log.
  bool HasLaterProcesses(const std::vector<RecordLog>& logs) const {
    std::set<Process> first;
    for (const RecordLog& log : logs) {
      if (Process process(NameOf(log)); wanted_.count(process) > 0) first.insert(std::move(process));
    }
    return first.size() < wanted_.size();
  }

 private:
  void Take(const Record& record, const WantedChunks& chunks) {
    if (record.type != RecordType::kChunk) return;
    const auto found = chunks.find(Chunk(record.chunk.start_ns, record.chunk.number));
    if (found != chunks.end()) visit_(found->second, record.chunk);
  }

  std::map<Process, WantedChunks> wanted_;
  const std::function<void(size_t, const ChunkFact&)>& visit_;
};

/// Whatever a section takes in usual chunks, it is not more than the whole chunk should.
std::string SlowSection(const ChunkFact& chunk, double predicted_seconds) {
  const double predicted_ns = 1e9 * predicted_seconds;
  const double excess_ns = static_cast<double>(chunk.duration_ns()) - predicted_ns;
  for (const SectionFact& section : chunk.sections) {
    const double beyond_ns = static_cast<double>(section.self_ns) - predicted_ns;
    if (!section.helper && 2 * beyond_ns > excess_ns) return std::string(section.path);
  }
  return "";
}

/// What chunks of one dataset took.
struct TimeBySection {
  double whole_ns = 0;
  double predicted_ns = 0;  ///< what the fits of the dataset say of it
  std::map<std::string, double> self_ns;

  void Add(const ChunkFact& chunk, int64_t predicted) {
    predicted_ns += static_cast<double>(predicted);
    whole_ns += static_cast<double>(chunk.duration_ns());
    for (const SectionFact& section : chunk.sections) {
      if (!section.helper) self_ns[std::string(section.path)] += static_cast<double>(section.self_ns);
    }
  }
};

using TimeByDataset = std::map<uint32_t, TimeBySection>;

TimeByDataset ReadSample(const std::vector<SampledAttempt>& sample, const RecordFindings& findings,
                         const SearchedLogs& logs) {
  const std::vector<size_t> attempts = Mapped<size_t>(sample, &SampledAttempt::attempt);
  TimeByDataset times;
  FindChunks(findings, attempts, logs,
             [&](size_t i, const ChunkFact& chunk) { times[sample[i].dataset].Add(chunk, sample[i].predicted_ns); });
  return times;
}

std::string SlowSection(const PeriodSample& sample, const RecordFindings& findings, const SearchedLogs& logs) {
  const TimeByDataset inside = ReadSample(sample.inside, findings, logs);
  TimeByDataset elsewhere = ReadSample(sample.elsewhere, findings, logs);
  double all_excess_ns = 0;
  std::map<std::string, double> excess_ns;
  for (const auto& [dataset, times] : inside) {
    const TimeBySection& usual = elsewhere[dataset];
    if (usual.whole_ns <= 0) continue;
    all_excess_ns += times.whole_ns - times.predicted_ns;
    for (const auto& [path, self_ns] : times.self_ns) excess_ns[path] += self_ns;
    for (const auto& [path, self_ns] : usual.self_ns) {
      excess_ns[path] -= self_ns / usual.whole_ns * times.predicted_ns;
    }
  }
  for (const auto& [path, of_path] : excess_ns) {
    if (all_excess_ns > 0 && kMostOfIt.Holds(of_path / all_excess_ns)) return path;
  }
  return "";
}

}  // namespace

RecordsRead ReadRecords(const std::vector<RecordLog>& logs, const ReadRecordsOptions& options) {
  const size_t cores = ThreadsFor(options.threads);
  const PartSize part_size(logs, cores, options.part_bytes);
  std::vector<LogInParts> in_parts(logs.size());
  std::vector<std::pair<size_t, size_t>> tasks;  // log, part
  for (const size_t i : OrderOfProcesses(logs)) {
    LogInParts& log = in_parts[i];
    log.log = &logs[i];
    log.parts = cores == 1 ? std::vector<LogPart>(1) : CutRecordLog(logs[i], part_size.Of(logs[i]));
    log.reads.resize(log.parts.size());
    for (size_t part = 0; part < log.parts.size(); ++part) tasks.emplace_back(i, part);
    log.running = !logs[i].is_stream && MayLackItsEnd(logs[i].path);
  }

  const size_t threads = std::clamp<size_t>(cores, 1, std::max<size_t>(1, tasks.size()));
  std::vector<RecordAccumulator> accumulators(threads);
  for (RecordAccumulator& accumulator : accumulators) accumulator.SpillTo(options.spill);
  std::atomic<size_t> next{0};
  ParallelFor(threads, [&](size_t worker) {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      LogInParts& log = in_parts[tasks[i].first];
      PartRead& read = log.reads[tasks[i].second];
      const LogPart& part = log.parts[tasks[i].second];
      const bool alone = log.parts.size() == 1;
      read = alone ? ReadPart(log, part, options, accumulators[worker]) : ReadApart(log, part, options);
    }
  });

  RecordsRead records;
  records.accumulator = std::move(accumulators[0]);
  for (size_t worker = 1; worker < threads; ++worker) records.accumulator.Merge(std::move(accumulators[worker]));
  records.stretches.resize(logs.size());
  for (size_t i = 0; i < logs.size(); ++i) Join(in_parts[i], options, records.stretches[i], records);
  return records;
}

void FindChunks(const RecordFindings& findings, const std::vector<size_t>& attempts, const SearchedLogs& where,
                const std::function<void(size_t, const ChunkFact&)>& visit) {
  if (attempts.empty()) return;
  ChunkSearch search(findings, attempts, visit);
  // Logs put together by hand hold several processes; nothing says which log the later ones stand in.
  const bool everywhere = search.HasLaterProcesses(where.logs);
  for (size_t i = 0; i < where.logs.size(); ++i) {
    if (everywhere) {
      search.ReadWhole(where.logs[i]);
    } else {
      search.Read(where.logs[i], where.stretches[i]);
    }
  }
}

std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const SearchedLogs& logs) {
  std::vector<size_t> attempts;
  for (const Straggler& straggler : figures.stragglers.stragglers) {
    if (attempts.size() == kMaxStragglerRows) break;
    attempts.push_back(straggler.attempt);
  }
  std::vector<EntryRange> ranges(attempts.size());
  FindChunks(figures.findings, attempts, logs, [&](size_t i, const ChunkFact& chunk) {
    ranges[i] = {chunk.input.entry_start, chunk.input.entry_stop,
                 SlowSection(chunk, figures.stragglers.stragglers[i].predicted_seconds)};
  });
  return ranges;
}

void NamePeriodSections(const SearchedLogs& logs, RunFigures* figures) {
  for (NamedPeriod& named : figures->slow_spells) {
    if (!named.sample.inside.empty()) named.section = SlowSection(named.sample, figures->findings, logs);
    named.sample = PeriodSample();
  }
}

}  // namespace crema
