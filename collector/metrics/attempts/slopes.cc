#include "collector/metrics/attempts/slopes.h"

#include <map>
#include <random>

#include "collector/format/human_numbers.h"
#include "collector/idioms/normal_distribution.h"
#include "collector/metrics/statistics/quantiles.h"

namespace crema {
namespace {

constexpr size_t kLeastChunks = 20;
constexpr size_t kMostBins = 200;
constexpr double kRounding = 1e-9;  // far above that of a division and a product
constexpr double kNoSlopeYet = std::numeric_limits<double>::lowest();

struct BinPoint {
  double number = 0;
  double rss_bytes = 0;
};

bool HasReading(const AttemptRow& attempt) {
  return HasEnded(attempt) && attempt.rss_stop_bytes != AttemptRow::kUnknown;
}

/// Resident pages of files and shared memory of one process over time: straight lines between its samples.
class FileMemory {
 public:
  FileMemory() = default;
  explicit FileMemory(const std::vector<ProcessSample>& samples) {
    for (const ProcessSample& sample : samples) {
      if (!sample.rss_bytes.has_value() || !sample.anonymous_bytes.has_value()) continue;
      points_.emplace_back(sample.time_ns, std::max<int64_t>(0, *sample.rss_bytes - *sample.anonymous_bytes));
    }
  }
  int64_t At(int64_t time_ns) const {
    if (points_.empty()) return 0;
    const auto after = std::lower_bound(points_.begin(), points_.end(), std::pair(time_ns, int64_t{0}));
    if (after == points_.begin()) return after->second;
    const auto before = after - 1;
    if (after == points_.end()) return before->second;
    const double share =
        static_cast<double>(time_ns - before->first) / static_cast<double>(after->first - before->first);
    return before->second + std::llround(share * static_cast<double>(after->second - before->second));
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> points_;  // time and bytes, by time
};

/// The readings of one process, as they come by chunk number, in at most 200 runs whose lengths differ by one at most.
class BinnedReadings {
 public:
  BinnedReadings(size_t readings, FileMemory file_memory)
      : first_(readings / 10),
        count_(readings - first_),
        bins_(std::min(kMostBins, count_)),
        file_memory_(std::move(file_memory)) {}

  // Inline, so that only what it uses is unpacked.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Add(const AttemptRow& attempt) {
    if (seen_++ < first_) return;  // warming up: libraries, caches, histograms
    if (attempt.events != AttemptRow::kUnknown) {
      events_ += attempt.events;
      ++known_;
    }
    if (rss_.empty()) {
      const size_t bin = medians_.size();
      in_bin_ = (bin + 1) * count_ / bins_ - bin * count_ / bins_;
      middle_place_ = QuantileRank(0.5, in_bin_) - 1;
    }
    if (rss_.size() == middle_place_) middle_ = attempt.number;
    rss_.push_back(attempt.rss_stop_bytes - file_memory_.At(attempt.stop_ns()));
    if (rss_.size() < in_bin_) return;
    medians_.push_back({static_cast<double>(middle_), static_cast<double>(ExactQuantile(rss_, 0.5))});
    rss_.clear();
  }

  /// nullopt where events are not known.
  std::optional<double> PerThousandEvents() const {
    if (events_ <= 0) return std::nullopt;
    return 1000 * static_cast<double>(known_) / static_cast<double>(events_);
  }
  const std::vector<BinPoint>& medians() const { return medians_; }

