// A directory that is gone when it is no longer needed.
#ifndef CREMA_COLLECTOR_CLI_TEMPORARY_DIRECTORY_H_
#define CREMA_COLLECTOR_CLI_TEMPORARY_DIRECTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/output/held_lock.h"

namespace crema {

class TemporaryDirectory {
 public:
  /// Under TMPDIR, else /tmp; for this user only. Removes what killed processes of his left there. Errors: what
  /// mkdtemp(3) says.
  static absl::StatusOr<std::unique_ptr<TemporaryDirectory>> Make();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  TemporaryDirectory(std::string path, HeldLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  HeldLock lock_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_TEMPORARY_DIRECTORY_H_
