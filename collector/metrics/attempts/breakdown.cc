#include "collector/metrics/attempts/breakdown.h"

#include <map>

#include "collector/metrics/statistics/quantiles.h"

namespace crema {
namespace {

// What both kinds share: the range and the quantiles.
template <class T>
Distribution DescribeRanks(absl::Span<const T> values, double per_unit) {
  Distribution result;
  result.count = static_cast<int64_t>(values.size());
  const auto exact = ExactQuantiles<T>(values, {0, 1, 0.50, 0.90, 0.95, 0.99});
  const auto in_units = [per_unit](T value) { return static_cast<double>(value) / per_unit; };
  result.min = in_units(exact[0]);
  result.max = in_units(exact[1]);
  result.p50 = in_units(exact[2]);
  result.p90 = in_units(exact[3]);
  result.p95 = in_units(exact[4]);
  result.p99 = in_units(exact[5]);
  return result;
}

constexpr double kPerSecond = 1e9;
constexpr double kPerOne = 1;

// One quantity of chunks. `of` says what it is of an attempt, an optional integer of 1 / `per_unit` or a double.
template <class Of>
struct Quantity {
  using Value = typename std::invoke_result_t<Of, const AttemptRow&>::value_type;
  std::string_view key;
  double per_unit;
  Of of;
  LargeList<Value> values = {};
  int64_t unknown = 0;

  void Add(const std::optional<Value>& value) {
    if (value.has_value()) {
      values.push_back(*value);
    } else {
      ++unknown;
    }
  }
  ChunkDistribution Describe() const {
    if constexpr (std::is_same_v<Value, double>) {
      return {key, DescribeReals(values), unknown};
    } else {
      return {key, DescribeIntegers(values, per_unit), unknown};
    }
  }
};
template <class Of>
Quantity(std::string_view, double, Of) -> Quantity<Of>;

// In one pass.
template <class... Of>
std::vector<ChunkDistribution> DescribeEach(const AttemptRows& attempts, Quantity<Of>... quantities) {
  (quantities.values.reserve(attempts.size()), ...);
  for (const AttemptRow& attempt : attempts) {
    if (attempt.status == AttemptState::kOk) (quantities.Add(quantities.of(attempt)), ...);
  }
  return {quantities.Describe()...};
}

// Adds one attempt to the sums of its input, of its process, of its thread: what it counts for is found out once.
class Summand {
 public:
  Summand(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers)
      : attempt_(attempt), ended_(HasEnded(attempt)) {
    if (!ended_) return;
    cpu_ns_ = ChunkCpu(attempt, helpers);
    blocked_ns_ = ChunkBlocked(attempt, helpers);
    rss_delta_ = RssDelta(attempt);
  }
  bool ended() const { return ended_; }

  void AddTo(AttemptSums& sums) const {
    ++sums.attempts;
    sums.failed += attempt_.status == AttemptState::kFailed;
    sums.lost += attempt_.status == AttemptState::kLost;
    if (attempt_.is_result) {
      ++sums.chunks;
      sums.events.Add(Known(attempt_.events));
    }
    if (!ended_) return;
    ++sums.durations;
    sums.AddTimes(attempt_, cpu_ns_, blocked_ns_);
    sums.rss_delta.Add(rss_delta_);
  }

 private:
  const AttemptRow& attempt_;
  bool ended_;
  std::optional<int64_t> cpu_ns_;
  std::optional<int64_t> blocked_ns_;
  std::optional<int64_t> rss_delta_;
};

constexpr std::array<uint32_t AttemptRow::*, 3> kUnitKinds = {&AttemptRow::input, &AttemptRow::process,
                                                              &AttemptRow::thread};

// All inputs, all processes or all threads: what they sum to, and their durations, those of one unit together.
struct Units {
  uint32_t AttemptRow::*index;
  size_t kind = 0;              // of kUnitKinds
  std::vector<uint32_t> order;  // of the units' durations
  std::vector<AttemptSums> sums;
  std::vector<size_t> next;  // by unit: where its next duration goes; at the end, where the next unit's begin
  LargeList<int64_t> durations_ns;

