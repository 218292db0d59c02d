#include "collector/sources/prmon_paths.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace crema {
namespace {

namespace fs = std::filesystem;

// How the two files are called, by prmon and by ATLAS.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"prmon", "prmon"},
    {"memory_monitor_output", "memory_monitor_summary"},
};
constexpr std::string_view kText = ".txt";
constexpr std::string_view kSummary = ".json";

bool IsNumberOfCopy(std::string_view text) {
  return text.empty() ||
         (text.size() > 1 && text[0] == '~' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// `prmon~2` of `prmon~2.txt`; empty where the name is not `name`, a number or none, and `suffix`.
bool Matches(std::string_view file, std::string_view name, std::string_view suffix, std::string_view* number) {
  if (file.size() < name.size() + suffix.size() || file.substr(0, name.size()) != name) return false;
  if (file.substr(file.size() - suffix.size()) != suffix) return false;
  *number = file.substr(name.size(), file.size() - name.size() - suffix.size());
  return IsNumberOfCopy(*number);
}

std::string IfThere(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? path.lexically_normal().string() : std::string();
}

// Where `file` is called as one of the two: both.
std::optional<PrmonPaths> Pair(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const auto& [text, summary] : kNames) {
    std::string_view number;
    if (!Matches(name, text, kText, &number) && !Matches(name, summary, kSummary, &number)) continue;
    const std::string copy(number);
    return PrmonPaths{IfThere(file.parent_path() / (std::string(text) + copy + std::string(kText))),
                      IfThere(file.parent_path() / (std::string(summary) + copy + std::string(kSummary)))};
  }
  return std::nullopt;
}

}  // namespace

std::vector<PrmonPaths> FindPrmonFiles(const std::string& directory) {
  std::set<std::pair<std::string, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    if (const std::optional<PrmonPaths> paths = Pair(entry->path())) found.emplace(paths->text, paths->summary);
  }
  std::vector<PrmonPaths> jobs;
  for (const auto& [text, summary] : found) jobs.push_back({text, summary});
  return jobs;
}

std::optional<PrmonPaths> PrmonFilesOf(const std::string& file) {
  if (std::optional<PrmonPaths> paths = Pair(file)) return paths;
  const fs::path path(file);
  if (path.extension() != kText) return std::nullopt;
  fs::path summary = path;
  summary.replace_extension(kSummary);
  return PrmonPaths{path.lexically_normal().string(), IfThere(summary)};
}

}  // namespace crema
