#include "collector/metrics/attempts/stragglers.h"

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <map>

#include "collector/idioms/normal_distribution.h"
#include "collector/metrics/statistics/quantiles.h"

namespace crema {
namespace {

constexpr size_t kMostGroups = 256;

/// Chunks of one size, or of neighbouring sizes.
struct Group {
  double events = 0;
  double seconds = 0;
  double weight = 0;
};

/// What a slope alone leaves of the points' durations; one of 0 leaves all.
LargeList<double> RestsOf(absl::Span<const ChunkPoint> points, double seconds_per_event) {
  LargeList<double> rests;
  rests.reserve(points.size());
  for (const ChunkPoint& point : points) rests.push_back(point.seconds - seconds_per_event * point.events);
  return rests;
}

/// `points` by events. Points of equal events are never parted.
std::vector<Group> GroupBySize(absl::Span<const ChunkPoint> points) {
  size_t sizes = 0;
  for (size_t i = 0; i < points.size(); ++i) sizes += i == 0 || points[i].events != points[i - 1].events;
  const size_t least = sizes <= kMostGroups ? 1 : (points.size() + kMostGroups - 1) / kMostGroups;
  std::vector<Group> groups;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = std::min(points.size(), begin + least);
    while (end < points.size() && points[end].events == points[end - 1].events) ++end;
    const double middle_events = points[begin + (end - begin - 1) / 2].events;
    const LargeList<double> seconds = RestsOf(points.subspan(begin, end - begin), 0);
    groups.push_back({middle_events, ExactQuantiles<double>(seconds, {0.5})[0], static_cast<double>(end - begin)});
    begin = end;
  }
  return groups;
}

/// Of each pair of groups, by the product of their weights.
double WeightedSlope(const std::vector<Group>& groups) {
  std::vector<std::pair<double, double>> slopes;
  slopes.reserve(groups.size() * (groups.size() - 1) / 2);
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = i + 1; j < groups.size(); ++j) {
      const double weight = groups[i].weight * groups[j].weight;
      slopes.push_back({(groups[j].seconds - groups[i].seconds) / (groups[j].events - groups[i].events), weight});
    }
  }
  return WeightedMedian(&slopes);
}

void SetErrors(absl::Span<const ChunkPoint> points, RobustFit& fit) {
  if (!fit.slope_known) return;
  constexpr double kEfficiency = 0.45;  // beside least squares: the least of simulated filesets, whose sizes are uneven
  LargeList<double> residuals = RestsOf(points, fit.seconds_per_event);
  for (double& residual : residuals) residual = std::abs(residual - fit.fixed_seconds);
  const double scale = kMadToSigma * ExactQuantiles<double>(residuals, {0.5})[0];
  const auto count = static_cast<double>(points.size());
  double mean = 0;
  for (const ChunkPoint& point : points) mean += point.events / count;
  double spread = 0;
  for (const ChunkPoint& point : points) spread += (point.events - mean) * (point.events - mean);
  const double of_slope = scale * scale / (kEfficiency * spread);
  const double of_median = std::acos(-1) / 2 * scale * scale / count;
  fit.slope_error = kSigmasTo975 * std::sqrt(of_slope);
  fit.fixed_error = kSigmasTo975 * std::sqrt(of_median + mean * mean * of_slope);
}

/// All but its errors; puts points in order of events.
RobustFit FitLine(absl::Span<ChunkPoint> points) {
  RobustFit fit;
  fit.points = static_cast<int64_t>(points.size());
  if (points.empty()) return fit;
  boost::sort::pdqsort_branchless(points.begin(), points.end(),
                                  [](const ChunkPoint& a, const ChunkPoint& b) { return a.events < b.events; });
  const std::vector<Group> groups = GroupBySize(points);
  if (groups.size() >= 2) {
    fit.slope_known = true;
    fit.seconds_per_event = WeightedSlope(groups);
  }
  fit.fixed_seconds = ExactQuantiles<double>(RestsOf(points, fit.seconds_per_event), {0.5})[0];
  return fit;
}

double Seconds(const AttemptRow& attempt) { return static_cast<double>(attempt.duration_ns) / 1e9; }

