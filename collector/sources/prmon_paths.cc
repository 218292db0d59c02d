#include "collector/sources/prmon_paths.h"

#include <set>

#include "collector/compression/decompressed_file.h"
#include "collector/engines/engines.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/text.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

/// How the two files are called: what is before and after the part that they share.
struct FileNames {
  std::string_view text_begin, text_end;
  std::string_view summary_begin, summary_end;
  bool is_of_step;  ///< the shared part is a step's name, else the number of a copy or nothing
};
constexpr FileNames kFileNames[] = {
    {"prmon", ".txt", "prmon", ".json", false},
    {"memory_monitor_output", ".txt", "memory_monitor_summary", ".json", false},  // ATLAS
    {"prmon.full.", "", "prmon.summary.", ".json", true},                         // ATLAS
};
constexpr std::string_view kSnapshot = "_snapshot";  // of the summary, while the job runs

bool IsNumberOfCopy(std::string_view text) {
  return text.empty() ||
         (text.size() > 1 && text[0] == '~' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// What is between; nullopt: the name is another.
std::optional<std::string> Between(std::string_view file, std::string_view begin, std::string_view end) {
  if (file.size() < begin.size() + end.size() || !BeginsWith(file, begin) || !EndsWith(file, end)) return std::nullopt;
  return std::string(file.substr(begin.size(), file.size() - begin.size() - end.size()));
}

std::string IfThere(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? path.lexically_normal().string() : std::string();
}

// Where `file` is called as one of the two: both.
std::optional<PrmonPaths> Pair(const fs::path& file) {
  const std::string whole = file.filename().string();
  std::string name(NameBeforeCompression(whole));
  if (EndsWith(name, kSnapshot)) name.resize(name.size() - kSnapshot.size());
  for (const FileNames& names : kFileNames) {
    std::optional<std::string> shared = Between(name, names.text_begin, names.text_end);
    if (!shared.has_value()) shared = Between(name, names.summary_begin, names.summary_end);
    if (!shared.has_value() || (names.is_of_step ? shared->empty() : !IsNumberOfCopy(*shared))) continue;
    const auto path = [&](std::string_view begin, std::string_view end) {
      const fs::path plain = file.parent_path() / fmt::format("{}{}{}", begin, *shared, end);
      for (const char* compression : {"", ".gz", ".zst"}) {
        if (std::string there = IfThere(plain.string() + compression); !there.empty()) return there;
      }
      return std::string();
    };
    PrmonPaths paths = {path(names.text_begin, names.text_end), path(names.summary_begin, names.summary_end)};
    if (paths.summary.empty()) {
      paths.summary = path(names.summary_begin, fmt::format("{}{}", names.summary_end, kSnapshot));
    }
    return paths;
  }
  return std::nullopt;
}

bool IsLog(const std::string& file) {
  return HasSuffixBeforeCompression(file, ".jsonl") || HasSuffixBeforeCompression(file, ".ndjson") ||
         EngineOfLogName(file) != nullptr;
}

// Whether a file begins as prmon's text, under whatever name.
bool BeginsAsText(const fs::path& file) {
  const std::string head = ReadBeginning(file.string(), 5);
  return head == "Time " || head == "Time\t";
}

bool BeginsAsSummary(const fs::path& file) {
  constexpr size_t kHeadBytes = 4096;
  const std::string head = ReadBeginning(file.string(), kHeadBytes);
  return head.compare(0, 1, "{") == 0 && head.find("\"Max\"") != head.npos &&
         (head.find("\"rss\"") != head.npos || head.find("\"maxRSS\"") != head.npos ||
          head.find("\"wtime\"") != head.npos);
}

}  // namespace

std::vector<PrmonPaths> FindPrmonFiles(const std::string& directory) {
  std::set<std::pair<std::string, std::string>> found;
  const bool is_kept = fs::path(directory).lexically_normal().filename() == "records";
  for (const fs::path& entry : EntriesOf(directory)) {
    std::error_code ignored;
    if (!fs::is_regular_file(entry, ignored)) continue;
    std::optional<PrmonPaths> paths = Pair(entry);
    // A measurement keeps what it was made from under its own name.
    if (!paths.has_value() && is_kept && !IsLog(entry.string())) paths = PrmonFilesOf(entry.string());
    if (paths.has_value()) found.emplace(paths->text, paths->summary);
  }
  std::vector<PrmonPaths> jobs;
  for (const auto& [text, summary] : found) jobs.push_back({text, summary});
  return jobs;
}

std::optional<PrmonPaths> PrmonFilesOf(const std::string& file) {
  if (std::optional<PrmonPaths> paths = Pair(file)) return paths;
  const fs::path path = fs::path(file).lexically_normal();
  if (BeginsAsSummary(path)) return PrmonPaths{"", path.string()};
  if (!BeginsAsText(path)) return std::nullopt;
  fs::path summary = path;
  summary.replace_extension(".json");
  return PrmonPaths{path.string(), path.extension() == ".txt" ? IfThere(summary) : std::string()};
}

bool IsPrmonSnapshot(const std::string& summary) { return HasSuffixBeforeCompression(summary, kSnapshot); }

}  // namespace crema
