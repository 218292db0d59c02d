#include "collector/metrics/attempts/attempt_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace crema {
namespace {

// The first block of few rows is small, since a log may have few.
constexpr size_t kLeastRows = 64;
// Large pages: malloc(3) gives such blocks back to the system. The last one of a list is half empty on average.
constexpr size_t kMostRows = (kLargePageBytes + sizeof(AttemptRow) - 1) / sizeof(AttemptRow);

// Rows of one group that stand together.
struct Run {
  uint32_t group;
  uint32_t block;
  uint32_t begin;
  uint32_t end;
};

}  // namespace

void AttemptRows::Add(const AttemptRow& row) {
  if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) {
    blocks_.emplace_back(RowAllocator(spill_)).reserve(std::clamp(size_, kLeastRows, kMostRows));
  }
  blocks_.back().push_back(row);
  ++size_;
}

void AttemptRows::Take(AttemptRows other) {
  std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
  size_ += other.size_;
}

std::vector<AttemptRow> AttemptRows::TakeGrouped(const std::vector<uint32_t>& group_of_process) && {
  std::vector<Run> runs;
  for (uint32_t block = 0; block < blocks_.size(); ++block) {
    for (uint32_t i = 0; i < blocks_[block].size(); ++i) {
      const uint32_t group = group_of_process[blocks_[block][i].process];
      if (runs.empty() || runs.back().block != block || runs.back().group != group)
        runs.push_back({group, block, i, i});
      runs.back().end = i + 1;
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.group < b.group; });
  std::vector<size_t> left;
  left.reserve(blocks_.size());
  for (const Block& block : blocks_) left.push_back(block.size());
  std::vector<AttemptRow> rows;
  ReserveLargePages(rows, size_);
  if (spill_ != nullptr) spill_->LayUnder(rows.data(), rows.capacity() * sizeof(AttemptRow));
  for (const Run& run : runs) {
    Block& block = blocks_[run.block];
    rows.insert(rows.end(), block.begin() + run.begin, block.begin() + run.end);
    left[run.block] -= run.end - run.begin;
    if (left[run.block] == 0) block = Block(RowAllocator(nullptr));
  }
  return rows;
}

}  // namespace crema
