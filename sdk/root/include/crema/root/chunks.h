// Chunks: a plain loop over a TTree, part by part.
#ifndef CREMA_ROOT_CHUNKS_H_
#define CREMA_ROOT_CHUNKS_H_

#include <TTree.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "crema/root/error_notes.h"
#include "crema/root/read_counters.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/root/tree_position.h"
#include "crema/track_metrics.h"

namespace crema {

/// The entries of one chunk, numbered as `TTree::GetEntry` and `TTree::LoadTree` take them. Iterating counts its
/// events.
class TreeChunk {
 public:
  class Iterator {
   public:
    Iterator(TreeChunk* chunk, std::int64_t entry) : chunk_(chunk), entry_(entry) {}
    std::int64_t operator*() const {
      chunk_->events_ = entry_ + 1 - chunk_->first_;
      return entry_;
    }
    Iterator& operator++() {
      ++entry_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return entry_ != other.entry_; }

   private:
    TreeChunk* chunk_;
    std::int64_t entry_;
  };

  TreeChunk(TTree* tree, internal::EntryRange range, const Chunk& what) : first_(range.first), last_(range.second) {
    Chunk where = what;
    internal::NameCurrentTree(tree, internal::InCurrentTree(tree, range), &where);
    internal::ErrorNote::OfThread().Clear();
    chunk_.emplace(where);
    counters_.Install(&*chunk_, tree);
  }
  ~TreeChunk() {
    chunk_->SetEvents(events_);
    counters_.Record(true);
    counters_.Uninstall();
    // Of a plain loop ROOT says nothing but the message.
    const internal::ErrorNote& error = internal::ErrorNote::OfThread();
    if (!error.empty()) chunk_->Fail(error.text());
  }
  TreeChunk(const TreeChunk&) = delete;
  TreeChunk& operator=(const TreeChunk&) = delete;

  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }  ///< one past the last entry
  Iterator begin() { return {this, first_}; }
  Iterator end() { return {this, last_}; }
  TrackMetrics& metrics() { return *chunk_; }

 private:
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t events_ = 0;
  std::optional<TrackMetrics> chunk_;
  internal::ReadCounters counters_;
};

/// The chunks of a TTree or TChain: `entries` each, or a cluster each where `entries` is 0. A chunk ends with its file.
///
///     for (auto& chunk : crema::Chunks(tree, 10'000, {"ttbar"})) {
///       for (const auto entry : chunk) {
///         tree->GetEntry(entry);
///         ...
///       }
///     }
class Chunks {
 public:
  explicit Chunks(TTree* tree, std::int64_t entries = 0, const Chunk& what = {})
      : tree_(tree), entries_(entries), what_(what) {}
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;

  struct End {};
  class Iterator {
   public:
    explicit Iterator(Chunks* chunks) : chunks_(chunks) {}
    TreeChunk& operator*() const { return *chunks_->chunk_; }
    Iterator& operator++() {
      chunks_->BeginNext();
      return *this;
    }
    bool operator!=(End) const { return chunks_->chunk_.has_value(); }

   private:
    Chunks* chunks_;
  };
  Iterator begin() {
    next_ = 0;
    BeginNext();
    return Iterator(this);
  }
  End end() const { return {}; }

 private:
  /// Where there is no further entry, or it cannot be read, there is no chunk.
  void BeginNext() {
    chunk_.reset();
    if (tree_ == nullptr || tree_->LoadTree(next_) < 0) return;
    const std::int64_t offset = internal::EntryOffset(*tree_);
    const std::int64_t end_of_file = offset + tree_->GetTree()->GetEntries();
    std::int64_t last = next_ + entries_;
    if (entries_ <= 0) {
      auto clusters = tree_->GetTree()->GetClusterIterator(next_ - offset);
      clusters.Next();
      last = offset + clusters.GetNextEntry();
    }
    last = std::min(last, end_of_file);
    chunk_.emplace(tree_, internal::EntryRange(next_, last), what_);
    next_ = last;
  }

  TTree* tree_;
  std::int64_t entries_;
  Chunk what_;
  std::int64_t next_ = 0;
  internal::ErrorNotes error_notes_;
  std::optional<TreeChunk> chunk_;
};

}  // namespace crema

#endif  // CREMA_ROOT_CHUNKS_H_
