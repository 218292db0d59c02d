#include "collector/metrics/attempts/rss_slope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/base/attributes.h"
#include "collector/metrics/statistics/exact_quantiles.h"

namespace crema {
namespace {

constexpr size_t kLeastChunks = 20;
constexpr size_t kMostBins = 200;
constexpr double kRounding = 1e-9;  // far above that of a division and a product
constexpr double kNoSlopeYet = std::numeric_limits<double>::lowest();
constexpr double kTwoSided95 = 1.959963984540054;  // standard normal

struct BinPoint {
  double number = 0;
  double rss_bytes = 0;
};

bool HasReading(const AttemptRow& attempt) {
  return HasEnded(attempt) && attempt.rss_stop_bytes != AttemptRow::kUnknown;
}

/// Resident pages of files and shared memory of one process over time: straight lines between its samples.
class FileMemory {
 public:
  FileMemory() = default;
  explicit FileMemory(const std::vector<ProcessSample>& samples) {
    for (const ProcessSample& sample : samples) {
      if (!sample.rss_bytes.has_value() || !sample.anonymous_bytes.has_value()) continue;
      points_.emplace_back(sample.time_ns, std::max<int64_t>(0, *sample.rss_bytes - *sample.anonymous_bytes));
    }
  }
  int64_t At(int64_t time_ns) const {
    if (points_.empty()) return 0;
    const auto after = std::lower_bound(points_.begin(), points_.end(), std::pair(time_ns, int64_t{0}));
    if (after == points_.begin()) return after->second;
    const auto before = after - 1;
    if (after == points_.end()) return before->second;
    const double share =
        static_cast<double>(time_ns - before->first) / static_cast<double>(after->first - before->first);
    return before->second + std::llround(share * static_cast<double>(after->second - before->second));
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> points_;  // time and bytes, by time
};

/// The readings of one process, as they come by chunk number, in at most 200 runs whose lengths differ by one at most.
class BinnedReadings {
 public:
  BinnedReadings(size_t readings, FileMemory file_memory)
      : first_(readings / 10),
        count_(readings - first_),
        bins_(std::min(kMostBins, count_)),
        file_memory_(std::move(file_memory)) {}

  // Inline, so that only what it uses is unpacked.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Add(const AttemptRow& attempt) {
    if (seen_++ < first_) return;  // warming up: libraries, caches, histograms
    if (attempt.events != AttemptRow::kUnknown) {
      events_ += attempt.events;
      ++known_;
    }
    if (rss_.empty()) {
      const size_t bin = medians_.size();
      in_bin_ = (bin + 1) * count_ / bins_ - bin * count_ / bins_;
      middle_place_ = QuantileRank(0.5, in_bin_) - 1;
    }
    if (rss_.size() == middle_place_) middle_ = attempt.number;
    rss_.push_back(attempt.rss_stop_bytes - file_memory_.At(attempt.stop_ns()));
    if (rss_.size() < in_bin_) return;
    medians_.push_back({static_cast<double>(middle_), static_cast<double>(ExactQuantile(rss_, 0.5))});
    rss_.clear();
  }

  /// nullopt where events are not known.
  std::optional<double> PerThousandEvents() const {
    if (events_ <= 0) return std::nullopt;
    return 1000 * static_cast<double>(known_) / static_cast<double>(events_);
  }
  const std::vector<BinPoint>& medians() const { return medians_; }

 private:
  size_t first_;
  size_t count_;
  size_t bins_;
  size_t seen_ = 0;
  int64_t events_ = 0;
  int64_t known_ = 0;
  std::vector<int64_t> rss_;  // of the bin that is filled now
  size_t in_bin_ = 0;         // how many it gets
  size_t middle_place_ = 0;
  int64_t middle_ = 0;  // number of the chunk that stands there
  std::vector<BinPoint> medians_;
  FileMemory file_memory_;
};

/// Theil-Sen, in bytes per chunk; nullopt where no two points differ in number, or where the slope is surely not above
/// `at_least`: then the cost of finding it is spared.
std::optional<RssSlope> SlopeOf(const std::vector<BinPoint>& points, double at_least) {
  const double surely = at_least - std::abs(at_least) * kRounding;
  size_t pairs = 0;
  size_t above = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;  // never negative
      pairs += run != 0;
      above += run != 0 && points[j].rss_bytes - points[i].rss_bytes > surely * run;
    }
  }
  if (pairs == 0 || 2 * above < pairs) return std::nullopt;
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;
      if (run != 0) slopes.push_back((points[j].rss_bytes - points[i].rss_bytes) / run);
    }
  }
  std::sort(slopes.begin(), slopes.end());
  const double count = static_cast<double>(slopes.size());
  const double n = static_cast<double>(points.size());
  // From rank M1 = (N - z sigma) / 2 to rank M2 + 1 = (N + z sigma) / 2 + 1 of the N slopes, sigma^2 the variance of
  // Kendall's S; `at` counts from 0.
  const double reach = kTwoSided95 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto at = [&](double rank) {
    return slopes[static_cast<size_t>(std::clamp(std::round(rank), 0.0, count - 1))];
  };
  const size_t half = slopes.size() / 2;
  const double middle = slopes.size() % 2 == 1 ? slopes[half] : (slopes[half - 1] + slopes[half]) / 2;
  return RssSlope{middle, at((count - reach) / 2 - 1), at((count + reach) / 2)};
}

/// nullopt too where the process's slope is surely not above `at_least`.
std::optional<RssSlope> SlopeOfProcess(const BinnedReadings& readings, uint32_t process, double at_least) {
  const std::optional<double> per_1000_events = readings.PerThousandEvents();
  if (!per_1000_events.has_value()) return std::nullopt;
  std::optional<RssSlope> slope = SlopeOf(readings.medians(), at_least / *per_1000_events);
  if (!slope.has_value()) return std::nullopt;
  for (double* value : {&slope->slope, &slope->low, &slope->high}) *value *= *per_1000_events;
  slope->process = process;
  return slope;
}

}  // namespace

std::optional<RssSlope> LargestRssSlope(const AttemptRows& attempts, const std::vector<ProcessRow>& processes) {
  struct Process {
    uint32_t process;
    size_t readings;
  };
  std::vector<Process> groups;  // as their attempts stand
  for (const AttemptRow& attempt : attempts) {
    if (!HasReading(attempt)) continue;
    const uint32_t process = attempt.recording_process();
    if (groups.empty() || groups.back().process != process) groups.push_back({process, 0});
    ++groups.back().readings;
  }
  std::optional<RssSlope> largest;
  auto at = groups.begin();
  std::optional<BinnedReadings> binned;
  size_t left = 0;
  for (const AttemptRow& attempt : attempts) {
    if (!HasReading(attempt)) continue;
    if (left == 0) {
      left = at->readings;
      binned.reset();
      if (left >= kLeastChunks) {
        const bool is_known = at->process < processes.size();
        binned.emplace(left, is_known ? FileMemory(processes[at->process].samples) : FileMemory());
      }
    }
    if (binned.has_value()) binned->Add(attempt);
    if (--left > 0) continue;
    const uint32_t process = (at++)->process;
    if (!binned.has_value()) continue;
    const std::optional<RssSlope> slope =
        SlopeOfProcess(*binned, process, largest.has_value() ? largest->slope : kNoSlopeYet);
    if (slope.has_value() && (!largest.has_value() || slope->slope > largest->slope)) largest = slope;
  }
  return largest;
}

}  // namespace crema
