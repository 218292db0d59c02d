// What a directory or a file holds.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "fmt/format.h"

namespace crema {

/// The paths in a directory, in no order; none where it cannot be opened. A disk that fails meanwhile throws
/// `std::filesystem::filesystem_error` with the directory's path: a part must not pass for the whole.
inline std::vector<std::filesystem::path> EntriesOf(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  if (error) return entries;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) entries.push_back(*entry);
  if (error) throw std::filesystem::filesystem_error("cannot be listed", directory, error);
  return entries;
}

/// NotFound if it cannot be opened.
inline absl::StatusOr<std::string> ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{}: cannot be read ({})", path.string(), strerror(errno)));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace crema
