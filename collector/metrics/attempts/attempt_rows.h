// The rows of attempts while they are collected.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/large_pages.h"

namespace crema {

/// Rows in blocks that never grow: a million rows are most of the collector's memory, and a list that doubles would
/// need it three times over.
class AttemptRows {
 public:
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
  using Block = std::vector<AttemptRow, LargePageAllocator<AttemptRow>>;

  std::vector<Block> blocks_;
  size_t size_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_
