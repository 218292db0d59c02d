// Chunks: a plain loop over a TTree, part by part.
#ifndef CREMA_ROOT_CHUNKS_H_
#define CREMA_ROOT_CHUNKS_H_

#include <TFile.h>
#include <TROOT.h>
#include <TTree.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "crema/record_metric.h"
#include "crema/recorder.h"
#include "crema/root/error_notes.h"
#include "crema/root/failed_input.h"
#include "crema/root/read_counters.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/root/tree_position.h"
#include "crema/track_metrics.h"

namespace crema {
namespace internal {

/// What ROOT counts in a file, whichever thread reads it: `TTree::GetEntry` reads branches on other threads where
/// implicit multi-threading is on. Those report no times to this thread.
class SharedFileCounters {
 public:
  void Begin(TFile* file) {
    file_ = file;
    if (file_ == nullptr) return;
    bytes_ = file_->GetBytesRead();
    calls_ = file_->GetReadCalls();
    overhead_bytes_ = file_->GetBytesReadExtra();
  }
  bool is_begun() const { return file_ != nullptr; }
  void Record(TrackMetrics* chunk) const {
    const std::int64_t payload_bytes = file_->GetBytesRead() - bytes_;
    chunk->AddBytesRead(payload_bytes);
    RecordMetric(metric::kBytesRead, payload_bytes, "B");
    RecordMetric(metric::kReadOverheadBytes, file_->GetBytesReadExtra() - overhead_bytes_, "B");
    RecordMetric(metric::kReadCalls, file_->GetReadCalls() - calls_, "count");
    chunk->SetAttribute("reading", "ROOT may read branches on other threads, and does not report their times");
  }

 private:
  TFile* file_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t overhead_bytes_ = 0;
};

}  // namespace internal

/// The entries of one chunk, numbered as `TTree::GetEntry` and `TTree::LoadTree` take them. Iterating counts its
/// events.
class TreeChunk {
 public:
  using Iterator = internal::EntryIterator<std::int64_t, std::int64_t>;

  TreeChunk(TTree* tree, internal::EntryRange range, const Chunk& what) : first_(range.first), last_(range.second) {
    Chunk where = what;
    internal::NameCurrentTree(tree, internal::InCurrentTree(tree, range), &where);
    chunk_.emplace(where);
    is_recorded_ = Enabled();
    if (!is_recorded_) return;
    internal::ErrorNote::OfThread().Clear();
    if (ROOT::IsImplicitMTEnabled() && tree->GetImplicitMT()) {
      shared_.Begin(tree->GetCurrentFile());
    } else {
      counters_.Install(&*chunk_, tree);
    }
  }
  ~TreeChunk() {
    if (!is_recorded_) return;
    chunk_->SetEvents(events_);
    if (shared_.is_begun()) {
      shared_.Record(&*chunk_);
    } else {
      counters_.Record(true);
      counters_.Uninstall();
    }
    // About a plain loop, ROOT says nothing but the message.
    const internal::ErrorNote& error = internal::ErrorNote::OfThread();
    if (!error.empty()) chunk_->Fail(error.text());
  }
  TreeChunk(const TreeChunk&) = delete;
  TreeChunk& operator=(const TreeChunk&) = delete;

  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }  ///< one past the last entry
  Iterator begin() { return {first_, first_, &events_}; }
  Iterator end() { return {first_, last_, &events_}; }
  TrackMetrics& metrics() { return *chunk_; }
  /// Instead of those that were given out, for example where `TTree::Draw` reads them.
  template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
  void SetEvents(Count events) noexcept {
    events_ = static_cast<std::int64_t>(events);
  }

 private:
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t events_ = 0;
  bool is_recorded_ = false;
  std::optional<TrackMetrics> chunk_;
  internal::ReadCounters counters_;
  internal::SharedFileCounters shared_;
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
  ~Chunks() {
    chunk_.reset();
    RecordUnopened(next_);
  }
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
    error_notes_.reset();
    if (Enabled()) error_notes_.emplace();
    BeginNext();
    return Iterator(this);
  }
  End end() const { return {}; }

 private:
  void BeginNext() {
    chunk_.reset();
    if (const std::int64_t last = LastOfNext(); last > next_) {
      chunk_.emplace(tree_, internal::EntryRange(next_, last), what_);
      next_ = last;
    } else {
      RecordUnopened(TTree::kMaxEntries);
    }
  }

  /// One past the last entry of the chunk that begins at `next_`; not behind it where there is no further entry. A
  /// chain goes on behind a file that it cannot open, and loads one that has no entries.
  std::int64_t LastOfNext() {
    if (tree_ == nullptr || tree_->LoadTree(next_) < 0) return next_;
    const std::int64_t offset = internal::EntryOffset(*tree_);
    const std::int64_t end_of_file = offset + tree_->GetTree()->GetEntries();
    std::int64_t last = next_ + entries_;
    if (entries_ <= 0) {
      auto clusters = tree_->GetTree()->GetClusterIterator(next_ - offset);
      clusters.Next();
      last = offset + clusters.GetNextEntry();
    }
    return std::min(last, end_of_file);
  }

  /// The files that a chain left out before entry `last`.
  void RecordUnopened(std::int64_t last) {
    if (error_notes_.has_value()) internal::RecordUnopened(tree_, what_.dataset, what_.pass, 0, last);
    error_notes_.reset();
  }

  TTree* tree_;
  std::int64_t entries_;
  Chunk what_;
  std::int64_t next_ = 0;
  std::optional<internal::ErrorNotes> error_notes_;  ///< while a loop runs that is recorded
  std::optional<TreeChunk> chunk_;
};

}  // namespace crema

#endif  // CREMA_ROOT_CHUNKS_H_
