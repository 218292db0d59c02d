#include "collector/cli/installed_sdk.h"

#include <cstddef>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

// `lib`, `lib64`, `lib/x86_64-linux-gnu`: what GNUInstallDirs of CMake calls the library directory.
std::vector<fs::path> LibraryDirectories(const fs::path& prefix) {
  std::vector<fs::path> found = {prefix / "lib", prefix / "lib64"};
  std::error_code error;
  for (fs::directory_iterator entry(prefix / "lib", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find("-linux-") != std::string::npos) found.push_back(entry->path());
  }
  return found;
}

}  // namespace

fs::path RunningProgram() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

absl::StatusOr<InstalledSdk> FindInstalledSdk(const fs::path& program) {
  const fs::path prefix = program.parent_path().parent_path();
  std::error_code error;
  if (program.parent_path().filename() == "bin") {
    for (const fs::path& directory : LibraryDirectories(prefix)) {
      const fs::path cmake_dir = directory / "cmake" / "crema";
      if (!fs::exists(cmake_dir / "cremaConfig.cmake", error)) continue;
      return InstalledSdk{prefix, prefix / "include", cmake_dir, directory / "pkgconfig"};
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "no SDK was installed together with ", program.string(),
      ": install the wheel crema-hep, or this program with the SDK: cmake -S sdk -B build -DCREMA_PROGRAM=",
      program.string(), " && cmake --build build && cmake --install build"));
}

absl::StatusOr<std::string> FindLibraryToLoad(const fs::path& program, const std::string& name,
                                              const std::string& folder) {
  const fs::path prefix = program.parent_path().parent_path();
  std::vector<fs::path> directories = LibraryDirectories(prefix);
  directories.push_back(prefix.parent_path() / "sdk" / folder);
  std::error_code error;
  for (const fs::path& directory : directories) {
    if (fs::exists(directory / name, error)) return (directory / name).string();
  }
  return absl::NotFoundError(
      absl::StrCat(name, " was not installed together with ", program.string(),
                   ": install the wheel crema-hep, or this program with the SDK (CREMA_PROGRAM)"));
}

absl::StatusOr<std::string> PkgConfigField(const fs::path& module, const std::string& field) {
  std::ifstream file(module);
  if (!file) return absl::NotFoundError(absl::StrCat(module.string(), ": cannot be read; install crema again"));
  std::map<std::string, std::string> variables = {{"${pcfiledir}", module.parent_path().string()}};
  std::string line;
  while (std::getline(file, line)) {
    const size_t end = line.find_first_of("=:");
    if (end == std::string::npos) continue;
    const std::string name(absl::StripAsciiWhitespace(line.substr(0, end)));
    const std::string value = absl::StrReplaceAll(absl::StripAsciiWhitespace(line.substr(end + 1)), variables);
    if (line[end] == ':' && name == field) return value;
    if (line[end] == '=') variables[absl::StrCat("${", name, "}")] = value;
  }
  return absl::NotFoundError(absl::StrCat(module.string(), ": has no ", field, "; install crema again"));
}

}  // namespace crema
