// ForkMark: tells a process from children of it that no handler of pthread_atfork(3) saw, of clone(2) and _Fork(3).
#ifndef CREMA_SRC_PROCESS_FORK_MARK_H_
#define CREMA_SRC_PROCESS_FORK_MARK_H_

#include <sys/mman.h>

#include <atomic>

namespace crema {
namespace internal {

/// A page that the kernel gives to children empty (MADV_WIPEONFORK). Where it cannot (Linux before 4.14), such children
/// are not noticed. A child of vfork(2) has the memory of its parent, and is taken for it.
class ForkMark {
 public:
  /// Before any other thread knows of this object. Never taken back.
  void Set() noexcept {
    constexpr std::size_t kBytes = sizeof(*mark_);  // the kernel makes whole pages of it
    void* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, kBytes, MADV_WIPEONFORK) != 0) {
      munmap(page, kBytes);
      return;
    }
    mark_ = static_cast<std::atomic<bool>*>(page);
    mark_->store(true);
  }
  /// Whether this is a child of the process in which it was set.
  bool IsLeft() const noexcept { return mark_ != nullptr && !mark_->load(std::memory_order_relaxed); }

 private:
  std::atomic<bool>* mark_ = nullptr;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_PROCESS_FORK_MARK_H_
