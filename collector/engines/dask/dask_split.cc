// Taking a Dask log apart into the record logs that workers sent, and the scheduler's own lines.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "collector/engines/dask/dask_lines.h"
#include "collector/engines/dask/dask_log.h"
#include "collector/records/schema.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

/// A record log that is put together from what was sent of it.
struct SentLog {
  std::ofstream file;
  std::string worker;    // who sent it last
  int64_t end = 0;       // offset in the original up to which it was seen
  int64_t missing = 0;   // bytes in between that never came
  bool has_end = false;  // the process said that it ended
  bool adopted = false;  // its process is gone: another one sent it
};

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The name comes from another machine: it must not lead out of the directory.
bool IsSafeName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos && name.size() < 255 &&
         EndsWith(name, kRecordLogSuffix) && !EndsWith(name, fmt::format("{}{}", kLiveCopyMark, kRecordLogSuffix));
}

std::string LiveCopyName(const std::string& name) {
  return fmt::format("{}{}{}", name.substr(0, name.size() - kRecordLogSuffix.size()), kLiveCopyMark, kRecordLogSuffix);
}

bool HasEndLine(std::string_view records) {
  constexpr std::string_view kEnd = "{\"type\":\"end\",";
  return records.substr(0, kEnd.size()) == kEnd || records.find(fmt::format("\n{}", kEnd)) != std::string_view::npos;
}

class Splitter {
 public:
  Splitter(fs::path directory, const std::string& name)
      : directory_(std::move(directory)),
        lines_(directory_ / (name + std::string(kDaskLogSuffix)), std::ios::binary | std::ios::trunc) {}

  void Take(const DaskLine& line) {
    if (line.fields["type"] != "records") {
      const std::string type = line.fields["type"];
      if (type == "worker" && line.fields.value("event", "") == "leave") here_.erase(line.fields.value("worker", ""));
      if (type == "worker" && line.fields.value("event", "") != "leave") here_.insert(line.fields.value("worker", ""));
      if (type == "closed") here_.clear();
      lines_ << line.text << '\n';
      return;
    }
    const std::string source = line.fields.value("source", "");
    const auto offset = line.fields["offset"];
    if (!IsSafeName(source) || !offset.is_number_unsigned()) {
      Take(DaskLineFault{line.number, false, "the records behind it name no record log"});
      return;
    }
    SentLog& log = logs_[source];
    log.worker = line.fields.value("worker", "");
    log.adopted = log.adopted || line.fields.value("adopted", false);
    TakeRecords(source, offset.get<int64_t>(), line.bytes, log);
  }

  void Take(const DaskLineFault& fault) {
    const nlohmann::json line = {{"type", "fault"}, {"line", fault.number}, {"torn", fault.torn}, {"what", fault.what}};
    lines_ << line.dump() << '\n';
  }

  // Logs of workers that are still there are no sign of a lost process, as long as they have no end.
  absl::Status Finish() {
    for (auto& [source, log] : logs_) {
      if (log.missing > 0) {
        lines_ << fmt::format("{{\"type\":\"lost\",\"source\":{},\"bytes\":{}}}\n", nlohmann::json(source).dump(),
                              log.missing);
      }
      log.file.close();
      if (log.file.fail()) return Failed();
      std::error_code error;
      if (!log.has_end && !log.adopted && here_.count(log.worker) > 0) {
        fs::rename(directory_ / source, directory_ / LiveCopyName(source), error);
      }
      if (error) return Failed();
    }
    lines_.close();
    return lines_.fail() ? Failed() : absl::OkStatus();
  }

 private:
  absl::Status Failed() const {
    return absl::UnavailableError(fmt::format("{}: cannot be written ({})", directory_.string(), strerror(errno)));
  }

  void TakeRecords(const std::string& source, int64_t offset, std::string_view bytes, SentLog& log) {
    if (!log.file.is_open()) log.file.open(directory_ / source, std::ios::binary | std::ios::trunc);
    if (offset < log.end) bytes.remove_prefix(std::min<size_t>(bytes.size(), static_cast<size_t>(log.end - offset)));
    if (offset > log.end) log.missing += offset - log.end;
    log.end = std::max(log.end, offset) + static_cast<int64_t>(bytes.size());
    log.has_end = log.has_end || HasEndLine(bytes);
    log.file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  fs::path directory_;
  std::ofstream lines_;
  std::map<std::string, SentLog> logs_;
  std::set<std::string> here_;
};

}  // namespace

absl::Status SplitDaskLog(const std::string& path, const std::string& directory, const std::string& name) {
  Splitter splitter(directory, name);
  absl::Status read = ForEachDaskLine(
      path, [&](const DaskLine& line) { splitter.Take(line); },
      [&](const DaskLineFault& fault) { splitter.Take(fault); });
  return read.ok() ? splitter.Finish() : read;
}

}  // namespace crema
