#include "collector/metrics/attempts/slow_spells.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstddef>
#include <utility>

#include "collector/metrics/attempts/judged_attempts.h"
#include "collector/metrics/attempts/spell_membership.h"
#include "collector/metrics/memory/large_pages.h"

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
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t predicted_ns = 0;
  uint32_t attempt = 0;
  uint32_t process = 0;
  uint32_t input = 0;
};

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

/// What is known of one group as its chunks are gone through by start: the stretch that exceeds the factor by most in
/// sum.
struct Group {
  Sums whole;
  double best = 0;
  double sum = 0;
  size_t from = 0;
  size_t best_from = 0;  // places among all points
  size_t best_to = 0;    // one past
  SlowSpell spell;       // of the stretch
  Sums inside;

  void Add(size_t place, const Point& point) {
    whole.Add(point.duration_ns, point.predicted_ns);
    if (sum <= 0) {
      sum = 0;
      from = place;
    }
    sum += SpellScore(point.duration_ns, point.predicted_ns);
    if (sum <= best) return;
    best = sum;
    best_from = from;
    best_to = place + 1;
  }
  void AddInside(const Point& point, int64_t stop_ns) {
    if (inside.attempts == 0) spell.start_ns = point.start_ns;
    spell.stop_ns = std::max(spell.stop_ns, stop_ns);
    inside.Add(point.duration_ns, point.predicted_ns);
  }
};

/// All groups of one kind.
class GroupsOfKind {
 public:
  GroupsOfKind(SpellOf of, const SpellGroups& of_index) : of_(of), of_index_(of_index) {}

  /// Each point, by start.
  void Add(size_t place, const Point& point) {
    const uint32_t group = GroupOf(of_, point, of_index_);
    if (group >= groups_.size()) groups_.resize(group + size_t{1});
    groups_[group].Add(place, point);
  }
  /// The same points again; `stop_ns()` is called where it matters.
  template <class StopOf>
  void AddInside(size_t place, const Point& point, const StopOf& stop_ns) {
    Group& group = groups_[GroupOf(of_, point, of_index_)];
    if (place >= group.best_from && place < group.best_to) group.AddInside(point, stop_ns());
  }
  void AddSpells(std::vector<SlowSpell>* found) {
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      Group& group = groups_[i];
      if (group.best <= 0 || !IsSpell(group.inside, group.whole)) continue;
      group.spell.of = of_;
      group.spell.group = i;
      group.spell.attempts = group.inside.attempts;
      group.spell.duration_seconds = group.inside.duration / 1e9;
      group.spell.predicted_seconds = group.inside.predicted / 1e9;
      found->push_back(group.spell);
    }
  }

 private:
  SpellOf of_;
  const SpellGroups& of_index_;
  std::vector<Group> groups_;
};

std::vector<GroupsOfKind> KindsOf(const SpellGroups& groups) {
  std::vector<GroupsOfKind> kinds;
  if (groups.has_files) kinds.emplace_back(SpellOf::kFile, groups);
  kinds.emplace_back(SpellOf::kWorker, groups);
  kinds.emplace_back(SpellOf::kHost, groups);
  if (groups.has_datasets) kinds.emplace_back(SpellOf::kDataset, groups);
  kinds.emplace_back(SpellOf::kRun, groups);
  return kinds;
}

/// `for_each(visit)` calls `visit(place, point, stop_ns)` for each point, by start.
template <class ForEach>
std::vector<SlowSpell> FindSpells(const SpellGroups& groups, const ForEach& for_each) {
  std::vector<GroupsOfKind> kinds = KindsOf(groups);
  for_each([&kinds](size_t place, const Point& point, const auto& /*stop_ns*/) {
    for (GroupsOfKind& kind : kinds) kind.Add(place, point);
  });
  for_each([&kinds](size_t place, const Point& point, const auto& stop_ns) {
    for (GroupsOfKind& kind : kinds) kind.AddInside(place, point, stop_ns);
  });
  std::vector<SlowSpell> found;
  for (GroupsOfKind& kind : kinds) kind.AddSpells(&found);
  return found;
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

std::vector<SlowSpell> FindSlowSpells(const AttemptRows& attempts, const SpellGroups& groups,
                                      const std::vector<DatasetFit>& fits) {
  double beyond = 0;
  double all = 0;
  size_t judged = 0;
  bool is_by_start = true;
  std::pair<int64_t, uint64_t> recent;
  ForEachJudged(attempts, groups.dataset_of_input, fits, [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
    const auto took = static_cast<double>(attempt.duration_ns);
    const auto should = static_cast<double>(predicted_ns);
    if (took >= kSlowByItself * should) beyond += took - should;
    all += took;
    const std::pair place(attempt.start_ns, attempt.chunk_id);
    is_by_start = is_by_start && (judged == 0 || !(place < recent));
    recent = place;
    ++judged;
  });
  if (beyond <= kLeastExcessOfAll * all) return {};  // as in most runs: nothing was kept for it
  const auto point_of = [](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
    return Point{attempt.start_ns,         attempt.duration_ns, predicted_ns,
                 static_cast<uint32_t>(i), attempt.process,     attempt.input};
  };
  if (is_by_start) {  // as those of one thread
    return Choose(FindSpells(groups, [&](const auto& visit) {
      size_t place = 0;
      ForEachJudged(attempts, groups.dataset_of_input, fits,
                    [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
                      visit(place++, point_of(i, attempt, predicted_ns), [&attempt] { return attempt.stop_ns(); });
                    });
    }));
  }
  std::vector<Point> points;
  ReserveLargePages(points, judged);
  ForEachJudged(attempts, groups.dataset_of_input, fits,
                [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
                  points.push_back(point_of(i, attempt, predicted_ns));
                });
  boost::sort::pdqsort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return attempts[a.attempt].chunk_id < attempts[b.attempt].chunk_id;
  });
  return Choose(FindSpells(groups, [&](const auto& visit) {
    for (size_t i = 0; i < points.size(); ++i) {
      visit(i, points[i], [&] { return attempts[points[i].attempt].stop_ns(); });
    }
  }));
}

}  // namespace crema
