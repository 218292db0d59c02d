// Quantiles of any number of values in bounded memory, the same for any grouping of the values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace crema {

/// The middle of a bucket of docs/record_log.md, "sketch"; 0 for one that no value has.
double MiddleOfRecordedBucket(int64_t bucket, int64_t shift);

/// Counts values in buckets of fixed bounds, as DDSketch does (Masson, Rim, Lee: "DDSketch", VLDB 2019), with the
/// bucket taken from the bits of the double: 64 equal buckets between successive powers of two. So the bounds depend on
/// nothing but the value, no logarithm is computed, and buckets are never collapsed: `Merge` in any order and grouping
/// gives the same answers to the bit.
///
///     QuantileSketch sketch;
///     for (double seconds : durations) sketch.Add(seconds);
///     std::optional<double> p95 = sketch.Quantile(0.95);
///
/// A quantile is within `kRelativeError` of the value of rank ceil(p n) (docs/metrics.md, "Rules") and never outside
/// [min, max]. Zero is exact; magnitudes under 2.2e-308 (subnormal) count as zero. Memory: 520 bytes for each power of
/// two touched (times of 1 ns to 11 days: at most 50 of them), and at most 2.2 MB whatever the values.
class QuantileSketch {
 public:
  /// Half a bucket's width over its lower bound: 1/128.
  static constexpr double kRelativeError = 0.0078125;

  /// Adds a value `times` times; a value that is not finite is refused (false).
  bool Add(double value, uint64_t times = 1);
  void Merge(const QuantileSketch& other);

  uint64_t count() const { return count_; }
  /// Exact; nullopt when empty.
  std::optional<double> min() const { return count_ == 0 ? std::nullopt : std::optional<double>(min_); }
  std::optional<double> max() const { return count_ == 0 ? std::nullopt : std::optional<double>(max_); }
  /// `p` from 0 (exactly the minimum) to 1 (exactly the maximum); nullopt when empty.
  std::optional<double> Quantile(double p) const;

  /// Calls `use(middle, count)` for each bucket that has values, by growing value.
  void ForEach(const std::function<void(double middle, uint64_t count)>& use) const;

  /// Bytes held, this object included.
  size_t MemoryBytes() const;

 private:
  static constexpr int kBucketsPerOctave = 64;

  /// The values with one sign and one binary exponent.
  struct Octave {
    int32_t exponent = 0;
    std::array<uint64_t, kBucketsPerOctave> counts = {};
  };
  /// The values of one sign, by growing magnitude.
  struct Side {
    std::vector<Octave> octaves;
    size_t latest = 0;  // successive values tend to share an octave
    uint64_t count = 0;

    Octave& At(int32_t exponent);
    /// Magnitude of the value of this rank (from 1) by growing magnitude.
    double MagnitudeOfRank(uint64_t rank) const;
  };

  Side negative_;
  Side positive_;
  uint64_t zeros_ = 0;
  uint64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
};

}  // namespace crema
