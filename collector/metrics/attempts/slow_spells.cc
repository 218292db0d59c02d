#include "collector/metrics/attempts/slow_spells.h"

#include <algorithm>
#include <array>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <optional>
#include <utility>

#include "collector/metrics/memory/row_memory.h"

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

/// One of those that overlap. Each is compared with each: only the largest are.
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

/// Nanoseconds, in the order of `StragglerReason`.
using Parts = std::array<double, 4>;

struct PartSums {
  Parts parts = {};
  double whole = 0;

  void Add(const OwnerTime& owner) {
    const std::array<int64_t, 4> of_owner = {owner.cpu_ns, owner.cpu_wait_ns, owner.blocked_ns, owner.joined_ns};
    for (size_t part = 0; part < parts.size(); ++part) {
      parts[part] += static_cast<double>(of_owner[part]);
      whole += static_cast<double>(of_owner[part]);
    }
  }
};

/// What one spell's chunks took, and what chunks of each dataset took elsewhere.
struct Evidence {
  PartSums inside;
  bool is_wait_known = true;
  std::vector<double> predicted_ns;  ///< of those inside, by dataset
  std::vector<PartSums> elsewhere;   ///< by dataset

  explicit Evidence(size_t datasets) : predicted_ns(datasets), elsewhere(datasets) {}
};

StragglerReason ReasonOf(const Evidence& evidence) {
  if (evidence.inside.whole <= 0) return StragglerReason::kUnknown;
  Parts excess = evidence.inside.parts;
  for (size_t dataset = 0; dataset < evidence.elsewhere.size(); ++dataset) {
    const PartSums& usual = evidence.elsewhere[dataset];
    if (evidence.predicted_ns[dataset] <= 0) continue;
    if (usual.whole <= 0) return StragglerReason::kUnknown;
    for (size_t part = 0; part < excess.size(); ++part) {
      excess[part] -= usual.parts[part] / usual.whole * evidence.predicted_ns[dataset];
    }
  }
  const auto reason = static_cast<StragglerReason>(std::max_element(excess.begin(), excess.end()) - excess.begin());
  // Without the run delay, "blocked" may as well be waiting for a CPU.
  return reason == StragglerReason::kBlocked && !evidence.is_wait_known ? StragglerReason::kUnknown : reason;
}

/// Keeps every n-th of what it is given, so that no more than `kMostSampledChunks` are kept.
class EvenSample {
 public:
  void Add(const SampledAttempt& attempt) {
    if (seen_++ % step_ != 0) return;
    kept_.push_back(attempt);
    if (kept_.size() <= kMostSampledChunks) return;
    for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    step_ *= 2;
  }
  std::vector<SampledAttempt> Take() && { return std::move(kept_); }

 private:
  std::vector<SampledAttempt> kept_;
  size_t seen_ = 0;
  size_t step_ = 1;
};

}  // namespace

std::string_view ToString(SpellOf of) {
  constexpr std::string_view kNames[] = {"file", "worker", "host", "dataset", "run"};
  return kNames[static_cast<size_t>(of)];
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

void ExplainSpells(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers, const SpellGroups& groups,
                   const std::vector<DatasetFit>& fits, std::vector<SlowSpell>* spells) {
  if (spells->empty()) return;
  size_t datasets = 0;
  for (const uint32_t dataset : groups.dataset_of_input) datasets = std::max(datasets, dataset + size_t{1});
  std::vector<Evidence> evidence(std::min(spells->size(), kMostExplainedSpells), Evidence(datasets));
  ForEachJudged(attempts, groups.dataset_of_input, fits, [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
    const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
    if (!owner.has_value()) return;
    const uint32_t dataset = groups.dataset_of_input[attempt.input];
    for (size_t s = 0; s < evidence.size(); ++s) {
      const SlowSpell& spell = (*spells)[s];
      if (IsInSpell(attempt, spell, groups)) {
        evidence[s].inside.Add(*owner);
        evidence[s].is_wait_known &= owner->wait_known;
        evidence[s].predicted_ns[dataset] += static_cast<double>(predicted_ns);
      } else {
        evidence[s].elsewhere[dataset].Add(*owner);
      }
    }
  });
  for (size_t s = 0; s < evidence.size(); ++s) (*spells)[s].reason = ReasonOf(evidence[s]);
}

SpellSample SampleSpell(const AttemptRows& attempts, const SlowSpell& spell, const SpellGroups& groups,
                        const std::vector<DatasetFit>& fits) {
  EvenSample inside;
  std::vector<bool> has_dataset;
  ForEachJudged(attempts, groups.dataset_of_input, fits,
                [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
                  if (!IsInSpell(attempt, spell, groups)) return;
                  const uint32_t dataset = groups.dataset_of_input[attempt.input];
                  if (dataset >= has_dataset.size()) has_dataset.resize(dataset + size_t{1});
                  has_dataset[dataset] = true;
                  inside.Add({i, dataset, predicted_ns});
                });
  EvenSample elsewhere;
  ForEachJudged(attempts, groups.dataset_of_input, fits,
                [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
                  const uint32_t dataset = groups.dataset_of_input[attempt.input];
                  if (dataset >= has_dataset.size() || !has_dataset[dataset] || IsInSpell(attempt, spell, groups))
                    return;
                  elsewhere.Add({i, dataset, predicted_ns});
                });
  return {std::move(inside).Take(), std::move(elsewhere).Take()};
}

}  // namespace crema
