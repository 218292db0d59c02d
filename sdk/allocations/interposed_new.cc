// The operators new and delete. Each calls the one that the program would have without this library. Those of the C++
// runtime ask malloc(3), where the block is counted, or another operator, which may be the program's own. Allocators
// bring operators that do not ask malloc: what these gave is counted here.
//
// This library must load where no C++ is, so it has no part of the C++ runtime: the operators stand here under the
// names that the Itanium C++ ABI gives them ("Mangling"; `m` is std::size_t on 64 bits), and exceptions pass through.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "counting.h"
#include "next_allocator.h"

namespace crema {
namespace allocations {
namespace {

/// The operator that the program would have without this library.
class NextOperator {
 public:
  explicit constexpr NextOperator(const char* name) : name_(name) {}

  enum Kind : int { kUnknown, kNone, kOfAllocator, kOther };
  Kind kind() noexcept {
    const int kind = kind_.load(std::memory_order_acquire);
    return kind != kUnknown ? static_cast<Kind>(kind) : Find();
  }
  void* function() const noexcept { return function_.load(std::memory_order_relaxed); }
  const char* name() const noexcept { return name_; }

 private:
  Kind Find() noexcept {
    const NextAllocator* next = FindNextAllocator();
    void* function = NextSymbol(name_);
    Kind kind = function == nullptr ? kNone : kOther;
    if (next != nullptr && function != nullptr && AreOfOneObject(function, reinterpret_cast<void*>(next->malloc))) {
      kind = kOfAllocator;
    }
    function_.store(function, std::memory_order_relaxed);
    kind_.store(kind, std::memory_order_release);
    return kind;
  }

  const char* name_;
  std::atomic<void*> function_{nullptr};
  std::atomic<int> kind_{kUnknown};
};

/// No memory, and no operator: a program may have loaded the C++ runtime where only its own plug-ins see it, or has it
/// inside. The runtime's operator calls the program's new_handler, and throws.
template <class... Arguments>
void* AskRuntime(const NextOperator& op, Arguments... arguments) {
  void* function = nullptr;
  constexpr const char* kRuntimes[] = {"libstdc++.so.6", "libc++.so.1"};
  for (const char* library : kRuntimes) {
    if (function != nullptr) break;
    void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (handle != nullptr) function = dlsym(handle, op.name());
  }
  if (function == nullptr) std::abort();  // as a program does that cannot throw
  return reinterpret_cast<void* (*)(Arguments...)>(function)(arguments...);
}

template <class... Arguments>
void* Forward(NextOperator::Kind kind, const NextOperator& op, Arguments... arguments) {
  void* block = reinterpret_cast<void* (*)(Arguments...)>(op.function())(arguments...);
  const NextAllocator* next = FindNextAllocator();
  if (kind == NextOperator::kOfAllocator && next != nullptr) SawBlock(*next, block, true);
  return block;
}

template <class... Tag>
void* New(NextOperator* op, std::size_t bytes, Tag... tag) {
  const NextOperator::Kind kind = op->kind();
  if (kind != NextOperator::kNone) return Forward(kind, *op, bytes, tag...);
  void* block = std::malloc(bytes == 0 ? 1 : bytes);
  return block != nullptr ? block : AskRuntime(*op, bytes, tag...);
}

template <class... Tag>
void* NewAligned(NextOperator* op, std::size_t bytes, std::size_t alignment, Tag... tag) {
  const NextOperator::Kind kind = op->kind();
  if (kind != NextOperator::kNone) return Forward(kind, *op, bytes, alignment, tag...);
  // As libstdc++ does: aligned_alloc(3) wants a multiple.
  const std::size_t rounded = ((bytes == 0 ? 1 : bytes) + alignment - 1) & ~(alignment - 1);
  void* block = rounded == 0 ? nullptr : std::aligned_alloc(alignment, rounded);
  return block != nullptr ? block : AskRuntime(*op, bytes, alignment, tag...);
}

template <class... Rest>
void Delete(NextOperator* op, void* block, Rest... rest) {
  const NextOperator::Kind kind = op->kind();
  if (kind == NextOperator::kNone) return std::free(block);
  const NextAllocator* next = FindNextAllocator();
  if (kind == NextOperator::kOfAllocator && next != nullptr) SeeEnd(*next, block);
  reinterpret_cast<void (*)(void*, Rest...)>(op->function())(block, rest...);
}

}  // namespace
}  // namespace allocations
}  // namespace crema

#define CREMA_NEW(name, parameters, call)                                  \
  extern "C" __attribute__((visibility("default"))) void* name parameters; \
  void* name parameters {                                                  \
    static crema::allocations::NextOperator op(#name);                     \
    return crema::allocations::call;                                       \
  }
#define CREMA_DELETE(name, parameters, call)                              \
  extern "C" __attribute__((visibility("default"))) void name parameters; \
  void name parameters {                                                  \
    static crema::allocations::NextOperator op(#name);                    \
    crema::allocations::call;                                             \
  }

using Tag = const void*;  // const std::nothrow_t&

CREMA_NEW(_Znwm, (std::size_t bytes), New(&op, bytes))
CREMA_NEW(_Znam, (std::size_t bytes), New(&op, bytes))
CREMA_NEW(_ZnwmRKSt9nothrow_t, (std::size_t bytes, Tag tag), New(&op, bytes, tag))
CREMA_NEW(_ZnamRKSt9nothrow_t, (std::size_t bytes, Tag tag), New(&op, bytes, tag))
CREMA_NEW(_ZnwmSt11align_val_t, (std::size_t bytes, std::size_t alignment), NewAligned(&op, bytes, alignment))
CREMA_NEW(_ZnamSt11align_val_t, (std::size_t bytes, std::size_t alignment), NewAligned(&op, bytes, alignment))
CREMA_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (std::size_t bytes, std::size_t alignment, Tag tag),
          NewAligned(&op, bytes, alignment, tag))
CREMA_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (std::size_t bytes, std::size_t alignment, Tag tag),
          NewAligned(&op, bytes, alignment, tag))

CREMA_DELETE(_ZdlPv, (void* block), Delete(&op, block))
CREMA_DELETE(_ZdaPv, (void* block), Delete(&op, block))
CREMA_DELETE(_ZdlPvm, (void* block, std::size_t bytes), Delete(&op, block, bytes))
CREMA_DELETE(_ZdaPvm, (void* block, std::size_t bytes), Delete(&op, block, bytes))
CREMA_DELETE(_ZdlPvRKSt9nothrow_t, (void* block, Tag tag), Delete(&op, block, tag))
CREMA_DELETE(_ZdaPvRKSt9nothrow_t, (void* block, Tag tag), Delete(&op, block, tag))
CREMA_DELETE(_ZdlPvSt11align_val_t, (void* block, std::size_t alignment), Delete(&op, block, alignment))
CREMA_DELETE(_ZdaPvSt11align_val_t, (void* block, std::size_t alignment), Delete(&op, block, alignment))
CREMA_DELETE(_ZdlPvmSt11align_val_t, (void* block, std::size_t bytes, std::size_t alignment),
             Delete(&op, block, bytes, alignment))
CREMA_DELETE(_ZdaPvmSt11align_val_t, (void* block, std::size_t bytes, std::size_t alignment),
             Delete(&op, block, bytes, alignment))
CREMA_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void* block, std::size_t alignment, Tag tag),
             Delete(&op, block, alignment, tag))
CREMA_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void* block, std::size_t alignment, Tag tag),
             Delete(&op, block, alignment, tag))
