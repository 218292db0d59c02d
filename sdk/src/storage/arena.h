// Objects of the SDK, in memory of malloc(3): the operators new and delete may be the program's own, which count,
// print, or take from a pool.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/internal/section_node.h"

namespace crema::internal {

/// How many scopes the calling thread has in this copy of the SDK.
extern CREMA_THREAD_LOCAL std::uint32_t t_allocation_scopes;

/// While it lives, memory that the thread allocates is the SDK's, not the program's. Leaves errno as it was.
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
  SdkAllocationScope(SdkAllocationScope&&) = delete;

 private:
  KeptErrno errno_;
  ThreadContext* const context_;
};

/// nullptr where the system refuses the memory.
template <class Object, class... Arguments>
Object* MakeOwn(Arguments&&... arguments) noexcept {
  static_assert(alignof(Object) <= alignof(std::max_align_t), "malloc(3) aligns no further");
  void* const memory = std::malloc(sizeof(Object));
  return memory == nullptr ? nullptr : new (memory) Object(std::forward<Arguments>(arguments)...);
}

template <class Object>
void FreeOwn(Object* object) noexcept {
  object->~Object();
  std::free(object);
}

template <class Object>
struct OwnDeleter {
  void operator()(Object* object) const noexcept { FreeOwn(object); }
};
template <class Object>
using OwnPointer = std::unique_ptr<Object, OwnDeleter<Object>>;

struct OwnArrayDeleter {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class Element>
using OwnArray = std::unique_ptr<Element[], OwnArrayDeleter>;

template <class Element>
OwnArray<Element> MakeOwnArray(std::size_t count) noexcept {
  static_assert(std::is_trivially_destructible_v<Element>, "none is destroyed");
  constexpr bool kIsWide = alignof(Element) > alignof(std::max_align_t);  // malloc(3) aligns no further
  void* const memory =
      kIsWide ? std::aligned_alloc(alignof(Element), count * sizeof(Element)) : std::malloc(count * sizeof(Element));
  auto* const elements = static_cast<Element*>(memory);
  for (std::size_t i = 0; elements != nullptr && i < count; ++i) new (&elements[i]) Element;
  return OwnArray<Element>(elements);
}

// Arena: memory that is given out piece by piece and taken back all at once.

/// Blocks are kept over `Clear`, so that a thread in its steady state allocates nothing. Refused memory is a nullptr,
/// never an exception.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(Arena&&) = delete;

  /// Aligned for any type; nullptr when memory is refused.
  void* Allocate(std::size_t bytes) noexcept;
  /// Makes `*copy` a copy that lives until `Clear`; false when memory is refused.
  bool Copy(std::string_view text, std::string_view* copy) noexcept;
  /// Takes everything back.
  void Clear() noexcept;

 private:
  struct Block;
  Block* first_ = nullptr;
  Block* current_ = nullptr;
  std::size_t used_ = 0;
};

/// A growing array of plain data with the same contract.
template <class Row>
class RowTable {
 public:
  RowTable() = default;
  ~RowTable() { std::free(rows_); }
  RowTable(RowTable&&) = delete;

  /// A new row at the end, value-initialised; nullptr when memory is refused.
  Row* Add() noexcept;
  void Clear() noexcept { size_ = 0; }
  /// Takes rows away from the end.
  void CutTo(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }
  std::size_t size() const noexcept { return size_; }
  Row& operator[](std::size_t i) noexcept { return rows_[i]; }
  Row* begin() noexcept { return rows_; }
  Row* end() noexcept { return rows_ + size_; }

 private:
  Row* rows_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <class Row>
Row* RowTable<Row>::Add() noexcept {
  static_assert(std::is_trivially_copyable<Row>::value, "rows are moved by realloc");
  if (size_ == capacity_) {
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    const SdkAllocationScope scope;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a row may be a pointer
    void* rows = std::realloc(static_cast<void*>(rows_), capacity * sizeof(Row));
    if (rows == nullptr) return nullptr;
    rows_ = static_cast<Row*>(rows);
    capacity_ = capacity;
  }
  return new (static_cast<void*>(rows_ + size_++)) Row();
}

// NameSet: texts, each once, in the order they came.

/// Keeps its memory over `Clear`. The texts live in an arena of the caller's.
class NameSet {
 public:
  static constexpr std::size_t kMost = 10000;

  /// True if the name is in the set afterwards; false beyond `kMost`, or when memory is refused.
  bool Add(std::string_view name, Arena* texts) noexcept;
  bool Contains(std::string_view name) noexcept { return slots_.size() != 0 && *Slot(name) != 0; }
  void Clear() noexcept;
  bool empty() const noexcept { return names_.size() == 0; }
  const std::string_view* begin() noexcept { return names_.begin(); }
  const std::string_view* end() noexcept { return names_.end(); }

 private:
  std::uint32_t* Slot(std::string_view name) noexcept;
  bool Grow() noexcept;

  RowTable<std::string_view> names_;
  RowTable<std::uint32_t> slots_;  ///< open addressing: index + 1 into `names_`; 0: free
};

}  // namespace crema::internal
