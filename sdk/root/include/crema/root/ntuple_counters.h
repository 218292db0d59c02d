// NtupleCounters: what ROOT reads and decompresses of an RNTuple, for a chunk.
#ifndef CREMA_ROOT_NTUPLE_COUNTERS_H_
#define CREMA_ROOT_NTUPLE_COUNTERS_H_

#include <ROOT/RNTupleMetrics.hxx>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "crema/record_metric.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/track_metrics.h"

namespace crema::internal {

/// The metrics of a source of pages, which have to be switched on. ROOT reads pages ahead on a thread of its own: they
/// count for the chunk in which they came.
class NtupleCounters {
 public:
  using Metrics = ROOT::Experimental::Detail::RNTupleMetrics;

  /// `source`: what the names of the source's metrics begin with. The metrics may end before this object.
  void Begin(const Metrics& metrics, std::string_view source) {
    for (std::size_t i = 0; i < kCounters; ++i) counters_[i] = metrics.GetCounter(std::string(source) + kNames[i]);
    payload_ = dynamic_cast<const Atomic*>(counters_[kPayload]);
    unzipped_ = dynamic_cast<const Atomic*>(counters_[kUnzipped]);
    before_ = now_ = Read();
  }
  /// For the chunk that follows at once: ROOT may have read meanwhile.
  void Continue() { before_ = now_; }
  /// Keeps what was counted until now, while the metrics are there.
  void Note() {
    if (payload_ == nullptr || unzipped_ == nullptr || payload_->GetValue() != now_[kPayload] ||
        unzipped_->GetValue() != now_[kUnzipped]) {  // else nothing was read: this runs for each event
      now_ = Read();
    }
  }
  /// Reports to the chunk what was counted between `Begin` and the last `Note`.
  void Record(TrackMetrics* chunk) const {
    const auto counted = [&](Counter counter) -> std::optional<std::int64_t> {
      if (counters_[counter] == nullptr) return std::nullopt;
      return now_[counter] - before_[counter];
    };
    const auto record = [&](Counter counter, std::string_view name, double unit, std::string_view unit_name) {
      const auto count = counted(counter);
      if (count.has_value()) RecordMetric(name, static_cast<double>(*count) * unit, unit_name);
    };
    if (const auto bytes = counted(kPayload)) chunk->AddBytesRead(*bytes);
    record(kPayload, metric::kBytesRead, 1, "B");
    record(kOverhead, metric::kReadOverheadBytes, 1, "B");
    // A vector read is one request; ranges are read one by one only where the storage has no vector reads.
    record(counted(kVectorReads).value_or(0) > 0 ? kVectorReads : kReads, metric::kReadCalls, 1, "count");
    record(kReadNs, metric::kReadWall, 1e-9, "s");
    record(kUnzipped, metric::kUnzipBytes, 1, "B");
    record(kUnzipNs, metric::kUnzipWall, 1e-9, "s");
  }

 private:
  enum Counter : std::uint8_t { kVectorReads, kReads, kPayload, kOverhead, kReadNs, kUnzipped, kUnzipNs, kCounters };
  static constexpr const char* kNames[kCounters] = {"nReadV",       "nRead",   "szReadPayload", "szReadOverhead",
                                                    "timeWallRead", "szUnzip", "timeWallUnzip"};
  using Atomic = ROOT::Experimental::Detail::RNTupleAtomicCounter;
  using Values = std::array<std::int64_t, kCounters>;

  Values Read() const {
    Values values{};
    for (std::size_t i = 0; i < kCounters; ++i) {
      if (counters_[i] != nullptr) values[i] = counters_[i]->GetValueAsInt();
    }
    return values;
  }

  std::array<const ROOT::Experimental::Detail::RNTuplePerfCounter*, kCounters> counters_{};  ///< null: ROOT has none
  const Atomic* payload_ = nullptr;
  const Atomic* unzipped_ = nullptr;
  Values before_{};
  Values now_{};
};

}  // namespace crema::internal

#endif  // CREMA_ROOT_NTUPLE_COUNTERS_H_
