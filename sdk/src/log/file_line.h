// The `file` line: what a file holds in all.
#pragma once

#include <cstdint>
#include <string_view>

namespace crema {
namespace internal {

struct Recorder;

/// Negative: unknown.
struct FileInfo {
  std::int64_t branches = -1;
  std::int64_t bytes = -1;             ///< uncompressed
  std::int64_t compressed_bytes = -1;  ///< as stored
};

/// Writes the line, the first time that this process reports the file. Without a file's name nothing is written.
void WriteFileLine(Recorder* recorder, std::string_view file, const FileInfo& info) noexcept;

}  // namespace internal
}  // namespace crema
