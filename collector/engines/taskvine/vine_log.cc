#include "collector/engines/taskvine/vine_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/compression/compressed_name.h"
#include "collector/compression/decompressed_stream.h"
#include "collector/engines/log_lines.h"
#include "collector/engines/taskvine/vine_performance.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Work Queue's line has no second `manager_pid`.
bool BeginsAsTransactions(const fs::path& path) {
  return BeginsWithLine(path.string(), "# time manager_pid MANAGER manager_pid");
}

/// That of one run, whether `directory` is its own or that of its logs.
std::optional<std::string> TransactionsIn(const fs::path& directory) {
  for (const fs::path& folder : {directory, directory / "vine-logs"}) {
    for (const char* name : {"transactions", "transactions.gz", "transactions.zst"}) {
      if (BeginsAsTransactions(folder / name)) return (folder / name).string();
    }
  }
  return std::nullopt;
}

/// The performance log beside transactions; nullopt: there is none.
std::optional<std::string> PerformanceBeside(const std::string& transactions) {
  const fs::path path(transactions);
  if (NameBeforeCompression(path.filename().string()) != "transactions") return std::nullopt;
  for (const char* name : {"performance", "performance.gz", "performance.zst"}) {
    const fs::path beside = path.parent_path() / name;
    if (IsFile(beside)) return beside.string();
  }
  return std::nullopt;
}

absl::Status Append(const std::string& from, std::ofstream& to) {
  DecompressedStream source(from);
  if (!source) return absl::NotFoundError(fmt::format("{} cannot be read", from));
  if (source.peek() != std::istream::traits_type::eof()) to << source.rdbuf();
  return absl::OkStatus();
}

}  // namespace

bool BeginsWithLine(const std::string& path, std::string_view beginning) {
  return ReadBeginning(path, beginning.size()) == beginning;
}

std::optional<std::string> FindVineLog(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return BeginsAsTransactions(path) ? std::optional<std::string>(path) : std::nullopt;
  }
  if (auto log = TransactionsIn(path)) return log;
  if (auto log = TransactionsIn(fs::path(path) / "most-recent")) return log;
  if (fs::weakly_canonical(path, error).filename() != "vine-run-info") return std::nullopt;
  std::optional<std::string> last;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::optional<std::string> log = TransactionsIn(entry.path());
    if (log.has_value() && (!last.has_value() || *last < *log)) last = log;
  }
  return last;
}

absl::StatusOr<EngineReading> ReadVineLog(const std::string& path, const TaskNames& names) {
  EngineReading reading;
  VineTransactions transactions(names);
  VinePerformance performance;
  LogLines lines(path, &reading);
  if (absl::Status opened = lines.opened(); !opened.ok()) return opened;
  for (std::string line; lines.Next(&line);) {
    if (performance.Add(line) || line.empty() || line.front() == '#') continue;
    ++reading.lines;
    switch (transactions.Add(line)) {
      case VineLine::kTaken:
        break;
      case VineLine::kUnknown:
        ++reading.unknown;
        break;
      case VineLine::kMalformed:
        ++(lines.is_whole() ? reading.malformed : reading.torn);
        lines.Complain(lines.is_whole() ? "the line is not one of a manager's" : "the line is cut");
        break;
      case VineLine::kTorn:
        ++reading.torn;
        lines.Complain("the line is cut");
        break;
    }
  }
  if (const auto beside = PerformanceBeside(path)) {
    LogLines rows(*beside, &reading);
    for (std::string line; rows.Next(&line);) performance.Add(line);
  }
  reading.clusters = std::move(transactions).Finish();
  performance.Compare(&reading.clusters);
  return reading;
}

absl::Status KeepVineLog(const std::string& path, const std::string& directory, const std::string& name) {
  const fs::path copy = fs::path(directory) / (name + std::string(kVineLogSuffix));
  std::ofstream kept(copy, std::ios::binary);
  if (absl::Status status = Append(path, kept); !status.ok()) return status;
  if (const auto beside = PerformanceBeside(path)) {
    kept << "\n";
    if (absl::Status status = Append(*beside, kept); !status.ok()) return status;
  }
  kept.flush();
  if (!kept) return absl::UnavailableError(fmt::format("{} cannot be written", copy.string()));
  return absl::OkStatus();
}

}  // namespace crema
