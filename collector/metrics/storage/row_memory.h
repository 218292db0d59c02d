// Memory for packed rows, in large pages, or in files where rows have no room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace crema {

/// Counts the memory of rows. What passes the limit is in files of a directory, which have no name and are gone with
/// the process: the kernel takes their pages from memory where it is short, and reads them again when they are asked
/// for. All figures stay exact. Where the directory has no room, or is in memory itself, rows stay in memory. May be
/// used by several threads.
class RowSpill {
 public:
  /// A file for less is not worth it.
  static constexpr size_t kLeastMapped = size_t{64} << 10;

  RowSpill(std::string directory, size_t memory_bytes);
  ~RowSpill();
  RowSpill(const RowSpill&) = delete;
  RowSpill& operator=(const RowSpill&) = delete;

  /// Memory that is a file, if so many bytes have no room in memory, or `whatever_room` there is; nullptr: take memory,
  /// where they count from now on.
  void* Map(size_t bytes, bool whatever_room = false);
  /// Ends what `Map` began. Returns whether `memory` was a file; else it is the caller's to free.
  bool Unmap(void* memory, size_t bytes);

  /// Bytes that have room in memory now, of those that were asked for with `Map`.
  size_t in_memory_bytes() const;
  /// Bytes that went into files so far.
  size_t spilled_bytes() const;
  /// Why rows beyond the limit stayed in memory; empty: none did.
  std::string problem() const;

 private:
  /// A file of that size, mapped; nullptr: it has no room; `problem_` says why.
  void* MapFile(size_t bytes);

  std::string directory_;
  size_t memory_bytes_;
  mutable std::mutex mutex_;
  size_t in_memory_ = 0;
  size_t spilled_ = 0;
  absl::flat_hash_map<void*, size_t> files_;
  std::string problem_;
};

/// Where large memory is taken: in large pages, or in files. A million rows are 24,000 small pages, and the fault of
/// each takes longer than what is written there.
struct MemoryPlace {
  RowSpill* spill = nullptr;  ///< as its `Map`; it outlives what was taken. nullptr: no files
  bool whatever_room = false;

  void* Take(size_t bytes) const;
  void GiveBack(void* memory, size_t bytes) const;
};

/// While one lives, the large lists that its thread makes (`LargeList`) lie in files, if there is no room in memory or
/// `whatever_room` there is. A list may live longer than that.
class SpilledLists {
 public:
  /// nullptr: nothing changes.
  explicit SpilledLists(RowSpill* spill, bool whatever_room = true) : before_(of_thread) {
    if (spill != nullptr) of_thread = {spill, whatever_room};
  }
  ~SpilledLists() { of_thread = before_; }
  SpilledLists(const SpilledLists&) = delete;
  SpilledLists& operator=(const SpilledLists&) = delete;

  static MemoryPlace current() { return of_thread; }

 private:
  inline static thread_local MemoryPlace of_thread;
  MemoryPlace before_;
};

template <class T>
struct LargePageAllocator {
  // As the standard library names them.
  using value_type = T;                                           // NOLINT(readability-identifier-naming)
  using propagate_on_container_move_assignment = std::true_type;  // NOLINT(readability-identifier-naming)

  LargePageAllocator() = default;
  template <class U>
  explicit LargePageAllocator(const LargePageAllocator<U>& other) : place(other.place) {}

  T* allocate(size_t count) { return static_cast<T*>(place.Take(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) { place.GiveBack(memory, count * sizeof(T)); }
  /// Leaves numbers as they are: `resize` is for lists that are filled next, and setting all to 0 takes as long.
  template <class U>
  void construct(U* value) {
    ::new (static_cast<void*>(value)) U;
  }
  template <class U, class... Arguments>
  void construct(U* value, Arguments&&... arguments) {
    ::new (static_cast<void*>(value)) U(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(const LargePageAllocator& a, const LargePageAllocator& b) {
    return a.place.spill == b.place.spill;
  }
  friend bool operator!=(const LargePageAllocator& a, const LargePageAllocator& b) { return !(a == b); }

  MemoryPlace place = SpilledLists::current();
};

/// A list that may have millions of values. Reserve what it will hold.
template <class T>
using LargeList = std::vector<T, LargePageAllocator<T>>;

/// Sorts what as a rule is sorted already, or has each value a few places from where it belongs: chunks by start or
/// stop.
template <class List, class Less>
void SortNearlySorted(List& values, const Less& less) {
  constexpr size_t kMostMoves = 16;  // a value: with more of them, sorting takes less
  size_t moves = 0;
  for (size_t i = 1; i < values.size() && moves <= kMostMoves * values.size(); ++i) {
    if (!less(values[i], values[i - 1])) continue;
    const auto value = values[i];
    size_t at = i;
    for (; at > 0 && less(value, values[at - 1]); --at, ++moves) values[at] = values[at - 1];
    values[at] = value;
  }
  if (moves > kMostMoves * values.size()) std::sort(values.begin(), values.end(), less);
}

/// Gives out pieces of a few larger ones, which live as long as one of their pieces does.
class RowMemory {
 public:
  RowMemory() = default;
  RowMemory(RowMemory&&) = default;
  RowMemory& operator=(RowMemory&&) = default;
  /// A copy takes pieces of its own.
  RowMemory(const RowMemory& other) : spill_(other.spill_) {}
  RowMemory& operator=(const RowMemory& other) {
    *this = RowMemory(other);
    return *this;
  }

  /// Where pieces go that have no room in memory; it outlives all of them. nullptr: all have room.
  void SpillTo(RowSpill* spill) { spill_ = spill; }
  RowSpill* spill() const { return spill_; }

  /// So many bytes, in which there may be anything.
  std::shared_ptr<uint8_t> Take(size_t bytes);

 private:
  RowSpill* spill_ = nullptr;
  std::shared_ptr<uint8_t> current_;
  size_t used_ = 0;
  size_t size_ = 0;
};

}  // namespace crema
