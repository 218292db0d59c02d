// An engine's log, line by line, compressed or not, and what is wrong with it.
#ifndef CREMA_COLLECTOR_ENGINES_LOG_LINES_H_
#define CREMA_COLLECTOR_ENGINES_LOG_LINES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "collector/compression/decompressed_stream.h"
#include "collector/engines/engine.h"

namespace crema {

/// When a file was last written, Unix time; now where it cannot be seen.
int64_t WrittenNs(const std::string& path);

class LogLines {
 public:
  /// `reading` takes the problems, and outlives this.
  LogLines(const std::string& path, EngineReading* reading) : path_(path), file_(path), reading_(reading) {}
  /// The next line, without its newline; false: there is none. Damage ends the lines, and is a problem.
  bool Next(std::string* line);
  /// Whether the line had its newline.
  bool is_whole() const { return is_whole_; }
  int64_t number() const { return number_; }
  /// Adds `path:number: what; it was left out`. After twenty of them only their number is kept.
  void Complain(std::string_view what);
  /// Not OK: the file cannot be opened.
  absl::Status opened() const;

 private:
  std::string path_;
  DecompressedStream file_;
  EngineReading* reading_;
  int64_t number_ = 0;
  int64_t complaints_ = 0;
  bool is_whole_ = true;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_LOG_LINES_H_
