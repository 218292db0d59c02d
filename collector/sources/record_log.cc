#include "collector/sources/record_log.h"

#include <sys/file.h>

#include <cerrno>

#include "collector/idioms/descriptor.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/records/record_parser.h"

namespace crema {
namespace {

// Small enough to be parsed out of the processor's cache.
constexpr size_t kBlockBytes = size_t{256} << 10;
// Who wants the first line only, or a few kilobytes, waits for no more.
constexpr size_t kFirstBlockBytes = size_t{16} << 10;
constexpr int64_t kNearEnd = 64 << 10;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

constexpr int64_t kStretchBytes = 16 << 10;  // 24 bytes are kept for each

// A log whose first line was lost still says in its name whose it is.
Record ProcessFromName(const RecordLog& log) {
  Record record;
  record.type = RecordType::kProcess;
  record.process.run_id = log.run_id;
  record.process.host = log.host;
  record.process.pid = log.pid;
  record.process.start_ns = log.start_ns;
  record.process.pid_namespace = log.pid_namespace;
  record.process.boot_id = log.boot_id;
  record.process.recorder = log.recorder;
  return record;
}

template <class Line>
void KeepFirst(Line line, std::vector<Line>* lines, int64_t* more) {
  if (lines->size() < LogReading::kMaxWarnings) {
    lines->push_back(std::move(line));
  } else {
    ++*more;
  }
}

void NoteChunk(int64_t offset, int64_t start_ns, std::vector<ChunkStretch>& stretches) {
  if (stretches.empty() || offset - stretches.back().offset >= kStretchBytes) {
    stretches.push_back({offset, start_ns, start_ns});
    return;
  }
  ChunkStretch& stretch = stretches.back();
  stretch.first_start_ns = std::min(stretch.first_start_ns, start_ns);
  stretch.last_start_ns = std::max(stretch.last_start_ns, start_ns);
}

/// What a device did last has not reached its process yet, in ns: where that was killed, it is lost.
constexpr int64_t kUndelivered = 1'000'000'000;

void TakeProcess(const ProcessFact& fact, AttemptProcess* process) {
  process->Identify(fact);
  process->job = JobOf(fact.engine);
  process->working_directory = fact.working_directory;
  process->worker = process->host + ":" + std::to_string(process->pid);
}

/// What GPUs did for each chunk of a log. Its lines come after those of the chunks, so the log is looked through
/// before.
class GpuOfChunks {
 public:
  /// Reads the log's `gpu` lines; a stream, which can be read once only, gives none.
  explicit GpuOfChunks(const RecordLog& log) {
    if (log.is_stream) return;
    DecompressedFile file(log.path);
    RecordParser parser;
    std::tuple<int64_t, int64_t, int64_t> process = {log.pid, log.start_ns, log.recorder};
    ForEachLine(file, {}, [&](const LogLine& line) {
      if (line.text.rfind("{\"type\":\"gpu\"", 0) != 0 && line.text.rfind("{\"type\":\"process\"", 0) != 0) return true;
      if (parser.Parse(line.text) != ParseOutcome::kRecord) return true;
      const Record& record = parser.record();
      if (record.type == RecordType::kProcess) {
        process = {record.process.pid, record.process.start_ns, record.process.recorder.value_or(0)};
        return true;
      }
      Process& found = processes_[process];
      found.until_ns = record.gpu.until_ns;
      if (!found.until_ns.has_value() && (!record.gpu.is_last || !record.gpu.reason.empty())) {
        found.until_ns = record.gpu.reason.empty() ? record.gpu.time_ns - kUndelivered : 0;
      }
      for (const GpuRowFact& row : record.gpu.rows) {
        if (row.chunk.has_value()) found.chunks[*row.chunk].Add(row.work);
      }
      return true;
    }).IgnoreError();  // who reads the records says what is wrong with the file
  }

