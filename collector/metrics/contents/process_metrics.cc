#include "collector/metrics/contents/process_metrics.h"

#include "collector/metrics/statistics/known_sum.h"

namespace crema {

void ProcessMetrics::Add(const LogRef& log, int64_t time_ns, const std::vector<MetricFact>& metrics) {
  if (metrics.empty()) return;
  int64_t values = 0;
  for (const MetricFact& metric : metrics) values = AddCounts(values, AddCounts(metric.count, metric.invalid));
  Told& told = told_[log.index];
  const std::pair<int64_t, int64_t> order(time_ns, values);
  if (order <= told.order) return;
  told.order = order;
  told.metrics.clear();
  for (const MetricFact& metric : metrics) {
    told.metrics.push_back({std::string(metric.name), std::string(metric.unit), metric.count, metric.invalid,
                            metric.sum, metric.min, metric.max});
  }
}

void ProcessMetrics::Merge(const ProcessMetrics& other, const std::vector<uint32_t>& logs) {
  for (const auto& [log, theirs] : other.told_) {
    Told& told = told_[logs[log]];
    if (theirs.order > told.order) told = theirs;
  }
}

void ProcessMetrics::AddTo(CustomMetricTable* table) const {
  for (const auto& [log, told] : told_) {
    SumsFact fact;  // has metrics, and no sketches
    for (const Metric& metric : told.metrics) {
      MetricFact& row = fact.metrics.emplace_back();
      row.name = metric.name;
      row.unit = metric.unit;
      row.count = metric.count;
      row.invalid = metric.invalid;
      row.sum = metric.sum;
      row.min = metric.min;
      row.max = metric.max;
    }
    table->Add(fact);
  }
}

}  // namespace crema
