// RecordMetric and RecordProcessMetric: a number of the user's own, per chunk and per process.
#ifndef CREMA_RECORD_METRIC_H_
#define CREMA_RECORD_METRIC_H_

#include <string_view>
#include <type_traits>

namespace crema {

/// Names from which the collector derives rates and shares: docs/metrics.md, "Chunks, sections and reading". Bytes in
/// B, times in s, calls in count.
namespace metric {
inline constexpr std::string_view kBytesRead = "bytes_read";                   ///< B: payload read
inline constexpr std::string_view kReadCalls = "read_calls";                   ///< count: requests to the storage
inline constexpr std::string_view kReadOverheadBytes = "read_overhead_bytes";  ///< B: read but not needed
inline constexpr std::string_view kReadWall = "read_wall";                     ///< s: inside read calls
inline constexpr std::string_view kUnzipBytes = "unzip_bytes";                 ///< B: after decompression
inline constexpr std::string_view kUnzipWall = "unzip_wall";                   ///< s: inside the decompressor
}  // namespace metric

/// Adds a value to the chunk that this thread works for: count, sum, least and greatest are kept per name and unit.
/// Values that are not finite are kept apart, and counted. Outside a chunk it is counted as dropped. Never throws.
void RecordMetricValue(std::string_view name, double value, std::string_view unit) noexcept;

/// As above, for any arithmetic type: `RecordMetric("jets", jets.size(), "count")`.
template <class Value, class = std::enable_if_t<std::is_arithmetic<Value>::value>>
void RecordMetric(std::string_view name, Value value, std::string_view unit = {}) noexcept {
  RecordMetricValue(name, static_cast<double>(value), unit);
}

/// Adds a value to the process: for what no chunk did alone, such as a file that all of them wrote. Kept as those of a
/// chunk are, without a sketch of their sizes, and written with each sample and at the end. Takes a lock: for few
/// values. Never throws.
void RecordProcessMetricValue(std::string_view name, double value, std::string_view unit) noexcept;

/// As above, for any arithmetic type: `RecordProcessMetric("bytes_written", size, "B")`.
template <class Value, class = std::enable_if_t<std::is_arithmetic<Value>::value>>
void RecordProcessMetric(std::string_view name, Value value, std::string_view unit = {}) noexcept {
  RecordProcessMetricValue(name, static_cast<double>(value), unit);
}

#ifdef CREMA_COMPILED_OUT
inline void RecordMetricValue(std::string_view, double, std::string_view) noexcept {}
inline void RecordProcessMetricValue(std::string_view, double, std::string_view) noexcept {}
#endif

}  // namespace crema

#endif  // CREMA_RECORD_METRIC_H_
