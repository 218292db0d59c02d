#include "collector/cli/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace crema {

absl::StatusOr<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::Make() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "crema-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    const int reason = error ? error.value() : errno;
    return absl::ErrnoToStatus(
        reason, fmt::format("no temporary directory: {}; set TMPDIR to one that can be written", strerror(reason)));
  }
  return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(name));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace crema
