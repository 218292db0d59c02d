#include "collector/sources/log_life.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "collector/compression/compressed_name.h"
#include "collector/engines/engines.h"
#include "collector/records/schema.h"

namespace crema {
namespace {

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

bool IsHeldByItsProcess(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);  // gives the lock back
  return held;
}

std::string_view KindOfLog(std::string_view name) {
  const std::string_view plain = NameBeforeCompression(name);
  std::vector<std::string_view> suffixes = {kTreeLogSuffix, kRecordLogSuffix};
  for (const Engine* engine : Engines()) suffixes.push_back(engine->log_suffix);
  for (const std::string_view suffix : suffixes) {
    if (!EndsWith(plain, suffix)) continue;
    const std::string_view rest = plain.substr(0, plain.size() - suffix.size());
    return name.substr(rest.size() - (EndsWith(rest, kLiveCopyMark) ? kLiveCopyMark.size() : 0));
  }
  const size_t dot = plain.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot);
}

bool IsLiveCopy(std::string_view path) { return KindOfLog(path).substr(0, kLiveCopyMark.size()) == kLiveCopyMark; }

std::string LiveCopyName(std::string_view name) {
  const std::string_view kind = KindOfLog(name);
  std::string live(name.substr(0, name.size() - kind.size()));
  if (!IsLiveCopy(name)) live.append(kLiveCopyMark);
  return live.append(kind);
}

bool MayLackItsEnd(const std::string& path) { return IsLiveCopy(path) || IsHeldByItsProcess(path); }

}  // namespace crema
