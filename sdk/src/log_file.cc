#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace crema {
namespace internal {
namespace {

constexpr int kMostRecorders = 1000;

/// mkdir -p, private to the user.
void MakeDirectories(const char* directory) {
  char path[PATH_MAX];
  const std::size_t length = strlen(directory);
  if (length == 0 || length >= sizeof path) return;
  memcpy(path, directory, length + 1);
  for (std::size_t i = 1; i <= length; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    const char saved = path[i];
    path[i] = '\0';
    mkdir(path, 0700);  // one that exists is fine; any other failure shows when the file is opened
    path[i] = saved;
  }
}

}  // namespace

int LogFile::Open(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns) noexcept {
  char path[PATH_MAX];
  for (int recorder = 0; recorder < kMostRecorders; ++recorder) {
    const int length = snprintf(path, sizeof path, "%s/%s-%lld-%lld-%d.jsonl", directory, host,
                                static_cast<long long>(pid), static_cast<long long>(start_ns), recorder);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) {
      errno = ENAMETOOLONG;
      return -1;
    }
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, kFlags, 0600);
    if (fd < 0 && errno == ENOENT) {
      MakeDirectories(directory);
      fd = open(path, kFlags, 0600);
    }
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return -1;
    struct stat status {};
    if (fstat(fd, &status) != 0) {
      const int error = errno;
      close(fd);
      errno = error;
      return -1;
    }
    flock(fd, LOCK_EX | LOCK_NB);  // a file system without locks only costs the "still running" mark
    device_ = status.st_dev;
    inode_ = status.st_ino;
    descriptor_ = fd;
    RefreshSizeLimit();
    return recorder;
  }
  errno = EEXIST;
  return -1;
}

void LogFile::RefreshSizeLimit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
  size_limit_.store(limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur, std::memory_order_relaxed);
}

bool LogFile::StillOurs() const noexcept {
  // A program that closes all descriptors may have opened its own file under our number: never write into that.
  struct stat status {};
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && status.st_ino == inode_ && status.st_dev == device_;
}

bool LogFile::Write(std::string_view text) noexcept {
  const int saved_errno = errno;
  bool whole = false;
  // Claimed before it is written: several threads that each still fitted would together reach the limit.
  const std::uint64_t claimed = text.size() + 1;
  const std::uint64_t size = size_.fetch_add(claimed, std::memory_order_relaxed) + claimed;
  std::uint64_t used = 0;
  if (size <= size_limit_.load(std::memory_order_relaxed) && StillOurs()) {
    char newline = '\n';
    const bool after_torn = torn_.load(std::memory_order_relaxed) && torn_.exchange(false);
    iovec parts[2] = {{&newline, 1}, {const_cast<char*>(text.data()), text.size()}};
    const std::size_t wanted = text.size() + (after_torn ? 1 : 0);
    ssize_t written;
    do {
      written = after_torn ? writev(descriptor_, parts, 2) : write(descriptor_, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    whole = written == static_cast<ssize_t>(wanted);
    if (written > 0) used = static_cast<std::uint64_t>(written);
    if (!whole && (written > 0 || after_torn)) torn_.store(true, std::memory_order_relaxed);
  }
  size_.fetch_sub(claimed - used, std::memory_order_relaxed);
  if (!whole) CountDropped(1);
  errno = saved_errno;
  return whole;
}

void LogFile::Sync() noexcept {
  const int saved_errno = errno;
  if (StillOurs()) fdatasync(descriptor_);
  errno = saved_errno;
}

void LogFile::Close() noexcept {
  const int saved_errno = errno;
  if (StillOurs()) close(descriptor_);
  descriptor_ = -1;
  errno = saved_errno;
}

}  // namespace internal
}  // namespace crema