/// An unknown number of events only gets here where all are unknown; then size explains nothing.
double Events(const AttemptRow& attempt) {
  return attempt.events == AttemptRow::kUnknown ? 0 : static_cast<double>(attempt.events);
}

/// Integers, so that the sums do not depend on the order of the attempts.
struct Sum {
  int64_t attempts = 0;
  int64_t duration_ns = 0;
  int64_t predicted_ns = 0;

  void Add(const AttemptRow& attempt, int64_t predicted) {
    ++attempts;
    duration_ns += attempt.duration_ns;
    predicted_ns += predicted;
  }
};

std::vector<ExpectedTime> TimesOf(const std::vector<Sum>& by_group) {
  std::vector<ExpectedTime> times;
  for (uint32_t group = 0; group < by_group.size(); ++group) {
    const Sum& sum = by_group[group];
    if (sum.attempts == 0) continue;
    times.push_back(
        {group, sum.attempts, static_cast<double>(sum.duration_ns) / 1e9, static_cast<double>(sum.predicted_ns) / 1e9});
  }
  SortLargestFirst(&times, &ExpectedTime::excess_seconds);
  return times;
}

constexpr size_t kMostCompared = 1000;

/// An attempt that a fit judges, and what it means for all groups that it is in.
struct Point {
  Point(const AttemptRow& attempt, int64_t predicted_ns)
      : start_ns(attempt.start_ns),
        process(attempt.process),
        input(attempt.input),
        took(static_cast<double>(attempt.duration_ns)),
        should(static_cast<double>(predicted_ns)),
        without_outliers(std::min(took, kMostOfOneChunk * should)),
        score(without_outliers - kSlowPeriodFactor * should) {}

  int64_t start_ns;
  uint32_t process;
  uint32_t input;
  double took;
  double should;
  double without_outliers;  ///< of `took`
  /// Above 0 where a chunk is slow enough for a period. One straggler counts as little more than any slow chunk, so
  /// that it makes no bridge to what is slow long after.
  double score;
};

struct PeriodSums {
  int64_t attempts = 0;
  int64_t slow = 0;
  double duration = 0;
  double predicted = 0;
  double without_outliers = 0;  ///< of `duration`
  double largest_excess = 0;

  void Add(const Point& point) {
    ++attempts;
    slow += point.took >= kSlowByItself * point.should;
    duration += point.took;
    predicted += point.should;
    without_outliers += point.without_outliers;
    largest_excess = std::max(largest_excess, point.took - point.should);
  }
  double excess() const { return duration - predicted; }
};

/// Attempts of one group, one after the other.
struct Stretch {
  PeriodSums sums;
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
};

/// What is known of one group as its chunks are gone through by start: the stretch that exceeds the factor by most in
/// sum.
struct PeriodGroup {
  double predicted = 0;         ///< of all
  double without_outliers = 0;  ///< as in `PeriodSums`
  double best = 0;
  double sum = 0;
  Stretch now;
  Stretch found;

  /// `stop_ns()` is called where it matters.
  template <class StopOf>
  void Add(const Point& point, const StopOf& stop_ns) {
    predicted += point.should;
    without_outliers += point.without_outliers;
    const bool begins = sum <= 0;
    sum = (begins ? 0 : sum) + point.score;
    if (sum <= 0) return;
    if (begins) now = {{}, point.start_ns, 0};
    now.sums.Add(point);
    now.stop_ns = std::max(now.stop_ns, stop_ns());
    if (sum <= best) return;
    best = sum;
    found = now;
  }
  bool HasPeriod() const {
    const PeriodSums& inside = found.sums;
    if (inside.attempts < kLeastAttemptsOfPeriod || inside.excess() <= 0) return false;
    if (static_cast<double>(inside.slow) < kSlowShareOfPeriod * static_cast<double>(inside.attempts)) return false;
    if (kMostOfIt.Holds(inside.largest_excess / inside.excess())) return false;  // it is one straggler
    if (inside.predicted > kPeriodShareOfGroup * predicted) return false;
    return without_outliers - inside.without_outliers <= kNotSlowOutside * (predicted - inside.predicted);
  }
};

/// All groups of one kind.
class GroupsOfKind {
 public:
  GroupsOfKind(PeriodOf of, const PeriodGroups& of_index) : of_(of), of_index_(of_index) {}

