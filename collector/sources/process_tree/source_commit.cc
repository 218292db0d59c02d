#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "collector/idioms/text.h"
#include "collector/sources/process_tree/allocated_cores.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestId = 100;
constexpr size_t kShortestHash = 7, kLongestHash = 64;  // abbreviated, SHA-256
constexpr size_t kLongestLine = 4096;
constexpr int kMostSteps = 5;  // of references to references: git allows as many

// What CI systems set, each as its own documentation says.
constexpr const char* kVariables[] = {
    "GITHUB_SHA",           // GitHub Actions, Gitea, Forgejo
    "CI_COMMIT_SHA",        // GitLab, Woodpecker
    "BUILDKITE_COMMIT",     // Buildkite; may be `HEAD`
    "CIRCLE_SHA1",          // CircleCI
    "TRAVIS_COMMIT",        // Travis
    "BITBUCKET_COMMIT",     // Bitbucket
    "DRONE_COMMIT_SHA",     // Drone
    "BUILD_SOURCEVERSION",  // Azure Pipelines
    "GIT_COMMIT",           // Jenkins' git plug-in
};

bool IsHash(std::string_view text) {
  return text.size() >= kShortestHash && text.size() <= kLongestHash &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// The first line of a file; nullopt where there is none. A pipe of that name would keep the reader waiting.
std::optional<std::string> FirstLine(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::string line(kLongestLine, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  return std::string(Trimmed(line));
}

/// What is behind `prefix` in the first line of a file; nullopt where it begins otherwise.
std::optional<std::string> Behind(std::string_view prefix, const std::string& line) {
  if (line.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  return std::string(Trimmed(std::string_view(line).substr(prefix.size())));
}

/// The directory of the repository that holds `directory`; empty where none does.
fs::path FindRepository(const std::string& directory) {
  std::error_code error;
  fs::path place = fs::canonical(directory, error);
  struct stat begin = {};
  if (error || stat(place.c_str(), &begin) != 0) return {};
  for (;; place = place.parent_path()) {
    struct stat here = {};
    if (stat(place.c_str(), &here) != 0 || here.st_dev != begin.st_dev) return {};
    fs::path git = place / ".git";
    if (fs::is_directory(git, error) && fs::exists(git / "HEAD", error)) return git;
    if (const std::optional<std::string> line = FirstLine(git); line.has_value()) {  // a worktree, or a submodule
      const std::optional<std::string> elsewhere = Behind("gitdir:", *line);
      return elsewhere.has_value() ? place / *elsewhere : fs::path();
    }
    if (!place.has_relative_path()) return {};
  }
}

std::string PackedReference(const fs::path& repository, const std::string& name) {
  std::error_code error;
  const fs::path path = repository / "packed-refs";
  if (!fs::is_regular_file(path, error)) return "";
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t blank = line.find(' ');
    if (blank != std::string::npos && Trimmed(std::string_view(line).substr(blank)) == name) {
      return line.substr(0, blank);
    }
  }
  return "";
}

std::string HeadOf(const fs::path& repository) {
  // The files of a worktree; the others are those of the repository that it belongs to.
  fs::path shared = repository;
  if (const std::optional<std::string> line = FirstLine(repository / "commondir"); line.has_value()) {
    shared = repository / *line;
  }
  std::string name = "HEAD";
  for (int step = 0; step < kMostSteps; ++step) {
    std::optional<std::string> line = FirstLine(repository / name);
    if (!line.has_value()) line = FirstLine(shared / name);
    if (!line.has_value()) line = PackedReference(shared, name);
    const std::optional<std::string> next = Behind("ref:", *line);
    if (!next.has_value()) return IsHash(*line) ? *line : "";
    if (next->compare(0, 5, "refs/") != 0 || next->find("..") != std::string::npos) return "";
    name = *next;
  }
  return "";
}

}  // namespace

SourceCommit FindSourceCommit(const Environment& environment, const std::string& directory) {
  if (const char* said = environment("CREMA_COMMIT"); said != nullptr) {
    if (const std::string_view id = Trimmed(said); !id.empty()) {
      return {std::string(id.substr(0, kLongestId)), "CREMA_COMMIT"};
    }
  }
  for (const char* variable : kVariables) {
    const char* said = environment(variable);
    if (said != nullptr && IsHash(Trimmed(said))) return {std::string(Trimmed(said)), variable};
  }
  const fs::path repository = FindRepository(directory);
  std::string head = repository.empty() ? "" : HeadOf(repository);
  if (head.empty()) return {};
  return {std::move(head), "git"};
}

}  // namespace crema
