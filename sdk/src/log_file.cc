#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "crema/internal/section_node.h"
#include "recorder.h"

namespace crema {
namespace internal {
namespace {

constexpr int kMostRecorders = 1000;
constexpr std::int64_t kMillisecond = 1000000;
/// A log that was removed is made anew after so long, so that a program that removes the directory can finish that.
constexpr std::int64_t kMadeAnewAfterNanoseconds = 1000000000;

/// The kernel kills a program that writes beyond RLIMIT_FSIZE (SIGXFSZ). The program may set it at any time, so it is
/// asked for before each line.
std::uint64_t LargestFileBytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

/// mkdir -p of the directory that `file` is in, private to the user.
void MakeDirectoriesOf(const char* file) {
  char path[PATH_MAX];
  const std::size_t length = strlen(file);
  if (length >= sizeof path) return;
  memcpy(path, file, length + 1);
  for (std::size_t i = 1; i < length; ++i) {
    if (path[i] != '/') continue;
    path[i] = '\0';
    mkdir(path, 0700);  // one that exists is fine; any other failure shows when the file is opened
    path[i] = '/';
  }
}

/// The log's path; false, with errno set, where it is too long for one.
bool PutPath(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns, int recorder,
             char (&path)[PATH_MAX]) {
  const int length = snprintf(path, sizeof path, "%s/%s-%lld-%lld-%d.jsonl", directory, host,
                              static_cast<long long>(pid), static_cast<long long>(start_ns), recorder);
  if (length >= 0 && static_cast<std::size_t>(length) < sizeof path) return true;
  errno = ENAMETOOLONG;
  return false;
}

}  // namespace

std::int64_t LogFile::StartAsLogged(const char* directory, const char* host, std::int64_t pid,
                                    std::int64_t start_ns) noexcept {
  const int error = errno;
  std::int64_t logged_ns = start_ns;
  char path[PATH_MAX];
  for (const std::int64_t other_ns : {start_ns - kMillisecond, start_ns + kMillisecond}) {
    if (PutPath(directory, host, pid, other_ns, 0, path) && access(path, F_OK) == 0) logged_ns = other_ns;
  }
  errno = error;
  return logged_ns;
}

int LogFile::Open(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns) noexcept {
  char path[PATH_MAX];
  for (int recorder = 0; recorder < kMostRecorders; ++recorder) {
    if (!PutPath(directory, host, pid, start_ns, recorder, path)) return -1;
    const int fd = Create(path);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return -1;
    struct stat status {};
    if (fstat(fd, &status) != 0) {
      const int error = errno;
      close(fd);
      errno = error;
      return -1;
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
    counts_links_ = status.st_nlink != 0;
    path_ = FixedText<PATH_MAX>(path);
    descriptor_ = fd;
    return recorder;
  }
  errno = EEXIST;
  return -1;
}

/// A new file of this name, locked; -1 with errno set.
int LogFile::Create(const char* path) noexcept {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  int fd = open(path, kFlags, 0600);
  if (fd < 0 && errno == ENOENT) {
    MakeDirectoriesOf(path);
    fd = open(path, kFlags, 0600);
  }
  if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB);  // a file system without locks only costs the "still running" mark
  return fd;
}

bool LogFile::IsOurs(const struct stat& status) const noexcept {
  return status.st_ino == inode_ && status.st_dev == device_;
}

bool LogFile::StillOurs() const noexcept {
  // A program that closes all descriptors may have opened its own file under our number: never write into that.
  struct stat status {};
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && IsOurs(status);
}

/// Whether a line can be appended now. One system call, as long as the log is where it was made.
bool LogFile::IsReady() noexcept {
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0 || !IsOurs(status)) return false;
  const bool removed = counts_links_ && status.st_nlink == 0;
  return (!removed && begun_.load(std::memory_order_acquire)) || MakeReady();
}

bool LogFile::MakeReady() noexcept {
  const std::int64_t now_ns = MonotonicNanoseconds();
  if (now_ns < not_anew_until_ns_) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || !IsOurs(status)) return false;
  if (counts_links_ && status.st_nlink == 0) {
    if (now_ns < not_anew_until_ns_ || left_removed_) return false;
    const bool just_noticed = not_anew_until_ns_ == 0;
    if (just_noticed || !ReplaceRemoved()) {
      not_anew_until_ns_ = now_ns + kMadeAnewAfterNanoseconds;
      if (!just_noticed) {
        WarnOnce({"the record log ", path(), " was removed and cannot be made anew: ", strerror(errno),
                  "; records are lost"});
      }
      return false;
    }
    not_anew_until_ns_ = 0;
  }
  if (!begun_) begun_ = Append(first_line_, kBytesForLastLine);
  return begun_;
}

/// Puts a new file, with its first line, under the log's name and its descriptor's number. Other threads may be using
/// that number meanwhile: what they would write in this moment is lost, and counted.
bool LogFile::ReplaceRemoved() noexcept {
  const int fd = Create(path_.c_str());
  if (fd < 0) return false;
  struct stat removed {};
  struct stat status {};
  bool replaced = fstat(descriptor_, &removed) == 0 && fstat(fd, &status) == 0;
  if (replaced) {
    const std::uint64_t wanted = first_line_.size() + kBytesForLastLine;
    // Before others can write behind it. Where it does not fit, they wait for it as on a disk that was full from the
    // start.
    begun_ = wanted <= LargestFileBytes() &&
             write(fd, first_line_.data(), first_line_.size()) == static_cast<ssize_t>(first_line_.size());
    replaced = dup3(fd, descriptor_, O_CLOEXEC) >= 0;
  }
  const int error = errno;
  close(fd);  // the lock belongs to the open file, which has the other number now
  errno = error;
  if (!replaced) return false;
  const bool begun = begun_;
  size_.fetch_sub(static_cast<std::uint64_t>(removed.st_size), std::memory_order_relaxed);  // claims of others stay
  if (begun) size_.fetch_add(first_line_.size(), std::memory_order_relaxed);
  torn_ = false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

void LogFile::Remove() noexcept {
  if (StillOurs()) unlink(path_.c_str());
  Close();
}

bool LogFile::Begin(std::string_view first_line) noexcept {
  first_line_ = first_line;
  const int saved_errno = errno;
  const bool ready = IsReady();
  errno = saved_errno;
  return ready;
}

bool LogFile::Write(std::string_view text) noexcept {
  const int saved_errno = errno;
  const bool whole = !ended_.load() && IsReady() && Append(text, kBytesForLastLine);
  if (!whole) CountDropped(1);
  errno = saved_errno;
  return whole;
}

bool LogFile::Write(const JsonLine& line) noexcept {
  if (!line.broken() && line.size() <= kMaxLineBytes) return Write(line.text());
  CountDropped(1);
  return false;
}

bool LogFile::WriteLast(std::string_view text) noexcept {
  const int saved_errno = errno;
  ended_ = true;
  const bool whole = IsReady() && Append(text, 0);
  errno = saved_errno;
  return whole;
}

bool LogFile::Append(std::string_view text, std::uint64_t bytes_kept_free) noexcept {
  // Claimed before it is written: several threads that each still fitted would together reach the limit.
  const std::uint64_t claimed = text.size() + 1;
  const std::uint64_t size = size_.fetch_add(claimed, std::memory_order_relaxed) + claimed;
  bool whole = false;
  std::uint64_t used = 0;
  const std::uint64_t limit = LargestFileBytes();
  if (bytes_kept_free <= limit && size <= limit - bytes_kept_free) {
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