 private:
  size_t first_;
  size_t count_;
  size_t bins_;
  size_t seen_ = 0;
  int64_t events_ = 0;
  int64_t known_ = 0;
  std::vector<int64_t> rss_;  // of the bin that is filled now
  size_t in_bin_ = 0;         // how many it gets
  size_t middle_place_ = 0;
  int64_t middle_ = 0;  // number of the chunk that is there
  std::vector<BinPoint> medians_;
  FileMemory file_memory_;
};

/// What was kept from the first tenth of the points to the last one, in bytes per chunk: the least memory in each. Of
/// memory that comes and goes, a slope alone does not say that it stays.
double KeptPerChunk(const std::vector<BinPoint>& points) {
  const auto tenth = static_cast<ptrdiff_t>((points.size() + 9) / 10);
  const auto less = [](const BinPoint& a, const BinPoint& b) { return a.rss_bytes < b.rss_bytes; };
  const auto first = std::min_element(points.begin(), points.begin() + tenth, less);
  const auto last = std::min_element(points.end() - tenth, points.end(), less);
  return (last->rss_bytes - first->rss_bytes) / std::max(1.0, last->number - first->number);
}

/// Theil-Sen, in bytes per chunk; nullopt where no two points differ in number, or where the slope is surely not above
/// `at_least`: then the cost of finding it is spared.
std::optional<RssSlope> SlopeOf(const std::vector<BinPoint>& points, double at_least) {
  const double surely = at_least - std::abs(at_least) * kRounding;
  size_t pairs = 0;
  size_t above = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;  // never negative
      pairs += run != 0;
      above += run != 0 && points[j].rss_bytes - points[i].rss_bytes > surely * run;
    }
  }
  if (pairs == 0 || 2 * above < pairs) return std::nullopt;
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].number - points[i].number;
      if (run != 0) slopes.push_back((points[j].rss_bytes - points[i].rss_bytes) / run);
    }
  }
  std::sort(slopes.begin(), slopes.end());
  const double count = static_cast<double>(slopes.size());
  const double n = static_cast<double>(points.size());
  // From rank M1 = (N - z sigma) / 2 to rank M2 + 1 = (N + z sigma) / 2 + 1 of the N slopes, sigma^2 the variance of
  // Kendall's S; `at` counts from 0.
  const double reach = kSigmasTo975 * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto at = [&](double rank) {
    return slopes[static_cast<size_t>(std::clamp(std::round(rank), 0.0, count - 1))];
  };
  const size_t half = slopes.size() / 2;
  const double middle = slopes.size() % 2 == 1 ? slopes[half] : (slopes[half - 1] + slopes[half]) / 2;
  const double low = std::min(at((count - reach) / 2 - 1), KeptPerChunk(points));
  return RssSlope{middle, low, at((count + reach) / 2)};
}

/// nullopt too where the process's slope is surely not above `at_least`.
std::optional<RssSlope> SlopeOfProcess(const BinnedReadings& readings, double at_least) {
  const std::optional<double> per_1000_events = readings.PerThousandEvents();
  if (!per_1000_events.has_value()) return std::nullopt;
  std::optional<RssSlope> slope = SlopeOf(readings.medians(), at_least / *per_1000_events);
  if (!slope.has_value()) return std::nullopt;
  for (double* value : {&slope->slope, &slope->low, &slope->high}) *value *= *per_1000_events;
  return slope;
}

constexpr size_t kFewestPoints = 40;
constexpr size_t kMostPoints = 8000;
constexpr size_t kMostGroups = 24;  // of a dataset
constexpr size_t kLeastOfGroup = 5;
constexpr size_t kBlocks = 40;
constexpr int kDraws = 300;
constexpr uint64_t kSeed = 20'261'124;  // the same records give the same interval

/// An attempt whose blocked time and events are known.
struct Point {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  uint32_t dataset = 0;
  uint32_t group = 0;  ///< of its dataset's, by lanes; all datasets are numbered on
  double lanes = 0;
  double events = 0;
  double blocked_seconds = 0;
  double per_event() const { return blocked_seconds / events; }
};

/// The integral of the number of open attempts, up to some moments: millions of attempts are not kept for it.
class OpenLanes {
 public:
  OpenLanes(const AttemptRows& attempts, const std::vector<Point>& points) {
    for (const Point& point : points) {
      moments_.push_back(point.start_ns);
      moments_.push_back(point.stop_ns);
    }
    std::sort(moments_.begin(), moments_.end());
    moments_.erase(std::unique(moments_.begin(), moments_.end()), moments_.end());
    // What changes at a moment: open attempts, the sum of their begins, and the time of those that have stopped.
    std::vector<int64_t> open(moments_.size() + 1);
    std::vector<absl::int128> begins(moments_.size() + 1), stopped(moments_.size() + 1);
    size_t from = 0, to = 0;
    for (const AttemptRow& attempt : attempts) {
      if (attempt.duration_ns <= 0) continue;
      from = FirstFrom(attempt.start_ns, from);
      to = FirstFrom(attempt.stop_ns(), to);
      stopped[to] += attempt.stop_ns() - attempt.start_ns;
      if (from == to) continue;
      ++open[from];
      --open[to];
      begins[from] += attempt.start_ns;
      begins[to] -= attempt.start_ns;
    }
    absl::int128 begins_of_open = 0, time_of_stopped = 0;
    int64_t count = 0;
    for (size_t i = 0; i < moments_.size(); ++i) {
      count += open[i];
      begins_of_open += begins[i];
      time_of_stopped += stopped[i];
      integral_ns_.push_back(time_of_stopped + absl::int128(moments_[i]) * count - begins_of_open);
    }
  }

