#include "collector/sources/process_tree/proc_io.h"

#include <charconv>

namespace crema {
namespace {

bool ReadField(std::string_view text, std::string_view name, int64_t* value) {
  // `rchar: ` begins the file; the others begin a line. `cancelled_write_bytes` must not pass for `write_bytes`.
  size_t at = text.find(name);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') at = text.find(name, at + 1);
  if (at == std::string_view::npos) return false;
  const char* first = text.data() + at + name.size();
  return std::from_chars(first, text.data() + text.size(), *value).ec == std::errc();
}

}  // namespace

std::optional<TreeIo> ParseProcIo(std::string_view text) {
  TreeIo io;
  if (!ReadField(text, "rchar: ", &io.rchar_bytes) || !ReadField(text, "wchar: ", &io.wchar_bytes) ||
      !ReadField(text, "read_bytes: ", &io.read_bytes) || !ReadField(text, "write_bytes: ", &io.write_bytes)) {
    return std::nullopt;
  }
  return io;
}

std::optional<int64_t> ParseReadCalls(std::string_view text) {
  int64_t calls = 0;
  return ReadField(text, "syscr: ", &calls) ? std::optional<int64_t>(calls) : std::nullopt;
}

}  // namespace crema
