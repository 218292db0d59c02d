// Quantiles: exact ones in a few passes without sorting, and a sketch of any number of values in bounded memory.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "collector/metrics/storage/row_memory.h"

namespace crema {

/// The one rule for quantiles (docs/metrics.md, "Rules"): the value of rank ceil(p n).
/// Rank, from 1 to `count`, of the quantile `p` (0 to 1). A product that misses a whole number by rounding alone
/// (0.07 x 100 = 7.000000000000001) counts as that number.
inline uint64_t QuantileRank(double p, uint64_t count) {
  if (!(p > 0) || count == 0) return 1;
  const double product = p * static_cast<double>(count);
  const double nearest = std::round(product);
  const double rank = std::abs(product - nearest) <= 1e-12 * product ? nearest : std::ceil(product);
  return std::clamp<uint64_t>(static_cast<uint64_t>(std::min(rank, static_cast<double>(count))), 1, count);
}

/// The exact quantile; reorders `values`, which must not be empty.
template <class T>
T ExactQuantile(std::vector<T>& values, double p) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(QuantileRank(p, values.size()) - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

namespace exact_quantiles_internal {

constexpr size_t kFewValues = 2048;  // so many are sooner partitioned than counted
constexpr size_t kBuckets = 4096;
constexpr int kMostRounds = 4;  // values on many scales at once may need more: then they are partitioned all the same

// Replaces each rank (from 1) by the value of that rank. `T` is an integer or a finite floating-point number.
template <class T>
void Select(std::vector<T> values, absl::Span<const uint64_t> ranks, absl::Span<T> results) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(ranks[i] - 1);
    std::nth_element(values.begin(), nth, values.end());
    results[i] = *nth;
  }
}

template <class T>
void SelectByCounting(absl::Span<const T> values, absl::Span<const uint64_t> ranks, absl::Span<T> results, int rounds);

/// Finds the values of some ranks among values that are gone through twice: each is counted in its bucket, then those
/// in the buckets of the ranks are kept. Buckets are in the order of their values.
template <class T>
class Buckets {
 public:
  explicit Buckets(size_t buckets) : counts_(buckets) {}

  void Count(size_t bucket) { ++counts_[bucket]; }
  /// Once all are counted. At most 254 ranks, from 1. If values may have come into the bucket beside theirs, `around`
  /// is 1, and ranks are several buckets apart.
  void Want(absl::Span<const uint64_t> ranks, size_t around = 0) {
    wanted_.assign(counts_.size(), kNobodys);
    for (size_t i = 0; i < ranks.size(); ++i) {
      uint64_t before = 0;
      size_t bucket = 0;
      while (before + counts_[bucket] < ranks[i]) before += counts_[bucket++];
      const size_t first = bucket - std::min(bucket, around), last = std::min(bucket + around, counts_.size() - 1);
      for (size_t other = first; other < bucket; ++other) before -= counts_[other];
      if (wanted_[bucket] == kNobodys) {
        std::fill(&wanted_[first], &wanted_[last] + 1, static_cast<uint8_t>(candidates_.size()));
        candidates_.emplace_back().values.reserve(std::accumulate(&counts_[first], &counts_[last] + 1, size_t{0}));
      }
      Candidates& candidates = candidates_[wanted_[bucket]];
      candidates.ranks.push_back(ranks[i] - before);
      candidates.results.push_back(i);
    }
  }
  bool IsWanted(size_t bucket) const { return wanted_[bucket] != kNobodys; }
  void Keep(size_t bucket, T value) {
    if (const uint8_t owner = wanted_[bucket]; owner != kNobodys) candidates_[owner].values.push_back(value);
  }
  /// Once all were given to `Keep`; `rounds` as `SelectByCounting` counts them.
  void Find(absl::Span<T> results, int rounds = 0) const {
    for (const Candidates& of_bucket : candidates_) {
      std::vector<T> found(of_bucket.ranks.size());
      SelectByCounting<T>(of_bucket.values, of_bucket.ranks, absl::MakeSpan(found), rounds);
      for (size_t i = 0; i < found.size(); ++i) results[of_bucket.results[i]] = found[i];
    }
  }

 private:
  static constexpr uint8_t kNobodys = 0xff;
  struct Candidates {
    LargeList<T> values;
    std::vector<uint64_t> ranks;  // among them
    std::vector<size_t> results;
  };

