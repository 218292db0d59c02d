#include "collector/metrics/recorded/custom_tables.h"

#include <set>

namespace crema {
namespace {

constexpr double kMostBins = 40;
constexpr double kLogarithmicSpan = 100;

std::vector<double> EdgesOf(double min, double max, bool whole) {
  if (!(min < max)) return {min, max};
  // Half on each side, as the difference of two large numbers may be infinite.
  const double half_span = max / 2 - min / 2;
  if (whole && half_span < kMostBins / 2) {
    std::vector<double> edges;
    for (double at = min; at <= max + 1; ++at) edges.push_back(at - 0.5);
    return edges;
  }
  const bool logarithmic = min > 0 && max / min > kLogarithmicSpan;
  // The widest bucket: 2 x its relative error at the larger end.
  const double bucket = 2 * QuantileSketch::kRelativeError * std::max(std::abs(min), std::abs(max));
  const double bins = logarithmic ? kMostBins : std::clamp(std::floor(half_span / bucket), 1.0, kMostBins);
  std::vector<double> edges = {min};
  for (double i = 1; i < bins; ++i) {
    edges.push_back(logarithmic ? min * std::pow(max / min, i / bins) : min + half_span * (2 * i / bins));
  }
  edges.push_back(max);
  return edges;
}

void TakeSmaller(std::optional<double>& value, const std::optional<double>& other) {
  if (other.has_value() && (!value.has_value() || *other < *value)) value = other;
}

std::string Encode(char kind, std::string_view name, std::string_view unit) {
  return std::string(1, kind) + KeyOf({name, unit});
}

// Name and unit.
std::pair<std::string_view, std::string_view> Decode(std::string_view encoded) {
  encoded.remove_prefix(1);
  const std::string_view name = TakeText(&encoded);
  return {name, TakeText(&encoded)};
}

std::string StandInOfMetric(std::string_view encoded) {
  const bool ordinary = encoded.front() == NamesWithOther::kOrdinary;
  return Encode(ordinary ? NamesWithOther::kStandIn : NamesWithOther::kLast, kOtherName,
                ordinary ? Decode(encoded).second : kOtherName);
}

// What the row says of its values' sizes can be used.
bool IsSketchOf(const MetricFact& fact) {
  constexpr int64_t kMostShift = 17;  // all of one sign in one bucket
  if (fact.sketch.empty() || fact.sketch.size() % 2 != 0 || fact.sketch_shift > kMostShift) return false;
  if (!fact.min.has_value() || !fact.max.has_value() || !(*fact.min <= *fact.max)) return false;
  int64_t count = 0;
  for (size_t i = 1; i < fact.sketch.size(); i += 2) {
    if (fact.sketch[i] <= 0 || fact.sketch[i] > fact.count - count) return false;
    count += fact.sketch[i];
  }
  return count == fact.count;
}

constexpr const char* kOfValues = "values";

CustomMetricFigures CountsOf(const CustomMetricFigures& figures) {
  CustomMetricFigures counts;
  counts.quantiles_of = kOfValues;
  counts.count = figures.count;
  counts.invalid = figures.invalid;
  counts.failed_count = figures.failed_count;
  return counts;
}

// Values of several units: they have no sum.
void LeaveCountsOnly(CustomMetricRow& row) {
  static_cast<CustomMetricFigures&>(row) = CountsOf(row);
  for (auto& [dataset, figures] : row.by_dataset) figures = CountsOf(figures);
}

constexpr uint64_t kHasWeights = 1;
constexpr uint64_t kHasSeen = 2;

/// What was read of one cut.
struct CutSums {
  std::string_view name;
  std::string_view flow;
  std::string path;
  std::string key;        ///< no two are equal
  int64_t position = -1;  ///< the latest place at which any recorded it
  int64_t readings = 0;
  int64_t events = 0;
  int64_t seen = 0;
  RealSum weights;
  bool all_weighted = true;
  bool all_seen = true;

