// A directory that is gone when it is no longer needed.
#ifndef CREMA_COLLECTOR_CLI_TEMPORARY_DIRECTORY_H_
#define CREMA_COLLECTOR_CLI_TEMPORARY_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace crema {

class TemporaryDirectory {
 public:
  /// Under TMPDIR, else /tmp; for this user only. Errors: what mkdtemp(3) says.
  static absl::StatusOr<std::unique_ptr<TemporaryDirectory>> Make();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_TEMPORARY_DIRECTORY_H_