  absl::Span<const int64_t> DurationsOf(uint32_t unit) const {
    const auto count = static_cast<size_t>(sums[unit].durations);
    return absl::MakeConstSpan(durations_ns).subspan(next[unit] - count, count);
  }
};

// Quantiles of a group's durations: half, 95 %, all.
using Quantiles = std::array<int64_t, 3>;

// The only process of a host has the host's quantiles, so those that were found are kept.
class KnownQuantiles {
 public:
  // `durations_ns` is not none, and stays.
  const Quantiles& Of(absl::Span<const int64_t> durations_ns) {
    const auto [found, added] = known_.try_emplace({durations_ns.data(), durations_ns.size()});
    if (added) found->second = ExactQuantiles(durations_ns, {0.50, 0.95, 1});
    return found->second;
  }

 private:
  std::map<std::pair<const int64_t*, size_t>, Quantiles> known_;
};

// The durations of several units, one after another; copied only where they are not together anyway.
class JoinedDurations {
 public:
  // `most`: how many there may be.
  explicit JoinedDurations(size_t most) : most_(most) {}
  void Add(absl::Span<const int64_t> more) {
    if (copied_.empty() && (joined_.empty() || joined_.end() == more.begin() || more.empty())) {
      joined_ = joined_.empty() ? more : absl::MakeConstSpan(joined_.data(), joined_.size() + more.size());
      return;
    }
    if (copied_.empty()) {
      copied_.reserve(most_);
      copied_.assign(joined_.begin(), joined_.end());
    }
    copied_.insert(copied_.end(), more.begin(), more.end());
    joined_ = copied_;
  }
  Quantiles FindQuantiles(KnownQuantiles& known) const {
    return copied_.empty() ? known.Of(joined_) : ExactQuantiles(joined_, {0.50, 0.95, 1});
  }

 private:
  size_t most_;
  absl::Span<const int64_t> joined_;
  LargeList<int64_t> copied_;
};

void SetQuantiles(const AttemptSums& sums, const JoinedDurations& durations, KnownQuantiles& known, BreakdownRow& row) {
  if (sums.duration_ns.count == 0) return;
  int64_t max_ns = sums.max_duration_ns;
  if (sums.durations > 0) {
    const auto [p50, p95, max] = durations.FindQuantiles(known);
    row.duration_p50 = static_cast<double>(p50) / 1e9;
    row.duration_p95 = static_cast<double>(p95) / 1e9;
    max_ns = std::max(max_ns, max);
  }
  row.duration_max = static_cast<double>(max_ns) / 1e9;
}

// Two passes over the attempts, which are many and large, whatever the number of tables.
void AddUp(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
           const std::vector<HelperTimes>& helpers, std::vector<Units>& all_units) {
  for (const SummedAttempts& sums : summed) {
    for (Units& units : all_units) units.sums[sums.row.*units.index].Add(sums, helpers);
  }
  // Named one by one: where a field is chosen as it runs, all others of the row are unpacked too.
  const auto units_of = [](const AttemptRow& attempt) {
    return std::array<uint32_t, kUnitKinds.size()>{attempt.input, attempt.process, attempt.thread};
  };
  size_t ended = 0;
  for (const AttemptRow& attempt : attempts) {
    if (!HasEnded(attempt)) continue;
    ++ended;
    const auto of_attempt = units_of(attempt);
    for (Units& units : all_units) ++units.next[of_attempt[units.kind]];
  }
  for (Units& units : all_units) {
    size_t before = 0;
    for (const uint32_t unit : units.order) before += std::exchange(units.next[unit], before);
    units.durations_ns.resize(ended);
  }
  for (const AttemptRow& attempt : attempts) {
    const Summand summand(attempt, helpers);
    const auto of_attempt = units_of(attempt);
    for (Units& units : all_units) {
      const uint32_t unit = of_attempt[units.kind];
      summand.AddTo(units.sums[unit]);
      if (summand.ended()) units.durations_ns[units.next[unit]++] = attempt.duration_ns;
    }
  }
}

std::vector<BreakdownRow> MakeTable(const Grouping& grouping, const Units& units, KnownQuantiles& known) {
  const std::vector<std::string>& names = *grouping.names;
  const std::vector<ByteSums>& bytes = *grouping.bytes;
  std::vector<std::vector<uint32_t>> units_of_group(names.size());
  for (uint32_t unit = 0; unit < units.sums.size(); ++unit) {
    if (units.sums[unit].attempts > 0) units_of_group[grouping.GroupOf(unit)].push_back(unit);
  }
  std::vector<BreakdownRow> rows;
  for (uint32_t group = 0; group < names.size(); ++group) {
    if (units_of_group[group].empty()) continue;
    AttemptSums sums;
    size_t count = 0;
    for (const uint32_t unit : units_of_group[group]) count += static_cast<size_t>(units.sums[unit].durations);
    JoinedDurations durations(count);
    for (const uint32_t unit : units_of_group[group]) {
      sums.Add(units.sums[unit]);
      durations.Add(units.DurationsOf(unit));
    }
    BreakdownRow& row = rows.emplace_back();
    row.name = names[group];
    row.group = group;
    SetSums(sums, group < bytes.size() ? bytes[group] : ByteSums(), &row);
    SetQuantiles(sums, durations, known, row);
  }
  SortByCost(&rows);
  return rows;
}

}  // namespace

void AttemptSums::Add(const AttemptSums& other) {
  for (const auto count : {&AttemptSums::chunks, &AttemptSums::attempts, &AttemptSums::failed, &AttemptSums::lost,
                           &AttemptSums::durations}) {
    this->*count += other.*count;
  }
  for (const auto sum : {&AttemptSums::events, &AttemptSums::duration_ns, &AttemptSums::cpu_ns,
                         &AttemptSums::cpu_wait_ns, &AttemptSums::blocked_ns, &AttemptSums::system_cpu_ns,
                         &AttemptSums::minor_faults, &AttemptSums::major_faults, &AttemptSums::rss_delta}) {
    (this->*sum).Add(other.*sum);
  }
  max_duration_ns = std::max(max_duration_ns, other.max_duration_ns);
}

void AttemptSums::Add(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  Summand(attempt, helpers).AddTo(*this);
}

void AttemptSums::Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers) {
  const AttemptRow& row = summed.row;
  attempts += summed.chunks;
  if (row.is_result) {
    chunks += summed.chunks;
    events.Add(Known(row.events), summed.chunks_with_events);
  } else {
    failed += summed.chunks;
  }
  AddTimes(row, ChunkCpu(row, helpers), ChunkBlocked(row, helpers), summed.chunks);
  max_duration_ns = std::max(max_duration_ns, summed.max_duration_ns);
}

