// Reads a file line by line in blocks, so that a log of any size costs the same memory.
#ifndef CREMA_COLLECTOR_SOURCES_RECORD_LOG_LINES_H_
#define CREMA_COLLECTOR_SOURCES_RECORD_LOG_LINES_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"

namespace crema {

struct LogLine {
  int64_t number = 0;     ///< from 1
  std::string_view text;  ///< without its newline; followed by `RecordParser::kPadding` readable bytes
  bool whole = true;      ///< false: the file ended before a newline
  bool too_long = false;  ///< longer than `kMaxLineBytes`; `text` is its beginning
};

/// Calls `on_line` for each line that is not blank, until it returns false. `text` holds during the call only. A file
/// that grows meanwhile is read to where its end was last seen. `fd` is read from its current position.
/// Errors: what read(2) says; the lines before it were delivered.
absl::Status ForEachLine(int fd, const std::function<bool(const LogLine&)>& on_line);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_RECORD_LOG_LINES_H_
