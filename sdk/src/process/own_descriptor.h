// Descriptors of ours in a process that is not: high numbers, few of them, and never a doubt whose they are.
#pragma once

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <optional>

namespace crema {
namespace internal {

/// At most so many descriptors are held by a process, its log's included: min(64, RLIMIT_NOFILE / 8).
class DescriptorBudget {
 public:
  void Start() noexcept;
  bool Take() noexcept;
  /// From those that are kept for logs beside the first: there are none where the budget is less than 9. Not given
  /// back.
  bool TakeForLog() noexcept { return logs_left_.fetch_sub(1, std::memory_order_relaxed) > 0; }
  void GiveBack() noexcept;

 private:
  std::atomic<int> left_{0};
  std::atomic<int> logs_left_{0};
};

/// Which file it is, whatever its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
};
inline bool operator==(const FileIdentity& one, const FileIdentity& other) noexcept {
  return one.inode == other.inode && one.device == other.device;
}
/// nullopt where it is not open, or the kernel refuses it.
std::optional<FileIdentity> IdentityOf(int descriptor) noexcept;
/// Whether `descriptor` is open on this file, or on this file system. Where the kernel refuses information about a
/// descriptor that is open (seccomp(2)), it counts as ours.
bool IsOpenOn(int descriptor, const FileIdentity& file) noexcept;
bool IsOpenOnDevice(int descriptor, dev_t device) noexcept;

/// Whether it was opened as ours are, with all of `flags` and their access mode (fcntl(2), F_GETFL). A file that was
/// removed leaves its inode to the next one, which may be the program's. Where the kernel refuses to say, it was.
bool IsOpenedAs(int descriptor, int flags) noexcept;

/// From -1, with errno set, to the numbers that only recording asks for.
int DuplicateHigh(int fd) noexcept;

/// Gives a descriptor that was just opened a high number, close-on-exec, and closes the low one. open(2) hands out the
/// lowest number that is free: a program that closes all its descriptors and opens its own files gets low numbers, and
/// so never ours while we use it. `is_ours(fd)` says whether a descriptor is what was opened: the program may have
/// closed the low one meanwhile, and opened its own file under that number, which must stay open. Where no high number
/// is free, `fd` stays as it is. -1 with errno set, EAGAIN where it is not ours any more.
template <class IsOurs>
int MoveUp(int fd, IsOurs is_ours) noexcept {
  const int high = DuplicateHigh(fd);
  if (high != fd && is_ours(fd)) close(fd);
  if (high < 0 || is_ours(high)) return high;
  if (high != fd) close(high);  // a copy of the program's file, under a number that only we ask for
  errno = EAGAIN;
  return -1;
}

/// To be called when a descriptor of ours was found closed: the program closes all, and opens its own just then. So
/// nothing is opened for a second, the next time for two, and so on.
void NoteLostDescriptor() noexcept;
bool MayOpen() noexcept;

}  // namespace internal
}  // namespace crema