  double Mean(const Point& point) const {
    const absl::int128 lane_ns = integral_ns_[FirstFrom(point.stop_ns)] - integral_ns_[FirstFrom(point.start_ns)];
    return static_cast<double>(lane_ns) / static_cast<double>(point.stop_ns - point.start_ns);
  }

 private:
  /// It is `near` there as a rule.
  size_t FirstFrom(int64_t time_ns, size_t near = 0) const {
    constexpr int kSteps = 8;
    for (int step = 0; step < kSteps; ++step) {
      if (near > 0 && moments_[near - 1] >= time_ns) {
        --near;
      } else if (near < moments_.size() && moments_[near] < time_ns) {
        ++near;
      } else {
        return near;
      }
    }
    return static_cast<size_t>(std::lower_bound(moments_.begin(), moments_.end(), time_ns) - moments_.begin());
  }

  std::vector<int64_t> moments_;
  std::vector<absl::int128> integral_ns_;
};

/// Points of the attempts that hold enough, by their start; of many, of every second, third ...
struct Sample {
  std::vector<Point> points;
  size_t attempts = 0;  ///< `points` may be of a part of them
};

struct Eligible {
  int64_t start_ns;
  uint32_t attempt;
};

Sample SampleOf(const AttemptRows& attempts, const StartOrder& order, const std::vector<HelperTimes>& helpers,
                const std::vector<uint32_t>& dataset_of_input) {
  const auto time_of = [&](const AttemptRow& attempt) -> std::optional<OwnerTime> {
    if (attempt.status != AttemptState::kOk || attempt.events <= 0 || attempt.duration_ns <= 0) return std::nullopt;
    const std::optional<OwnerTime> time = SplitOwnerTime(attempt, helpers);
    return time.has_value() && time->wait_known ? time : std::nullopt;
  };
  Sample sample;
  LargeList<Eligible> eligible;
  eligible.reserve(attempts.size());
  attempts.ForEachInOrder(order, [&](size_t i, const AttemptRow& attempt) {
    if (time_of(attempt).has_value()) eligible.push_back({attempt.start_ns, static_cast<uint32_t>(i)});
  });
  sample.attempts = eligible.size();
  // Those of one moment by their stops.
  SortNearlySorted(eligible, [&](const Eligible& a, const Eligible& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return std::make_pair(attempts[a.attempt].stop_ns(), a.attempt) <
           std::make_pair(attempts[b.attempt].stop_ns(), b.attempt);
  });
  const size_t step = std::max<size_t>(1, (eligible.size() + kMostPoints - 1) / kMostPoints);
  for (size_t i = 0; i < eligible.size(); i += step) {
    const AttemptRow& attempt = attempts[eligible[i].attempt];
    Point point;
    point.start_ns = attempt.start_ns;
    point.stop_ns = attempt.stop_ns();
    point.dataset = dataset_of_input[attempt.input];
    point.events = static_cast<double>(attempt.events);
    point.blocked_seconds = static_cast<double>(time_of(attempt)->blocked_ns) / 1e9;
    sample.points.push_back(point);
  }
  return sample;
}

double Quantile(std::vector<double>* values, double share) {
  const auto at = static_cast<ptrdiff_t>(std::lround(share * static_cast<double>(values->size() - 1)));
  std::nth_element(values->begin(), values->begin() + at, values->end());
  return (*values)[static_cast<size_t>(at)];
}

/// Groups of neighbouring lanes within each dataset; `first` has where each dataset's begin, and their end.
struct Groups {
  std::vector<size_t> first;
  std::vector<double> lanes;  ///< median

  size_t count() const { return lanes.size(); }
};

