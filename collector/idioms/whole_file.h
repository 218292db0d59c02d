// Reads a whole file at once.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/status/statusor.h"
#include "fmt/format.h"

namespace crema {

/// NotFound if it cannot be opened.
inline absl::StatusOr<std::string> ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{}: cannot be read ({})", path.string(), strerror(errno)));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace crema
