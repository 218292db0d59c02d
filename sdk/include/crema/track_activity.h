// TrackActivity and RecordActivity: where time (or anything else that adds up) goes, by label.
#ifndef CREMA_TRACK_ACTIVITY_H_
#define CREMA_TRACK_ACTIVITY_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace crema {
namespace internal {
struct OpenWork;
}  // namespace internal

/// Adds `value` to the activity `label` of the chunk that this thread works for. Any unit; `seconds` inside an open
/// `TrackActivity` are taken out of that one's own time. This is what Dask calls `digest_metric`, and the collector
/// shows both in one table. Values that are not finite, and those outside a chunk, are counted as dropped. Never
/// throws.
void RecordActivityValue(std::string_view label, double value, std::string_view unit) noexcept;

/// As above, for any arithmetic type: `RecordActivity("basket cache", hits, "count")`.
template <class Value, class = std::enable_if_t<std::is_arithmetic<Value>::value>>
void RecordActivity(std::string_view label, Value value, std::string_view unit = "seconds") noexcept {
  RecordActivityValue(label, static_cast<double>(value), unit);
}
/// Dask's name for it.
template <class Value, class = std::enable_if_t<std::is_arithmetic<Value>::value>>
void DigestMetric(std::string_view label, Value value, std::string_view unit) noexcept {
  RecordActivityValue(label, static_cast<double>(value), unit);
}

/// Adds the time from here to the end of the scope to the activity `label`, less what activities inside took: so a
/// chunk's activities never count a moment twice, however they nest. Unlike sections they have no path. Never throws.
///
///     crema::TrackActivity activity("decompress");
class TrackActivity {
 public:
  explicit TrackActivity(std::string_view label) noexcept;
  ~TrackActivity();
  TrackActivity(const TrackActivity&) = delete;
  TrackActivity& operator=(const TrackActivity&) = delete;

 private:
  [[maybe_unused]] internal::OpenWork* frame_ = nullptr;  ///< null: not recorded
  [[maybe_unused]] std::uint64_t serial_ = 0;
};

/// Dask's name for it.
using Meter = TrackActivity;

#ifdef CREMA_COMPILED_OUT
inline void RecordActivityValue(std::string_view, double, std::string_view) noexcept {}
inline TrackActivity::TrackActivity(std::string_view) noexcept {}
inline TrackActivity::~TrackActivity() {}
#endif

}  // namespace crema

#endif  // CREMA_TRACK_ACTIVITY_H_