  /// Each point, by start.
  template <class StopOf>
  void Add(const Point& point, const StopOf& stop_ns) {
    const uint32_t group = GroupOf(of_, point, of_index_);
    GrownAt(&groups_, group).Add(point, stop_ns);
  }
  void AddPeriods(std::vector<SlowPeriod>* found) const {
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].HasPeriod()) continue;
      const Stretch& stretch = groups_[i].found;
      found->push_back({of_, i, stretch.start_ns, stretch.stop_ns, stretch.sums.attempts, stretch.sums.duration / 1e9,
                        stretch.sums.predicted / 1e9, StragglerReason::kUnknown});
    }
  }

 private:
  PeriodOf of_;
  const PeriodGroups& of_index_;
  std::vector<PeriodGroup> groups_;
};

bool PeriodsOverlap(const SlowPeriod& a, const SlowPeriod& b) {
  const int64_t common = std::min(a.stop_ns, b.stop_ns) - std::max(a.start_ns, b.start_ns);
  return 2 * common > std::min(a.stop_ns - a.start_ns, b.stop_ns - b.start_ns);
}

/// One of those that overlap. Each is compared with each: only the largest are.
std::vector<SlowPeriod> ChoosePeriods(std::vector<SlowPeriod> found) {
  SortLargestFirst(&found, &SlowPeriod::excess_seconds);
  if (found.size() > kMostCompared) found.resize(kMostCompared);
  std::vector<SlowPeriod> chosen;
  const auto is_free = [&chosen](const SlowPeriod& period) {
    return absl::c_none_of(chosen, [&](const SlowPeriod& other) { return PeriodsOverlap(period, other); });
  };
  for (const SlowPeriod& largest : found) {
    if (!is_free(largest)) continue;
    const SlowPeriod* narrowest = &largest;
    for (const SlowPeriod& other : found) {
      const bool is_as_much = other.excess_seconds() >= kNearlyAsMuch * largest.excess_seconds();
      if (other.of < narrowest->of && is_as_much && PeriodsOverlap(largest, other) && is_free(other))
        narrowest = &other;
    }
    chosen.push_back(*narrowest);
  }
  return chosen;
}

struct PartSums {
  DurationParts parts = {};  ///< nanoseconds
  double whole = 0;

  void Add(const OwnerTime& owner) {
    const std::array<int64_t, 4> of_owner = {owner.cpu_ns, owner.cpu_wait_ns, owner.blocked_ns, owner.joined_ns};
    for (size_t part = 0; part < parts.size(); ++part) {
      parts[part] += static_cast<double>(of_owner[part]);
      whole += static_cast<double>(of_owner[part]);
    }
  }
};

/// What one period's chunks took, and what chunks of each dataset took elsewhere.
struct Evidence {
  PartSums inside;
  bool is_wait_known = true;
  std::vector<double> predicted_ns;  ///< of those inside, by dataset
  std::vector<PartSums> elsewhere;   ///< by dataset
  std::map<uint32_t, double> excess_of_process;
  std::optional<uint32_t> one_process;
  bool are_others_there = false;  ///< processes, in the whole run

  explicit Evidence(size_t datasets) : predicted_ns(datasets), elsewhere(datasets) {}

  void AddProcess(const AttemptRow& attempt, int64_t predicted, bool is_inside) {
    if (!one_process.has_value()) one_process = attempt.process;
    are_others_there |= attempt.process != *one_process;
    if (is_inside) excess_of_process[attempt.process] += static_cast<double>(attempt.duration_ns - predicted);
  }
  /// Only one of several processes was slow: a host, a dataset or the run was not.
  bool IsOfOneProcess() const {
    if (!are_others_there) return false;
    double sum = 0, most = 0;
    for (const auto& [process, excess] : excess_of_process) {
      sum += excess;
      most = std::max(most, excess);
    }
    return sum > 0 && most >= kNearlyAsMuch * sum;
  }
};

bool HasProcesses(PeriodOf of) { return of != PeriodOf::kFile && of != PeriodOf::kWorker; }

