#include "collector/metrics/coffea/coffea_accumulator.h"

#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

void AddKnown(std::optional<int64_t>& sum, const std::optional<int64_t>& value) {
  if (value.has_value()) sum = AddCounts(sum.value_or(0), *value);
}
void AddKnown(std::optional<double>& sum, const std::optional<double>& value) {
  if (value.has_value()) sum = sum.value_or(0) + *value;
}
void AddKnown(CoffeaSums& sums, const CoffeaSums& other) {
  AddKnown(sums.entries, other.entries);
  AddKnown(sums.duration, other.duration);
  AddKnown(sums.bytes, other.bytes);
}

}  // namespace

void CoffeaAccumulator::Add(const CoffeaReport& report) {
  ++sums_.reports;
  AddKnown(sums_.report, {report.entries, report.processtime, report.bytesread});
  AddKnown(sums_.chunks, report.chunks);
  columns_.insert(report.columns.begin(), report.columns.end());
  sums_.has_columns |= report.has_columns;
}

void CoffeaAccumulator::Add(const MetricsByDataset& metrics) {
  for (const DatasetReport& dataset : metrics.datasets) {
    AddKnown(sums_.datasets[dataset.dataset], {dataset.entries, dataset.duration, dataset.num_requested_bytes});
  }
}

void CoffeaAccumulator::Merge(const CoffeaAccumulator& other) {
  sums_.reports += other.sums_.reports;
  AddKnown(sums_.report, other.sums_.report);
  AddKnown(sums_.chunks, other.sums_.chunks);
  columns_.insert(other.columns_.begin(), other.columns_.end());
  sums_.has_columns |= other.sums_.has_columns;
  for (const auto& [dataset, sums] : other.sums_.datasets) AddKnown(sums_.datasets[dataset], sums);
}

CoffeaFigures CoffeaAccumulator::Finalize() const {
  CoffeaFigures figures = sums_;
  figures.columns.assign(columns_.begin(), columns_.end());
  for (const auto& [dataset, sums] : figures.datasets) AddKnown(figures.of_datasets, sums);
  return figures;
}

}  // namespace crema
