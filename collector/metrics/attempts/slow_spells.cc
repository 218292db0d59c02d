#include "collector/metrics/attempts/slow_spells.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "collector/metrics/attempts/judged_attempts.h"

namespace crema {
namespace {

constexpr int64_t kLeastAttempts = 5;
constexpr double kSlowByItself = 1.25;   // times the prediction: noise of single chunks stays below it as a rule
constexpr double kLeastSlowShare = 0.7;  // of the attempts of a spell
constexpr double kMostOfOne = 0.5;       // of the excess: else it is one straggler
constexpr double kMostOfGroup = 0.8;     // of the predicted time: else the group is slow, not for a while
constexpr double kMostOfScore = 3;       // times the prediction
constexpr double kNotSlow = 1.2;         // times the prediction, outside the spell
constexpr double kNearlyAsMuch = 0.9;    // of the largest excess
constexpr size_t kMostCompared = 1000;
constexpr double kLeastExcessOfAll = 0.005;  // of all durations: below it no spell is worth a look

/// An attempt that a fit judges.
struct Point {
  uint32_t attempt = 0;
  int64_t predicted_ns = 0;
};

using Attempts = std::vector<AttemptRow>;

/// Above 0 where a chunk is slow enough for a spell. One straggler counts as little more than any slow chunk, so that
/// it makes no bridge to what is slow long after.
double SpellScore(int64_t duration_ns, int64_t predicted_ns) {
  const auto predicted = static_cast<double>(predicted_ns);
  return std::min(static_cast<double>(duration_ns), kMostOfScore * predicted) - kSpellFactor * predicted;
}

struct Sums {
  int64_t attempts = 0;
  int64_t slow = 0;
  double duration = 0;
  double predicted = 0;
  double without_outliers = 0;  ///< of `duration`
  double largest_excess = 0;

  void Add(int64_t duration_ns, int64_t predicted_ns) {
    const auto took = static_cast<double>(duration_ns);
    const auto should = static_cast<double>(predicted_ns);
    ++attempts;
    slow += took >= kSlowByItself * should;
    duration += took;
    predicted += should;
    without_outliers += std::min(took, kMostOfScore * should);
    largest_excess = std::max(largest_excess, took - should);
  }
  double excess() const { return duration - predicted; }
};

bool IsSpell(const Sums& inside, const Sums& whole) {
  if (inside.attempts < kLeastAttempts || inside.excess() <= 0) return false;
  if (static_cast<double>(inside.slow) < kLeastSlowShare * static_cast<double>(inside.attempts)) return false;
  if (inside.largest_excess > kMostOfOne * inside.excess()) return false;
  if (inside.predicted > kMostOfGroup * whole.predicted) return false;
  return whole.without_outliers - inside.without_outliers <= kNotSlow * (whole.predicted - inside.predicted);
}

/// The stretch of one group, by start, whose chunks exceed the factor by most in sum.
std::optional<SlowSpell> SpellOfGroup(const Attempts& attempts, std::vector<Point>& points) {
  const auto earlier = [&](const Point& one, const Point& other) {
    const AttemptRow& a = attempts[one.attempt];
    const AttemptRow& b = attempts[other.attempt];
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.chunk_id < b.chunk_id;
  };
  if (!std::is_sorted(points.begin(), points.end(), earlier)) std::sort(points.begin(), points.end(), earlier);
  double best = 0;
  double sum = 0;
  size_t from = 0;
  size_t best_from = 0;
  size_t best_to = 0;  // one past
  Sums whole;
  for (size_t i = 0; i < points.size(); ++i) {
    const int64_t duration_ns = attempts[points[i].attempt].duration_ns;
    whole.Add(duration_ns, points[i].predicted_ns);
    if (sum <= 0) {
      sum = 0;
      from = i;
    }
    sum += SpellScore(duration_ns, points[i].predicted_ns);
    if (sum <= best) continue;
    best = sum;
    best_from = from;
    best_to = i + 1;
  }
  if (best <= 0) return std::nullopt;
  Sums inside;
  SlowSpell spell;
  spell.start_ns = attempts[points[best_from].attempt].start_ns;
  for (size_t i = best_from; i < best_to; ++i) {
    const AttemptRow& attempt = attempts[points[i].attempt];
    spell.stop_ns = std::max(spell.stop_ns, attempt.stop_ns());
    inside.Add(attempt.duration_ns, points[i].predicted_ns);
  }
  if (!IsSpell(inside, whole)) return std::nullopt;
  spell.attempts = inside.attempts;
  spell.duration_seconds = inside.duration / 1e9;
  spell.predicted_seconds = inside.predicted / 1e9;
  return spell;
}

template <class GroupOf>
void AddSpells(SpellOf of, const Attempts& attempts, const std::vector<Point>& points, const GroupOf& group_of,
               std::vector<SlowSpell>& found) {
  std::vector<std::vector<Point>> by_group;
  for (const Point& point : points) {
    const uint32_t group = group_of(attempts[point.attempt]);
    if (group >= by_group.size()) by_group.resize(group + size_t{1});
    by_group[group].push_back(point);
  }
  for (uint32_t group = 0; group < by_group.size(); ++group) {
    std::optional<SlowSpell> spell = SpellOfGroup(attempts, by_group[group]);
    if (!spell.has_value()) continue;
    spell->of = of;
    spell->group = group;
    found.push_back(*spell);
  }
}

bool Overlap(const SlowSpell& a, const SlowSpell& b) {
  const int64_t common = std::min(a.stop_ns, b.stop_ns) - std::max(a.start_ns, b.start_ns);
  return 2 * common > std::min(a.stop_ns - a.start_ns, b.stop_ns - b.start_ns);
}

/// Of those that overlap, one. Each is compared with each: only the largest are.
std::vector<SlowSpell> Choose(std::vector<SlowSpell> found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const SlowSpell& a, const SlowSpell& b) { return a.excess_seconds() > b.excess_seconds(); });
  if (found.size() > kMostCompared) found.resize(kMostCompared);
  std::vector<SlowSpell> chosen;
  const auto is_free = [&chosen](const SlowSpell& spell) {
    return std::none_of(chosen.begin(), chosen.end(), [&](const SlowSpell& other) { return Overlap(spell, other); });
  };
  for (const SlowSpell& largest : found) {
    if (!is_free(largest)) continue;
    const SlowSpell* narrowest = &largest;
    for (const SlowSpell& other : found) {
      const bool is_as_much = other.excess_seconds() >= kNearlyAsMuch * largest.excess_seconds();
      if (other.of < narrowest->of && is_as_much && Overlap(largest, other) && is_free(other)) narrowest = &other;
    }
    chosen.push_back(*narrowest);
  }
  return chosen;
}

}  // namespace

