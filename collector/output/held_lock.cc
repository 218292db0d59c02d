#include "collector/output/held_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace crema {
namespace {

bool IsNamed(int descriptor, const std::string& path) {
  struct stat open_file, named;
  return fstat(descriptor, &open_file) == 0 && lstat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

}  // namespace

HeldLock::HeldLock(const std::string& path) {
  for (;;) {
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor_ < 0) return;
    const bool is_locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    const int error = is_locked ? 0 : errno;
    if (IsNamed(descriptor_, path)) {
      state_ = is_locked ? State::kHeld : error == EWOULDBLOCK ? State::kTaken : State::kNoLocks;
      return;
    }
    close(descriptor_);  // it was replaced on the way
  }
}

HeldLock::~HeldLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

HeldLock::HeldLock(HeldLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), state_(std::exchange(other.state_, State::kNone)) {}

HeldLock& HeldLock::operator=(HeldLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(state_, other.state_);
  return *this;
}

}  // namespace crema
