// All attempts of a run.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/packed_block.h"
#include "collector/metrics/memory/row_memory.h"
#include "collector/metrics/memory/row_spill.h"

namespace crema {

/// Rows in the order in which they came, packed as they come: they are most of the collector's memory. Rows are read by
/// value. `Seal` packs those that were added last: call it before any is read.
class AttemptRows {
 public:
  class Iterator;

  AttemptRows() = default;
  AttemptRows(std::initializer_list<AttemptRow> rows);
  AttemptRows(const std::vector<AttemptRow>& rows);  // NOLINT(google-explicit-constructor): a list of them is one

  /// From here on, rows that have no room in memory go there; it outlives these rows.
  void SpillTo(RowSpill* spill) { memory_.SpillTo(spill); }
  void Add(const AttemptRow& row) {
    pending_.push_back(row);
    ++size_;
    if (pending_.size() == PackedBlock::kMostRows) Pack();
  }
  /// Puts all of the other's rows behind these.
  void Take(AttemptRows other);
  void Seal();

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  ABSL_ATTRIBUTE_ALWAYS_INLINE AttemptRow operator[](size_t i) const {
    const size_t block = BlockOf(i);
    return blocks_[block][i - first_[block]];
  }
  /// The number of rows of each process, of `processes` of them and of any that stands beyond.
  std::vector<size_t> CountByProcess(size_t processes = 0) const;
  Iterator begin() const;
  Iterator end() const;

  /// `changed`: by index.
  void Replace(const std::vector<std::pair<size_t, AttemptRow>>& changed);
  void SetResult(size_t i, bool is_result);
  /// Of each row by `is_result(row)`, in order.
  template <class IsResult>
  void SetResults(const IsResult& is_result);
  template <class Renumber>
  void RenumberInputs(const Renumber& renumber);
  template <class Renumber>
  void RenumberThreads(const Renumber& renumber);
  template <class Renumber>
  void RenumberProcesses(const Renumber& renumber);
  void ShiftHelpers(uint32_t offset);
  /// `worker_of[process]`: the process that counts as the one that worked; the other is the row's recorder from then
  /// on.
  void MoveToWorkers(const std::vector<uint32_t>& worker_of);
  /// `offsets[process]`: nanoseconds to be added to the starts of its rows.
  void ShiftStarts(const std::vector<int64_t>& offsets);

  /// All rows by (`group_of_process[row.process]`, number, start, duration, chunk_id, status); those that are equal in
  /// all of it as they came. Gives back memory as it goes. They can be read by index then.
  AttemptRows Ordered(const std::vector<uint32_t>& group_of_process) &&;

 private:
  friend class RowsInOrder;

  // All blocks have so many rows, except for the last one and those that were taken and not put in order yet.
  static constexpr size_t kLeastOfBlock = 256;

  size_t BlockOf(size_t i) const {
    size_t block = block_at_[i / kLeastOfBlock];
    while (i - first_[block] >= blocks_[block].size()) ++block;
    return block;
  }
  void Pack();
  void AddBlock(PackedBlock block);
  /// Where to find a row by its index.
  void Index();

  RowMemory memory_;
  std::vector<PackedBlock> blocks_;
  std::vector<size_t> first_;       // by block: the index of its first row
  std::vector<uint32_t> block_at_;  // of every 256th row
  std::vector<AttemptRow> pending_;
  size_t size_ = 0;
};

class AttemptRows::Iterator {
 public:
  // As the standard library names them.
  using iterator_category = std::input_iterator_tag;  // NOLINT(readability-identifier-naming)
  using value_type = AttemptRow;                      // NOLINT(readability-identifier-naming)
  using difference_type = std::ptrdiff_t;             // NOLINT(readability-identifier-naming)
  using pointer = const AttemptRow*;                  // NOLINT(readability-identifier-naming)
  using reference = AttemptRow;                       // NOLINT(readability-identifier-naming)

  explicit Iterator(const PackedBlock* block) : block_(block) {}

  ABSL_ATTRIBUTE_ALWAYS_INLINE AttemptRow operator*() const { return (*block_)[row_]; }
  Iterator& operator++() {
    if (++row_ == block_->size()) {
      ++block_;
      row_ = 0;
    }
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.block_ == b.block_ && a.row_ == b.row_; }
  friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

 private:
  const PackedBlock* block_;
  size_t row_ = 0;
};

inline AttemptRows::Iterator AttemptRows::begin() const { return Iterator(blocks_.data()); }
inline AttemptRows::Iterator AttemptRows::end() const { return Iterator(blocks_.data() + blocks_.size()); }

template <class IsResult>
void AttemptRows::SetResults(const IsResult& is_result) {
  for (PackedBlock& block : blocks_) {
    for (size_t i = 0; i < block.size(); ++i) block.SetResult(i, is_result(block[i]));
  }
}

template <class Renumber>
void AttemptRows::RenumberInputs(const Renumber& renumber) {
  for (PackedBlock& block : blocks_) block.RenumberInputs(renumber);
  for (AttemptRow& row : pending_) row.input = renumber(row.input);
}

template <class Renumber>
void AttemptRows::RenumberThreads(const Renumber& renumber) {
  for (PackedBlock& block : blocks_) block.RenumberThreads(renumber);
  for (AttemptRow& row : pending_) row.thread = renumber(row.thread);
}

template <class Renumber>
void AttemptRows::RenumberProcesses(const Renumber& renumber) {
  for (PackedBlock& block : blocks_) block.RenumberProcesses(renumber);
  for (AttemptRow& row : pending_) row.process = renumber(row.process);
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROWS_H_