  bool is_listed() const { return flow.empty() && path.empty(); }
  std::string parent() const { return path.substr(0, path.rfind('/')); }
};

/// The order of a cut flow, from the orders in which chunks recorded their cuts. Indices of the names, each after all
/// that were recorded before it: Kahn's topological order, where there is a choice (or a contradiction) by position,
/// then by name. It depends on nothing but the sets given. `before` holds (a, b) where some chunk recorded b right
/// after a.
std::vector<uint32_t> OrderCuts(const std::vector<CutSums>& cuts,
                                const std::set<std::pair<uint32_t, uint32_t>>& before) {
  // (what must still come before it, position, name, index): the next cut is always the first.
  using Waiting = std::tuple<int64_t, int64_t, std::string, uint32_t>;
  const auto count = static_cast<uint32_t>(cuts.size());
  std::vector<int64_t> blockers(count, 0);
  std::vector<std::vector<uint32_t>> after(count);
  for (const auto& [first, second] : before) {
    if (first == second) continue;
    ++blockers[second];
    after[first].push_back(second);
  }
  const auto waiting_of = [&](uint32_t cut) {
    return Waiting(blockers[cut] > 0, cuts[cut].position, cuts[cut].key, cut);
  };
  std::set<Waiting> waiting;
  for (uint32_t cut = 0; cut < count; ++cut) waiting.insert(waiting_of(cut));
  std::vector<uint32_t> order;
  std::vector<bool> placed(count, false);
  while (!waiting.empty()) {
    const uint32_t cut = std::get<3>(*waiting.begin());
    waiting.erase(waiting.begin());
    order.push_back(cut);
    placed[cut] = true;
    for (const uint32_t next : after[cut]) {
      if (placed[next]) continue;
      waiting.erase(waiting_of(next));
      --blockers[next];
      waiting.insert(waiting_of(next));
    }
  }
  return order;
}

/// A row of the table: the cut, that before it, and the first of its flow or list.
struct Place {
  uint32_t cut = 0;
  uint32_t before = 0;
  uint32_t first = 0;
  bool knows_step = true;  ///< its events are some of those of the one before
  bool knows_total = true;
};

/// Puts the list first, then the flows: `ttbar` before `ttbar, loop 2`, and that before `ttbar, loop 10`.
class PlacedCuts {
 public:
  /// A cut of the list that others name as the one before them gets a path.
  PlacedCuts(std::vector<CutSums>& sums, const std::vector<uint32_t>& order) : sums_(sums) {
    using Flow = std::tuple<std::string_view, size_t, std::string_view>;
    std::map<std::pair<std::string_view, std::string>, uint32_t> cut_at;
    for (const uint32_t cut : order) {
      const CutSums& of = sums[cut];
      cut_at.emplace(std::pair(of.flow, of.is_listed() ? PathPartOfName(std::string(of.name)) : of.path), cut);
    }
    std::vector<uint32_t> first_or_listed;
    for (const uint32_t cut : order) {
      const auto parent = cut_at.find({sums[cut].flow, sums[cut].parent()});
      if (sums[cut].is_listed() || parent == cut_at.end() || parent->second == cut) {
        first_or_listed.push_back(cut);
        continue;
      }
      children_[parent->second].push_back(cut);
      CutSums& before = sums[parent->second];
      if (before.is_listed()) before.path = PathPartOfName(std::string(before.name));
    }
    std::map<Flow, std::vector<uint32_t>> first_of_flow;
    for (const uint32_t cut : first_or_listed) {
      const std::string_view flow = sums[cut].flow;
      if (sums[cut].is_listed()) {
        AddListed(cut);
      } else {
        first_of_flow[{flow.substr(0, flow.find(", ")), flow.size(), flow}].push_back(cut);
      }
    }
    for (Place& place : places_) place.knows_step = place.knows_total = list_is_steps_;
    for (const auto& [flow, cuts] : first_of_flow) {
      for (const uint32_t cut : cuts) AddFlow(cut);
    }
  }
  std::vector<Place> Take() { return std::move(places_); }

