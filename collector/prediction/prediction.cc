#include "collector/prediction/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/appearance/human_numbers.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostMissed = 0.03;
constexpr double kMostMissedSeconds = 0.2;
constexpr double kLeastCoverage = 0.99;
// Two runs of the same differ by so much on a machine that nobody else uses.
constexpr double kBetweenRuns = 0.02;
constexpr double kReplayedChunks = 2e6;  // in all, for one range
constexpr uint64_t kFewestReplays = 8, kMostReplays = 200;

std::string WhyRefused(const ObservedRun& run, double replayed) {
  const double missed = std::abs(replayed - run.wall_time);
  if (missed <= kMostMissedSeconds || missed <= kMostMissed * run.wall_time) return "";
  return fmt::format(
      "the replay of the run as it was takes {}, the run took {}: what made it wait is not in its chunks and their "
      "gaps",
      HumanDuration(replayed), HumanDuration(run.wall_time));
}

PredictedRow RowOf(const ObservedRun& run, const RunChange& change, double missed) {
  PredictedRow row;
  row.change = change.Text();
  const absl::StatusOr<ChangedRun> changed = Apply(run, change, 0);
  if (!changed.ok()) {
    row.why_not = std::string(changed.status().message());
    return row;
  }
  const ReplayResult result = Replay(changed->setup, 1);
  if (!result.finished) {
    row.why_not = "all workers had left before the work was done";
    return row;
  }
  row.wall_time = result.wall_time;
  row.core_seconds = result.lane_seconds * changed->cores / static_cast<double>(changed->setup.lanes.size());
  row.busy_share = result.lane_seconds > 0 ? result.busy / result.lane_seconds : 0;
  std::vector<double> times;
  const double chunks = static_cast<double>(changed->setup.chunks.size());
  const auto replays =
      static_cast<uint64_t>(std::clamp<double>(kReplayedChunks / chunks, kFewestReplays, kMostReplays));
  for (uint64_t seed = 2; seed < replays + 2; ++seed) {
    const absl::StatusOr<ChangedRun> drawn = Apply(run, change, seed);
    if (drawn.ok()) times.push_back(Replay(drawn->setup, seed).wall_time);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](double p) {
    return times[static_cast<size_t>(std::lround(p * static_cast<double>(times.size() - 1)))];
  };
  const double more = 1 + kBetweenRuns + missed;
  row.low = std::min(row.wall_time, at(0.05)) / more;
  row.high = std::max(row.wall_time, at(0.95)) * more;
  return row;
}

}  // namespace

Prediction Predict(const ObservedRun& run, const std::vector<RunChange>& changes) {
  Prediction prediction;
  prediction.measured = run.wall_time;
  prediction.refused = run.why_not;
  if (prediction.refused.empty() && run.coverage < kLeastCoverage) {
    prediction.refused = fmt::format("only {} of its chunks have a record of their own", HumanPercent(run.coverage));
  }
  if (!prediction.refused.empty()) return prediction;
  const absl::StatusOr<ChangedRun> same = Apply(run, {}, 0);
  prediction.replayed = Replay(same->setup, 1).wall_time;
  prediction.refused = WhyRefused(run, prediction.replayed);
  if (!prediction.refused.empty()) return prediction;
  const double missed = run.wall_time > 0 ? std::abs(prediction.replayed / run.wall_time - 1) : 0;
  for (const RunChange& change : changes) prediction.rows.push_back(RowOf(run, change, missed));
  return prediction;
}

Json PredictionJson(const Prediction& prediction) {
  Json rows = Json::array();
  for (const PredictedRow& row : prediction.rows) {
    const bool told = row.why_not.empty();
    const auto number = [told](double value) { return told ? Json(value) : Json(); };
    rows.push_back({{"change", row.change},
                    {"wall_time", number(row.wall_time)},
                    {"low", number(row.low)},
                    {"high", number(row.high)},
                    {"core_seconds", number(row.core_seconds)},
                    {"busy_share", number(row.busy_share)},
                    {"not_told", told ? Json() : Json(row.why_not)}});
  }
  const bool replayed = prediction.replayed > 0;
  return {{"measured", {{"wall_time", prediction.measured}}},
          {"replayed", {{"wall_time", replayed ? Json(prediction.replayed) : Json()}}},
          {"predicted", std::move(rows)},
          {"refused", prediction.refused.empty() ? Json() : Json(prediction.refused)}};
}

}  // namespace crema
