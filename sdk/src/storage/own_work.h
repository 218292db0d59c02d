// OwnWork: while it lives, memory that the thread allocates is the SDK's, not the program's.
#ifndef CREMA_SRC_STORAGE_OWN_WORK_H_
#define CREMA_SRC_STORAGE_OWN_WORK_H_

#include <atomic>
#include <cstdint>

#include "crema/internal/section_node.h"

namespace crema {
namespace internal {

/// Of scopes of the calling thread in this copy of the SDK.
extern CREMA_THREAD_LOCAL std::uint32_t t_own_work;

class OwnWork {
 public:
  OwnWork() noexcept : context_(t_context) {
    ++t_own_work;
    if (context_ != nullptr) ++context_->own_work;        // where another copy is asked (see shared_copy.h)
    std::atomic_signal_fence(std::memory_order_seq_cst);  // compilers know that malloc(3) reads no variable of ours
  }
  ~OwnWork() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --t_own_work;
    if (context_ != nullptr) --context_->own_work;
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  ThreadContext* const context_;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_STORAGE_OWN_WORK_H_
