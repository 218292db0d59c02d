#include "kernel/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "process/own_descriptor.h"

namespace crema {
namespace internal {

long ReadWholeFile(const char* path, char* buffer, std::size_t capacity) noexcept {
  const int saved_errno = errno;  // guards leave the host's errno as it was
  long size = -1;
  // Whose the number is may change at any moment, if the program closes all its descriptors: so pread(2), which moves
  // no offset and does not block on a pipe, and no close(2) of anything but a file of this file system.
  struct stat wanted {};
  const bool is_there = MayOpen() && stat(path, &wanted) == 0;
  const int fd = is_there ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  if (fd >= 0) {
    size = 0;
    while (static_cast<std::size_t>(size) < capacity - 1) {
      const ssize_t got = pread(fd, buffer + size, capacity - 1 - static_cast<std::size_t>(size), size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) size = -1;
      if (got <= 0) break;
      size += got;
    }
    if (IsOpenOnDevice(fd, wanted.st_dev)) {
      close(fd);
    } else {
      size = -1;
    }
  }
  buffer[size > 0 ? size : 0] = '\0';
  errno = saved_errno;
  return size;
}

std::optional<std::int64_t> LeadingInteger(std::string_view text) noexcept {
  std::size_t begin = 0;
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (result.ec != std::errc() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> IntegerAfter(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    if (text.substr(0, key.size()) == key) return LeadingInteger(text.substr(key.size()));
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace internal
}  // namespace crema
