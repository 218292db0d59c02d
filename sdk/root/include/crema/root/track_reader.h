// TrackReader: what a TTreeReader reads as chunks.
#ifndef CREMA_ROOT_TRACK_READER_H_
#define CREMA_ROOT_TRACK_READER_H_

#include <TEntryList.h>
#include <TNotifyLink.h>
#include <TTree.h>
#include <TTreeReader.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/recorder.h"
#include "crema/root/error_notes.h"
#include "crema/root/failed_input.h"
#include "crema/root/read_counters.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/root/tree_position.h"
#include "crema/track_metrics.h"

namespace crema {
namespace internal {

/// Calls a function when a chain has opened a file. (`TNotifyLink<T>` would need a dictionary for each `T`.)
class FileOpened final : public TNotifyLinkBase {
 public:
  explicit FileOpened(std::function<void()> call) : call_(std::move(call)) {}
  Bool_t Notify() override {
    call_();
    return fNext == nullptr || fNext->Notify();
  }

 private:
  std::function<void()> call_;
};

}  // namespace internal

/// The entries that a `TTreeReader` still has to read, as a chunk for each file, until the end of the scope: tree,
/// file, entry range, events, bytes, columns, and time for reading and decompression. Declare it behind the reader, and
/// behind `SetEntriesRange`. In the function of a `TTreeProcessorMT` a chunk is a task. The fields of `what` that are
/// set hold; a file is a chunk of `what.dataset`.
///
///     TTreeReader reader("Events", file);
///     TTreeReaderArray<float> pt(reader, "Muon_pt");
///     crema::TrackReader chunk(reader, {"ttbar"});
///     while (reader.Next()) ...
///
/// With a `TEntryList`, the events are those of the list, and a range counts its places.
/// If the loop is left before its end, the events are those up to the reader's current entry. Belongs to one thread.
class TrackReader {
 public:
  TrackReader(TTreeReader& reader, const Chunk& what)  // NOLINT(google-runtime-references): as ROOT's values
      : what_(what), reader_(&reader), link_([this] { ChangeFile(); }) {
    if (!Enabled() || reader.GetTree() == nullptr) return;
    error_notes_.emplace();
    tree_ = reader.GetTree();
    link_.PrependLink(*tree_);
    if (tree_->GetTree() != nullptr) Begin();
  }
  ~TrackReader() {
    if (tree_ == nullptr) return;
    End(true);
    RecordUnopened();
    link_.RemoveLink(*tree_);
  }
  TrackReader(const TrackReader&) = delete;
  TrackReader& operator=(const TrackReader&) = delete;

  /// Instead of the number of entries that were read in the file.
  template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
  void SetEvents(Count events) noexcept {
    events_ = static_cast<std::int64_t>(events);
  }
  /// As `TrackMetrics::Fail`.
  void Fail(std::string_view reason) noexcept {
    if (chunk_.has_value()) chunk_->Fail(reason);
  }

 private:
  void ChangeFile() {
    if (chunk_.has_value() && tree_->GetTreeNumber() == tree_number_) return;  // reported twice
    End(false);
    if (IsInCurrentTree()) Begin();
  }

  /// Where a chain's last file cannot be opened, ROOT goes back to the first one, and reads nothing of it.
  bool IsInCurrentTree() const {
    if (has_list()) return reader_->GetCurrentEntry() < ReaderRange().second;
    const std::int64_t entry = reader_->GetCurrentEntry() - internal::EntryOffset(*tree_);
    return entry >= 0 && entry < tree_->GetTree()->GetEntries();
  }

  /// The reader's entries are places in it then; which of them are in a file is not known before they were read.
  bool has_list() const { return reader_->GetEntryList() != nullptr; }

  internal::EntryRange ReaderRange() const {
    const auto range = reader_->GetEntriesRange();
    const std::int64_t all = has_list() ? reader_->GetEntryList()->GetN() : TTree::kMaxEntries;
    return {std::max<std::int64_t>(0, range.first), range.second < 0 ? all : range.second};
  }

  void Begin() {
    Chunk where = what_;
    tree_number_ = tree_->GetTreeNumber();
    offset_ = has_list() ? 0 : internal::EntryOffset(*tree_);
    range_ = ReaderRange();
    if (has_list()) {
      range_.first = std::max<std::int64_t>(range_.first, reader_->GetCurrentEntry());
    } else {
      range_ = internal::InCurrentTree(tree_, range_);
    }
    internal::NameCurrentTree(tree_, range_, &where);
    if (has_list() && reader_->GetEntriesRange().second < 0) {
      where.entry_start = what_.entry_start;
      where.entry_stop = what_.entry_stop;
    }
    exceptions_ = std::uncaught_exceptions();
    internal::ErrorNote::OfThread().Clear();
    chunk_.emplace(where);
    counters_.Install(&*chunk_, tree_);
  }

  /// `is_last`: the reader is where the loop left it, not in the next file.
  void End(bool is_last) {
    if (!chunk_.has_value()) return;
    if (has_list() && !is_last) range_.second = reader_->GetCurrentEntry();
    const std::int64_t events = is_last ? EventsOfLast() : range_.second - range_.first;
    chunk_->SetEvents(events_.value_or(events));
    counters_.Record(is_last);
    counters_.Uninstall();
    const internal::ErrorNote& error = internal::ErrorNote::OfThread();
    const bool is_left = std::uncaught_exceptions() > exceptions_;
    if (!error.empty() && (is_left || events < range_.second - range_.first)) chunk_->Fail(error.text());
    chunk_.reset();
    events_.reset();
  }

  /// Files that a chain left out where the reader came by.
  void RecordUnopened() {
    if (has_list()) return;
    const internal::EntryRange range = ReaderRange();
    const bool is_over = reader_->GetEntryStatus() != TTreeReader::kEntryValid && reader_->GetCurrentEntry() >= 0;
    const std::int64_t reached =
        is_over ? range.second : std::min<std::int64_t>(range.second, reader_->GetCurrentEntry());
    internal::RecordUnopened(tree_, what_.dataset, what_.pass, range.first, reached);
  }

  std::int64_t EventsOfLast() const {
    const TTreeReader::EEntryStatus status = reader_->GetEntryStatus();
    if (status == TTreeReader::kEntryBeyondEnd) return range_.second - range_.first;
    if (reader_->GetCurrentEntry() < 0) return 0;
    const std::int64_t current = reader_->GetCurrentEntry() - offset_ - range_.first;
    const bool is_read = status == TTreeReader::kEntryValid;
    return std::clamp<std::int64_t>(current + (is_read ? 1 : 0), 0, range_.second - range_.first);
  }

  Chunk what_;
  TTreeReader* reader_;
  TTree* tree_ = nullptr;  ///< null: not recorded
  internal::FileOpened link_;
  int tree_number_ = -1;
  std::int64_t offset_ = 0;
  internal::EntryRange range_;
  int exceptions_ = 0;
  std::optional<std::int64_t> events_;
  std::optional<internal::ErrorNotes> error_notes_;
  std::optional<TrackMetrics> chunk_;
  internal::ReadCounters counters_;
};

}  // namespace crema

#endif  // CREMA_ROOT_TRACK_READER_H_
