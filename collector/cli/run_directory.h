// The directory into which `crema run` puts its measurement: made before the command starts.
#ifndef CREMA_COLLECTOR_CLI_RUN_DIRECTORY_H_
#define CREMA_COLLECTOR_CLI_RUN_DIRECTORY_H_

#include <string>

#include "absl/status/statusor.h"

namespace crema {

/// DIR and DIR/records, both mode 0700 where they are new. An earlier measurement in DIR is set aside until the command
/// has started, then replaced: `Keep` or `Undo` must be called.
class RunDirectory {
 public:
  /// Errors: DIR holds something that crema did not write and `force` is not given; records of a run that is still
  /// alive; no permission.
  static absl::StatusOr<RunDirectory> Create(const std::string& directory, bool force);

  /// `crema-<local time>`, with a number behind it where that exists.
  static std::string DefaultName();

  /// The command has started: removes what was set aside.
  void Keep();
  /// It has not: all is as it was before.
  void Undo();

  /// As the user wrote it.
  const std::string& path() const { return path_; }
  /// Absolute: the command may change its directory.
  const std::string& records() const { return records_; }

 private:
  RunDirectory() = default;

  std::string path_;
  std::string records_;
  std::string set_aside_;  // empty: nothing was there
  bool is_new_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_DIRECTORY_H_