/// Points of datasets that are too small for two groups go.
Groups GroupByLanes(std::vector<Point>* points) {
  std::map<uint32_t, std::vector<size_t>> by_dataset;
  for (size_t i = 0; i < points->size(); ++i) by_dataset[(*points)[i].dataset].push_back(i);
  Groups groups;
  groups.first.push_back(0);
  for (auto& [dataset, members] : by_dataset) {
    const size_t count = std::min(kMostGroups, members.size() / kLeastOfGroup);
    if (count < 2) {
      for (const size_t member : members) (*points)[member].events = 0;
      continue;
    }
    SortBy(&members, [points](size_t member) { return (*points)[member].lanes; });
    for (size_t group = 0; group < count; ++group) {
      const size_t begin = members.size() * group / count, end = members.size() * (group + 1) / count;
      for (size_t i = begin; i < end; ++i) (*points)[members[i]].group = static_cast<uint32_t>(groups.count());
      groups.lanes.push_back((*points)[members[begin + (end - begin) / 2]].lanes);
    }
    groups.first.push_back(groups.count());
  }
  EraseWhere(points, [](const Point& point) { return point.events == 0; });
  return groups;
}

/// `values`: blocked seconds an event, by group. nullopt: no dataset has two groups with different lanes.
std::optional<double> MedianSlope(const Groups& groups, std::vector<std::vector<double>>* values) {
  std::vector<std::pair<double, double>> slopes;
  std::vector<double> middle(groups.count());
  for (size_t i = 0; i < groups.count(); ++i) {
    if (!(*values)[i].empty()) middle[i] = Quantile(&(*values)[i], 0.5);
  }
  for (size_t dataset = 0; dataset + 1 < groups.first.size(); ++dataset) {
    for (size_t i = groups.first[dataset]; i < groups.first[dataset + 1]; ++i) {
      for (size_t j = i + 1; j < groups.first[dataset + 1]; ++j) {
        const double apart = groups.lanes[j] - groups.lanes[i];
        if (!(apart > 0) || (*values)[i].empty() || (*values)[j].empty()) continue;
        // a pair that is further apart shows more: of noise that is equal everywhere, the less the further
        slopes.push_back({(middle[j] - middle[i]) / apart, apart});
      }
    }
  }
  return slopes.empty() ? std::nullopt : std::optional(WeightedMedian(&slopes));
}

void SetInterval(const std::vector<Point>& points, const Groups& groups, ContentionRow* found) {
  std::mt19937_64 random(kSeed);
  std::vector<double> slopes;
  std::vector<std::vector<double>> values(groups.count());
  for (int draw = 0; draw < kDraws; ++draw) {
    for (std::vector<double>& of_group : values) of_group.clear();
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t block = random() % kBlocks;
      const size_t end = points.size() * (block + 1) / kBlocks;
      for (size_t at = points.size() * block / kBlocks; at < end; ++at) {
        values[points[at].group].push_back(points[at].per_event());
      }
    }
    if (const std::optional<double> slope = MedianSlope(groups, &values)) slopes.push_back(*slope);
  }
  if (slopes.empty()) slopes.push_back(*found->slope);
  found->slope_low = std::min(*found->slope, Quantile(&slopes, kRangeTail));
  found->slope_high = std::max(*found->slope, Quantile(&slopes, 1 - kRangeTail));
}

double Excess(const std::vector<Point>& points, double slope) {
  double sum = 0;
  for (const Point& point : points) {
    sum += std::clamp(slope * (point.lanes - 1) * point.events, 0.0, point.blocked_seconds);
  }
  return sum;
}

/// What a chart shows: datasets are moved onto the one line that their slope has in common.
void SetPoints(const std::vector<Point>& points, ContentionRow* found) {
  std::map<uint32_t, std::vector<double>> rests;
  std::vector<double> all;
  for (const Point& point : points) {
    rests[point.dataset].push_back(point.per_event() - *found->slope * point.lanes);
    all.push_back(rests[point.dataset].back());
  }
  const double middle = Quantile(&all, 0.5);
  std::map<uint32_t, double> moved;
  for (auto& [dataset, rest] : rests) moved[dataset] = middle - Quantile(&rest, 0.5);
  std::vector<std::pair<double, double>> shown;
  for (const Point& point : points) shown.emplace_back(point.lanes, point.per_event() + moved[point.dataset]);
  std::sort(shown.begin(), shown.end());
  const size_t count = std::min(kMostGroups, shown.size() / kLeastOfGroup);
  for (size_t group = 0; group < count; ++group) {
    std::vector<double> lanes, values;
    for (size_t i = shown.size() * group / count; i < shown.size() * (group + 1) / count; ++i) {
      lanes.push_back(shown[i].first);
      values.push_back(shown[i].second);
    }
    found->points.push_back({Quantile(&lanes, 0.5), Quantile(&values, 0.5)});
  }
}

}  // namespace

