#include "collector/metrics/statistics/quantiles.h"

#include <cstring>
#include <limits>

namespace crema {
namespace {

// IEEE 754 binary64: sign, 11 bits of exponent, 52 of mantissa.
constexpr int kMantissaBits = 52;
constexpr int kBucketBits = 6;
static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == sizeof(uint64_t));

struct Bucket {
  int32_t exponent;  // as stored, biased
  uint32_t index;
};

Bucket BucketOf(double magnitude) {
  uint64_t bits;
  std::memcpy(&bits, &magnitude, sizeof(bits));
  const uint64_t mantissa = bits & ((uint64_t{1} << kMantissaBits) - 1);
  return {static_cast<int32_t>(bits >> kMantissaBits),
          static_cast<uint32_t>(mantissa >> (kMantissaBits - kBucketBits))};
}

double MiddleOf(const Bucket& bucket) {
  const uint64_t middle =
      (uint64_t{bucket.index} << (kMantissaBits - kBucketBits)) | (uint64_t{1} << (kMantissaBits - kBucketBits - 1));
  const uint64_t bits = (static_cast<uint64_t>(bucket.exponent) << kMantissaBits) | middle;
  double magnitude;
  std::memcpy(&magnitude, &bits, sizeof(magnitude));
  return magnitude;
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

inline QuantileSketch::Octave& QuantileSketch::Side::At(int32_t exponent) {
  if (latest < octaves.size() && octaves[latest].exponent == exponent) return octaves[latest];
  return Find(exponent);
}

QuantileSketch::Octave& QuantileSketch::Side::Find(int32_t exponent) {
  auto found = std::lower_bound(octaves.begin(), octaves.end(), exponent,
                                [](const Octave& octave, int32_t wanted) { return octave.exponent < wanted; });
  if (found == octaves.end() || found->exponent != exponent) {
    Octave octave;
    octave.exponent = exponent;
    found = octaves.insert(found, octave);
  }
  latest = static_cast<size_t>(found - octaves.begin());
  return *found;
}

double QuantileSketch::Side::MagnitudeOfRank(uint64_t rank) const {
  uint64_t seen = 0;
  for (const Octave& octave : octaves) {
    for (uint32_t index = 0; index < octave.counts.size(); ++index) {
      seen += octave.counts[index];
      if (seen >= rank) return MiddleOf({octave.exponent, index});
    }
  }
  return 0;  // not reached: rank <= count
}

bool QuantileSketch::Add(double value, uint64_t times) {
  if (!std::isfinite(value)) return false;
  if (times == 0) return true;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  count_ += times;
  const double magnitude = std::abs(value);
  if (magnitude < std::numeric_limits<double>::min()) {
    zeros_ += times;
    return true;
  }
  const Bucket bucket = BucketOf(magnitude);
  Side& side = value < 0 ? negative_ : positive_;
  side.At(bucket.exponent).counts[bucket.index] += times;
  side.count += times;
  return true;
}

void QuantileSketch::Merge(const QuantileSketch& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  zeros_ += other.zeros_;
  const auto merge_side = [](Side& mine, const Side& theirs) {
    mine.count += theirs.count;
    // By index: merging a sketch with itself adds to what it reads.
    for (size_t i = 0; i < theirs.octaves.size(); ++i) {
      const Octave& from = theirs.octaves[i];
      Octave& to = mine.At(from.exponent);
      for (size_t bucket = 0; bucket < from.counts.size(); ++bucket) to.counts[bucket] += from.counts[bucket];
    }
  };
  merge_side(negative_, other.negative_);
  merge_side(positive_, other.positive_);
}

std::optional<double> QuantileSketch::Quantile(double p) const {
  if (count_ == 0) return std::nullopt;
  if (!(p > 0)) return min_;
  if (p >= 1) return max_;
  const uint64_t rank = QuantileRank(p, count_);
  double value = 0;
  if (rank <= negative_.count) {
    value = -negative_.MagnitudeOfRank(negative_.count - rank + 1);
  } else if (rank > negative_.count + zeros_) {
    value = positive_.MagnitudeOfRank(rank - negative_.count - zeros_);
  }
  return std::clamp(value, min_, max_);
}

void QuantileSketch::ForEach(const std::function<void(double middle, uint64_t count)>& use) const {
  for (auto octave = negative_.octaves.rbegin(); octave != negative_.octaves.rend(); ++octave) {
    for (uint32_t index = kBucketsPerOctave; index-- > 0;) {
      if (octave->counts[index] != 0) use(-MiddleOf({octave->exponent, index}), octave->counts[index]);
    }
  }
  if (zeros_ != 0) use(0, zeros_);
  for (const Octave& octave : positive_.octaves) {
    for (uint32_t index = 0; index < kBucketsPerOctave; ++index) {
      if (octave.counts[index] != 0) use(MiddleOf({octave.exponent, index}), octave.counts[index]);
    }
  }
}

size_t QuantileSketch::MemoryBytes() const {
  return sizeof(*this) + (negative_.octaves.capacity() + positive_.octaves.capacity()) * sizeof(Octave);
}

}  // namespace crema
