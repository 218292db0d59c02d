// SdkAllocationScope: while it lives, memory that the thread allocates is the SDK's, not the program's.
#pragma once

#include <atomic>
#include <cstdint>

#include "crema/internal/section_node.h"

namespace crema::internal {

/// How many scopes the calling thread has in this copy of the SDK.
extern CREMA_THREAD_LOCAL std::uint32_t t_allocation_scopes;

class SdkAllocationScope {
 public:
  SdkAllocationScope() noexcept : context_(t_context) {
    ++t_allocation_scopes;
    if (context_ != nullptr) ++context_->allocation_scopes;  // where another copy is asked (see own_descriptor.h)
    std::atomic_signal_fence(std::memory_order_seq_cst);     // compilers know that malloc(3) reads no variable of ours
  }
  ~SdkAllocationScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --t_allocation_scopes;
    if (context_ != nullptr) --context_->allocation_scopes;
  }
  SdkAllocationScope(const SdkAllocationScope&) = delete;
  SdkAllocationScope& operator=(const SdkAllocationScope&) = delete;

 private:
  ThreadContext* const context_;
};

}  // namespace crema::internal
