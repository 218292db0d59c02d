#include "collector/sources/record_log_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "collector/compression/decompressed_file.h"
#include "collector/records/record_parser.h"
#include "collector/records/schema.h"

namespace crema {
namespace {

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

void Note(int64_t line, std::string what, LogPartReading& reading) {
  if (reading.problems.size() < LogReading::kMaxWarnings) {
    reading.problems.push_back({line, std::move(what)});
  } else {
    ++reading.more_problems;
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

}  // namespace

std::vector<LogPart> CutRecordLog(const RecordLog& log, int64_t bytes_each) {
  std::vector<LogPart> parts(1);
  if (log.bytes > bytes_each && IsCompressed(log.path)) return parts;  // each would be read from its beginning
  // A small rest is no part of its own.
  for (int64_t cut = bytes_each; cut < log.bytes - bytes_each / 2; cut += bytes_each) {
    parts.back().end = cut;
    parts.push_back({cut});
  }
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

  RecordParser parser;
  const absl::StatusOr<int64_t> lines = ForEachLine(file, part, [&](const LogLine& line) {
    if (line.too_long) {
      ++reading.records_malformed;
      Note(line.number, fmt::format("longer than {} bytes; the line was left out", kMaxLineBytes), reading);
      return true;
    }
    switch (parser.Parse(line.text)) {
      case ParseOutcome::kRecord:
        ++reading.records_read;
        // Whatever is no record adds no process.
        if (!has_process && parser.record().type != RecordType::kProcess) on_record(ProcessFromName(log));
        has_process = true;
        if (parser.record().type == RecordType::kChunk && !log.is_stream) {  // else there is nothing to go back to
          NoteChunk(line.offset, parser.record().chunk.start_ns, reading.stretches);
        }
        on_record(parser.record());
        break;
      case ParseOutcome::kUnknownType:
        if (!line.whole && running) break;
        ++reading.records_unknown;
        break;
      case ParseOutcome::kTorn:
        if (!line.whole && running) break;
        ++reading.records_torn;
        Note(line.number, "the rest of this record was never written; the line was left out", reading);
        break;
      case ParseOutcome::kMalformed:
        if (!line.whole && running) break;
        ++reading.records_malformed;
        Note(line.number, fmt::format("{}; the line was left out", parser.reason()), reading);
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
  whole.logs_damaged = std::any_of(parts.begin(), parts.end(), [](const LogPartReading& part) {
    return !part.failure.empty() || part.refused.has_value();
  });
  for (const LogPartReading& part : parts) {
    whole.records_read += part.records_read;
    whole.records_malformed += part.records_malformed;
    whole.records_torn += part.records_torn;
    whole.records_unknown += part.records_unknown;
    for (const LogProblem& problem : part.problems) {
      whole.Warn(fmt::format("{}:{}: {}", log.path, lines + problem.line, problem.what));
    }
    whole.more_warnings += part.more_problems;
    if (!part.failure.empty()) whole.Stop(fmt::format("{}: {}", log.path, part.failure));
    if (part.refused.has_value()) {
      whole.Stop(fmt::format("{}:{}: {}", log.path, lines + part.refused->line, part.refused->what));
      break;
    }
    lines += part.lines;
  }
  return whole;
}

}  // namespace crema