 private:
  /// Each row of a list is compared with the row before it. If one has more events than that, they are not steps.
  void AddListed(uint32_t cut) {
    const bool is_first = places_.empty();
    places_.push_back({cut, is_first ? cut : places_.back().cut, is_first ? cut : places_.front().cut});
    list_is_steps_ = list_is_steps_ && sums_[cut].events <= sums_[places_.back().before].events;
  }
  /// Where the cut before the first one was not recorded, it is not known how many events there were.
  void AddFlow(uint32_t first) {
    const bool is_whole = sums_[first].parent() == sums_[first].path;
    std::vector<Place> next = {{first, first, first}};
    while (!next.empty()) {
      Place place = next.back();
      next.pop_back();
      const CutSums& cut = sums_[place.cut];
      const bool knows_input = cut.all_seen || place.cut != first || is_whole;
      place.knows_step = knows_input && cut.events <= (cut.all_seen ? cut.seen : sums_[place.before].events);
      place.knows_total = is_whole && place.knows_step && cut.events <= sums_[first].events;
      places_.push_back(place);
      const std::vector<uint32_t>& children = children_[place.cut];
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        next.push_back({*child, place.cut, first});
      }
    }
  }

  const std::vector<CutSums>& sums_;
  std::map<uint32_t, std::vector<uint32_t>> children_;
  std::vector<Place> places_;
  bool list_is_steps_ = true;
};

}  // namespace

ValueHistogram HistogramOf(const QuantileSketch& values, double min, double max, bool whole) {
  ValueHistogram histogram;
  histogram.edges = EdgesOf(min, max, whole);
  histogram.counts.assign(histogram.edges.size() - 1, 0);
  const auto inner_begin = histogram.edges.begin() + 1, inner_end = histogram.edges.end() - 1;
  values.ForEach([&](double middle, uint64_t count) {
    const auto bin = std::upper_bound(inner_begin, inner_end, std::clamp(middle, min, max)) - inner_begin;
    histogram.counts[static_cast<size_t>(bin)] += count;
  });
  return histogram;
}

CustomMetricTable::CustomMetricTable() : metrics_(kMaxMetrics, StandInOfMetric) {}

void CustomMetricTable::Sums::Add(const MetricFact& fact, bool failed, bool with_quantiles) {
  ++readings;
  invalid = SaturatingAdd(invalid, fact.invalid);
  if (fact.count == 0) return;
  if (!fact.sum.has_value()) {
    invalid = SaturatingAdd(invalid, fact.count);
    return;
  }
  if (failed) {
    failed_count = SaturatingAdd(failed_count, fact.count);
    failed_sum.Add(*fact.sum);
    return;
  }
  count = SaturatingAdd(count, fact.count);
  sum.Add(*fact.sum);
  TakeSmaller(min, fact.min);
  max = std::max(max, fact.max);
  if (with_quantiles) AddValues(fact);
}

void CustomMetricTable::Sums::AddValues(const MetricFact& fact) {
  if (IsSketchOf(fact)) {
    for (size_t i = 0; i < fact.sketch.size(); i += 2) {
      const double middle = MiddleOfRecordedBucket(fact.sketch[i], fact.sketch_shift);
      values.Add(std::clamp(middle, *fact.min, *fact.max), static_cast<uint64_t>(fact.sketch[i + 1]));
    }
    return;
  }
  if (fact.count > 1 && !(fact.min.has_value() && fact.min == fact.max)) has_means = true;
  values.Add(*fact.sum / static_cast<double>(fact.count), static_cast<uint64_t>(fact.count));
}

void CustomMetricTable::Sums::Add(const Sums& other) {
  count = SaturatingAdd(count, other.count);
  invalid = SaturatingAdd(invalid, other.invalid);
  readings += other.readings;
  sum.Add(other.sum);
  TakeSmaller(min, other.min);
  max = std::max(max, other.max);
  values.Merge(other.values);
  has_means |= other.has_means;
  failed_count = SaturatingAdd(failed_count, other.failed_count);
  failed_sum.Add(other.failed_sum);
}

CustomMetricFigures CustomMetricTable::Sums::Figures() const {
  CustomMetricFigures figures;
  figures.count = count;
  figures.invalid = invalid;
  if (count > 0 && std::isfinite(sum.value())) {
    figures.sum = sum.value();
    figures.mean = *figures.sum / static_cast<double>(count);
  }
  figures.min = min;
  figures.max = max;
  figures.p50 = values.Quantile(0.50);
  figures.p95 = values.Quantile(0.95);
  figures.quantiles_of = has_means ? "chunk means" : kOfValues;
  const bool all_known = !has_means && values.count() == static_cast<uint64_t>(count);
  if (all_known && min.has_value() && max.has_value()) {
    const auto is_whole = [](double value) { return value == std::floor(value); };
    const bool whole = is_whole(*min) && is_whole(*max) && figures.sum.has_value() && is_whole(*figures.sum);
    figures.histogram = HistogramOf(values, *min, *max, whole);
  }
  figures.failed_count = failed_count;
  if (failed_count > 0 && std::isfinite(failed_sum.value())) figures.failed_sum = failed_sum.value();
  return figures;
}

