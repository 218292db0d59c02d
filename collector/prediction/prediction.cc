#include "collector/prediction/prediction.h"

#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/between_runs.h"
#include "collector/insight/thresholds.h"
#include "collector/measurement/quality_limits.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostMissed = 0.03;
constexpr double kMostMissedSeconds = 0.2;
constexpr double kReplayedChunks = 4e5;  // in all, for one range: a page has seven
constexpr double kSecondsOfAnHour = 3600;
constexpr char kWaitsAreNotKnown[] =
    "It is not known whether chunks wait for one another, for a lock or a server. If they do, more of them at once "
    "take longer than this. crema run --waits shows what they wait for.";
constexpr char kNoTwoAtOnce[] =
    "The run never had two chunks at once: whether several would wait for one another, for a lock or a server, cannot "
    "be "
    "seen in it. Run it with two.";
constexpr size_t kMostReplayedWhole = 200'000;  // chunks: for fewer a range takes a second

std::string WhyRefused(const ObservedRun& run, double replayed) {
  const double missed = std::abs(replayed - run.wall_time);
  if (missed <= kMostMissedSeconds || missed <= kMostMissed * run.wall_time) return "";
  return fmt::format(
      "the unchanged run takes {} in the replay, but took {}: its chunks and the gaps between them do not explain its "
      "waiting",
      HumanDuration(replayed), HumanDuration(run.wall_time));
}

// One replay's figures, without ranges.
PredictedRow FiguresOf(const ChangedRun& changed, const ReplayResult& result) {
  PredictedRow row;
  row.wall_time.value = result.wall_time;
  row.core_seconds.value = changed.CoreSeconds(result.wall_time);
  row.cpu_known = changed.cpu_known;
  row.cpu.value = changed.cpu_known ? std::min(changed.lane_cpu_seconds, result.busy) : result.busy;
  row.waiting.value = result.busy - row.cpu.value;
  row.free.value = std::max(0.0, result.lane_seconds - result.busy);
  if (changed.cpu_known) row.efficiency.value = std::min(1.0, changed.cpu_seconds / row.core_seconds.value);
  return row;
}

constexpr PredictedValue PredictedRow::*kValues[] = {&PredictedRow::wall_time, &PredictedRow::core_seconds,
                                                     &PredictedRow::cpu,       &PredictedRow::waiting,
                                                     &PredictedRow::free,      &PredictedRow::efficiency};

// From the draws, and `more` to either side.
void SetRanges(const std::vector<PredictedRow>& draws, double more, PredictedRow* row) {
  for (const auto value_of : kValues) {
    std::vector<double> values;
    for (const PredictedRow& draw : draws) values.push_back((draw.*value_of).value);
    std::sort(values.begin(), values.end());
    const auto at = [&values](double p) {
      return values[static_cast<size_t>(std::lround(p * static_cast<double>(values.size() - 1)))];
    };
    PredictedValue& value = row->*value_of;
    value.low = std::min(value.value, at(0.05)) / more;
    value.high = std::max(value.value, at(0.95)) * more;
  }
}

