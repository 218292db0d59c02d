#include "collector/metrics/contents/custom_metric_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "collector/metrics/attempts/input_table.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

void TakeSmaller(std::optional<double>& value, const std::optional<double>& other) {
  if (other.has_value() && (!value.has_value() || *other < *value)) value = other;
}

}  // namespace

void CustomMetricTable::Sums::Add(const MetricFact& fact, bool with_quantiles) {
  ++readings;
  invalid = AddCounts(invalid, fact.invalid);
  if (fact.count == 0) return;
  if (!fact.sum.has_value()) {
    invalid = AddCounts(invalid, fact.count);
    return;
  }
  count = AddCounts(count, fact.count);
  sum.Add(*fact.sum);
  TakeSmaller(min, fact.min);
  max = std::max(max, fact.max);
  if (!with_quantiles) return;
  const double mean = *fact.sum / static_cast<double>(fact.count);
  values.Add(mean, static_cast<uint64_t>(fact.count));
}

void CustomMetricTable::Sums::Add(const Sums& other) {
  count = AddCounts(count, other.count);
  invalid = AddCounts(invalid, other.invalid);
  readings += other.readings;
  sum.Add(other.sum);
  TakeSmaller(min, other.min);
  max = std::max(max, other.max);
  values.Merge(other.values);
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
  return figures;
}

uint32_t CustomMetricTable::InternMetric(std::string_view name) { return metrics_.Intern(name, HashOf(name)); }

uint32_t CustomMetricTable::InternMetric(std::string_view name, std::string_view unit) {
  std::string both(name);
  both.push_back('\0');
  both.append(unit);
  return InternMetric(both);
}

void CustomMetricTable::Add(const ChunkFact& chunk) { Add(chunk.input.dataset, chunk.metrics, true); }

void CustomMetricTable::Add(const SumsFact& sums) { Add(sums.input.dataset, sums.metrics, false); }

void CustomMetricTable::Add(std::string_view dataset_name, const std::vector<MetricFact>& metrics,
                            bool with_quantiles) {
  if (metrics.empty()) return;
  const uint32_t dataset = recent_datasets_.IndexOf(
      0, dataset_name, "", [&] { return datasets_.Intern(dataset_name, HashOf(dataset_name)); });
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricFact& metric = metrics[i];
    const uint32_t index =
        recent_metrics_.IndexOf(i, metric.name, metric.unit, [&] { return InternMetric(metric.name, metric.unit); });
    if (index == BoundedNames::kRefused) {
      ++dropped_;
    } else {
      sums_[Key(index, dataset)].Add(metric, with_quantiles);
    }
  }
  MakeRoom();
}

void CustomMetricTable::MakeRoom() {
  if (metrics_.full() || datasets_.full()) Renumber(metrics_.Prune(), datasets_.Prune());
}

void CustomMetricTable::Renumber(const std::vector<uint32_t>& metrics, const std::vector<uint32_t>& datasets) {
  recent_metrics_.Clear();
  recent_datasets_.Clear();
  absl::flat_hash_map<Key, Sums> renumbered;
  for (auto& [key, sums] : sums_) {
    const auto [metric, dataset] = key;
    if (metrics[metric] == BoundedNames::kRefused) {
      dropped_ += sums.readings;
      continue;
    }
    renumbered[Key(metrics[metric], dataset == BoundedNames::kRefused ? dataset : datasets[dataset])].Add(sums);
  }
  sums_ = std::move(renumbered);
}

void CustomMetricTable::Merge(const CustomMetricTable& other) {
  dropped_ += other.dropped_;
  std::vector<uint32_t> metrics;
  for (uint32_t i = 0; i < other.metrics_.size(); ++i) metrics.push_back(InternMetric(other.metrics_.name(i)));
  std::vector<uint32_t> datasets;
  for (uint32_t i = 0; i < other.datasets_.size(); ++i) {
    datasets.push_back(datasets_.Intern(other.datasets_.name(i), other.datasets_.rank(i)));
  }
  for (const auto& [key, sums] : other.sums_) {
    const auto [metric, dataset] = key;
    if (metrics[metric] == BoundedNames::kRefused) {
      dropped_ += sums.readings;
    } else {
      sums_[Key(metrics[metric], dataset == BoundedNames::kRefused ? dataset : datasets[dataset])].Add(sums);
    }
  }
  MakeRoom();
}

std::vector<CustomMetricRow> CustomMetricTable::Finalize(int64_t* dropped) const {
  CustomMetricTable sorted = *this;
  sorted.Renumber(sorted.metrics_.PruneAndSort(), sorted.datasets_.PruneAndSort());
  *dropped = sorted.dropped_;
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
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const std::string& name = sorted.metrics_.name(i);
    const size_t separator = name.find('\0');
    rows[i].name = name.substr(0, separator);
    rows[i].unit = name.substr(separator + 1);
    rows[i].figures = totals[i].Figures();
  }
  return rows;
}

}  // namespace crema
