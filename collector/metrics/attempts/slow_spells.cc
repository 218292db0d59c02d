#include "collector/metrics/attempts/slow_spells.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "collector/metrics/attempts/judged_attempts.h"

namespace crema {
namespace {

constexpr int64_t kLeastAttempts = 5;
constexpr double kSlowByItself = 1.25;       // times the prediction: noise of single chunks stays below it as a rule
constexpr double kLeastSlowShare = 0.7;      // of the attempts of a spell
constexpr double kMostOfOne = 0.5;           // of the excess: else it is one straggler
constexpr double kMostOfGroup = 0.8;         // of the predicted time: else the group is slow, not for a while
constexpr double kMostOfScore = 3;           // times the prediction
constexpr double kNotSlow = 1.2;             // times the prediction, outside the spell
constexpr double kNearlyAsMuch = 0.9;        // of the largest excess
constexpr double kLeastExcessOfAll = 0.005;  // of all durations: below it no spell is worth a look

struct Point {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  int64_t duration_ns = 0;
  int64_t predicted_ns = 0;
  uint64_t chunk_id = 0;
  uint32_t attempt = 0;
};

std::vector<Point> JudgedPoints(const std::vector<AttemptRow>& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<DatasetFit>& fits) {
  std::vector<Point> points;
  ForEachJudged(attempts, dataset_of_input, fits, [&](size_t i, int64_t predicted_ns) {
    const AttemptRow& attempt = attempts[i];
    points.push_back({attempt.start_ns, attempt.stop_ns(), attempt.duration_ns, predicted_ns, attempt.chunk_id,
                      static_cast<uint32_t>(i)});
  });
  return points;
}

/// Above 0 where a chunk is slow enough for a spell. One straggler counts as little more than any slow chunk, so that
/// it makes no bridge to what is slow long after.
double SpellScore(const Point& point) {
  const auto predicted = static_cast<double>(point.predicted_ns);
  return std::min(static_cast<double>(point.duration_ns), kMostOfScore * predicted) - kSpellFactor * predicted;
}

struct Sums {
  int64_t attempts = 0;
  int64_t slow = 0;
  double duration = 0;
  double predicted = 0;
  double without_outliers = 0;  ///< of `duration`
  double largest_excess = 0;

  void Add(const Point& point) {
    const auto took = static_cast<double>(point.duration_ns);
    const auto should = static_cast<double>(point.predicted_ns);
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
std::optional<SlowSpell> SpellOfGroup(std::vector<Point>& points) {
  const auto earlier = [](const Point& a, const Point& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.chunk_id < b.chunk_id;
  };
  if (!std::is_sorted(points.begin(), points.end(), earlier)) std::sort(points.begin(), points.end(), earlier);
  double best = 0;
  double sum = 0;
  size_t from = 0;
  size_t best_from = 0;
  size_t best_to = 0;  // one past
  for (size_t i = 0; i < points.size(); ++i) {
    if (sum <= 0) {
      sum = 0;
      from = i;
    }
    sum += SpellScore(points[i]);
    if (sum <= best) continue;
    best = sum;
    best_from = from;
    best_to = i + 1;
  }
  Sums whole;
  Sums inside;
  SlowSpell spell;
  for (size_t i = 0; i < points.size(); ++i) {
    whole.Add(points[i]);
    if (i < best_from || i >= best_to) continue;
    spell.start_ns = inside.attempts == 0 ? points[i].start_ns : spell.start_ns;
    spell.stop_ns = std::max(spell.stop_ns, points[i].stop_ns);
    inside.Add(points[i]);
  }
  if (!IsSpell(inside, whole)) return std::nullopt;
  spell.attempts = inside.attempts;
  spell.duration_seconds = inside.duration / 1e9;
  spell.predicted_seconds = inside.predicted / 1e9;
  return spell;
}

template <class GroupOf>
void AddSpells(SpellOf of, const std::vector<Point>& points, const GroupOf& group_of, std::vector<SlowSpell>& found) {
  std::vector<size_t> counts;
  for (const Point& point : points) {
    const uint32_t group = group_of(point);
    if (group >= counts.size()) counts.resize(group + size_t{1});
    ++counts[group];
  }
  std::vector<std::vector<Point>> by_group(counts.size());
  for (size_t group = 0; group < counts.size(); ++group) by_group[group].reserve(counts[group]);
  for (const Point& point : points) by_group[group_of(point)].push_back(point);
  for (uint32_t group = 0; group < by_group.size(); ++group) {
    std::optional<SlowSpell> spell = SpellOfGroup(by_group[group]);
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

/// Of those that overlap, one.
std::vector<SlowSpell> Choose(std::vector<SlowSpell> found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const SlowSpell& a, const SlowSpell& b) { return a.excess_seconds() > b.excess_seconds(); });
  std::vector<SlowSpell> chosen;
  for (const SlowSpell& largest : found) {
    const auto overlaps = [&](const SlowSpell& other) { return Overlap(largest, other); };
    if (std::any_of(chosen.begin(), chosen.end(), overlaps)) continue;
    const SlowSpell* narrowest = &largest;
    for (const SlowSpell& other : found) {
      if (overlaps(other) && other.of < narrowest->of &&
          other.excess_seconds() >= kNearlyAsMuch * largest.excess_seconds()) {
        narrowest = &other;
      }
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
  const std::vector<Point> points = JudgedPoints(attempts, groups.dataset_of_input, fits);
  double beyond = 0;
  double all = 0;
  for (const Point& point : points) {
    beyond += std::max(0.0, SpellScore(point));
    all += static_cast<double>(point.duration_ns);
  }
  if (beyond <= kLeastExcessOfAll * all) return {};
  std::vector<SlowSpell> found;
  const auto input = [&](const Point& point) { return attempts[point.attempt].input; };
  const auto process = [&](const Point& point) { return attempts[point.attempt].process; };
  const auto file = [&](const Point& point) { return groups.file_of_input[input(point)]; };
  const auto host = [&](const Point& point) { return groups.host_of_process[process(point)]; };
  const auto dataset = [&](const Point& point) { return groups.dataset_of_input[input(point)]; };
  if (groups.has_files) AddSpells(SpellOf::kFile, points, file, found);
  AddSpells(SpellOf::kWorker, points, process, found);
  AddSpells(SpellOf::kHost, points, host, found);
  if (groups.has_datasets) AddSpells(SpellOf::kDataset, points, dataset, found);
  AddSpells(
      SpellOf::kRun, points, [](const Point&) { return uint32_t{0}; }, found);
  return Choose(std::move(found));
}

}  // namespace crema
