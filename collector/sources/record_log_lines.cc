#include "collector/sources/record_log_lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "collector/records/record_parser.h"
#include "collector/records/schema.h"

namespace crema {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

ssize_t ReadRetrying(int fd, char* to, size_t bytes) {
  ssize_t got;
  do {
    got = read(fd, to, bytes);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

absl::Status ForEachLine(int fd, const std::function<bool(const LogLine&)>& on_line) {
  // Room for the unfinished line before a block, the block, and what the parser may read ahead.
  const size_t capacity = kMaxLineBytes + kBlockBytes;
  const auto buffer = std::make_unique<char[]>(capacity + RecordParser::kPadding);
  size_t held = 0;        // bytes in the buffer: the beginning of a line whose end was not read yet
  bool skipping = false;  // inside a line that was too long
  int64_t number = 1;
  while (true) {
    const ssize_t got = ReadRetrying(fd, buffer.get() + held, kBlockBytes);
    if (got < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (got == 0) break;
    const char* line = buffer.get();
    const char* const end = buffer.get() + held + got;
    const char* newline = static_cast<const char*>(std::memchr(buffer.get() + held, '\n', static_cast<size_t>(got)));
    while (newline != nullptr) {
      const std::string_view text(line, static_cast<size_t>(newline - line));
      if (!skipping && !IsBlank(text)) {
        const bool too_long = text.size() >= kMaxLineBytes;
        if (!on_line({number, text, true, too_long})) return absl::OkStatus();
      }
      skipping = false;
      ++number;
      line = newline + 1;
      newline = static_cast<const char*>(std::memchr(line, '\n', static_cast<size_t>(end - line)));
    }
    held = static_cast<size_t>(end - line);
    if (skipping) held = 0;
    if (held >= kMaxLineBytes) {
      if (!on_line({number, std::string_view(line, kMaxLineBytes), true, true})) return absl::OkStatus();
      skipping = true;
      held = 0;
    }
    std::memmove(buffer.get(), line, held);
  }
  const std::string_view rest(buffer.get(), held);
  if (!IsBlank(rest)) on_line({number, rest, false, false});
  return absl::OkStatus();
}

}  // namespace crema