StragglerReason ReasonOf(const Evidence& evidence) {
  if (evidence.inside.whole <= 0) return StragglerReason::kUnknown;
  DurationParts excess = evidence.inside.parts;
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

RobustFit FitDuration(absl::Span<ChunkPoint> points) {
  RobustFit fit = FitLine(points);
  SetErrors(points, fit);
  return fit;
}

std::string_view ToString(StragglerReason reason) {
  constexpr std::string_view kNames[] = {"cpu", "cpu_wait", "blocked", "joined", "unknown"};
  return kNames[static_cast<size_t>(reason)];
}

/// Calls `visit(index, attempt, dataset)` for the `ok` attempts: by whole passes over the attempts, which are many and
/// large, for all datasets at once.
template <class Visit>
void StragglerSearch::ForEachOk(const AttemptRows::Range& range, const Visit& visit) const {
  attempts_.ForEachOf({range}, [&](size_t i, const AttemptRow& attempt) {
    if (attempt.status == AttemptState::kOk && attempt.duration_ns >= 0) {
      visit(i, attempt, dataset_of_input_[attempt.input]);
    }
  });
}

void StragglerSearch::Gather(const WorkLimits& limits) {
  constexpr size_t kLeastOfPart = size_t{1} << 16;  // attempts
  const size_t count = attempts_.size();
  const size_t parts = std::clamp<size_t>(count / kLeastOfPart, 1, std::max<size_t>(1, limits.threads));
  const auto range_of = [&](size_t part) {
    return AttemptRows::Range{count * part / parts, count * (part + 1) / parts};
  };
  std::vector<std::vector<FittedDataset>> counts(parts);
  ForEachPart("counts", parts, limits, [&](size_t part) {
    ForEachOk(range_of(part), [&datasets = counts[part]](size_t, const AttemptRow& attempt, uint32_t index) {
      FittedDataset& dataset = GrownAt(&datasets, index);
      const bool has_events = attempt.events != AttemptRow::kUnknown;
      ++dataset.ok;
      dataset.with_events += has_events;
      dataset.sized_results += has_events && attempt.is_result;
    });
  });
  for (const std::vector<FittedDataset>& of_part : counts) {
    for (size_t i = 0; i < of_part.size(); ++i) {
      for (const auto number : {&FittedDataset::ok, &FittedDataset::with_events, &FittedDataset::sized_results}) {
        GrownAt(&datasets_, i).*number += of_part[i].*number;
      }
    }
  }
  std::vector<std::vector<size_t>> next(parts);  // by part and dataset: where its next point goes
  size_t room = 0;
  for (size_t i = 0; i < datasets_.size(); ++i) {
    first_.push_back(room);
    for (size_t part = 0; part < parts; ++part) {
      next[part].push_back(room);
      if (i >= counts[part].size()) continue;
      room += datasets_[i].with_events > 0 ? counts[part][i].with_events : counts[part][i].ok;
    }
  }
  points_ = LargeList<ChunkPoint>(room);  // where lists lie now, not where they lay when this was made
  ForEachPart("points", parts, limits, [&](size_t part) {
    ForEachOk(range_of(part), [&](size_t, const AttemptRow& attempt, uint32_t index) {
      if (datasets_[index].Judges(attempt)) points_[next[part][index]++] = {Events(attempt), Seconds(attempt)};
    });
  });
}

void StragglerSearch::Fit() {
  const auto has_repeated = [](const FittedDataset& dataset) { return dataset.sized_results < dataset.with_events; };
  std::vector<LargeList<int64_t>> sizes(datasets_.size());  // of results, where some chunks were computed twice
  if (std::any_of(datasets_.begin(), datasets_.end(), has_repeated)) {
    ForEachOk([&](size_t, const AttemptRow& attempt, uint32_t index) {
      const bool is_wanted = attempt.is_result && attempt.events != AttemptRow::kUnknown;
      if (is_wanted && has_repeated(datasets_[index])) sizes[index].push_back(attempt.events);
    });
  }
  for (uint32_t i = 0; i < datasets_.size(); ++i) {
    FittedDataset& dataset = datasets_[i];
    if (dataset.ok == 0) continue;
    const absl::Span<ChunkPoint> by_size = PointsOf(i);
    dataset.fit.dataset = i;
    dataset.fit.fit = FitLine(by_size);
    dataset.fit.by_events = dataset.with_events > 0;
    dataset.fit.events_min = by_size.front().events;
    dataset.fit.events_p50 = by_size[QuantileRank(0.5, by_size.size()) - 1].events;
    dataset.fit.events_max = by_size.back().events;
    if (dataset.sized_results == 0) continue;
    const double median = has_repeated(dataset) ? static_cast<double>(ExactQuantiles<int64_t>(sizes[i], {0.5})[0])
                                                : dataset.fit.events_p50;
    dataset.most_events = kOversizedMedians * median;
  }
}

void StragglerSearch::FindErrors() {
  for (size_t i = 0; i < datasets_.size(); ++i) SetErrors(PointsOf(i), datasets_[i].fit.fit);
}

void StragglerSearch::FindUsualShares() {
  constexpr size_t kMostBuckets = 4096, kPerBucket = 16;  // so that buckets of all datasets take little
  constexpr size_t kParts = std::tuple_size_v<DurationParts>;
  struct Shares {
    size_t of_part = 0;  // buckets, the last one empty; 0: none are wanted
    double scale = 0;
    uint64_t count = 0;
    exact_quantiles_internal::Buckets<double> buckets{0};  // part after part
  };
  std::vector<Shares> shares(datasets_.size());
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (!datasets_[i].is_judged()) continue;
    const size_t most = std::min(kMostBuckets, datasets_[i].judged() / kPerBucket);
    shares[i] = {most + 2, static_cast<double>(most), 0,
                 exact_quantiles_internal::Buckets<double>(kParts * (most + 2))};
  }
  // Calls `visit` for each part of each attempt, with the bucket of its share: one division is enough for that, but
  // rounding may put a share into the bucket beside its own.
  const auto for_each_share = [&](const auto& visit) {
    ForEachOk([&](size_t, const AttemptRow& attempt, uint32_t index) {
      Shares& of_dataset = shares[index];
      if (of_dataset.of_part == 0 || !datasets_[index].Judges(attempt) || attempt.duration_ns == 0) return;
      const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers_);
      if (!owner.has_value()) return;
      ++of_dataset.count;
      const std::array<int64_t, kParts> parts_ns = {owner->cpu_ns, owner->cpu_wait_ns, owner->blocked_ns,
                                                    owner->joined_ns};
      const double scale = of_dataset.scale / static_cast<double>(attempt.duration_ns);
      for (size_t part = 0; part < kParts; ++part) {
        const auto bucket = static_cast<int64_t>(static_cast<double>(parts_ns[part]) * scale);
        visit(of_dataset.buckets, part * of_dataset.of_part + static_cast<size_t>(bucket),
              [&] { return static_cast<double>(parts_ns[part]) / 1e9 / Seconds(attempt); });
      }
    });
  };
  for_each_share([](auto& buckets, size_t bucket, const auto& /*share*/) { buckets.Count(bucket); });
  for (Shares& of_dataset : shares) {
    std::vector<uint64_t> ranks;
    for (size_t part = 0; part < kParts && of_dataset.count > 0; ++part) {
      ranks.push_back(part * of_dataset.count + QuantileRank(0.5, of_dataset.count));
    }
    if (!ranks.empty()) of_dataset.buckets.Want(ranks, 1);
  }
  for_each_share([](auto& buckets, size_t bucket, const auto& share) {
    if (buckets.IsWanted(bucket)) buckets.Keep(bucket, share());
  });
  usual_shares_.resize(datasets_.size());
  for (size_t i = 0; i < datasets_.size(); ++i) shares[i].buckets.Find(absl::MakeSpan(usual_shares_[i]));
}