PredictedRow RowOf(const ObservedRun& run, const RunChange& change, double missed) {
  PredictedRow none;
  none.change = change.Text();
  absl::StatusOr<ChangedRun> changed = Apply(run, change, 0);
  if (!changed.ok()) {
    none.why_not = std::string(changed.status().message());
    return none;
  }
  const ReplayResult result = Replay(changed->setup, 1);
  if (!result.finished) {
    none.why_not = "all workers had left before the work was done";
    return none;
  }
  PredictedRow row = FiguresOf(*changed, result);
  row.change = none.change;
  std::vector<PredictedRow> draws;
  const size_t chunks = changed->setup.chunks.size();
  if (chunks > kMostReplayedWhole) {
    for (const ReplayResult& late : ReplayLateDraws(run, change, kReplayedChunks, &*changed)) {
      if (!late.finished) continue;
      draws.push_back(FiguresOf(*changed, late));
      // The chunks' CPU time was not drawn: it varies as they do.
      PredictedRow& draw = draws.back();
      const double scale = row.waiting.value + row.cpu.value > 0 ? late.busy / (row.waiting.value + row.cpu.value) : 1;
      draw.cpu.value = row.cpu.value * scale;
      draw.waiting.value = row.waiting.value * scale;
      draw.efficiency.value = row.efficiency.value * scale * row.core_seconds.value / draw.core_seconds.value;
    }
  }
  const bool are_late = !draws.empty();
  const auto replays = static_cast<uint64_t>(
      std::clamp<double>(kReplayedChunks / static_cast<double>(chunks), kFewestReplays, kMostReplays));
  for (uint64_t seed = 2; !are_late && seed < replays + 2; ++seed) {
    const absl::StatusOr<ChangedRun> drawn = Apply(run, change, seed);
    if (!drawn.ok()) continue;
    const ReplayResult replayed = Replay(drawn->setup, seed);
    if (replayed.finished) draws.push_back(FiguresOf(*drawn, replayed));
  }
  SetRanges(draws, 1 + kBetweenRuns + missed, &row);
  return row;
}

// How much chunks vary is seen in those that have others of their dataset beside them.
size_t ChunksThatVary(const ObservedRun& run) {
  std::vector<size_t> of_dataset(run.datasets.size());
  for (const ObservedChunk& chunk : run.chunks) ++of_dataset[chunk.dataset];
  size_t count = 0;
  for (const size_t chunks : of_dataset) count += chunks > 1 ? chunks : 0;
  return count;
}

}  // namespace

Prediction Predict(const ObservedRun& run, const std::vector<RunChange>& changes) {
  if (run.events.count > 0) return PredictEvents(run, changes);
  Prediction prediction;
  prediction.measured = run.wall_time;
  prediction.refused = run.why_not;
  if (prediction.refused.empty() && run.coverage < kFullCoverage) {
    prediction.refused = fmt::format("only {} of its chunks have a record of their own", HumanPercent(run.coverage));
  }
  if (prediction.refused.empty() && ChunksThatVary(run) < kFewestChunks) {
    prediction.refused =
        fmt::format("it has only {}, and at least {} of a dataset are needed to show how much chunks vary",
                    Counted(run.chunks.size(), "chunk", "chunks"), kFewestChunks);
  }
  if (!prediction.refused.empty()) return prediction;
  const absl::StatusOr<ChangedRun> same = Apply(run, {}, 0);
  prediction.replayed = Replay(same->setup, 1).wall_time;
  prediction.refused = WhyRefused(run, prediction.replayed);
  if (!prediction.refused.empty()) return prediction;
  const double missed = run.wall_time > 0 ? std::abs(prediction.replayed / run.wall_time - 1) : 0;
  prediction.blocked_slope = run.blocked.slope;
  for (const RunChange& change : changes) {
    PredictedRow& row = prediction.rows.emplace_back(RowOf(run, change, missed));
    if (change.kind == ChangeKind::kWithoutWaiting && row.why_not.empty() &&
        row.wall_time.value > prediction.replayed * (1 + kBetweenRuns)) {
      row.why_not = "how its lanes shared the cores is not known well enough";
    }
    if (!prediction.rows.back().why_not.empty() || !HasMoreLanes(run, change)) continue;
    if (run.lanes() == 1) {
      prediction.not_known = kNoTwoAtOnce;
    } else if (!run.common_waits.is_known && !(run.blocked.slope > 0))
      prediction.not_known = kWaitsAreNotKnown;
  }
  return prediction;
}

