// A lock on a file or directory that is held, flock(2).
#pragma once

#include <string>

namespace crema {

/// Held until it is destroyed, or the process ends however that happens: the kernel gives it back. Children that were
/// forked hold it too; programs that they execute do not.
class HeldLock {
 public:
  enum class State {
    kHeld,
    kTaken,    ///< somebody else holds it
    kNone,     ///< nothing of that name can be opened
    kNoLocks,  ///< the file system has no locks: it stays open, and nobody is kept out
  };

  HeldLock() = default;
  /// Does not wait, and follows no symbolic link. What is locked is what has the name once it is locked.
  explicit HeldLock(const std::string& path);
  ~HeldLock();
  HeldLock(HeldLock&& other) noexcept;
  HeldLock& operator=(HeldLock&& other) noexcept;

  State state() const { return state_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
  State state_ = State::kNone;
};

}  // namespace crema
