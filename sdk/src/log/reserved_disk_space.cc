#include "log/reserved_disk_space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "log/log_limits.h"

namespace crema {
namespace internal {
namespace {

constexpr int kOpenedAs = O_TMPFILE | O_WRONLY;
constexpr std::size_t kBlock = 4096;
/// At most so small a part of what is free.
constexpr std::size_t kSharesOfFree = 200;

/// Not so where the program closed all its descriptors in the moment in which the file was opened, and the number is
/// that of its own file.
bool IsNewAndNameless(int fd) {
  struct stat status {};
  return fd >= 0 && fstat(fd, &status) == 0 && status.st_nlink == 0 && status.st_size == 0 &&
         (fcntl(fd, F_GETFL) & (O_TMPFILE | O_ACCMODE)) == kOpenedAs;
}

/// In whole blocks, up to `ReservedDiskSpace::kBytes`.
std::size_t RoomOn(int fd) {
  struct statvfs disk {};
  if (fstatvfs(fd, &disk) != 0) return 0;
  const std::size_t share = disk.f_bavail * disk.f_frsize / kSharesOfFree;
  return std::min(share / kBlock * kBlock, ReservedDiskSpace::kBytes);
}

}  // namespace

void ReservedDiskSpace::Take(const char* directory, DescriptorBudget* budget) noexcept {
  if (LargestFileBytes() < kBytes || !budget->Take()) return;
  const int fd = MoveUp(open(directory, kOpenedAs | O_CLOEXEC, 0600), IsNewAndNameless);
  const auto file = fd >= 0 ? IdentityOf(fd) : std::nullopt;
  const std::size_t bytes = file.has_value() ? RoomOn(fd) : 0;
  // Not posix_fallocate(3), which would write zeros where the file system cannot keep room.
  if (bytes == 0 || fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (fd >= 0) close(fd);
    budget->GiveBack();
    return;
  }
  descriptor_ = fd;
  file_ = *file;
  bytes_.store(bytes);
}

bool ReservedDiskSpace::Give(std::size_t bytes) noexcept {
  // A block more than it takes: the log's own last block may be full.
  const std::size_t wanted = (bytes / kBlock + 2) * kBlock;
  const std::size_t had = bytes_.load();
  if (had == 0 || !(IdentityOf(descriptor_) == file_) || !IsOpenedAs(descriptor_, kOpenedAs)) return false;
  const std::size_t rest = had - std::min(wanted, had);
  bytes_.store(rest);
  return ftruncate(descriptor_, static_cast<off_t>(rest)) == 0;
}

void ReservedDiskSpace::Close(DescriptorBudget* budget) noexcept {
  if (descriptor_ < 0) return;
  if (IsOpenOn(descriptor_, file_) && IsOpenedAs(descriptor_, kOpenedAs)) close(descriptor_);
  budget->GiveBack();
  descriptor_ = -1;
  bytes_.store(0);
}

}  // namespace internal
}  // namespace crema
