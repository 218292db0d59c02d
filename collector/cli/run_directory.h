// The directory into which `crema run` puts its measurement: made before the command starts.
#ifndef CREMA_COLLECTOR_CLI_RUN_DIRECTORY_H_
#define CREMA_COLLECTOR_CLI_RUN_DIRECTORY_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/output/output_directory.h"

namespace crema {

/// DIR and DIR/records, both mode 0700 where they are new, and nobody else's while this is there. An earlier
/// measurement in DIR is set aside until the command has started: `Keep` or `Undo` must be called.
class RunDirectory {
 public:
  /// Errors: DIR holds something that crema did not write, without a measurement that explains it or `force`; somebody
  /// writes into it; no permission.
  static absl::StatusOr<RunDirectory> Create(const std::string& directory, const OlderOutput& older);

  /// `crema-<local time>`, with a number behind it where that exists.
  static std::string DefaultName();

  /// The command has started: the earlier measurement gets the name that it keeps, or is thrown away.
  void Keep();
  /// It has not: all is as it was before.
  void Undo() { output_.Undo(); }

  /// As the user wrote it.
  const std::string& path() const { return path_; }
  /// Absolute: the command may change its directory.
  const std::string& records() const { return records_; }
  /// Where the earlier measurement is now; empty: there is none.
  const std::string& kept_as() const { return output_.kept_as(); }
  OutputDirectory* output() { return &output_; }

 private:
  RunDirectory(std::string path, OutputDirectory output) : path_(std::move(path)), output_(std::move(output)) {}

  std::string path_;
  std::string records_;
  OutputDirectory output_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_RUN_DIRECTORY_H_