void CustomMetricTable::Add(const std::vector<MetricFact>& metrics, std::string_view name, bool failed,
                            bool with_quantiles) {
  if (metrics.empty()) return;
  const uint32_t dataset = recent_datasets_.IndexOf(0, name, "", [&] { return datasets_.Intern(name, HashOf(name)); });
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricFact& metric = metrics[i];
    const uint32_t index = recent_metrics_.IndexOf(i, metric.name, metric.unit, [&] {
      return metrics_.Intern(Encode(NamesWithOther::kOrdinary, metric.name, metric.unit));
    });
    sums_[Key(index, dataset)].Add(metric, failed, with_quantiles);
  }
  MakeRoom();
}

void CustomMetricTable::Renumber(const Renumbering& metrics, const Renumbering& datasets) {
  recent_metrics_.Clear();
  recent_datasets_.Clear();
  absl::flat_hash_map<Key, Sums> renumbered;
  for (auto& [key, sums] : sums_) {
    const auto [metric, dataset] = key;
    renumbered[Key(metrics[metric], datasets[dataset])].Add(sums);
  }
  sums_ = std::move(renumbered);
}

void CustomMetricTable::Merge(const CustomMetricTable& other) {
  const std::vector<uint32_t> metrics = metrics_.Take(other.metrics_);
  const std::vector<uint32_t> datasets = datasets_.Take(other.datasets_);
  for (const auto& [key, sums] : other.sums_) {
    const auto [metric, dataset] = key;
    sums_[Key(metrics[metric], dataset == BoundedNames::kRefused ? dataset : datasets[dataset])].Add(sums);
  }
  MakeRoom();
}

std::vector<CustomMetricRow> CustomMetricTable::Finalize(int64_t* dropped) const {
  CustomMetricTable sorted = *this;
  sorted.Renumber(sorted.metrics_.Prune(), sorted.datasets_.PruneAndSort());
  // In order of (metric, dataset), so that totals are summed in an order that does not depend on the split.
  std::map<Key, const Sums*> ordered;
  for (const auto& [key, sums] : sorted.sums_) ordered.emplace(key, &sums);

  std::vector<CustomMetricRow> rows(sorted.metrics_.size());
  std::vector<Sums> totals(sorted.metrics_.size());
  for (const auto& [key, sums] : ordered) {
    const auto [metric, dataset] = key;
    totals[metric].Add(*sums);
    rows[metric].by_dataset.emplace_back(
        dataset == BoundedNames::kRefused ? std::string(kOtherName) : sorted.datasets_.name(dataset), sums->Figures());
  }
  *dropped = 0;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const std::string& encoded = sorted.metrics_.name(i);
    const auto [name, unit] = Decode(encoded);
    rows[i].name = std::string(name);
    rows[i].unit = std::string(unit);
    static_cast<CustomMetricFigures&>(rows[i]) = totals[i].Figures();
    if (encoded.front() != NamesWithOther::kOrdinary) *dropped += totals[i].readings;
    if (encoded.front() == NamesWithOther::kLast) LeaveCountsOnly(rows[i]);
  }
  SortBy(&rows, [](const CustomMetricRow& row) { return std::tie(row.name, row.unit); });
  return rows;
}

void ProcessMetrics::Add(const LogRef& log, int64_t time_ns, const std::vector<MetricFact>& metrics) {
  if (metrics.empty()) return;
  int64_t values = 0;
  for (const MetricFact& metric : metrics) values = SaturatingAdd(values, SaturatingAdd(metric.count, metric.invalid));
  Reported& reported = reported_[log.index];
  const std::pair<int64_t, int64_t> order(time_ns, values);
  if (order <= reported.order) return;
  reported.order = order;
  reported.metrics.clear();
  for (const MetricFact& metric : metrics) {
    reported.metrics.push_back({metric, std::string(metric.name), std::string(metric.unit)});
    reported.metrics.back().fact.sketch.clear();
  }
}