void SetSums(const AttemptSums& sums, const ByteSums& bytes, BreakdownRow* row) {
  row->chunks = sums.chunks;
  row->attempts = sums.attempts;
  row->failed = sums.failed;
  row->lost = sums.lost;
  row->duration_sum = sums.duration_ns.Seconds().value_or(0);
  row->duration_mean = Ratio(sums.duration_ns.Seconds(), static_cast<double>(sums.duration_ns.count));
  row->events = sums.events.Integer();
  row->bytes_read = OptionalSum{bytes.read, bytes.with_read}.Integer();
  row->bytes_uncompressed = OptionalSum{bytes.uncompressed, bytes.with_uncompressed}.Integer();
  row->cpu_sum = sums.cpu_ns.Seconds();
  row->cpu_wait_sum = sums.cpu_wait_ns.Seconds();
  row->blocked_sum = sums.blocked_ns.Seconds();
  row->system_cpu_sum = sums.system_cpu_ns.Seconds();
  row->minor_faults = sums.minor_faults.Integer();
  row->major_faults = sums.major_faults.Integer();
  row->event_rate = Ratio(sums.events.In(1), row->duration_sum);
  row->events_per_cpu_second = Ratio(sums.events.In(1), row->cpu_sum);
  row->rss_delta_mean = sums.rss_delta.Mean();
}

Distribution DescribeIntegers(absl::Span<const int64_t> values, double per_unit) {
  if (values.empty()) return {};
  const auto count = static_cast<int64_t>(values.size());
  absl::int128 sum = 0;
  for (const int64_t value : values) sum += value;
  // Squares are taken of differences to a whole number near the mean: exact, and small enough for 128 bits.
  const absl::int128 middle = sum / count;
  absl::int128 differences = 0;
  absl::int128 squares = 0;
  for (const int64_t value : values) {
    const absl::int128 difference = value - middle;
    differences += difference;
    squares += difference * difference;
  }
  Distribution result = DescribeRanks<int64_t>(values, per_unit);
  result.mean = static_cast<double>(sum) / static_cast<double>(count) / per_unit;
  if (count > 1) {
    const double shift = static_cast<double>(differences);
    const double variance =
        (static_cast<double>(squares) - shift * shift / static_cast<double>(count)) / static_cast<double>(count - 1);
    result.std = std::sqrt(std::max(0.0, variance)) / per_unit;
  }
  return result;
}

