// Sums whose summands may not be known, ratios of such sums, and sums of floating-point numbers.
#pragma once

#include <cmath>

#include "absl/numeric/int128.h"
#include "collector/records/facts.h"

namespace crema {

/// What is not known is left out; where nothing is known, the sum is not either.
struct OptionalSum {
  absl::int128 sum = 0;
  int64_t count = 0;  ///< summands

  void Add(const std::optional<int64_t>& value) {
    if (!value.has_value()) return;
    sum += *value;
    ++count;
  }
  /// A sum of `summands`, all of them known or none.
  void Add(const std::optional<int64_t>& value, int64_t summands) {
    if (!value.has_value()) return;
    sum += *value;
    count = SaturatingAdd(count, summands);
  }
  void Add(const OptionalSum& other) {
    sum += other.sum;
    count += other.count;
  }
  /// nullopt too where the sum is beyond 64 bits.
  std::optional<int64_t> Integer() const {
    return count > 0 && !IsTooLarge() ? std::optional<int64_t>(static_cast<int64_t>(sum)) : std::nullopt;
  }
  /// Only a corrupt log can overflow this.
  bool IsTooLarge() const {
    return sum < std::numeric_limits<int64_t>::min() || sum > std::numeric_limits<int64_t>::max();
  }
  /// The sum in units of `per_unit`: 1e9 for the seconds of a sum of nanoseconds.
  std::optional<double> In(double per_unit) const {
    return count > 0 ? std::optional<double>(static_cast<double>(sum) / per_unit) : std::nullopt;
  }
  std::optional<double> Seconds() const { return In(1e9); }
  std::optional<double> Mean() const { return In(static_cast<double>(count)); }
};

/// nullopt where a side is not known or the denominator is not positive (docs/metrics.md, "Rules").
inline std::optional<double> Ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part.has_value() || !whole.has_value() || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

/// A sum of floating-point numbers that hardly depends on their order.
/// Double-double accumulation: the rounding error of each addition is kept and added too (Knuth's TwoSum; Ogita, Rump,
/// Oishi: SIAM J. Sci. Comput. 26, 2005), so about 106 bits carry the sum and weights of either sign may cancel.
class RealSum {
 public:
  void Add(double value) {
    const double sum = high_ + value;
    const double part = sum - high_;
    low_ += (high_ - (sum - part)) + (value - part);
    high_ = sum;
  }
  void Add(const RealSum& other) {
    Add(other.high_);
    Add(other.low_);
  }
  /// Infinite or NaN where the sum left the range of a double.
  double value() const { return std::isfinite(high_) ? high_ + low_ : high_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

/// The sum of a group of which only the chunks are counted.
struct ChunkCount {
  int64_t chunks = 0;

  template <class More>
  void Add(const More& more) {
    chunks = SaturatingAdd(chunks, more.chunks);
  }
};

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
