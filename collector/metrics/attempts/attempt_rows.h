// The rows of attempts while they are collected.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/large_pages.h"
#include "collector/metrics/attempts/row_spill.h"

namespace crema {

/// Memory of a block: in large pages, or in a file where rows have no room.
class RowAllocator {
 public:
  using value_type = AttemptRow;
  using propagate_on_container_move_assignment = std::true_type;  // NOLINT(readability-identifier-naming)
  template <class>
  struct rebind {                // NOLINT(readability-identifier-naming)
    using other = RowAllocator;  // NOLINT(readability-identifier-naming)
  };

  /// `spill` outlives all that was allocated. nullptr: all rows have room in memory.
  explicit RowAllocator(RowSpill* spill) : spill_(spill) {}

  AttemptRow* allocate(size_t count) {
    void* file = spill_ == nullptr ? nullptr : spill_->Map(count * sizeof(AttemptRow));
    return file == nullptr ? LargePageAllocator<AttemptRow>().allocate(count) : static_cast<AttemptRow*>(file);
  }
  void deallocate(AttemptRow* memory, size_t count) {
    if (spill_ != nullptr && spill_->Unmap(memory, count * sizeof(AttemptRow))) return;
    LargePageAllocator<AttemptRow>().deallocate(memory, count);
  }

  friend bool operator==(const RowAllocator& a, const RowAllocator& b) { return a.spill_ == b.spill_; }
  friend bool operator!=(const RowAllocator& a, const RowAllocator& b) { return a.spill_ != b.spill_; }

 private:
  RowSpill* spill_;
};

/// Rows in blocks that never grow: a million rows are most of the collector's memory, and a list that doubles would
/// need it three times over.
class AttemptRows {
 public:
  /// From here on, rows that have no room in memory go there; it outlives these rows.
  void SpillTo(RowSpill* spill) { spill_ = spill; }
  void Add(const AttemptRow& row);
  size_t size() const { return size_; }

  /// Calls `visit(row)` for each row, in the order in which they came.
  template <class Visit>
  void ForEach(const Visit& visit) {
    for (Block& block : blocks_) {
      for (AttemptRow& row : block) visit(row);
    }
  }
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const Block& block : blocks_) {
      for (const AttemptRow& row : block) visit(row);
    }
  }

  /// Puts all of the other's rows behind these.
  void Take(AttemptRows other);

  /// All rows by `group_of_process[row.process]`, those of one group in the order in which they came. Gives back the
  /// blocks' memory as it goes.
  std::vector<AttemptRow> TakeGrouped(const std::vector<uint32_t>& group_of_process) &&;

 private:
  using Block = std::vector<AttemptRow, RowAllocator>;

  RowSpill* spill_ = nullptr;
  std::vector<Block> blocks_;
  size_t size_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_
