#include "collector/sources/record_log_lines.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "collector/records/record_parser.h"
#include "collector/records/schema.h"

namespace crema {
namespace {

// Small enough to be parsed out of the processor's cache.
constexpr size_t kBlockBytes = size_t{256} << 10;
// Who wants the first line only, or a few kilobytes, waits for no more.
constexpr size_t kFirstBlockBytes = size_t{16} << 10;
constexpr int64_t kNearEnd = 64 << 10;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

absl::StatusOr<int64_t> ForEachLine(DecompressedFile& file, const LogPart& part,
                                    const std::function<bool(const LogLine&)>& on_line) {
  // Room for the unfinished line before a block, the block, and what the parser may read ahead.
  const size_t capacity = kMaxLineBytes + kBlockBytes;
  const std::unique_ptr<char[]> buffer(new char[capacity + RecordParser::kPadding]);  // not cleared: it is large
  // A line that began before the part is another's; a newline just before the part ends it.
  const int64_t from = part.begin > 0 ? part.begin - 1 : 0;
  if (!file.status().ok() || (from > 0 && !file.SkipTo(from))) return file.status();
  bool skipping = part.begin > 0;  // inside a line that is another's, or was too long
  bool counts = !skipping;         // the line skipped is one of the part's
  int64_t base = from;             // where in the file the buffer begins
  size_t held = 0;                 // bytes in the buffer: the beginning of a line whose end was not read yet
  int64_t number = 1;
  for (size_t wanted = kFirstBlockBytes;; wanted = part.end - base < kNearEnd ? kFirstBlockBytes : kBlockBytes) {
    const int64_t got = file.Read(buffer.get() + held, wanted);
    if (got < 0) return file.status();
    if (got == 0) break;
    const char* line = buffer.get();
    const char* const end = buffer.get() + held + got;
    const char* newline = static_cast<const char*>(std::memchr(buffer.get() + held, '\n', static_cast<size_t>(got)));
    while (newline != nullptr) {
      const std::string_view text(line, static_cast<size_t>(newline - line));
      const int64_t offset = base + (line - buffer.get());
      if (!skipping && offset >= part.end) return number - 1;
      if (!skipping && !IsBlank(text)) {
        const bool too_long = text.size() >= kMaxLineBytes;
        if (!on_line({number, offset, text, true, too_long})) return number;
      }
      number += counts;
      skipping = false;
      counts = true;
      line = newline + 1;
      newline = static_cast<const char*>(std::memchr(line, '\n', static_cast<size_t>(end - line)));
    }
    held = static_cast<size_t>(end - line);
    const int64_t offset = base + (line - buffer.get());
    if (!skipping && offset >= part.end) return number - 1;
    if (!skipping && held >= kMaxLineBytes) {
      if (!on_line({number, offset, std::string_view(line, kMaxLineBytes), true, true})) return number;
      skipping = true;
    }
    if (skipping) {
      line = end;
      held = 0;
    }
    base += line - buffer.get();
    std::memmove(buffer.get(), line, held);
  }
  const std::string_view rest(buffer.get(), held);
  if (!IsBlank(rest)) on_line({number, base, rest, false, false});
  return number;
}

}  // namespace crema
