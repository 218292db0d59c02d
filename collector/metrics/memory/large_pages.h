// Memory for millions of rows: in large pages, where the system has them.
#ifndef CREMA_COLLECTOR_METRICS_MEMORY_LARGE_PAGES_H_
#define CREMA_COLLECTOR_METRICS_MEMORY_LARGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "collector/metrics/memory/spilled_lists.h"

namespace crema {

inline constexpr size_t kLargePageBytes = size_t{2} << 20;

/// Asks for large pages where whole ones lie within `bytes` at `memory`, which is about to be filled: a million rows
/// are 24,000 small pages, and the fault of each takes longer than what is written there. Only a wish: a system without
/// large pages goes on as it did.
inline void PreferLargePages(void* memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const size_t skipped = (kLargePageBytes - begin % kLargePageBytes) % kLargePageBytes;
  if (bytes < skipped + kLargePageBytes) return;
  const size_t whole = (bytes - skipped) / kLargePageBytes * kLargePageBytes;
  madvise(static_cast<char*>(memory) + skipped, whole, MADV_HUGEPAGE);
}

/// `vector.reserve(size)` of a list that holds nothing yet: in large pages, or in a file (`SpilledLists`).
template <class T>
void ReserveLargePages(std::vector<T>& values, size_t size) {
  values.reserve(size);
  if (RowSpill* spill = SpilledLists::current()) {
    spill->LayUnder(values.data(), values.capacity() * sizeof(T));
  } else {
    PreferLargePages(values.data(), values.capacity() * sizeof(T));
  }
}

/// What fills a large page begins with one.
template <class T>
struct LargePageAllocator {
  using value_type = T;

  LargePageAllocator() = default;
  template <class U>
  explicit LargePageAllocator(const LargePageAllocator<U>& /*other*/) {}

  static size_t AlignmentOf(size_t count) {
    return count * sizeof(T) >= kLargePageBytes ? kLargePageBytes : __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  }
  T* allocate(size_t count) {
    void* memory = ::operator new(count * sizeof(T), std::align_val_t(AlignmentOf(count)));
    PreferLargePages(memory, count * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) { ::operator delete(memory, std::align_val_t(AlignmentOf(count))); }

  friend bool operator==(const LargePageAllocator& /*a*/, const LargePageAllocator& /*b*/) { return true; }
  friend bool operator!=(const LargePageAllocator& /*a*/, const LargePageAllocator& /*b*/) { return false; }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEMORY_LARGE_PAGES_H_
