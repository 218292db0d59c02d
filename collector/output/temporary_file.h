// A file or directory that gets its name once it is whole.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/output/held_lock.h"

namespace crema {

/// `.NAME.crema-PID` beside the file that is to be called NAME. It is locked while its process lives, so that the next
/// one that writes NAME removes what a killed one left.
class TemporaryFile {
 public:
  /// An empty file, or a directory, with these permissions. Errors: cannot be created there.
  static absl::StatusOr<TemporaryFile> Make(const std::filesystem::path& target, mode_t mode, bool directory = false);

  TemporaryFile(TemporaryFile&&) = default;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  /// Removes it, unless it was renamed.
  ~TemporaryFile();

  const std::filesystem::path& path() const { return path_; }
  /// Gives it the name `target`.
  absl::Status Rename();

 private:
  TemporaryFile() = default;

  std::filesystem::path path_;
  std::filesystem::path target_;
  HeldLock lock_;
};

/// Removes what is there of the names that begin with `prefix` and are this user's, as far as nobody holds its lock.
void RemoveUnlocked(const std::filesystem::path& directory, const std::string& prefix);

}  // namespace crema
