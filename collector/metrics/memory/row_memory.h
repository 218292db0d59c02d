// Memory for packed rows, in large pages, or in files where rows have no room.
#ifndef CREMA_COLLECTOR_METRICS_MEMORY_ROW_MEMORY_H_
#define CREMA_COLLECTOR_METRICS_MEMORY_ROW_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collector/metrics/memory/row_spill.h"

namespace crema {

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

#endif  // CREMA_COLLECTOR_METRICS_MEMORY_ROW_MEMORY_H_