/// The residual beyond which a chunk took too long for its size; nullopt: there are too few attempts.
std::optional<double> StragglerSearch::FenceOf(size_t dataset) {
  if (!datasets_[dataset].is_judged()) return std::nullopt;
  const RobustFit& fit = datasets_[dataset].fit.fit;
  const absl::Span<const ChunkPoint> points = PointsOf(dataset);
  LargeList<double> residuals;
  residuals.reserve(points.size());
  for (const ChunkPoint& point : points) residuals.push_back(point.seconds - fit.At(point.events));
  const auto [first_quartile, third_quartile] = ExactQuantiles<double>(residuals, {0.25, 0.75});
  return third_quartile + kStragglerRanges * (third_quartile - first_quartile);
}

StragglerReason StragglerSearch::ReasonOf(const Straggler& straggler) const {
  const AttemptRow& attempt = attempts_[straggler.attempt];
  const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers_);
  if (!owner.has_value()) return StragglerReason::kUnknown;
  DurationParts excess = {static_cast<double>(owner->cpu_ns) / 1e9, static_cast<double>(owner->cpu_wait_ns) / 1e9,
                          static_cast<double>(owner->blocked_ns) / 1e9, static_cast<double>(owner->joined_ns) / 1e9};
  const DurationParts& usual = usual_shares_[dataset_of_input_[attempt.input]];
  for (size_t part = 0; part < excess.size(); ++part) excess[part] -= usual[part] * straggler.predicted_seconds;
  const auto reason = static_cast<StragglerReason>(std::max_element(excess.begin(), excess.end()) - excess.begin());
  // Without the run delay, "blocked" may as well be waiting for a CPU.
  return reason == StragglerReason::kBlocked && !owner->wait_known ? StragglerReason::kUnknown : reason;
}

