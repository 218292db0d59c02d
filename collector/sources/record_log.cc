#include "collector/sources/record_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "collector/records/record_parser.h"
#include "collector/records/schema.h"
#include "collector/sources/record_log_lines.h"

namespace crema {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// A log whose first line was lost still says in its name whose it is.
Record ProcessFromName(const RecordLog& log) {
  Record record;
  record.type = RecordType::kProcess;
  record.process.run_id = log.run_id;
  record.process.host = log.host;
  record.process.pid = log.pid;
  record.process.start_ns = log.start_ns;
  record.process.recorder = log.recorder;
  return record;
}

}  // namespace

void LogReading::Warn(std::string warning) {
  if (warnings.size() < kMaxWarnings) {
    warnings.push_back(std::move(warning));
  } else {
    ++more_warnings;
  }
}

void LogReading::Add(const LogReading& other) {
  records_read += other.records_read;
  records_malformed += other.records_malformed;
  records_torn += other.records_torn;
  records_unknown += other.records_unknown;
  for (const std::string& warning : other.warnings) Warn(warning);
  more_warnings += other.more_warnings;
}

bool IsHeldByItsProcess(const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return false;
  if (flock(file.fd(), LOCK_SH | LOCK_NB) == 0) {
    flock(file.fd(), LOCK_UN);
    return false;
  }
  return errno == EWOULDBLOCK;
}

LogReading ReadRecordLog(const RecordLog& log, bool running, const std::function<void(const Record&)>& on_record) {
  LogReading reading;
  const OpenFile file(log.path);
  if (file.fd() < 0) {
    reading.Warn(fmt::format("{}: cannot be opened ({}); it was left out", log.path, strerror(errno)));
    return reading;
  }
  if (!log.has_process_line) on_record(ProcessFromName(log));

  RecordParser parser;
  bool refused = false;
  const auto warn = [&](const LogLine& line, std::string_view what) {
    reading.Warn(fmt::format("{}:{}: {}", log.path, line.number, what));
  };
  const absl::Status status = ForEachLine(file.fd(), [&](const LogLine& line) {
    if (line.too_long) {
      ++reading.records_malformed;
      warn(line, fmt::format("longer than {} bytes; the line was left out", kMaxLineBytes));
      return true;
    }
    switch (parser.Parse(line.text)) {
      case ParseOutcome::kRecord:
        ++reading.records_read;
        on_record(parser.record());
        break;
      case ParseOutcome::kUnknownType:
        if (!line.whole && running) break;
        ++reading.records_unknown;
        break;
      case ParseOutcome::kTorn:
        if (!line.whole && running) break;
        ++reading.records_torn;
        warn(line, "the rest of this record was never written; the line was left out");
        break;
      case ParseOutcome::kMalformed:
        if (!line.whole && running) break;
        ++reading.records_malformed;
        warn(line, fmt::format("{}; the line was left out", parser.reason()));
        break;
      case ParseOutcome::kOtherSchema:
        warn(line, fmt::format("schema {} where {} is readable; the log was left out from here on", parser.reason(),
                               kRecordSchema));
        refused = true;
        break;
    }
    return !refused;
  });
  if (!status.ok()) {
    reading.Warn(fmt::format("{}: {}; what was read so far is used", log.path, std::string(status.message())));
  }
  return reading;
}

}  // namespace crema
