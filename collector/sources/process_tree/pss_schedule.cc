#include "collector/sources/process_tree/pss_schedule.h"

#include <algorithm>

namespace crema {
namespace {

constexpr int64_t kTimePerCost = 1000;       // a share of 0.1 % of a core
constexpr int64_t kAllowanceNs = 2'000'000;  // so that jobs of a few seconds have a reading too
constexpr int64_t kSamplesBetweenReadings = 10;
constexpr int64_t kGrowthDivisor = 10;

}  // namespace

bool PssSchedule::Due(int64_t now_ns, int64_t rss_bytes) {
  ++samples_since_;
  const bool wanted =
      samples_since_ >= kSamplesBetweenReadings || rss_bytes > largest_rss_bytes_ + largest_rss_bytes_ / kGrowthDivisor;
  return wanted && spent_ns_ + last_cost_ns_ <= kAllowanceNs + (now_ns - start_ns_) / kTimePerCost;
}

void PssSchedule::Spent(int64_t cost_ns, int64_t rss_bytes) {
  samples_since_ = 0;
  largest_rss_bytes_ = std::max(largest_rss_bytes_, rss_bytes);
  last_cost_ns_ = cost_ns;
  spent_ns_ += cost_ns;
}

}  // namespace crema