std::string_view ToString(SpellOf of) {
  switch (of) {
    case SpellOf::kFile:
      return "file";
    case SpellOf::kWorker:
      return "worker";
    case SpellOf::kHost:
      return "host";
    case SpellOf::kDataset:
      return "dataset";
    case SpellOf::kRun:
      break;
  }
  return "run";
}

std::vector<SlowSpell> FindSlowSpells(const std::vector<AttemptRow>& attempts, const SpellGroups& groups,
                                      const std::vector<DatasetFit>& fits) {
  double beyond = 0;
  double all = 0;
  size_t judged = 0;
  ForEachJudged(attempts, groups.dataset_of_input, fits, [&](size_t i, int64_t predicted_ns) {
    const auto took = static_cast<double>(attempts[i].duration_ns);
    const auto should = static_cast<double>(predicted_ns);
    if (took >= kSlowByItself * should) beyond += took - should;
    all += static_cast<double>(attempts[i].duration_ns);
    ++judged;
  });
  if (beyond <= kLeastExcessOfAll * all) return {};  // as in most runs: nothing was kept for it
  std::vector<Point> points;
  points.reserve(judged);
  ForEachJudged(attempts, groups.dataset_of_input, fits, [&](size_t i, int64_t predicted_ns) {
    points.push_back({static_cast<uint32_t>(i), predicted_ns});
  });
  std::vector<SlowSpell> found;
  const auto add = [&](SpellOf of, const auto& group_of) { AddSpells(of, attempts, points, group_of, found); };
  if (groups.has_files) add(SpellOf::kFile, [&](const AttemptRow& row) { return groups.file_of_input[row.input]; });
  add(SpellOf::kWorker, [](const AttemptRow& row) { return row.process; });
  add(SpellOf::kHost, [&](const AttemptRow& row) { return groups.host_of_process[row.process]; });
  if (groups.has_datasets) {
    add(SpellOf::kDataset, [&](const AttemptRow& row) { return groups.dataset_of_input[row.input]; });
  }
  add(SpellOf::kRun, [](const AttemptRow&) { return uint32_t{0}; });
  return Choose(std::move(found));
}

}  // namespace crema
