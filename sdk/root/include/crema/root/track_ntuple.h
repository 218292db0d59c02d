// TrackNtuple: what an RNTupleReader reads as a chunk.
#ifndef CREMA_ROOT_TRACK_NTUPLE_H_
#define CREMA_ROOT_TRACK_NTUPLE_H_

#include <ROOT/RNTupleReader.hxx>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "crema/recorder.h"
#include "crema/root/ntuple_counters.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/root/server_name.h"
#include "crema/root/tree_position.h"
#include "crema/track_metrics.h"

namespace crema {

/// A part of an `RNTupleReader`'s loop as a chunk, until the end of the scope: bytes, read calls, time for reading and
/// decompression, by the reader's own metrics, which it switches on. The reader does not know its file: say it, and the
/// range where it is not the whole. It does not know either how far a loop came: events are those that the guard gave
/// out, or what `SetEvents` says; without both they are not known.
///
///     auto reader = ROOT::RNTupleReader::Open("Events", path);
///     auto pt = reader->GetView<float>("pt");
///     crema::TrackNtuple chunk(*reader, {"ttbar", path});
///     for (const auto entry : chunk) sum += pt(entry);
class TrackNtuple {
 public:
  using Iterator = internal::EntryIterator<ROOT::NTupleSize_t, std::optional<std::int64_t>>;

  TrackNtuple(ROOT::RNTupleReader& reader, const Chunk& what)  // NOLINT(google-runtime-references): as ROOT's views
      : first_(what.entry_start.value_or(0)),
        last_(what.entry_stop.value_or(static_cast<std::int64_t>(reader.GetNEntries()))) {
    if (!Enabled()) return;
    Chunk where = what;
    if (where.tree.empty()) where.tree = reader.GetDescriptor().GetName();
    where.entry_start = first_;
    where.entry_stop = last_;
    reader.EnableMetrics();
    counters_.Begin(reader.GetMetrics(), "RNTupleReader.RPageSourceFile.");
    chunk_.emplace(where);
    const std::string_view host = internal::HostOf(std::string_view(where.file));
    if (!host.empty()) chunk_->SetAttribute("server", host);
    chunk_->SetAttribute("reading", "ROOT does not report the columns that an RNTupleReader reads");
  }
  ~TrackNtuple() {
    if (!chunk_.has_value()) return;
    const std::optional<std::int64_t> events = reported_.has_value() ? reported_ : events_;
    if (events.has_value()) chunk_->SetEvents(*events);
    counters_.Note();
    counters_.Record(&*chunk_);
  }
  TrackNtuple(const TrackNtuple&) = delete;
  TrackNtuple& operator=(const TrackNtuple&) = delete;

  /// The entries of the range, as `RNTupleView` and `RNTupleReader::LoadEntry` take them. Iterating counts the events.
  Iterator begin() {
    events_ = 0;
    return {first_, first_, &events_};
  }
  Iterator end() { return {first_, std::max(first_, last_), &events_}; }
  /// Instead of those that were given out.
  template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
  void SetEvents(Count events) noexcept {
    reported_ = static_cast<std::int64_t>(events);
  }
  /// As `TrackMetrics::Fail`.
  void Fail(std::string_view reason) noexcept {
    if (chunk_.has_value()) chunk_->Fail(reason);
  }

 private:
  internal::NtupleCounters counters_;
  std::int64_t first_;
  std::int64_t last_;
  std::optional<std::int64_t> events_;    ///< that were given out
  std::optional<std::int64_t> reported_;  ///< by the program
  std::optional<TrackMetrics> chunk_;
};

}  // namespace crema

#endif  // CREMA_ROOT_TRACK_NTUPLE_H_
