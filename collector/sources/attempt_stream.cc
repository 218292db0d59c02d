#include "collector/sources/attempt_stream.h"

#include <utility>

#include "collector/sources/log_life.h"

namespace crema {

std::string_view ToString(AttemptState state) {
  switch (state) {
    case AttemptState::kOk:
      return "ok";
    case AttemptState::kFailed:
      return "failed";
    case AttemptState::kLost:
      return "lost";
    case AttemptState::kRunning:
      return "running";
  }
  return "lost";
}

void AttemptAssembler::Add(const Record& record) {
  switch (record.type) {
    case RecordType::kProcess:
      Finish();
      ended_ = SeenNumbers();
      process_.run_id = record.process.run_id;
      process_.host = record.process.host;
      process_.pid = record.process.pid;
      process_.start_ns = record.process.start_ns;
      process_.worker = process_.host + ":" + std::to_string(process_.pid);
      return;
    case RecordType::kBegin: {
      if (ended_.Contains(record.begin.number)) return;
      const ChunkInput& input = record.begin.input;
      begun_.insert_or_assign(record.begin.number,
                              Begun{std::string(input.dataset), std::string(input.file), std::string(input.tree),
                                    std::string(input.pass), record.begin});
      return;
    }
    case RecordType::kChunk:
      if (!ended_.Insert(record.chunk.number)) return;  // the same line again
      begun_.erase(record.chunk.number);
      on_attempt_({process_, record.chunk.failed ? AttemptState::kFailed : AttemptState::kOk, record.chunk});
      return;
    case RecordType::kSums:  // they ended: what they came to is in the sums
      for (const int64_t number : record.sums.begun) begun_.erase(number);
      return;
    default:
      return;
  }
}

void AttemptAssembler::Finish() {
  for (const auto& [number, begun] : begun_) {
    ChunkFact chunk;
    chunk.number = number;
    chunk.start_ns = begun.fact.time_ns;
    chunk.thread = begun.fact.thread;
    chunk.tid = begun.fact.tid;
    chunk.input = {begun.dataset, begun.file, begun.tree, begun.fact.input.entry_start, begun.fact.input.entry_stop,
                   begun.pass};
    on_attempt_({process_, running_ ? AttemptState::kRunning : AttemptState::kLost, chunk});
  }
  begun_.clear();
}

LogReading ForEachAttempt(const std::vector<RecordLog>& logs, bool all_runs, const OnAttempt& on_attempt) {
  LogReading reading;
  for (const RecordLog& log : logs) {
    const bool running = MayLackItsEnd(log.path);
    AttemptAssembler assembler(running, on_attempt);
    bool taken = false;
    reading.Add(ReadRecordLog(log, running, [&](const Record& record) {
      if (record.type == RecordType::kProcess) {
        taken = all_runs || record.process.run_id == log.run_id || !log.has_process_line;
      }
      if (taken) assembler.Add(record);
    }));
    assembler.Finish();
  }
  return reading;
}

}  // namespace crema
