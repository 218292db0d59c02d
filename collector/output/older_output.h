// What lies in a directory into which crema is to write.
#ifndef CREMA_COLLECTOR_OUTPUT_OLDER_OUTPUT_H_
#define CREMA_COLLECTOR_OUTPUT_OLDER_OUTPUT_H_

#include <filesystem>
#include <string>

namespace crema {

struct OutputContents {
  bool is_measurement = false;       ///< crema's document, or a log in `records/`
  bool has_foreign_records = false;  ///< `records/` holds something that is no log
  std::string foreign;               ///< one name of what crema did not write; empty: there is none
  std::string live_log;              ///< a log that is being written; empty: there is none
};

OutputContents LookInto(const std::filesystem::path& directory);

/// When the measurement began, as UTC fit for a file's name: `20261121T140211Z`. Of its document, else of its logs,
/// else of its directory's last change.
std::string StampOfStart(const std::filesystem::path& directory);

}  // namespace crema

#endif  // CREMA_COLLECTOR_OUTPUT_OLDER_OUTPUT_H_