  /// The sums of the chunk; nullopt where its process did not count, or not until the chunk's end. `pid`, `start_ns`
  /// and `recorder` as in the process line.
  std::optional<GpuWork> Of(int64_t pid, int64_t start_ns, int64_t recorder, const ChunkFact& chunk) const {
    const auto process = processes_.find({pid, start_ns, recorder});
    if (process == processes_.end() || chunk.stop_ns > process->second.until_ns.value_or(chunk.stop_ns)) {
      return std::nullopt;
    }
    return ValueOr(process->second.chunks, chunk.number, GpuWork());
  }

 private:
  struct Process {
    std::map<int64_t, GpuWork> chunks;
    std::optional<int64_t> until_ns;  ///< then, or before, it stopped counting, or vanished
  };
  std::map<std::tuple<int64_t, int64_t, int64_t>, Process> processes_;
};

}  // namespace

int64_t TimeOf(const Record& record) {
  constexpr std::pair<RecordType, int64_t (*)(const Record&)> kTimes[] = {
      {RecordType::kProcess, [](const Record& line) { return line.process.start_ns; }},
      {RecordType::kBegin, [](const Record& line) { return line.begin.time_ns; }},
      {RecordType::kChunk, [](const Record& line) { return line.chunk.start_ns; }},
      {RecordType::kTask, [](const Record& line) { return line.task.start_ns; }},
      {RecordType::kSample, [](const Record& line) { return line.sample.time_ns; }},
      {RecordType::kSpan, [](const Record& line) { return line.span.start_ns; }},
      {RecordType::kFine, [](const Record& line) { return line.fine.time_ns; }},
      {RecordType::kClock, [](const Record& line) { return line.clock.time_ns; }},
      {RecordType::kStacks, [](const Record& line) { return line.stacks.time_ns; }},
      {RecordType::kAllocations, [](const Record& line) { return line.allocations.time_ns; }},
      {RecordType::kGpu, [](const Record& line) { return line.gpu.time_ns; }},
      {RecordType::kSums, [](const Record& line) { return line.sums.first_start_ns; }},
      {RecordType::kEnd, [](const Record& line) { return line.end.time_ns; }},
  };
  for (const auto& [type, time_of] : kTimes) {
    if (type == record.type) return time_of(record);
  }
  return 0;  // it has none
}

bool IsHeldByItsProcess(const std::string& path) {
  const Descriptor descriptor(path, O_RDONLY);
  return descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string_view KindOfLog(std::string_view name) {
  const std::string_view plain = NameBeforeCompression(name);
  std::vector<std::string_view> suffixes = {kTreeLogSuffix, kRecordLogSuffix};
  for (const Engine* engine : Engines()) suffixes.push_back(engine->log_suffix);
  for (const std::string_view suffix : suffixes) {
    if (!EndsWith(plain, suffix)) continue;
    const std::string_view rest = plain.substr(0, plain.size() - suffix.size());
    return name.substr(rest.size() - (EndsWith(rest, kLiveCopyMark) ? kLiveCopyMark.size() : 0));
  }
  const size_t dot = plain.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot);
}

bool IsLiveCopy(std::string_view path) { return KindOfLog(path).substr(0, kLiveCopyMark.size()) == kLiveCopyMark; }

std::string LiveCopyName(std::string_view name) {
  const std::string_view kind = KindOfLog(name);
  std::string live(name.substr(0, name.size() - kind.size()));
  if (!IsLiveCopy(name)) live.append(kLiveCopyMark);
  return live.append(kind);
}

bool MayLackItsEnd(const std::string& path) { return IsLiveCopy(path) || IsHeldByItsProcess(path); }

void LogReading::Warn(std::string warning) { KeepFirst(std::move(warning), &warnings, &more_warnings); }
void LogReading::Stop(std::string why) { KeepFirst(std::move(why), &stops, &more_stops); }

void LogReading::Add(const LogReading& other) {
  for (const auto count :
       {&LogReading::records_read, &LogReading::records_malformed, &LogReading::records_torn,
        &LogReading::records_unknown, &LogReading::logs_damaged, &LogReading::more_warnings, &LogReading::more_stops}) {
    this->*count += other.*count;
  }
  for (const std::string& warning : other.warnings) Warn(warning);
  for (const std::string& stop : other.stops) Stop(stop);
}

absl::StatusOr<int64_t> ForEachLine(DecompressedFile& file, const LogPart& part,
                                    const std::function<bool(const LogLine&)>& on_line) {
  // Room for the unfinished line before a block, the block, and what the parser may read ahead.
  const size_t capacity = kMaxLineBytes + kBlockBytes;
  const std::unique_ptr<char[]> buffer(new char[capacity + RecordParser::kPadding]);  // not cleared: it is large
  // A line that began before the part is another's; a newline just before the part ends it.
  const int64_t from = part.begin > 0 ? part.begin - 1 : 0;
  if (!file.status().ok() || (from > 0 && !file.SkipTo(from))) return file.status();
  bool skipping = part.begin > 0;  // inside a line that is another's, or was too long
  bool counts = !skipping;         // the line skipped is one of the part's
  int64_t base = from;             // where in the file the buffer begins
  size_t held = 0;                 // bytes in the buffer: the beginning of a line whose end was not read yet
  int64_t number = 1;
  for (size_t wanted = kFirstBlockBytes;; wanted = part.end - base < kNearEnd ? kFirstBlockBytes : kBlockBytes) {
    const int64_t got = file.Read(buffer.get() + held, wanted);
    if (got < 0) return file.status();
    if (got == 0) break;
    const char* line = buffer.get();
    const char* const end = buffer.get() + held + got;
    const char* newline = static_cast<const char*>(std::memchr(buffer.get() + held, '\n', static_cast<size_t>(got)));
    while (newline != nullptr) {
      const std::string_view text(line, static_cast<size_t>(newline - line));
      const int64_t offset = base + (line - buffer.get());
      if (!skipping && offset >= part.end) return number - 1;
      if (!skipping && !IsBlank(text)) {
        const bool too_long = text.size() >= kMaxLineBytes;
        if (!on_line({number, offset, text, true, too_long})) return number;
      }
      number += counts;
      skipping = false;
      counts = true;
      line = newline + 1;
      newline = static_cast<const char*>(std::memchr(line, '\n', static_cast<size_t>(end - line)));
    }
    held = static_cast<size_t>(end - line);
    const int64_t offset = base + (line - buffer.get());
    if (!skipping && offset >= part.end) return number - 1;
    if (!skipping && held >= kMaxLineBytes) {
      if (!on_line({number, offset, std::string_view(line, kMaxLineBytes), true, true})) return number;
      skipping = true;
    }
    if (skipping) {
      line = end;
      held = 0;
    }
    base += line - buffer.get();
    std::memmove(buffer.get(), line, held);
  }
  const std::string_view rest(buffer.get(), held);
  if (!IsBlank(rest)) on_line({number, base, rest, false, false});
  return number;
}

std::vector<LogPart> CutRecordLog(const RecordLog& log, int64_t bytes_each) {
  std::vector<LogPart> parts(1);
  if (log.bytes > bytes_each && IsCompressed(log.path)) return parts;  // each would be read from its beginning
  // A small rest does not get a part of its own.
  for (int64_t cut = bytes_each; cut < log.bytes - bytes_each / 2; cut += bytes_each) {
    parts.back().end = cut;
    parts.push_back({cut});
  }
  return parts;
}

std::vector<LogPart> PartsWithBegins(const RecordLog& log, const std::vector<ChunkStretch>& stretches,
                                     const std::vector<int64_t>& begins) {
  std::vector<LogPart> parts;
  for (size_t k = 0; k < stretches.size(); ++k) {
    const ChunkStretch& stretch = stretches[k];
    const auto first = std::lower_bound(begins.begin(), begins.end(), stretch.first_start_ns);
    if (first == begins.end() || *first > stretch.last_start_ns) continue;
    if (parts.empty() || parts.back().end != stretch.offset) parts.push_back({stretch.offset});
    parts.back().end = k + 1 < stretches.size() ? stretches[k + 1].offset : LogPart().end;
  }
  // To come to a part of a compressed log, all before it is read.
  if (parts.size() > 1 && IsCompressed(log.path)) parts = {LogPart{parts.front().begin, parts.back().end}};
  return parts;
}

LogPartReading ReadLogPart(const RecordLog& log, const LogPart& part, bool running,
                           const std::function<void(const Record&)>& on_record) {
  LogPartReading reading;
  DecompressedFile file(log.path, log.is_stream);
  if (!file.status().ok()) {
    reading.failure = fmt::format("{}; it was left out", std::string(file.status().message()));
    return reading;
  }
  bool has_process = log.has_process_line || part.begin > 0;

  const auto note = [&reading](int64_t line, std::string what) {
    KeepFirst(LogProblem{line, std::move(what)}, &reading.problems, &reading.counts.more_warnings);
  };
  RecordParser parser;
  const absl::StatusOr<int64_t> lines = ForEachLine(file, part, [&](const LogLine& line) {
    if (line.too_long) {
      ++reading.counts.records_malformed;
      note(line.number, fmt::format("longer than {} bytes; the line was left out", kMaxLineBytes));
      return true;
    }
    const ParseOutcome outcome = parser.Parse(line.text);
    const bool is_begun = !line.whole && running;  // the rest of it may come
    if (is_begun && outcome != ParseOutcome::kRecord && outcome != ParseOutcome::kOtherSchema) return true;
    switch (outcome) {
      case ParseOutcome::kRecord:
        ++reading.counts.records_read;
        // Whatever is not a record adds no process.
        if (!has_process && parser.record().type != RecordType::kProcess) on_record(ProcessFromName(log));
        has_process = true;
        if (parser.record().type == RecordType::kChunk && !log.is_stream) {  // else there is nothing to go back to
          NoteChunk(line.offset, parser.record().chunk.start_ns, reading.stretches);
        }
        if (log.has_recorded_children) {
          parser.record().chunk.children_cpu_ns = parser.record().sums.children_cpu_ns = std::nullopt;
        }
        on_record(parser.record());
        break;
      case ParseOutcome::kUnknownType:
        ++reading.counts.records_unknown;
        break;
      case ParseOutcome::kTorn:
        ++reading.counts.records_torn;
        note(line.number, "the rest of this record was never written; the line was left out");
        break;
      case ParseOutcome::kMalformed:
        ++reading.counts.records_malformed;
        note(line.number, fmt::format("{}; the line was left out", parser.reason()));
        break;
      case ParseOutcome::kOtherSchema:
        reading.refused = {line.number,
                           fmt::format("the schema is {}, but this crema reads {}; the log was left out from here on",
                                       parser.reason(), kRecordSchema)};
        break;
    }
    return !reading.refused.has_value();
  });
  if (lines.ok()) {
    reading.lines = *lines;
  } else {
    reading.failure = fmt::format("{}; what was read so far is used", std::string(lines.status().message()));
  }
  return reading;
}

LogReading JoinParts(const RecordLog& log, const std::vector<LogPartReading>& parts) {
  LogReading whole;
  int64_t lines = 0;
  whole.logs_damaged = absl::c_any_of(
      parts, [](const LogPartReading& part) { return !part.failure.empty() || part.refused.has_value(); });
  for (const LogPartReading& part : parts) {
    whole.Add(part.counts);
    for (const LogProblem& problem : part.problems) {
      whole.Warn(fmt::format("{}:{}: {}", log.path, lines + problem.line, problem.what));
    }
    if (!part.failure.empty()) whole.Stop(fmt::format("{}: {}", log.path, part.failure));
    if (part.refused.has_value()) {
      whole.Stop(fmt::format("{}:{}: {}", log.path, lines + part.refused->line, part.refused->what));
      break;
    }
    lines += part.lines;
  }
  return whole;
}

LogReading ReadLogOfRun(const RecordLog& log, bool running, bool all_runs,
                        const std::function<void(const Record&)>& on_record, std::vector<ChunkStretch>* stretches) {
  bool taken = false;
  int64_t processes = 0;
  const LogPartReading reading = ReadLogPart(log, LogPart{}, running, [&](const Record& record) {
    if (record.type == RecordType::kProcess) {
      ++processes;
      taken = all_runs || record.process.run_id == log.run_id || !log.has_process_line;
    }
    if (taken) on_record(record);
  });
  if (stretches != nullptr) {
    *stretches = reading.stretches;
    // Whose a chunk is in a log of several processes, only the lines before it show.
    constexpr auto kAny = std::numeric_limits<int64_t>();
    if (processes > 1) *stretches = {{0, kAny.min(), kAny.max()}};
  }
  return JoinParts(log, {reading});
}

bool AttemptAssembler::Add(const Record& record) {
  switch (record.type) {
    case RecordType::kProcess:
      Finish();
      ended_ = SeenNumbers();
      latest_of_thread_.clear();
      chunks_overlap_ = false;
      open_at_end_.reset();
      TakeProcess(record.process, &process_);
      return true;
    case RecordType::kBegin: {
      if (ended_.Contains(record.begin.number)) return false;
      const ChunkInput& input = record.begin.input;
      chunks_overlap_ = chunks_overlap_ || record.begin.suspended > 0 || record.begin.inside.has_value();
      SeeThread(IdOfThread(record.begin), record.begin.number, record.begin.time_ns);
      Forget(record.begin.number);
      begun_.emplace(
          record.begin.number,
          BegunAttempt{std::string(input.dataset), std::string(input.file), std::string(input.tree),
                       std::string(input.pass), std::string(record.begin.attributes), record.begin, std::nullopt});
      return true;
    }
    case RecordType::kChunk:
      if (!ended_.Insert(record.chunk.number)) return false;
      chunks_overlap_ = chunks_overlap_ || record.chunk.suspended_ns > 0 || record.chunk.inner_ns > 0;
      SeeThread(IdOfThread(record.chunk), record.chunk.number, record.chunk.start_ns);
      Forget(record.chunk.number);
      on_attempt_({process_, record.chunk.failed ? AttemptState::kFailed : AttemptState::kOk, record.chunk});
      return true;
    case RecordType::kEnd:
      open_at_end_ = record.end.open;
      return true;
    case RecordType::kSums:  // they ended: what they came to is in the sums
      for (const int64_t number : record.sums.begun) Forget(number);
      return true;
    default:
      return true;
  }
}

void AttemptAssembler::Forget(int64_t number) {
  const auto found = begun_.find(number);
  if (found == begun_.end()) return;
  overtaken_ -= found->second.next_ns.has_value();
  begun_.erase(found);
}

// A program may begin a thread for each chunk. What has ended says nothing of a thread's next one.
void AttemptAssembler::ForgetThreads() {
  for (auto thread = latest_of_thread_.begin(); thread != latest_of_thread_.end();) {
    thread = begun_.count(thread->second) > 0 ? std::next(thread) : latest_of_thread_.erase(thread);
  }
}

void AttemptAssembler::SeeThread(uint64_t thread, int64_t number, int64_t start_ns) {
  if (thread == 0) return;  // whose it is cannot be known
  if (latest_of_thread_.size() > 2 * begun_.size() + kFewThreads) ForgetThreads();
  const auto [latest, is_new] = latest_of_thread_.try_emplace(thread, number);
  if (is_new || latest->second == number) return;
  const auto before = begun_.find(latest->second);
  if (before != begun_.end() && before->second.fact.time_ns > start_ns) return;  // this line came late
  latest->second = number;
  if (before == begun_.end()) return;
  overtaken_ += !before->second.next_ns.has_value();
  before->second.next_ns = start_ns;
}

void AttemptAssembler::Finish() {
  std::vector<UnendedAttempt> unended;
  for (const auto& [number, begun] : begun_) unended.push_back({number, begun.fact.time_ns, begun.next_ns, false});
  FindEnded(unended, open_at_end_, chunks_overlap_);
  std::map<int64_t, AttemptState> states;
  for (const UnendedAttempt& attempt : unended) {
    states[attempt.number] = attempt.has_ended ? AttemptState::kUnrecorded
                             : running_        ? AttemptState::kRunning
                                               : AttemptState::kLost;
  }
  for (const auto& [number, begun] : begun_) {
    ChunkFact chunk;
    chunk.number = number;
    chunk.start_ns = begun.fact.time_ns;
    chunk.thread = begun.fact.thread;
    chunk.tid = begun.fact.tid;
    chunk.input = {begun.dataset, begun.file, begun.tree, begun.fact.input.entry_start, begun.fact.input.entry_stop,
                   begun.pass};
    chunk.attributes = begun.attributes;
    on_attempt_({process_, states.at(number), chunk});
  }
  begun_.clear();
  overtaken_ = 0;
}

LogReading ForEachAttempt(const RecordLogs& logs, const OnAttempt& on_attempt, ChunkPlaces* places) {
  LogReading reading;
  const bool is_second = places != nullptr && !places->stretches.empty();
  for (size_t i = 0; i < logs.logs.size(); ++i) {
    const RecordLog& log = logs.logs[i];
    const bool running = MayLackItsEnd(log.path);
    if (is_second) {
      if (i >= places->stretches.size()) break;  // logs came since then
      std::vector<LogPart> parts = PartsWithBegins(log, places->stretches[i], places->begins);
      if (!parts.empty() && parts.front().begin > 0) parts.insert(parts.begin(), LogPart{0, 1});  // its process
      AttemptAssembler assembler(running, on_attempt);
      assembler.Add(ProcessFromName(log));
      for (const LogPart& part : parts) {
        ReadLogPart(log, part, running, [&assembler](const Record& record) {
          if (record.type == RecordType::kChunk || record.type == RecordType::kProcess) assembler.Add(record);
        });
      }
      continue;
    }
    std::optional<GpuOfChunks> gpu;
    if (places == nullptr) gpu.emplace(log);
    AttemptAssembler assembler(running, [&](const Attempt& attempt) {
      if (!gpu.has_value() || !attempt.has_ended()) return on_attempt(attempt);
      const AttemptProcess& process = attempt.process;
      on_attempt({process, attempt.state, attempt.chunk,
                  gpu->Of(process.pid, process.start_ns, process.recorder, attempt.chunk)});
    });
    std::vector<ChunkStretch> stretches;
    reading.Add(ReadLogOfRun(
        log, running, logs.all_runs, [&assembler](const Record& record) { assembler.Add(record); }, &stretches));
    assembler.Finish();
    if (places != nullptr) places->stretches.push_back(std::move(stretches));
  }
  return reading;
}

LogReading ForEachTask(const RecordLogs& logs, const OnTask& on_task) {
  LogReading reading;
  AttemptProcess process;
  for (const RecordLog& log : logs.logs) {
    process = AttemptProcess();
    reading.Add(ReadLogOfRun(log, MayLackItsEnd(log.path), logs.all_runs, [&process, &on_task](const Record& record) {
      if (record.type == RecordType::kProcess) TakeProcess(record.process, &process);
      if (record.type == RecordType::kTask) on_task({process, record.task});
    }));
  }
  return reading;
}

}  // namespace crema
