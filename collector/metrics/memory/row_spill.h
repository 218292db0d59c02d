// Where rows and lists go that have no room in memory.
#ifndef CREMA_COLLECTOR_METRICS_MEMORY_ROW_SPILL_H_
#define CREMA_COLLECTOR_METRICS_MEMORY_ROW_SPILL_H_

#include <cstddef>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"

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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEMORY_ROW_SPILL_H_
