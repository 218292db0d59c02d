#include "collector/metrics/statistics/quantiles.h"

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstring>
#include <limits>

namespace crema {
namespace {

// IEEE 754 binary64: sign, 11 bits of exponent, 52 of mantissa.
constexpr int kMantissaBits = 52;
constexpr int kBucketBits = 6;
static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == sizeof(uint64_t));

// As docs/record_log.md, "sketch", numbers them.
int64_t BucketOf(double value) {
  const double magnitude = std::abs(value);
  if (magnitude < std::numeric_limits<double>::min()) return 0;
  int64_t bits;
  std::memcpy(&bits, &magnitude, sizeof(bits));
  const int64_t bucket = bits >> (kMantissaBits - kBucketBits);
  return value < 0 ? -bucket : bucket;
}

}  // namespace

double MiddleOfRecordedBucket(int64_t bucket, int64_t shift) {
  constexpr int64_t kBuckets = int64_t{2047} << kBucketBits;  // of finite values
  const uint64_t magnitude = static_cast<uint64_t>(std::abs(std::clamp(bucket, -kBuckets, kBuckets)));
  const int width_bits = kMantissaBits - kBucketBits + static_cast<int>(shift);
  const uint64_t bits = (magnitude << width_bits) | (uint64_t{1} << (width_bits - 1));
  double middle;
  std::memcpy(&middle, &bits, sizeof(middle));
  if (magnitude == 0 || !std::isfinite(middle)) return 0;
  return bucket < 0 ? -middle : middle;
}

inline QuantileSketch::Octave& QuantileSketch::At(int64_t first) {
  return latest_ < octaves_.size() && octaves_[latest_].first == first ? octaves_[latest_] : Find(first);
}

QuantileSketch::Octave& QuantileSketch::Find(int64_t first) {
  auto found = std::lower_bound(octaves_.begin(), octaves_.end(), first,
                                [](const Octave& octave, int64_t wanted) { return octave.first < wanted; });
  if (found == octaves_.end() || found->first != first) found = octaves_.insert(found, Octave{first, {}});
  latest_ = static_cast<size_t>(found - octaves_.begin());
  return *found;
}

bool QuantileSketch::Add(double value, uint64_t times) {
  if (!std::isfinite(value)) return false;
  if (times == 0) return true;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  count_ += times;
  const int64_t bucket = BucketOf(value);
  At(bucket >> kBucketBits).counts[static_cast<size_t>(bucket & (kBucketsPerOctave - 1))] += times;
  return true;
}

void QuantileSketch::Merge(const QuantileSketch& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  // By index: merging a sketch with itself adds to what it reads.
  for (size_t i = 0; i < other.octaves_.size(); ++i) {
    const Octave& from = other.octaves_[i];
    Octave& to = At(from.first);
    for (size_t bucket = 0; bucket < from.counts.size(); ++bucket) to.counts[bucket] += from.counts[bucket];
  }
}

std::optional<double> QuantileSketch::Quantile(double p) const {
  if (count_ == 0) return std::nullopt;
  if (!(p > 0)) return min_;
  if (p >= 1) return max_;
  const uint64_t rank = QuantileRank(p, count_);
  uint64_t seen = 0;
  double value = 0;
  ForEach([&](double middle, uint64_t count) {
    if (seen < rank) value = middle;
    seen += count;
  });
  return std::clamp(value, min_, max_);
}

void QuantileSketch::ForEach(const std::function<void(double middle, uint64_t count)>& use) const {
  for (const Octave& octave : octaves_) {
    for (int64_t i = 0; i < kBucketsPerOctave; ++i) {
      const uint64_t count = octave.counts[static_cast<size_t>(i)];
      if (count != 0) use(MiddleOfRecordedBucket(octave.first * kBucketsPerOctave + i, 0), count);
    }
  }
}

double WeightedMedian(std::vector<std::pair<double, double>>* values) {
  boost::sort::pdqsort_branchless(values->begin(), values->end(),
                                  [](const auto& a, const auto& b) { return a.first < b.first; });
  double total = 0, seen = 0;
  for (const auto& [value, weight] : *values) total += weight;
  for (size_t i = 0; i + 1 < values->size(); ++i) {
    seen += (*values)[i].second;
    if (2 * seen == total) return ((*values)[i].first + (*values)[i + 1].first) / 2;
    if (2 * seen > total) return (*values)[i].first;
  }
  return values->back().first;
}

}  // namespace crema
