#include "own_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace crema {
namespace internal {
namespace {

constexpr int kMostDescriptors = 64;
/// fork(2) copies the table of descriptors up to the highest one: ours stay below this.
constexpr rlim_t kHighest = 1024;

/// Where our numbers begin: the last quarter of those below the soft limit and `kHighest`.
int FirstHighNumber() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kHighest;
  const auto highest = static_cast<int>(std::min(limit.rlim_cur, kHighest));
  return highest - highest / 4;
}

}  // namespace

void DescriptorBudget::Start() noexcept {
  rlimit limit{};
  int most = kMostDescriptors;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 8 < kMostDescriptors) {
    most = static_cast<int>(limit.rlim_cur / 8);
  }
  left_.store(most - 1, std::memory_order_relaxed);  // one is the log's
}

bool DescriptorBudget::Take() noexcept {
  if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
  GiveBack();
  return false;
}

void DescriptorBudget::GiveBack() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }

std::optional<FileIdentity> IdentityOf(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

bool IsSameFile(int one, int other) noexcept {
  const auto identity = IdentityOf(one);
  return identity.has_value() && identity == IdentityOf(other);
}

void CloseIfOpenOn(int descriptor, const FileIdentity& file) noexcept {
  if (IdentityOf(descriptor) == file) close(descriptor);
}

int MoveUp(int fd, bool (*is_same)(int, int)) noexcept {
  const int first = FirstHighNumber();
  if (fd < 0 || fd >= first) return fd;
  const int error = errno;
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, first);
  if (high >= 0 && is_same(fd, high)) close(fd);
  errno = error;
  return high >= 0 ? high : fd;
}

bool IsHigh(int fd) noexcept { return fd >= FirstHighNumber(); }

int OpenHigh(const char* path, int flags, mode_t mode) noexcept {
  return MoveUp(open(path, flags | O_CLOEXEC, mode), IsSameFile);
}

}  // namespace internal
}  // namespace crema
