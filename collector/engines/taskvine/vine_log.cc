#include "collector/engines/taskvine/vine_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/engines/taskvine/vine_performance.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostProblems = 20;

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
  for (const fs::path& log : {directory / "transactions", directory / "vine-logs" / "transactions"}) {
    if (BeginsAsTransactions(log)) return log.string();
  }
  return std::nullopt;
}

/// Lines to their end; the last may have none. Errors: the file cannot be read.
template <class OnLine>
absl::Status ForEachLine(const std::string& path, const OnLine& on_line) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{} cannot be read", path));
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) on_line(line, ++number, !file.eof());
  return absl::OkStatus();
}

absl::Status Append(const std::string& from, std::ofstream& to) {
  std::ifstream source(from, std::ios::binary);
  if (!source) return absl::NotFoundError(fmt::format("{} cannot be read", from));
  if (source.peek() != std::ifstream::traits_type::eof()) to << source.rdbuf();
  return absl::OkStatus();
}

}  // namespace

bool BeginsWithLine(const std::string& path, std::string_view beginning) {
  if (!IsFile(path)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string head(beginning.size(), '\0');  // the file may be any, and have no line at all
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == beginning;
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
  const auto complain = [&](int64_t number, std::string_view what) {
    if (reading.problems.size() < kMostProblems) {
      reading.problems.push_back(fmt::format("{}:{}: {}; it was left out", path, number, what));
    }
  };
  const absl::Status status = ForEachLine(path, [&](const std::string& line, int64_t number, bool is_whole) {
    if (performance.Add(line)) return;
    if (line.empty() || line.front() == '#') return;
    ++reading.lines;
    switch (transactions.Add(line)) {
      case VineLine::kTaken:
        break;
      case VineLine::kUnknown:
        ++reading.unknown;
        break;
      case VineLine::kMalformed:
        ++(is_whole ? reading.malformed : reading.torn);
        complain(number, is_whole ? "the line is not one of a manager's" : "the line is cut");
        break;
      case VineLine::kTorn:
        ++reading.torn;
        complain(number, "the line is cut");
        break;
    }
  });
  if (!status.ok()) return status;
  const fs::path beside = fs::path(path).parent_path() / "performance";
  if (fs::path(path).filename() == "transactions" && IsFile(beside)) {
    const absl::Status read =
        ForEachLine(beside.string(), [&](const std::string& line, int64_t, bool) { performance.Add(line); });
    if (!read.ok()) return read;
  }
  reading.clusters = std::move(transactions).Finish();
  performance.Compare(&reading.clusters);
  return reading;
}

absl::Status KeepVineLog(const std::string& path, const std::string& directory, const std::string& name) {
  const fs::path copy = fs::path(directory) / (name + std::string(kVineLogSuffix));
  std::ofstream kept(copy, std::ios::binary);
  if (absl::Status status = Append(path, kept); !status.ok()) return status;
  const fs::path beside = fs::path(path).parent_path() / "performance";
  if (fs::path(path).filename() == "transactions" && IsFile(beside)) {
    kept << "\n";
    if (absl::Status status = Append(beside.string(), kept); !status.ok()) return status;
  }
  kept.flush();
  if (!kept) return absl::UnavailableError(fmt::format("{} cannot be written", copy.string()));
  return absl::OkStatus();
}

}  // namespace crema
