// Where in its files a TTree or TChain is.
#ifndef CREMA_ROOT_TREE_POSITION_H_
#define CREMA_ROOT_TREE_POSITION_H_

#include <TChain.h>
#include <TFile.h>
#include <TTree.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "crema/chunk.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

using EntryRange = std::pair<std::int64_t, std::int64_t>;  ///< [first, last)

/// Gives out the entries of a range that begins at `first`, and notes how many.
template <class Entry, class Count>
class EntryIterator {
 public:
  EntryIterator(std::int64_t first, std::int64_t entry, Count* count) : first_(first), entry_(entry), count_(count) {}
  Entry operator*() const {
    *count_ = entry_ + 1 - first_;
    return static_cast<Entry>(entry_);
  }
  EntryIterator& operator++() {
    ++entry_;
    return *this;
  }
  bool operator!=(const EntryIterator& other) const { return entry_ != other.entry_; }

 private:
  std::int64_t first_;
  std::int64_t entry_;
  Count* count_;
};

/// The first entry of the current tree, as the chain counts; 0 for a TTree.
inline std::int64_t EntryOffset(const TTree& tree) {
  const auto* chain = dynamic_cast<const TChain*>(&tree);
  return chain != nullptr && chain->GetTreeNumber() >= 0 ? chain->GetTreeOffset()[chain->GetTreeNumber()] : 0;
}

/// The part of `range` (entries as the chain counts them) that is in the current tree, as that one counts them. `tree`
/// has to have a current tree.
inline EntryRange InCurrentTree(TTree* tree, EntryRange range) {
  const std::int64_t offset = EntryOffset(*tree);
  return {std::max<std::int64_t>(0, range.first - offset),
          std::min<std::int64_t>(tree->GetTree()->GetEntries(), range.second - offset)};
}

/// How many clusters of a tree begin in its entries [first, last).
inline std::int64_t CountClusters(TTree* tree, EntryRange range) {
  if (range.first >= range.second) return 0;
  auto clusters = tree->GetClusterIterator(range.first);
  std::int64_t count = 0;
  std::int64_t before = -1;
  for (std::int64_t start = clusters.Next(); start < range.second && start > before; start = clusters.Next()) {
    if (start >= range.first) ++count;
    before = start;
  }
  return count;
}

/// Fills in what `chunk` does not say: file, tree and range.
inline void NameCurrentTree(TTree* tree, EntryRange in_tree, Chunk* chunk) {
  if (const TFile* file = tree->GetCurrentFile(); chunk->file.empty() && file != nullptr) chunk->file = file->GetName();
  if (chunk->tree.empty()) chunk->tree = tree->GetTree()->GetName();
  if (chunk->entry_start.has_value()) return;
  chunk->entry_start = in_tree.first;
  chunk->entry_stop = in_tree.second;
}

}  // namespace crema::internal

#endif  // CREMA_ROOT_TREE_POSITION_H_
