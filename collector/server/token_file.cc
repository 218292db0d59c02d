#include "collector/server/token_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "collector/server/access.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostBytes = 1024;

absl::Status Failed(const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("{}: the token cannot be kept there", path));
}

absl::Status CheckPrivate(const std::string& path, int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return Failed(path);
  if (!S_ISREG(status.st_mode)) return absl::FailedPreconditionError(path + ": is no regular file for a token");
  if (status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(path + ": belongs to another user, who knows the token; name a file of yours");
  }
  if ((status.st_mode & 0077) != 0) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: others can read or write the token (mode {:04o}); run chmod 600 on it", path, status.st_mode & 07777));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadOrMake(const std::string& path, int descriptor) {
  if (absl::Status status = CheckPrivate(path, descriptor); !status.ok()) return status;
  flock(descriptor, LOCK_EX);  // of two servers that begin together, one makes the token
  std::string text(kMostBytes, '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  if (got < 0) return Failed(path);
  text.resize(static_cast<size_t>(got));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty()) {
    text = MakeToken();
    const std::string line = text + "\n";
    if (pwrite(descriptor, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) return Failed(path);
  }
  if (!CanBeToken(text)) {
    return absl::InvalidArgumentError(path + ": holds no token: one line of 8 to 256 letters, digits and -._~");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> TokenOfFile(const std::string& path) {
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0600);
  if (descriptor < 0 && errno == EACCES) descriptor = open(path.c_str(), O_RDONLY | kFlags);  // 0400
  if (descriptor < 0) return Failed(path);
  absl::StatusOr<std::string> token = ReadOrMake(path, descriptor);
  close(descriptor);
  return token;
}

}  // namespace crema
