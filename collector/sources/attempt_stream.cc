#include "collector/sources/attempt_stream.h"

#include <utility>

#include "collector/compression/decompressed_file.h"
#include "collector/records/record_parser.h"

namespace crema {
namespace {

/// What a device did last has not reached its process yet, in ns: where that was killed, it is lost.
constexpr int64_t kUndelivered = 1'000'000'000;

bool BeginsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

void TakeProcess(const ProcessFact& fact, AttemptProcess* process) {
  process->Identify(fact);
  process->job = JobOf(fact.engine);
  process->working_directory = fact.working_directory;
  process->worker = process->host + ":" + std::to_string(process->pid);
}

}  // namespace

GpuOfChunks::GpuOfChunks(const RecordLog& log) {
  if (log.is_stream) return;
  DecompressedFile file(log.path);
  RecordParser parser;
  std::tuple<int64_t, int64_t, int64_t> process = {log.pid, log.start_ns, log.recorder};
  ForEachLine(file, {}, [&](const LogLine& line) {
    if (!BeginsWith(line.text, "{\"type\":\"gpu\"") && !BeginsWith(line.text, "{\"type\":\"process\"")) return true;
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

std::optional<GpuWork> GpuOfChunks::Of(int64_t pid, int64_t start_ns, int64_t recorder, const ChunkFact& chunk) const {
  const auto process = processes_.find({pid, start_ns, recorder});
  if (process == processes_.end() || chunk.stop_ns > process->second.until_ns.value_or(chunk.stop_ns)) {
    return std::nullopt;
  }
  const auto found = process->second.chunks.find(chunk.number);
  return found == process->second.chunks.end() ? GpuWork() : found->second;
}

LogReading ReadLogOfRun(const RecordLog& log, bool running, bool all_runs,
                        const std::function<void(const Record&)>& on_record) {
  bool taken = false;
  return ReadRecordLog(log, running, [&](const Record& record) {
    if (record.type == RecordType::kProcess) {
      taken = all_runs || record.process.run_id == log.run_id || !log.has_process_line;
    }
    if (taken) on_record(record);
  });
}

void AttemptAssembler::Add(const Record& record) {
  switch (record.type) {
    case RecordType::kProcess:
      Finish();
      ended_ = SeenNumbers();
      latest_of_thread_.clear();
      chunks_overlap_ = false;
      open_at_end_.reset();
      TakeProcess(record.process, &process_);
      return;
    case RecordType::kBegin: {
      if (ended_.Contains(record.begin.number)) return;
      const ChunkInput& input = record.begin.input;
      chunks_overlap_ = chunks_overlap_ || record.begin.suspended > 0 || record.begin.inside.has_value();
      SeeThread(record.begin.thread, record.begin.tid, record.begin.number, record.begin.time_ns);
      begun_.insert_or_assign(record.begin.number,
                              Begun{std::string(input.dataset), std::string(input.file), std::string(input.tree),
                                    std::string(input.pass), record.begin, std::nullopt});
      return;
    }
    case RecordType::kChunk:
      if (!ended_.Insert(record.chunk.number)) return;  // the same line again
      chunks_overlap_ = chunks_overlap_ || record.chunk.suspended_ns > 0 || record.chunk.inner_ns > 0;
      SeeThread(record.chunk.thread, record.chunk.tid, record.chunk.number, record.chunk.start_ns);
      begun_.erase(record.chunk.number);
      on_attempt_({process_, record.chunk.failed ? AttemptState::kFailed : AttemptState::kOk, record.chunk});
      return;
    case RecordType::kEnd:
      open_at_end_ = record.end.open;
      return;
    case RecordType::kSums:  // they ended: what they came to is in the sums
      for (const int64_t number : record.sums.begun) begun_.erase(number);
      return;
    default:
      return;
  }
}

void AttemptAssembler::SeeThread(std::optional<uint64_t> thread, std::optional<int64_t> tid, int64_t number,
                                 int64_t start_ns) {
  const uint64_t id = tid.has_value() ? static_cast<uint64_t>(*tid) : thread.value_or(0);
  if (id == 0) return;  // whose it is cannot be known
  const auto [latest, is_new] = latest_of_thread_.try_emplace(id, number);
  if (is_new || latest->second == number) return;
  const auto before = begun_.find(std::exchange(latest->second, number));
  if (before != begun_.end()) before->second.next_ns = start_ns;
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
    on_attempt_({process_, states.at(number), chunk});
  }
  begun_.clear();
}

LogReading ForEachAttempt(const RecordLogs& logs, const OnAttempt& on_attempt) {
  LogReading reading;
  for (const RecordLog& log : logs.logs) {
    const bool running = MayLackItsEnd(log.path);
    const GpuOfChunks gpu(log);
    AttemptAssembler assembler(running, [&](const Attempt& attempt) {
      const AttemptProcess& process = attempt.process;
      const auto of_chunk =
          attempt.has_ended() ? gpu.Of(process.pid, process.start_ns, process.recorder, attempt.chunk) : std::nullopt;
      on_attempt({process, attempt.state, attempt.chunk, of_chunk});
    });
    reading.Add(
        ReadLogOfRun(log, running, logs.all_runs, [&assembler](const Record& record) { assembler.Add(record); }));
    assembler.Finish();
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