void StragglerSearch::Judge() {
  std::vector<std::optional<double>> fences;
  for (size_t i = 0; i < datasets_.size(); ++i) fences.push_back(FenceOf(i));
  ForEachOk([&](size_t i, const AttemptRow& attempt, uint32_t index) {
    FittedDataset& dataset = datasets_[index];
    if (attempt.events != AttemptRow::kUnknown && attempt.is_result && Events(attempt) > *dataset.most_events) {
      ++dataset.fit.oversized;
    }
    if (!fences[index].has_value() || !dataset.Judges(attempt)) return;
    const double seconds = Seconds(attempt);
    const double residual = seconds - dataset.fit.fit.At(Events(attempt));
    const double predicted = dataset.fit.fit.Predict(Events(attempt));
    if (residual <= *fences[index] || seconds <= kStragglerFactor * predicted) return;
    ++dataset.fit.stragglers;
    findings_.stragglers.push_back({i, predicted, StragglerReason::kUnknown});
  });
  for (Straggler& straggler : findings_.stragglers) straggler.reason = ReasonOf(straggler);
  std::sort(findings_.stragglers.begin(), findings_.stragglers.end(), [&](const Straggler& a, const Straggler& b) {
    const AttemptRow& left = attempts_[a.attempt];
    const AttemptRow& right = attempts_[b.attempt];
    const double left_excess = Seconds(left) - a.predicted_seconds;
    const double right_excess = Seconds(right) - b.predicted_seconds;
    if (left_excess != right_excess) return left_excess > right_excess;
    // Ties by what the attempts are, not by where they stand.
    if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
    return left.chunk_id < right.chunk_id;
  });
}

std::vector<DatasetFit> StragglerSearch::fits() const {
  std::vector<DatasetFit> fits;
  for (const FittedDataset& dataset : datasets_) {
    if (dataset.ok > 0) fits.push_back(dataset.fit);
  }
  return fits;
}

StragglerFindings StragglerSearch::Take() && {
  findings_.datasets = fits();
  for (const FittedDataset& dataset : datasets_) {
    if (dataset.is_judged()) {
      findings_.straggler_chunks = findings_.straggler_chunks.value_or(0) + dataset.fit.stragglers;
    }
    if (dataset.most_events.has_value()) {
      findings_.oversized_chunks = findings_.oversized_chunks.value_or(0) + dataset.fit.oversized;
    }
  }
  return std::move(findings_);
}

StragglerFindings FindStragglers(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers,
                                 const std::vector<uint32_t>& dataset_of_input) {
  StragglerSearch search(attempts, helpers, dataset_of_input);
  search.Gather({});
  search.FindUsualShares();
  search.Fit();
  search.FindErrors();
  search.Judge();
  return std::move(search).Take();
}

ExpectedTimes FindExpectedTimes(const AttemptRows& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<uint32_t>& file_of_input, const std::vector<DatasetFit>& fits) {
  std::vector<Sum> by_process, by_file;
  ForEachJudged(attempts, dataset_of_input, fits, [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
    GrownAt(&by_process, attempt.process).Add(attempt, predicted_ns);
    GrownAt(&by_file, file_of_input[attempt.input]).Add(attempt, predicted_ns);
  });
  return {TimesOf(by_process), TimesOf(by_file)};
}