  std::vector<uint32_t> counts_;
  std::vector<uint8_t> wanted_;  // by bucket: whose it is
  std::vector<Candidates> candidates_;
};

template <class T>
void SelectByCounting(absl::Span<const T> values, absl::Span<const uint64_t> ranks, absl::Span<T> results, int rounds) {
  if (values.size() <= kFewValues || rounds == kMostRounds) {
    Select(std::vector<T>(values.begin(), values.end()), ranks, results);
    return;
  }
  T least = values[0];
  T greatest = values[0];
  for (const T value : values) {  // faster than std::minmax_element, which branches
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  if (!(least < greatest)) {
    std::fill(results.begin(), results.end(), least);
    return;
  }
  const double low = static_cast<double>(least);
  const double scale = (kBuckets - 1) / (static_cast<double>(greatest) - low);
  if (!std::isfinite(scale) || scale <= 0) {
    Select(std::vector<T>(values.begin(), values.end()), ranks, results);
    return;
  }
  // Never falls as the value grows, which is all that is asked of it.
  const auto bucket_of = [low, scale](T value) {
    return static_cast<size_t>(static_cast<int64_t>((static_cast<double>(value) - low) * scale));
  };
  Buckets<T> buckets(kBuckets);
  for (const T value : values) buckets.Count(bucket_of(value));
  buckets.Want(ranks);
  for (const T value : values) buckets.Keep(bucket_of(value), value);
  buckets.Find(results, rounds + 1);
}

}  // namespace exact_quantiles_internal

/// The values of these ranks (from 1), at most 254 of them; `values` as below.
template <class T>
std::vector<T> ValuesOfRanks(absl::Span<const T> values, absl::Span<const uint64_t> ranks) {
  std::vector<T> results(ranks.size());
  exact_quantiles_internal::SelectByCounting<T>(values, ranks, absl::MakeSpan(results), 0);
  return results;
}

/// The values of rank ceil(p n) for each `p`; `values` are integers or finite numbers, fewer than 2^32 and not none.
template <class T, size_t kCount>
std::array<T, kCount> ExactQuantiles(absl::Span<const T> values, const double (&p)[kCount]) {
  std::array<uint64_t, kCount> ranks;
  for (size_t i = 0; i < kCount; ++i) ranks[i] = QuantileRank(p[i], values.size());
  std::array<T, kCount> results;
  exact_quantiles_internal::SelectByCounting<T>(values, ranks, absl::MakeSpan(results), 0);
  return results;
}

/// Of (value, weight), not none: what has half of the weight on either side; the mean of two where the weight parts
/// between them. Sorts `values`.
double WeightedMedian(std::vector<std::pair<double, double>>* values);

// Quantiles of any number of values in bounded memory, the same for any grouping of the values.

/// The middle of a bucket of docs/record_log.md, "sketch"; 0 for one that no value has.
double MiddleOfRecordedBucket(int64_t bucket, int64_t shift);

/// Counts values in buckets of fixed bounds, as DDSketch does (Masson, Rim, Lee: "DDSketch", VLDB 2019), with the
/// bucket taken from the bits of the double: 64 equal buckets between successive powers of two. Buckets are never
/// collapsed: `Merge` in any order and grouping gives the same answers to the bit. A quantile is within
/// `kRelativeError` of the value of rank ceil(p n) (docs/metrics.md, "Rules") and never outside [min, max]. Zero is
/// exact; magnitudes under 2.2e-308 (subnormal) count as zero. Memory: 520 bytes for each power of two touched (times
/// of 1 ns to 11 days: at most 50 of them), and at most 2.2 MB whatever the values.
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
  size_t MemoryBytes() const { return sizeof(*this) + octaves_.capacity() * sizeof(Octave); }

 private:
  static constexpr int kBucketsPerOctave = 64;

  /// Buckets `64 first` to `64 first + 63`. Those of positive values have one binary exponent.
  struct Octave {
    int64_t first = 0;
    std::array<uint64_t, kBucketsPerOctave> counts = {};
  };
  Octave& At(int64_t first);
  Octave& Find(int64_t first);

  std::vector<Octave> octaves_;  // by growing value
  size_t latest_ = 0;            // successive values tend to share an octave
  uint64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
};

}  // namespace crema
