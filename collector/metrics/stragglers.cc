#include "collector/metrics/stragglers.h"

#include <algorithm>
#include <array>
#include <map>

#include "collector/metrics/attempt_interval.h"
#include "collector/metrics/owner_time.h"
#include "collector/metrics/quantile_rank.h"

namespace crema {
namespace {

constexpr size_t kLeastAttempts = 8;        // fewer have no quartiles worth the name
constexpr double kInterquartileRanges = 3;  // Tukey's "far out" fence
constexpr double kLeastOfPrediction = 2;    // a small spread alone makes nobody wait
constexpr double kOversizedMedians = 3;

using Indices = std::vector<size_t>;
/// In the order of `StragglerReason`.
using Parts = std::array<double, 4>;

double Seconds(const AttemptRow& attempt) { return static_cast<double>(attempt.duration_ns) / 1e9; }

/// An unknown number of events only gets here where all are unknown; then size explains nothing.
double Events(const AttemptRow& attempt) {
  return attempt.events == AttemptRow::kUnknown ? 0 : static_cast<double>(attempt.events);
}

Parts PartsInSeconds(const OwnerTime& owner) {
  return {static_cast<double>(owner.cpu_ns) / 1e9, static_cast<double>(owner.cpu_wait_ns) / 1e9,
          static_cast<double>(owner.blocked_ns) / 1e9, static_cast<double>(owner.joined_ns) / 1e9};
}

/// The median share of each part in a dataset's durations.
Parts MedianShares(const std::vector<AttemptRow>& attempts, const std::vector<HelperTimes>& helpers,
                   const Indices& judged) {
  std::array<std::vector<double>, 4> shares;
  for (size_t i : judged) {
    const std::optional<OwnerTime> owner = SplitOwnerTime(attempts[i], helpers);
    if (!owner.has_value() || attempts[i].duration_ns == 0) continue;
    const Parts parts = PartsInSeconds(*owner);
    for (size_t part = 0; part < parts.size(); ++part) shares[part].push_back(parts[part] / Seconds(attempts[i]));
  }
  Parts medians = {};
  for (size_t part = 0; part < medians.size(); ++part) {
    if (!shares[part].empty()) medians[part] = ExactQuantile(shares[part], 0.5);
  }
  return medians;
}

StragglerReason ReasonOf(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers, const Parts& usual_shares,
                         double predicted_seconds) {
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
  if (!owner.has_value()) return StragglerReason::kUnknown;
  Parts excess = PartsInSeconds(*owner);
  for (size_t part = 0; part < excess.size(); ++part) excess[part] -= usual_shares[part] * predicted_seconds;
  const auto largest = std::max_element(excess.begin(), excess.end()) - excess.begin();
  const auto reason = static_cast<StragglerReason>(largest);
  // Without the run delay, "blocked" may as well be waiting for a CPU.
  if (reason == StragglerReason::kBlocked && !owner->wait_known) return StragglerReason::kUnknown;
  return reason;
}

/// The dataset's `ok` attempts that can be judged: those with events, or all where none has.
Indices Judged(const std::vector<AttemptRow>& attempts, const Indices& ok_attempts) {
  Indices with_events;
  for (size_t i : ok_attempts) {
    if (attempts[i].events != AttemptRow::kUnknown) with_events.push_back(i);
  }
  return with_events.empty() ? ok_attempts : with_events;
}

void JudgeDurations(const std::vector<AttemptRow>& attempts, const std::vector<HelperTimes>& helpers,
                    const Indices& judged, DatasetFit& dataset, StragglerFindings& findings) {
  std::vector<ChunkPoint> points;
  for (size_t i : judged) points.push_back({Events(attempts[i]), Seconds(attempts[i])});
  dataset.fit = FitDuration(points);
  if (judged.size() < kLeastAttempts) return;
  findings.straggler_chunks = findings.straggler_chunks.value_or(0);
  std::vector<double> residuals;
  for (const ChunkPoint& point : points) residuals.push_back(point.seconds - dataset.fit.Predict(point.events));
  std::vector<double> ordered = residuals;
  const double first_quartile = ExactQuantile(ordered, 0.25);
  const double third_quartile = ExactQuantile(ordered, 0.75);
  const double fence = third_quartile + kInterquartileRanges * (third_quartile - first_quartile);
  std::optional<Parts> usual_shares;  // wanted for stragglers only
  for (size_t k = 0; k < judged.size(); ++k) {
    const double predicted = dataset.fit.Predict(points[k].events);
    if (residuals[k] <= fence || points[k].seconds <= kLeastOfPrediction * predicted) continue;
    ++dataset.stragglers;
    ++*findings.straggler_chunks;
    if (!usual_shares.has_value()) usual_shares = MedianShares(attempts, helpers, judged);
    const StragglerReason reason = ReasonOf(attempts[judged[k]], helpers, *usual_shares, predicted);
    findings.stragglers.push_back({judged[k], predicted, reason});
  }
}

void JudgeSizes(const std::vector<AttemptRow>& attempts, const Indices& ok_attempts, DatasetFit& dataset,
                StragglerFindings& findings) {
  std::vector<int64_t> sizes;
  for (size_t i : ok_attempts) {
    if (attempts[i].is_result && attempts[i].events != AttemptRow::kUnknown) sizes.push_back(attempts[i].events);
  }
  if (sizes.empty()) return;
  const double limit = kOversizedMedians * static_cast<double>(ExactQuantile(sizes, 0.5));
  dataset.oversized = std::count_if(sizes.begin(), sizes.end(),
                                    [limit](int64_t events) { return static_cast<double>(events) > limit; });
  findings.oversized_chunks = findings.oversized_chunks.value_or(0) + dataset.oversized;
}

}  // namespace

std::string_view ToString(StragglerReason reason) {
  switch (reason) {
    case StragglerReason::kCpu:
      return "cpu";
    case StragglerReason::kCpuWait:
      return "cpu_wait";
    case StragglerReason::kBlocked:
      return "blocked";
    case StragglerReason::kJoined:
      return "joined";
    case StragglerReason::kUnknown:
      break;
  }
  return "unknown";
}

StragglerFindings FindStragglers(const std::vector<AttemptRow>& attempts, const std::vector<HelperTimes>& helpers,
                                 const std::vector<uint32_t>& dataset_of_input) {
  std::map<uint32_t, Indices> ok_attempts;  // by dataset
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].status != AttemptStatus::kOk || attempts[i].duration_ns < 0) continue;
    ok_attempts[dataset_of_input[attempts[i].input]].push_back(i);
  }
  StragglerFindings findings;
  for (const auto& [dataset, indices] : ok_attempts) {
    DatasetFit fit;
    fit.dataset = dataset;
    JudgeDurations(attempts, helpers, Judged(attempts, indices), fit, findings);
    JudgeSizes(attempts, indices, fit, findings);
    findings.datasets.push_back(fit);
  }
  std::sort(findings.stragglers.begin(), findings.stragglers.end(), [&](const Straggler& a, const Straggler& b) {
    const AttemptRow& left = attempts[a.attempt];
    const AttemptRow& right = attempts[b.attempt];
    const double left_excess = Seconds(left) - a.predicted_seconds;
    const double right_excess = Seconds(right) - b.predicted_seconds;
    if (left_excess != right_excess) return left_excess > right_excess;
    // Ties by what the attempts are, not by where they stand.
    if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
    return left.chunk_id < right.chunk_id;
  });
  return findings;
}

}  // namespace crema