Distribution DescribeReals(absl::Span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  RealSum sum;
  for (const double value : values) sum.Add(value);
  const double mean = sum.value() / count;
  RealSum squares;
  for (const double value : values) squares.Add((value - mean) * (value - mean));
  Distribution result = DescribeRanks<double>(values, 1);
  result.mean = mean;
  if (values.size() > 1) result.std = std::sqrt(squares.value() / (count - 1));
  return result;
}

std::vector<ChunkDistribution> DescribeChunks(size_t pass, const AttemptRows& attempts,
                                              const std::vector<HelperTimes>& helpers) {
  using Row = const AttemptRow&;
  const auto seconds_per_event = [](Row row) {
    return Ratio(static_cast<double>(row.duration_ns) / kPerSecond, row.events);
  };
  const auto rss_delta = [](Row row) { return RssDelta(row); };  // is inlined: only what it uses is unpacked
  const auto rss_delta_per_event = [](Row row) {
    const std::optional<int64_t> delta = RssDelta(row);
    return delta.has_value() ? Ratio(static_cast<double>(*delta), row.events) : std::nullopt;
  };
  const auto event_rate = [](Row row) {
    const bool known = row.events != AttemptRow::kUnknown;
    return known ? Ratio(static_cast<double>(row.events) * kPerSecond, row.duration_ns) : std::nullopt;
  };
  switch (pass) {
    case 0:
      return DescribeEach(attempts,
                          Quantity{"chunk_duration", kPerSecond, [](Row row) { return Known(row.duration_ns); }},
                          Quantity{"chunk_cpu", kPerSecond, [&](Row row) { return ChunkCpu(row, helpers); }},
                          Quantity{"chunk_cpu_wait", kPerSecond, [](Row row) { return Known(row.cpu_wait_ns); }});
    case 1:
      return DescribeEach(attempts,
                          Quantity{"chunk_blocked", kPerSecond, [&](Row row) { return ChunkBlocked(row, helpers); }},
                          Quantity{"chunk_events", kPerOne, [](Row row) { return Known(row.events); }},
                          Quantity{"chunk_time_per_event", kPerOne, seconds_per_event});
    default:
      return DescribeEach(attempts, Quantity{"chunk_rss_delta", kPerOne, rss_delta},
                          Quantity{"chunk_rss_delta_per_event", kPerOne, rss_delta_per_event},
                          Quantity{"chunk_event_rate", kPerOne, event_rate});
  }
}

std::vector<std::vector<BreakdownRow>> BreakDown(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                                                 const std::vector<HelperTimes>& helpers,
                                                 const std::vector<Grouping>& groupings) {
  std::vector<Units> all_units;
  const auto units_of = [&all_units](const Grouping& grouping) {
    return absl::c_find_if(all_units, [&](const Units& units) { return units.index == grouping.index; });
  };
  for (const Grouping& grouping : groupings) {
    if (units_of(grouping) != all_units.end()) continue;
    Units& units = all_units.emplace_back();
    units.index = grouping.index;
    units.kind = static_cast<size_t>(absl::c_find(kUnitKinds, grouping.index) - kUnitKinds.begin());
    units.sums.resize(grouping.units());
    units.next.resize(grouping.units());
    // Units of one group together, so that its durations need no copy.
    units.order = Indices<uint32_t>(grouping.units());
    SortBy(&units.order, [&grouping](uint32_t unit) { return grouping.GroupOf(unit); });
  }
  AddUp(attempts, summed, helpers, all_units);
  KnownQuantiles known;
  return Mapped<std::vector<BreakdownRow>>(
      groupings, [&](const Grouping& grouping) { return MakeTable(grouping, *units_of(grouping), known); });
}

void SortByCost(std::vector<BreakdownRow>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [](const BreakdownRow& a, const BreakdownRow& b) {
    return a.duration_sum != b.duration_sum ? a.duration_sum > b.duration_sum : a.name < b.name;
  });
}

}  // namespace crema