Json PredictionJson(const Prediction& prediction) {
  Json rows = Json::array();
  for (const PredictedRow& row : prediction.rows) {
    const bool reported = row.why_not.empty();
    const auto number = [reported](double value) { return reported ? Json(value) : Json(); };
    Json ranges = Json::object(), budget = Json::array();
    const auto range = [&ranges](const char* key, const PredictedValue& value) {
      ranges[key] = {{"low", value.low}, {"high", value.high}};
    };
    const auto part = [&budget](const char* name, const PredictedValue& value) {
      budget.push_back({{"part", name}, {"seconds", value.value}, {"low", value.low}, {"high", value.high}});
    };
    if (reported) {
      range("core_seconds", row.core_seconds);
      if (row.cpu_known) range("efficiency", row.efficiency);
      part(row.cpu_known ? "cpu" : "chunks", row.cpu);
      if (row.cpu_known) part("waiting", row.waiting);
      part("free", row.free);
    }
    const double lanes = row.cpu.value + row.waiting.value + row.free.value;
    rows.push_back({{"change", row.change},
                    {"wall_time", number(row.wall_time.value)},
                    {"low", number(row.wall_time.low)},
                    {"high", number(row.wall_time.high)},
                    {"core_seconds", number(row.core_seconds.value)},
                    {"core_hours", number(row.core_seconds.value / kSecondsOfAnHour)},
                    {"busy_share", number(lanes > 0 ? 1 - row.free.value / lanes : 0)},
                    {"efficiency", row.cpu_known ? number(row.efficiency.value) : Json()},
                    {"budget", std::move(budget)},
                    {"ranges", std::move(ranges)},
                    {"limited_by", row.limited_by.empty() ? Json() : Json(row.limited_by)},
                    {"not_told", reported ? Json() : Json(row.why_not)}});
  }
  const bool replayed = prediction.replayed > 0;
  return {{"measured", {{"wall_time", prediction.measured}}},
          {"replayed", {{"wall_time", replayed ? Json(prediction.replayed) : Json()}}},
          {"predicted", std::move(rows)},
          {"blocked_slope", prediction.blocked_slope > 0 ? Json(prediction.blocked_slope) : Json()},
          {"basis", prediction.basis.empty() ? Json() : Json(prediction.basis)},
          {"not_known", prediction.not_known.empty() ? Json() : Json(prediction.not_known)},
          {"refused", prediction.refused.empty() ? Json() : Json(prediction.refused)}};
}

std::string LargestSection(const Measurement& measurement) {
  std::string largest;
  double most = 0;
  for (const SectionRow& row : measurement.sections) {
    const double self = row.self.value_or(0);
    if (row.path == "(other)" || row.helper.value_or(false) || self <= most) continue;
    most = self;
    largest = row.path;
  }
  return largest;
}

std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section) {
  std::vector<RunChange> changes;
  const double cores = run.cores();
  if (cores >= 2) changes.push_back({ChangeKind::kCores, cores / 2, ""});
  changes.push_back({ChangeKind::kCores, 2 * cores, ""});
  changes.push_back({ChangeKind::kCores, 4 * cores, ""});
  if (run.events.count > 0) {
    changes.push_back({ChangeKind::kStreams, std::ceil(2 * run.events.streams), ""});
    return changes;
  }
  const bool waits = kMostOfIt.Holds(run.section_on_gpu.waiting);
  if (!section.empty()) changes.push_back({waits ? ChangeKind::kFasterGpu : ChangeKind::kFaster, 2, section});
  changes.push_back({ChangeKind::kWithoutWaiting, 0, ""});
  changes.push_back({ChangeKind::kLongestFirst, 0, ""});
  if (run.workers.size() > 1) changes.push_back({ChangeKind::kAllFromStart, 0, ""});
  return changes;
}

void SortBestFirst(nlohmann::ordered_json* prediction) {
  auto rows = ListField(*prediction, "predicted");
  std::stable_sort(rows.begin(), rows.end(), [](const nlohmann::ordered_json& a, const nlohmann::ordered_json& b) {
    constexpr double kLast = std::numeric_limits<double>::infinity();
    return NumberField(a, "wall_time").value_or(kLast) < NumberField(b, "wall_time").value_or(kLast);
  });
  (*prediction)["predicted"] = std::move(rows);
}

}  // namespace crema