void ProcessMetrics::Merge(const ProcessMetrics& other, const std::vector<uint32_t>& logs) {
  for (const auto& [log, theirs] : other.reported_) {
    if (Reported& reported = reported_[logs[log]]; theirs.order > reported.order) reported = theirs;
  }
}

void ProcessMetrics::AddTo(CustomMetricTable* table) const {
  for (const auto& [log, reported] : reported_) {
    SumsFact fact;  // has metrics, and no sketches
    for (const Metric& metric : reported.metrics) {
      MetricFact& row = fact.metrics.emplace_back(metric.fact);
      row.name = metric.name;
      row.unit = metric.unit;
    }
    table->Add(fact);
  }
}

// Base 128, lowest digits first; the top bit says that more follow.
void CutTable::AppendNumber(uint64_t number) {
  for (; number >= 128; number /= 128) readings_.push_back(static_cast<char>(number % 128 + 128));
  readings_.push_back(static_cast<char>(number));
}

uint64_t CutTable::TakeNumber(const std::string& readings, uint64_t& offset) {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(readings[offset++]);
    number |= static_cast<uint64_t>(byte % 128) << shift;
    if (byte < 128) return number;
  }
}

void CutTable::Append(const std::vector<Reading>& readings) {
  AppendNumber(readings.size());
  for (const Reading& reading : readings) {
    AppendNumber(reading.cut);
    AppendNumber(reading.events);
    AppendNumber((reading.weights.has_value() ? kHasWeights : 0) | (reading.seen.has_value() ? kHasSeen : 0));
    if (reading.weights.has_value()) {
      readings_.append(reinterpret_cast<const char*>(&*reading.weights), sizeof(double));
    }
    if (reading.seen.has_value()) AppendNumber(*reading.seen);
  }
}

CutTable::Reading CutTable::Take(const std::string& readings, uint64_t& offset) {
  Reading reading;
  reading.cut = static_cast<uint32_t>(TakeNumber(readings, offset));
  reading.events = TakeNumber(readings, offset);
  const uint64_t has = TakeNumber(readings, offset);
  if ((has & kHasWeights) != 0) {
    std::memcpy(&reading.weights.emplace(), readings.data() + offset, sizeof(double));
    offset += sizeof(double);
  }
  if ((has & kHasSeen) != 0) reading.seen = TakeNumber(readings, offset);
  return reading;
}

template <class NewIndex>
void CutTable::AppendKnown(const std::string& readings, uint64_t offset, const NewIndex& new_index) {
  std::vector<Reading> known;
  for (uint64_t left = TakeNumber(readings, offset); left > 0; --left) {
    Reading reading = Take(readings, offset);
    reading.cut = new_index[reading.cut];
    if (reading.cut != BoundedNames::kRefused) known.push_back(reading);
    refused_ += reading.cut == BoundedNames::kRefused;
  }
  Append(known);
}

void CutTable::Renumber(const Renumbering& renumbering) {
  recent_.Clear();
  const std::string old = std::exchange(readings_, {});
  const auto renumber = [&](uint64_t& place) { AppendKnown(old, std::exchange(place, readings_.size()), renumbering); };
  for (Attempt& attempt : attempts_) renumber(attempt.offset);
  for (uint64_t& offset : of_results_) renumber(offset);
}

void CutTable::Add(const LogRef& log, const ChunkFact& chunk) {
  if (chunk.cuts.empty() || chunk.failed) return;  // a failed attempt is never a result
  attempts_.push_back({AttemptKey(log.index, chunk.number), readings_.size()});
  Append(KnownReadings(chunk.cuts));
  MakeRoom();
}

void CutTable::Add(const LogRef&, const SumsFact& sums) {
  if (sums.cuts.empty() || sums.failed) return;
  of_results_.push_back(readings_.size());
  Append(KnownReadings(sums.cuts));
  MakeRoom();
}

