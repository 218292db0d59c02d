#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "collector/history/run_history.h"

namespace crema {
namespace {

// With these and `NoiseOf`, at most a twentieth of series without a change gets one, from 8 values on, of normal,
// Laplace's and Student's (3 degrees of freedom) noise: change_points_test.cc.
constexpr double kPenaltyPerLog = 5;
constexpr double kSmallSeries = 3.5;    // over n: what a deviation from few differences may be too small by
constexpr double kOutlier = 3;          // standard deviations
constexpr double kMadToSigma = 1.4826;  // of normal noise
constexpr double kMeanToSigma = 1.2533;
constexpr double kTail = 0.05;       // on each side of a range
constexpr double kNormal90 = 1.282;  // 9 of 10 are below
// The distribution of twice the logarithm of the likelihood ratio of two places (D. Siegmund, "Confidence Sets in
// Change-Point Problems", Int. Stat. Rev. 56 (1988) 31): (1 - exp(-x / 2))^2 = 0.9.
constexpr double kPlaces90 = 5.94;

double MedianOf(std::vector<double> values) {
  const size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(half), values.end());
  const double upper = values[half];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(half))) / 2;
}

double NoiseOf(const std::vector<double>& values) {
  std::vector<double> steps;  // without their signs
  double sum = 0, largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::fabs(values[i]));
    if (i == 0) continue;
    steps.push_back(std::fabs(values[i] - values[i - 1]));
    sum += steps.back();
  }
  double noise = kMadToSigma * MedianOf(steps) / std::sqrt(2);
  // Most neighbours are equal, as counts are.
  if (noise == 0) noise = kMeanToSigma * sum / static_cast<double>(steps.size()) / std::sqrt(2);
  const double smallest = std::max(1e-9 * largest, std::numeric_limits<double>::min());
  return std::max(noise, smallest) * (1 + kSmallSeries / static_cast<double>(values.size()));
}

std::vector<double> WithoutOutliers(const std::vector<double>& values, double noise) {
  std::vector<double> kept = values;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t begin = i < 2 ? 0 : i - 2, end = std::min(i + 3, values.size());
    const double around =
        MedianOf({values.begin() + static_cast<ptrdiff_t>(begin), values.begin() + static_cast<ptrdiff_t>(end)});
    kept[i] = std::clamp(values[i], around - kOutlier * noise, around + kOutlier * noise);
  }
  return kept;
}

/// Sums of squares around the mean of any stretch, in units of the noise's variance.
class Costs {
 public:
  Costs(const std::vector<double>& values, double noise) {
    sums_.reserve(values.size() + 1);
    // around the first value, so that squares of large values do not swallow their differences
    for (const double value : values) {
      const double x = (value - values.front()) / noise;
      sums_.push_back({sums_.back().first + x, sums_.back().second + x * x});
    }
  }
  double Of(size_t begin, size_t end) const {
    const double sum = sums_[end].first - sums_[begin].first;
    return std::max(0.0, sums_[end].second - sums_[begin].second - sum * sum / static_cast<double>(end - begin));
  }

 private:
  std::vector<std::pair<double, double>> sums_ = {{0, 0}};
};

/// Where the last segment may begin.
struct Candidate {
  size_t begin = 0;
  size_t useless_from = std::numeric_limits<size_t>::max();  ///< for ends from here on another one is as cheap
};

/// The places at which segments begin, without 0.
std::vector<size_t> CheapestPlaces(const Costs& costs, size_t count) {
  const double penalty = kPenaltyPerLog * std::log(static_cast<double>(count));
  std::vector<double> least(count + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> last(count + 1, 0);
  std::vector<Candidate> candidates = {{}};
  std::vector<double> sums;
  least[0] = -penalty;
  for (size_t end = kLeastSegment; end <= count; ++end) {
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [end](const Candidate& candidate) { return candidate.useless_from <= end; }),
                     candidates.end());
    sums.clear();
    for (const Candidate& candidate : candidates) {
      sums.push_back(least[candidate.begin] + costs.Of(candidate.begin, end));
      if (sums.back() + penalty < least[end]) {
        least[end] = sums.back() + penalty;
        last[end] = candidate.begin;
      }
    }
    // What makes PELT fast: a segment that may as well end here is never cheaper later, as soon as one from here on is
    // long enough.
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (sums[i] > least[end]) candidates[i].useless_from = std::min(candidates[i].useless_from, end + kLeastSegment);
    }
    const size_t next = end + 1 - kLeastSegment;
    if (next >= kLeastSegment) candidates.push_back({next});
  }
  std::vector<size_t> places;
  for (size_t place = last[count]; place > 0; place = last[place]) places.push_back(place);
  std::reverse(places.begin(), places.end());
  return places;
}

/// Around the segment's begin, between the begins of its neighbours.
void SetRangeOfPlaces(const Costs& costs, const Segment& before, Segment* segment) {
  const auto cost_at = [&](size_t place) { return costs.Of(before.begin, place) + costs.Of(place, segment->end); };
  const double most = cost_at(segment->begin) + kPlaces90;
  segment->earliest = segment->latest = segment->begin;
  for (size_t place = before.begin + 1; place < segment->end; ++place) {
    if (cost_at(place) > most) continue;
    segment->earliest = std::min(segment->earliest, place);
    segment->latest = std::max(segment->latest, place);
  }
}

}  // namespace

ChangePoints FindChangePoints(const std::vector<double>& values) {
  ChangePoints found;
  const double noise = NoiseOf(values);
  const std::vector<double> kept = WithoutOutliers(values, noise);
  const Costs costs(kept, noise);
  std::vector<size_t> begins = {0};
  for (const size_t place : CheapestPlaces(costs, values.size())) begins.push_back(place);
  double squares = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    Segment segment;
    segment.begin = begins[i];
    segment.end = i + 1 < begins.size() ? begins[i + 1] : values.size();
    for (size_t k = segment.begin; k < segment.end; ++k) segment.level += kept[k];
    segment.level /= static_cast<double>(segment.size());
    for (size_t k = segment.begin; k < segment.end; ++k) squares += std::pow(kept[k] - segment.level, 2);
    if (i > 0) SetRangeOfPlaces(costs, found.segments.back(), &segment);
    found.segments.push_back(segment);
  }
  const size_t count = values.size();
  found.noise = std::sqrt(squares / static_cast<double>(count - found.segments.size()));
  const double before = static_cast<double>(std::max(found.segments.back().size(), kLeastValues));
  const double pairs = before * kSeenFor / (before + kSeenFor);
  const double penalty = kPenaltyPerLog * std::log(static_cast<double>(count + kSeenFor));
  found.seen = noise * (std::sqrt(penalty) + kNormal90) / std::sqrt(pairs);
  return found;
}

LevelChange ChangeBetween(const ChangePoints& found, const Segment& before, const Segment& after) {
  size_t count = 0;
  for (const Segment& segment : found.segments) count += segment.size();
  const boost::math::students_t distribution(static_cast<double>(count - found.segments.size()));
  const double half = boost::math::quantile(complement(distribution, kTail)) * found.noise *
                      std::sqrt(1.0 / static_cast<double>(before.size()) + 1.0 / static_cast<double>(after.size()));
  const double change = after.level - before.level;
  return {change, change - half, change + half};
}

}  // namespace crema
