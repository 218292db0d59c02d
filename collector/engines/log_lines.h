// An engine's log, line by line, compressed or not, and what is wrong with it.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "collector/compression/decompressed_file.h"
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

/// Seconds since 1970 of a time in this machine's zone (TZ).
struct LocalMoment {
  time_t seconds = 0;           ///< below 0: it is none
  std::optional<time_t> later;  ///< in the hour that comes twice, when clocks are set back: the second time
};

inline LocalMoment ReadLocalMoment(const tm& moment) {
  const auto read = [&moment](int is_dst) {
    tm copy = moment;
    copy.tm_isdst = is_dst;
    const time_t seconds = mktime(&copy);
    // mktime(3) moves the clock where the zone has no such time.
    return copy.tm_hour == moment.tm_hour && copy.tm_min == moment.tm_min ? seconds : -1;
  };
  const time_t summer = read(1), winter = read(0);
  if (summer > 0 && winter > summer) return {summer, winter};
  tm copy = moment;
  copy.tm_isdst = -1;
  return {mktime(&copy), std::nullopt};
}

}  // namespace crema
