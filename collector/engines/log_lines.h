// An engine's log, line by line, compressed or not, and what is wrong with it.
#pragma once

#include <time.h>

#include <type_traits>

#include "absl/strings/numbers.h"
#include "collector/compression/decompressed_file.h"
#include "collector/engines/engines.h"

namespace crema {

/// When a file was last written, Unix time; now where it cannot be seen.
int64_t WrittenNs(const std::string& path);

class LogLines {
 public:
  /// `reading` takes the problems, and outlives this.
  LogLines(const std::string& path, EngineReading* reading) : path_(path), file_(path), reading_(reading) {}
  /// The next line, without its line end; false: there is none. Damage ends the lines, and is a problem.
  bool Next(std::string* line);
  /// Whether the line had its newline.
  bool is_whole() const { return is_whole_; }
  int64_t number() const { return number_; }
  /// Adds `path:number: what; it was left out`. After twenty of them only their number is kept.
  void Complain(std::string_view what);
  /// Not OK: the file cannot be opened.
  absl::Status opened() const;

 private:
  static constexpr int64_t kMostComplaints = 20;

  std::string path_;
  DecompressedStream file_;
  EngineReading* reading_;
  int64_t number_ = 0;
  int64_t complaints_ = 0;
  bool is_whole_ = true;
};

/// Cuts bytes that come in pieces into lines.
class LineAssembler {
 public:
  /// Calls `on_line` for each whole line, without its newline; `RecordParser::kPadding` readable bytes follow it. A
  /// line beyond `kMaxLineBytes` becomes `on_too_long()`, once.
  void Add(std::string_view bytes, const std::function<void(std::string_view)>& on_line,
           const std::function<void()>& on_too_long);
  /// Forgets a line that was begun.
  void Clear() { held_.clear(); }

 private:
  std::string held_;
  bool skipping_ = false;
};

/// All of the text as a number of this type; nullopt: it is none.
template <class Number>
std::optional<Number> Parsed(std::string_view text) {
  Number number = 0;
  const absl::string_view digits(text.data(), text.size());
  bool is_number = false;
  if constexpr (std::is_same_v<Number, double>) {
    is_number = absl::SimpleAtod(digits, &number);
  } else {
    is_number = absl::SimpleAtoi(digits, &number);
  }
  return is_number ? std::optional(number) : std::nullopt;
}

/// A time that an engine's log has: Unix time.
struct LogTime {
  int64_t time_ns = 0;
  std::optional<int64_t> later_ns;  ///< in the hour that comes twice, when clocks are set back: the second time
};

/// nullopt: not after 1970, or far beyond what counts of nanoseconds hold.
inline std::optional<LogTime> LogTimeOf(int64_t seconds) {
  constexpr int64_t kMostSeconds = 8'000'000'000;
  return seconds > 0 && seconds < kMostSeconds ? std::optional(LogTime{seconds * 1'000'000'000, {}}) : std::nullopt;
}

/// In this machine's zone (TZ).
inline std::optional<LogTime> ReadLocalTime(const tm& moment) {
  tm read = moment;
  read.tm_isdst = -1;  // a zone without summer time takes mktime(3) a search of years for one
  const time_t seconds = mktime(&read);
  std::optional<LogTime> time = LogTimeOf(seconds);
  for (const int shift : {-3600, -1800, 1800, 3600}) {
    const time_t other = seconds + shift;
    tm shown = {};
    localtime_r(&other, &shown);
    if (!time.has_value() || shown.tm_hour != read.tm_hour || shown.tm_min != read.tm_min) continue;
    time = LogTimeOf(std::min(seconds, other));
    if (time.has_value()) time->later_ns = int64_t{std::max(seconds, other)} * 1'000'000'000;
  }
  return time;
}

}  // namespace crema
