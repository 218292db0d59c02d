#include "collector/insight/change_judgement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/insight/student_distribution.h"
#include "collector/insight/thresholds.h"

namespace crema {
namespace {

double SquareSum(double a, double b) { return std::sqrt(a * a + b * b); }  // std::hypot would ask for glibc 2.35

/// The probability of none once equal runs differ by `assumed`, too.
double Weakened(const MeasuredChange& measured, double assumed) {
  if (assumed <= 0) return measured.probability_of_none;
  const double sigma = assumed / kSigmasTo95;
  // as if the measurement were normal: what it says of its own width is in its probability
  const double own = (measured.below + measured.above) / 2 / kSigmasTo95;
  const double beyond = std::erfc(std::fabs(measured.change) / SquareSum(sigma, own) / std::sqrt(2));
  return std::max(measured.probability_of_none, beyond);
}

/// Holm's procedure: from the surest on, until one is not sure enough for how many are left.
void MarkSure(std::vector<std::pair<double, ChangeEffect*>> effects) {
  std::sort(effects.begin(), effects.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].first > kSectionSignificance / static_cast<double>(effects.size() - i)) return;
    effects[i].second->is_sure = true;
  }
}

}  // namespace

void JudgeChange(const MeasuredChange& all, const std::vector<MeasuredPart>& parts, double assumed,
                 PairedChange* change) {
  std::vector<std::pair<double, ChangeEffect*>> order;
  change->effects.resize(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const MeasuredChange& measured = parts[i].measured;
    // What makes whole runs differ is in proportion to what they do.
    const double of_part = assumed * parts[i].share;
    change->effects[i] = {parts[i].what, measured.change, measured.change - SquareSum(measured.below, of_part),
                          measured.change + SquareSum(measured.above, of_part), parts[i].share};
    order.emplace_back(Weakened(measured, of_part), &change->effects[i]);
  }
  MarkSure(order);
  std::stable_sort(change->effects.begin(), change->effects.end(), [](const ChangeEffect& a, const ChangeEffect& b) {
    return std::fabs(a.change) > std::fabs(b.change);
  });
  change->change = all.change;
  change->low = std::max(-1.0, all.change - SquareSum(all.below, assumed));  // no time is below 0
  change->high = all.change + SquareSum(all.above, assumed);
  const double farthest = std::max(all.above + all.change, all.below - all.change);
  if (kAboutTheSame.Holds(farthest)) {
    change->conclusion = ChangeConclusion::kSame;
  } else if (change->low > 0) {
    change->conclusion = ChangeConclusion::kSlower;
  } else {
    change->conclusion = change->high < 0 ? ChangeConclusion::kFaster : ChangeConclusion::kUnclear;
  }
}

}  // namespace crema
