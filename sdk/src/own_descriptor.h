// Descriptors of ours in a process that is not: high numbers, few of them, and never a doubt whose they are.
#ifndef CREMA_SRC_OWN_DESCRIPTOR_H_
#define CREMA_SRC_OWN_DESCRIPTOR_H_

#include <sys/types.h>

#include <atomic>
#include <optional>

namespace crema {
namespace internal {

/// At most so many descriptors are held by a process, its log's included: min(64, RLIMIT_NOFILE / 8).
class DescriptorBudget {
 public:
  void Start() noexcept;
  bool Take() noexcept;
  void GiveBack() noexcept;

 private:
  std::atomic<int> left_{0};
};

/// Gives a descriptor that was just opened a high number, close-on-exec, and closes the low one. open(2) hands out the
/// lowest number that is free: a program that closes all its descriptors and opens its own files gets low numbers, and
/// so never ours while we use it. Where no high number is free, `fd` stays as it is. `is_same(low, high)` says whether
/// two descriptors are the same thing of ours: the program may have closed the low one meanwhile, and opened its own
/// file under that number, which must stay open. The caller looks whether what it gets back is ours.
int MoveUp(int fd, bool (*is_same)(int, int)) noexcept;

/// Which file it is, whatever its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
};
inline bool operator==(const FileIdentity& one, const FileIdentity& other) noexcept {
  return one.inode == other.inode && one.device == other.device;
}
/// nullopt where it is not open, or the kernel refuses to tell.
std::optional<FileIdentity> IdentityOf(int descriptor) noexcept;
/// Whether both descriptors are open on the same file.
bool IsSameFile(int one, int other) noexcept;
/// close(2), if `descriptor` is open on `file`.
void CloseIfOpenOn(int descriptor, const FileIdentity& file) noexcept;

/// Whether the number is one that only `MoveUp` asks for.
bool IsHigh(int fd) noexcept;

/// open(2), with a high number. -1 with errno set.
int OpenHigh(const char* path, int flags, mode_t mode = 0) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_OWN_DESCRIPTOR_H_