std::vector<CutTable::Reading> CutTable::KnownReadings(const std::vector<CutFact>& cuts) {
  std::vector<Reading> readings;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const CutFact& cut = cuts[i];
    const auto intern = [&] {
      const std::string key = KeyOf({cut.name, cut.flow, cut.path});
      return names_.Intern(key, HashOf(key));
    };
    const uint32_t index = cut.path.empty() && cut.flow.empty() ? recent_.IndexOf(i, cut.name, "", intern) : intern();
    if (index != BoundedNames::kRefused) {
      readings.push_back({index, static_cast<uint64_t>(cut.events), cut.weights, cut.seen});
    }
    refused_ += index == BoundedNames::kRefused;
  }
  return readings;
}

void CutTable::Merge(const CutTable& other, const std::vector<uint32_t>& logs) {
  refused_ += other.refused_;
  const std::vector<uint32_t> cuts = names_.Take(other.names_);
  for (const Attempt& attempt : other.attempts_) {
    attempts_.push_back({AttemptKey(logs[attempt.key.first], attempt.key.second), readings_.size()});
    AppendKnown(other.readings_, attempt.offset, cuts);
  }
  for (const uint64_t offset : other.of_results_) {
    of_results_.push_back(readings_.size());
    AppendKnown(other.readings_, offset, cuts);
  }
  MakeRoom();
}

std::vector<CutRow> CutTable::Finalize(const std::vector<AttemptKey>& results, int64_t* dropped) const {
  if (names_.size() > kMaxNames) {
    CutTable pruned = *this;
    pruned.Renumber(pruned.names_.Prune());
    return pruned.Finalize(results, dropped);
  }
  *dropped = refused_;
  std::vector<CutSums> sums(names_.size());
  std::set<std::pair<uint32_t, uint32_t>> before;
  for (uint32_t i = 0; i < names_.size(); ++i) {
    std::string_view key = names_.name(i);
    sums[i].name = TakeText(&key);
    sums[i].flow = TakeText(&key);
    sums[i].path = TakeText(&key);
    sums[i].key = std::string(sums[i].name).append(1, '\0').append(names_.name(i));
  }
  std::vector<Attempt> attempts = attempts_;
  std::sort(attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) { return a.key < b.key; });
  std::vector<uint64_t> offsets = of_results_;
  for (const Attempt& attempt : attempts) {
    if (std::binary_search(results.begin(), results.end(), attempt.key)) offsets.push_back(attempt.offset);
  }
  for (uint64_t offset : offsets) {
    const uint64_t count = TakeNumber(readings_, offset);
    uint32_t previous = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const Reading reading = Take(readings_, offset);
      CutSums& cut = sums[reading.cut];
      ++cut.readings;
      cut.events = SaturatingAdd(cut.events, static_cast<int64_t>(reading.events));
      cut.all_weighted &= reading.weights.has_value();
      cut.all_seen &= reading.seen.has_value();
      cut.seen = SaturatingAdd(cut.seen, static_cast<int64_t>(reading.seen.value_or(0)));
      if (reading.weights.has_value()) cut.weights.Add(*reading.weights);
      cut.position = std::max(cut.position, static_cast<int64_t>(i));
      if (i > 0) before.emplace(previous, reading.cut);
      previous = reading.cut;
    }
  }
  std::vector<uint32_t> order = OrderCuts(sums, before);
  EraseWhere(&order, [&](uint32_t cut) { return sums[cut].position < 0; });  // recorded by no result
  std::vector<CutRow> rows;
  for (const Place& place : PlacedCuts(sums, order).Take()) {
    const CutSums& cut = sums[place.cut];
    if (rows.size() == kMaxCuts) {
      *dropped += cut.readings;
      continue;
    }
    CutRow row;
    row.name = cut.name;
    row.events = cut.events;
    row.path = Text::OrNull(cut.path);
    row.flow = Text::OrNull(cut.flow);
    if (cut.all_weighted) row.weights = cut.weights.value();
    if (cut.all_seen) row.seen = cut.seen;
    if (refused_ == 0 && place.knows_step) {
      row.step_efficiency = Ratio(cut.events, cut.all_seen ? cut.seen : sums[place.before].events);
    }
    if (refused_ == 0 && place.knows_total) row.total_efficiency = Ratio(cut.events, sums[place.first].events);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace crema
