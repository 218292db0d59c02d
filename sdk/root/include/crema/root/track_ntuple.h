// TrackNtuple: what an RNTupleReader reads as a chunk.
#ifndef CREMA_ROOT_TRACK_NTUPLE_H_
#define CREMA_ROOT_TRACK_NTUPLE_H_

#include <ROOT/RNTupleMetrics.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "crema/record_metric.h"
#include "crema/recorder.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/track_metrics.h"

namespace crema {

/// A part of an `RNTupleReader`'s loop as a chunk, until the end of the scope: bytes, read calls, time for reading and
/// decompression, by the reader's own metrics, which it switches on. The reader does not tell its file: say it, and the
/// range where it is not the whole. Events are those of the range, unless an exception leaves the scope.
///
///     auto reader = ROOT::RNTupleReader::Open("Events", path);
///     crema::TrackNtuple chunk(*reader, {"ttbar", path, 0, reader->GetNEntries()});
class TrackNtuple {
 public:
  TrackNtuple(ROOT::RNTupleReader& reader, const Chunk& what) {  // NOLINT(google-runtime-references): as ROOT's views
    if (!Enabled()) return;
    reader.EnableMetrics();
    reader_ = &reader;
    Chunk where = what;
    if (where.tree.empty()) where.tree = reader.GetDescriptor().GetName();
    if (!where.entry_start.has_value()) {
      where.entry_start = 0;
      where.entry_stop = static_cast<std::int64_t>(reader.GetNEntries());
    }
    if (where.entry_stop.has_value()) events_ = *where.entry_stop - *where.entry_start;
    exceptions_ = std::uncaught_exceptions();
    before_ = Read();
    chunk_.emplace(where);
  }
  ~TrackNtuple() {
    if (!chunk_.has_value()) return;
    const bool is_left = std::uncaught_exceptions() > exceptions_;
    if (events_.has_value() && (!is_left || is_told_)) chunk_->SetEvents(*events_);
    Record();
  }
  TrackNtuple(const TrackNtuple&) = delete;
  TrackNtuple& operator=(const TrackNtuple&) = delete;

  /// Instead of the number of entries in the range.
  template <class Count, class = std::enable_if_t<std::is_integral<Count>::value>>
  void SetEvents(Count events) noexcept {
    events_ = static_cast<std::int64_t>(events);
    is_told_ = true;
  }
  /// As `TrackMetrics::Fail`.
  void Fail(std::string_view reason) noexcept {
    if (chunk_.has_value()) chunk_->Fail(reason);
  }

 private:
  enum Counter : std::uint8_t { kVectorReads, kReads, kPayload, kOverhead, kReadNs, kUnzipped, kUnzipNs, kCounters };
  using Values = std::array<std::optional<std::int64_t>, kCounters>;

  Values Read() const {
    static constexpr std::string_view kNames[kCounters] = {"nReadV",       "nRead",   "szReadPayload", "szReadOverhead",
                                                           "timeWallRead", "szUnzip", "timeWallUnzip"};
    Values values;
    for (std::size_t i = 0; i < kCounters; ++i) {
      const auto* counter = reader_->GetMetrics().GetCounter("RNTupleReader.RPageSourceFile." + std::string(kNames[i]));
      if (counter != nullptr) values[i] = counter->GetValueAsInt();
    }
    return values;
  }

  void Record() {
    Values values = Read();
    for (std::size_t i = 0; i < kCounters; ++i) {
      if (values[i].has_value()) *values[i] -= before_[i].value_or(0);
    }
    const auto record = [&](Counter counter, std::string_view name, double unit, std::string_view unit_name) {
      if (values[counter].has_value()) RecordMetric(name, static_cast<double>(*values[counter]) * unit, unit_name);
    };
    if (values[kPayload].has_value()) chunk_->AddBytesRead(*values[kPayload]);
    record(kPayload, metric::kBytesRead, 1, "B");
    record(kOverhead, metric::kReadOverheadBytes, 1, "B");
    // A vector read is one request; ranges are read one by one only where the storage has no vector reads.
    record(values[kVectorReads].value_or(0) > 0 ? kVectorReads : kReads, metric::kReadCalls, 1, "count");
    record(kReadNs, metric::kReadWall, 1e-9, "s");
    record(kUnzipped, metric::kUnzipBytes, 1, "B");
    record(kUnzipNs, metric::kUnzipWall, 1e-9, "s");
  }

  ROOT::RNTupleReader* reader_ = nullptr;
  Values before_;
  int exceptions_ = 0;
  bool is_told_ = false;
  std::optional<std::int64_t> events_;
  std::optional<TrackMetrics> chunk_;
};

}  // namespace crema

#endif  // CREMA_ROOT_TRACK_NTUPLE_H_
