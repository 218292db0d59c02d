// Reads a file line by line in blocks, so that a log of any size costs the same memory.
#ifndef CREMA_COLLECTOR_SOURCES_RECORD_LOG_LINES_H_
#define CREMA_COLLECTOR_SOURCES_RECORD_LOG_LINES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/compression/decompressed_file.h"

namespace crema {

struct LogLine {
  int64_t number = 0;     ///< from 1, among the lines read
  int64_t offset = 0;     ///< of its first byte in the file, as it was before compression
  std::string_view text;  ///< without its newline; followed by `RecordParser::kPadding` readable bytes
  bool whole = true;      ///< false: the file ended before a newline
  bool too_long = false;  ///< longer than `kMaxLineBytes`; `text` is its beginning
};

/// A part of a log: the lines whose first byte is one of these. So the parts of a file that was cut anywhere have each
/// line once.
struct LogPart {
  int64_t begin = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
};

/// Calls `on_line` for each line of `part` that is not blank, until it returns false. `text` holds during the call
/// only. A file that grows meanwhile is read to where its end was last seen. Returns the number of lines, blank ones
/// too. Nothing of `file` was read yet.
/// Errors: what `file` says; the lines before it were delivered.
absl::StatusOr<int64_t> ForEachLine(DecompressedFile& file, const LogPart& part,
                                    const std::function<bool(const LogLine&)>& on_line);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_RECORD_LOG_LINES_H_
