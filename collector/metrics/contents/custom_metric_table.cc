#include "collector/metrics/contents/custom_metric_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "collector/metrics/statistics/stable_hash.h"

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

std::string StandInOf(std::string_view encoded) {
  const bool ordinary = encoded.front() == StandInNames::kOrdinary;
  return Encode(ordinary ? StandInNames::kStandIn : StandInNames::kLast, kOtherName,
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

CustomMetricTable::CustomMetricTable() : metrics_(kMaxMetrics, StandInOf) {}

void CustomMetricTable::Sums::Add(const MetricFact& fact, bool failed, bool with_quantiles) {
  ++readings;
  invalid = AddCounts(invalid, fact.invalid);
  if (fact.count == 0) return;
  if (!fact.sum.has_value()) {
    invalid = AddCounts(invalid, fact.count);
    return;
  }
  if (failed) {
    failed_count = AddCounts(failed_count, fact.count);
    failed_sum.Add(*fact.sum);
    return;
  }
  count = AddCounts(count, fact.count);
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
  count = AddCounts(count, other.count);
  invalid = AddCounts(invalid, other.invalid);
  readings += other.readings;
  sum.Add(other.sum);
  TakeSmaller(min, other.min);
  max = std::max(max, other.max);
  values.Merge(other.values);
  has_means |= other.has_means;
  failed_count = AddCounts(failed_count, other.failed_count);
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

void CustomMetricTable::Add(const ChunkFact& chunk) { AddAll(chunk, true); }

void CustomMetricTable::Add(const SumsFact& sums) { AddAll(sums, false); }

template <class Fact>
void CustomMetricTable::AddAll(const Fact& fact, bool with_quantiles) {
  if (fact.metrics.empty()) return;
  const std::string_view name = fact.input.dataset;
  const uint32_t dataset = recent_datasets_.IndexOf(0, name, "", [&] { return datasets_.Intern(name, HashOf(name)); });
  for (size_t i = 0; i < fact.metrics.size(); ++i) {
    const MetricFact& metric = fact.metrics[i];
    const uint32_t index = recent_metrics_.IndexOf(i, metric.name, metric.unit, [&] {
      return metrics_.Intern(Encode(StandInNames::kOrdinary, metric.name, metric.unit));
    });
    sums_[Key(index, dataset)].Add(metric, fact.failed, with_quantiles);
  }
  MakeRoom();
}

void CustomMetricTable::MakeRoom() {
  if (metrics_.full() || datasets_.full()) Renumber(metrics_.Prune(), datasets_.Prune());
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
    if (encoded.front() != StandInNames::kOrdinary) *dropped += totals[i].readings;
    if (encoded.front() == StandInNames::kLast) LeaveCountsOnly(rows[i]);
  }
  std::sort(rows.begin(), rows.end(), [](const CustomMetricRow& a, const CustomMetricRow& b) {
    return std::tie(a.name, a.unit) < std::tie(b.name, b.unit);
  });
  return rows;
}

void ProcessMetrics::Add(const LogRef& log, int64_t time_ns, const std::vector<MetricFact>& metrics) {
  if (metrics.empty()) return;
  int64_t values = 0;
  for (const MetricFact& metric : metrics) values = AddCounts(values, AddCounts(metric.count, metric.invalid));
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
    Reported& reported = reported_[logs[log]];
    if (theirs.order > reported.order) reported = theirs;
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

}  // namespace crema
