#include "collector/output/older_output.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>

#include "absl/time/time.h"
#include "collector/compression/compressed_name.h"
#include "collector/engines/engines.h"
#include "collector/output/output_directory.h"
#include "collector/sources/log_life.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBeginningBytes = 64 << 10;

// What crema puts into `records/`: logs, pointers of runs inside this one, Coffea's files; the library that counts
// allocations, where crema was killed.
bool IsOwnRecord(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const char* end :
       {".jsonl", ".tree.ndjson", ".nested.json", ".coffea_report.json", ".metrics_by_dataset.json"}) {
    if (HasSuffixBeforeCompression(name, end)) return true;
  }
  return name == kAllocationsLibraryName || name == kGpuLibraryName || EngineOfLogName(name) != nullptr;
}

std::string Beginning(const fs::path& file) {
  std::string text(kBeginningBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

// The first one in the document, in the lines `process` and `run`, of which the beginning may be all that there is.
std::optional<int64_t> StartIn(const fs::path& file) {
  constexpr std::string_view kKey = "\"start_ns\":";
  const std::string text = Beginning(file);
  size_t at = text.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  at += kKey.size();
  if (at < text.size() && text[at] == ' ') ++at;
  int64_t start_ns = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), start_ns);
  if (error != std::errc() || start_ns <= 0) return std::nullopt;
  return start_ns;
}

std::optional<int64_t> StartOfLogs(const fs::path& records) {
  constexpr int kMostLogs = 1000;
  std::optional<int64_t> first;
  std::error_code error;
  int seen = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(records, error)) {
    if (++seen > kMostLogs) break;
    const std::optional<int64_t> start = StartIn(entry.path());
    if (start.has_value() && (!first.has_value() || *start < *first)) first = start;
  }
  return first;
}

int64_t LastChange(const fs::path& directory) {
  struct stat status;
  if (stat(directory.c_str(), &status) != 0) return 0;
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

OutputContents LookInto(const fs::path& directory) {
  OutputContents contents;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    bool is_own = false;
    if (name == kDocumentName && entry.is_regular_file(error)) {
      is_own = Beginning(entry.path()).substr(0, 256).find("crema.measurement/") != std::string::npos;
      contents.is_measurement |= is_own;
    } else if (name == kRecordsName && fs::is_directory(entry.symlink_status(error))) {
      is_own = true;
      for (const fs::directory_entry& record : fs::directory_iterator(entry.path(), error)) {
        const bool is_record = IsOwnRecord(record.path());
        contents.is_measurement |= is_record;
        contents.has_foreign_records |= !is_record;
        if (is_record && IsHeldByItsProcess(record.path())) contents.live_log = record.path().filename().string();
      }
      is_own = !contents.has_foreign_records;
    }
    if (!is_own) contents.foreign = name;
  }
  return contents;
}

std::string StampOfStart(const fs::path& directory) {
  std::optional<int64_t> start = StartIn(directory / kDocumentName);
  if (!start.has_value()) start = StartOfLogs(directory / kRecordsName);
  const absl::Time time = absl::FromUnixNanos(start.value_or(LastChange(directory)));
  return absl::FormatTime("%Y%m%dT%H%M%SZ", time, absl::UTCTimeZone());
}

}  // namespace crema
