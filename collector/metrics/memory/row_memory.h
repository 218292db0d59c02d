// Memory for packed rows, in large pages, or in files where rows have no room.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace crema {

/// Counts the memory of rows. What passes the limit lies in files of a directory, which have no name and are gone with
/// the process: the kernel takes their pages from memory where it is short, and reads them again when they are asked
/// for. All figures stay exact. Where the directory has no room, or is in memory itself, rows stay in memory. May be
/// used by several threads.
class RowSpill {
 public:
  /// A file for less is not worth it.
  static constexpr size_t kLeastMapped = size_t{64} << 10;
  /// Smaller pieces of malloc(3) share their pages with others: nothing is laid under them (mallopt(3),
  /// M_MMAP_THRESHOLD: the most that it can be).
  static constexpr size_t kLeastLaidUnder = size_t{32} << 20;

  RowSpill(std::string directory, size_t memory_bytes);
  ~RowSpill();
  RowSpill(const RowSpill&) = delete;
  RowSpill& operator=(const RowSpill&) = delete;

  /// Memory that is a file; nullptr: so many bytes have room in memory, and count there from now on.
  void* Map(size_t bytes);
  /// Whether so many bytes have room in memory besides.
  bool HasRoom(size_t bytes) const;
  /// Ends what `Map` began. Returns whether `memory` was a file; else it is the caller's to free.
  bool Unmap(void* memory, size_t bytes);

  /// Makes a file of the whole pages of `memory`, which is malloc(3)'s and holds nothing yet, whatever room there is;
  /// free(3) gives it back as ever. Of small pieces, and where the directory has no room, nothing is made.
  void LayUnder(void* memory, size_t bytes);

  /// Bytes that have room in memory now, of those that were asked for with `Map`.
  size_t in_memory_bytes() const;
  /// Bytes that went into files so far.
  size_t spilled_bytes() const;
  /// Why rows beyond the limit stayed in memory; empty: none did.
  std::string problem() const;

 private:
  /// A file of that size, mapped: anywhere, or at `place`. nullptr: it has no room; `problem_` says why.
  void* MapFile(void* place, size_t bytes);
  /// A file of that size; -1 as above.
  int MakeFile(size_t bytes);
  /// Whether that fits into memory; then it is counted.
  bool Count(size_t bytes);

  std::string directory_;
  size_t memory_bytes_;
  mutable std::mutex mutex_;
  size_t in_memory_ = 0;
  size_t spilled_ = 0;
  absl::flat_hash_map<void*, size_t> files_;
  std::string problem_;
};

/// While one lives, the large lists for which its thread reserves memory (`ReserveLargePages`) lie in files. A list may
/// live longer than that; `spill` outlives it.
class SpilledLists {
 public:
  /// nullptr: nothing changes.
  explicit SpilledLists(RowSpill* spill) : before_(of_thread) { of_thread = spill == nullptr ? before_ : spill; }
  ~SpilledLists() { of_thread = before_; }
  SpilledLists(const SpilledLists&) = delete;
  SpilledLists& operator=(const SpilledLists&) = delete;

  /// nullptr: lists of this thread lie in memory.
  static RowSpill* current() { return of_thread; }

 private:
  inline static thread_local RowSpill* of_thread = nullptr;
  RowSpill* before_;
};

// Memory for millions of rows: in large pages, where the system has them.

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

/// A list for each dataset, process ...: many small ones would stay in memory where a large one goes to a file
/// (`SpilledLists`).
template <class T>
class GroupedLists {
 public:
  /// `most[group]`: how many values it may get.
  explicit GroupedLists(const std::vector<size_t>& most) {
    size_t room = 0;
    for (const size_t count : most) {
      begin_.push_back(room);
      room += count;
    }
    end_ = begin_;
    ReserveLargePages(values_, room);
    values_.resize(room);
  }

  void Add(size_t group, const T& value) { values_[end_[group]++] = value; }
  absl::Span<T> Of(size_t group) { return absl::MakeSpan(values_).subspan(begin_[group], end_[group] - begin_[group]); }
  absl::Span<const T> Of(size_t group) const {
    return absl::MakeConstSpan(values_).subspan(begin_[group], end_[group] - begin_[group]);
  }
  size_t groups() const { return begin_.size(); }
  void Clear() { end_ = begin_; }

 private:
  std::vector<size_t> begin_;
  std::vector<size_t> end_;
  std::vector<T> values_;
};

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
