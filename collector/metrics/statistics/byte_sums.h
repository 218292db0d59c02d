// Bytes that ended attempts read, summed exactly.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_BYTE_SUMS_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_BYTE_SUMS_H_

#include <cstdint>
#include <optional>

#include "absl/numeric/int128.h"

namespace crema {

struct ByteSums {
  absl::int128 read = 0;          ///< as stored
  absl::int128 uncompressed = 0;  ///< after decompression
  int64_t with_read = 0;          ///< attempts that carry the first, the second
  int64_t with_uncompressed = 0;
  int64_t with_both = 0;
  absl::int128 read_of_both = 0;  ///< over attempts that carry both, as a ratio needs
  absl::int128 uncompressed_of_both = 0;

  void Add(const std::optional<int64_t>& bytes_read, const std::optional<int64_t>& bytes_uncompressed) {
    if (bytes_read.has_value()) {
      read += *bytes_read;
      ++with_read;
    }
    if (bytes_uncompressed.has_value()) {
      uncompressed += *bytes_uncompressed;
      ++with_uncompressed;
    }
    if (bytes_read.has_value() && bytes_uncompressed.has_value()) {
      ++with_both;
      read_of_both += *bytes_read;
      uncompressed_of_both += *bytes_uncompressed;
    }
  }
  void Add(const ByteSums& other) {
    read += other.read;
    uncompressed += other.uncompressed;
    with_read += other.with_read;
    with_uncompressed += other.with_uncompressed;
    with_both += other.with_both;
    read_of_both += other.read_of_both;
    uncompressed_of_both += other.uncompressed_of_both;
  }
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_BYTE_SUMS_H_