std::optional<RssSlope> LargestRssSlope(const AttemptRows& attempts, const std::vector<ProcessRow>& processes) {
  struct Process {
    uint32_t process;
    size_t readings;
  };
  std::vector<Process> groups;  // as their attempts stand
  for (const AttemptRow& attempt : attempts) {
    if (!HasReading(attempt)) continue;
    const uint32_t process = attempt.recording_process();
    if (groups.empty() || groups.back().process != process) groups.push_back({process, 0});
    ++groups.back().readings;
  }
  std::optional<RssSlope> largest;
  auto at = groups.begin();
  std::optional<BinnedReadings> binned;
  size_t left = 0;
  for (const AttemptRow& attempt : attempts) {
    if (!HasReading(attempt)) continue;
    if (left == 0) {
      left = at->readings;
      binned.reset();
      if (left >= kLeastChunks) {
        const bool is_known = at->process < processes.size();
        binned.emplace(left, is_known ? FileMemory(processes[at->process].samples) : FileMemory());
      }
    }
    if (binned.has_value()) binned->Add(attempt);
    if (--left > 0) continue;
    ++at;
    if (!binned.has_value()) continue;
    const std::optional<RssSlope> slope = SlopeOfProcess(*binned, largest.has_value() ? largest->slope : kNoSlopeYet);
    if (slope.has_value() && (!largest.has_value() || slope->slope > largest->slope)) largest = slope;
  }
  return largest;
}

ContentionRow FindContention(const AttemptRows& attempts, const StartOrder& order,
                             const std::vector<HelperTimes>& helpers, const std::vector<uint32_t>& dataset_of_input) {
  ContentionRow found;
  Sample sample = SampleOf(attempts, order, helpers, dataset_of_input);
  std::vector<Point>& points = sample.points;
  found.attempts = sample.attempts;
  const auto too_few = [&](const std::string& where) {
    found.reason = fmt::format("{} chunks{} recorded their events, CPU time and run delay; {} are needed",
                               points.size(), where, kFewestPoints);
    return found;
  };
  if (points.size() < kFewestPoints) return too_few("");
  const OpenLanes open(attempts, points);
  std::vector<double> lanes;
  for (Point& point : points) lanes.push_back(point.lanes = open.Mean(point));
  found.lanes_low = Quantile(&lanes, kRangeTail);
  found.lanes_high = Quantile(&lanes, 1 - kRangeTail);
  if (*found.lanes_high < kLeastLaneSpread * *found.lanes_low) {
    found.reason = fmt::format("the chunks that were open at once hardly varied ({} to {}): a factor of {} is needed",
                               HumanNumber(*found.lanes_low), HumanNumber(*found.lanes_high), kLeastLaneSpread);
    return found;
  }
  const Groups groups = GroupByLanes(&points);
  const std::string in_such = fmt::format(" of datasets with {} such", 2 * kLeastOfGroup);
  if (points.size() < kFewestPoints) return too_few(in_such);
  std::vector<std::vector<double>> values(groups.count());
  for (const Point& point : points) values[point.group].push_back(point.per_event());
  const std::optional<double> slope = MedianSlope(groups, &values);
  if (!slope.has_value()) return too_few(in_such);
  found.slope = *slope;
  SetInterval(points, groups, &found);
  // `points` may be a part of them
  double all_events = 0, events = 0;
  for (const AttemptRow& attempt : attempts) {
    if (attempt.status == AttemptState::kOk && attempt.events > 0) all_events += static_cast<double>(attempt.events);
  }
  for (const Point& point : points) events += point.events;
  found.excess = Excess(points, *found.slope) * all_events / events;
  found.excess_low = Excess(points, *found.slope_low) * all_events / events;
  if (*found.slope_low > 0) {
    found.ceiling = 1 / *found.slope;
    found.ceiling_low = 1 / *found.slope_high;
    found.ceiling_high = 1 / *found.slope_low;
  }
  SetPoints(points, &found);
  return found;
}

}  // namespace crema