std::string_view ToString(PeriodOf of) {
  constexpr std::string_view kNames[] = {"file", "worker", "host", "dataset", "run"};
  return kNames[static_cast<size_t>(of)];
}

std::vector<SlowPeriod> FindSlowPeriods(const AttemptRows& attempts, const StartOrder& order,
                                        const PeriodGroups& groups, const std::vector<DatasetFit>& fits) {
  double beyond = 0;
  double all = 0;
  std::vector<GroupsOfKind> kinds;
  if (groups.has_files) kinds.emplace_back(PeriodOf::kFile, groups);
  kinds.emplace_back(PeriodOf::kWorker, groups);
  kinds.emplace_back(PeriodOf::kHost, groups);
  if (groups.has_datasets) kinds.emplace_back(PeriodOf::kDataset, groups);
  kinds.emplace_back(PeriodOf::kRun, groups);
  ForEachJudged(
      attempts, groups.dataset_of_input, fits,
      [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
        const Point point(attempt, predicted_ns);
        if (point.took >= kSlowByItself * point.should) beyond += point.took - point.should;
        all += point.took;
        for (GroupsOfKind& kind : kinds) kind.Add(point, [&] { return attempt.stop_ns(); });
      },
      order);
  if (beyond <= kLeastExcessOfPeriods * all) return {};  // as in most runs
  std::vector<SlowPeriod> found;
  for (const GroupsOfKind& kind : kinds) kind.AddPeriods(&found);
  return ChoosePeriods(std::move(found));
}

void ExplainPeriods(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers, const PeriodGroups& groups,
                    const std::vector<DatasetFit>& fits, std::vector<SlowPeriod>* periods) {
  if (periods->empty()) return;
  size_t datasets = 0;
  for (const uint32_t dataset : groups.dataset_of_input) datasets = std::max(datasets, dataset + size_t{1});
  std::vector<Evidence> evidence(std::min(periods->size(), kMostSlowPeriods), Evidence(datasets));
  ForEachJudged(attempts, groups.dataset_of_input, fits, [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
    const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
    const uint32_t dataset = groups.dataset_of_input[attempt.input];
    for (size_t s = 0; s < evidence.size(); ++s) {
      const SlowPeriod& period = (*periods)[s];
      const bool is_inside = IsInPeriod(attempt, period, groups);
      if (HasProcesses(period.of)) evidence[s].AddProcess(attempt, predicted_ns, is_inside);
      if (!owner.has_value()) continue;
      if (is_inside) {
        evidence[s].inside.Add(*owner);
        evidence[s].is_wait_known &= owner->wait_known;
        evidence[s].predicted_ns[dataset] += static_cast<double>(predicted_ns);
      } else {
        evidence[s].elsewhere[dataset].Add(*owner);
      }
    }
  });
  std::vector<SlowPeriod> kept;
  for (size_t s = 0; s < periods->size(); ++s) {
    SlowPeriod& period = (*periods)[s];
    if (s < evidence.size()) {
      if (evidence[s].IsOfOneProcess()) continue;
      period.reason = ReasonOf(evidence[s]);
    }
    kept.push_back(period);
  }
  *periods = std::move(kept);
}

PeriodSample SamplePeriod(const AttemptRows& attempts, const SlowPeriod& period, const PeriodGroups& groups,
                          const std::vector<DatasetFit>& fits) {
  EvenSample inside, elsewhere;
  std::vector<bool> has_dataset;
  for (const bool is_inside : {true, false}) {
    const auto sample = [&](size_t i, const AttemptRow& attempt, int64_t predicted_ns) {
      const uint32_t dataset = groups.dataset_of_input[attempt.input];
      if (IsInPeriod(attempt, period, groups) != is_inside) return;
      if (is_inside) GrownAt(&has_dataset, dataset) = true;
      if (dataset >= has_dataset.size() || !has_dataset[dataset]) return;
      (is_inside ? inside : elsewhere).Add({i, dataset, predicted_ns});
    };
    ForEachJudged(attempts, groups.dataset_of_input, fits, sample);
  }
  return {std::move(inside).Take(), std::move(elsewhere).Take()};
}

}  // namespace crema
