#include "collector/cli/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "collector/output/temporary_file.h"
#include "fmt/format.h"

namespace crema {

absl::StatusOr<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::Make() {
  constexpr char kPrefix[] = "crema-temporary-";
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (!error) RemoveUnlocked(parent, kPrefix);
  for (;;) {
    std::string name = (parent / kPrefix).string() + "XXXXXX";
    if (error || mkdtemp(name.data()) == nullptr) {
      const int reason = error ? error.value() : errno;
      return absl::ErrnoToStatus(
          reason, fmt::format("no temporary directory: {}; set TMPDIR to one that can be written", strerror(reason)));
    }
    HeldLock lock(name);
    // One that looks for remains may have been faster, and removes it.
    if (lock.state() == HeldLock::State::kTaken || !std::filesystem::exists(name, error)) continue;
    return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(name, std::move(lock)));
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace crema
