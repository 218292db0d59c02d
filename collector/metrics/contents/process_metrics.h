// Values that belong to processes, not to chunks (`RecordProcessMetric`).
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_PROCESS_METRICS_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_PROCESS_METRICS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/contents/custom_metric_table.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// Accumulator of the `metrics` of sample and end lines. They are told as sums since the process began: of each log,
/// the latest telling is the whole truth.
class ProcessMetrics {
 public:
  void Add(const LogRef& log, int64_t time_ns, const std::vector<MetricFact>& metrics);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ProcessMetrics& other, const std::vector<uint32_t>& logs);
  /// As those of an attempt that is `ok`, of no dataset.
  void AddTo(CustomMetricTable* table) const;

 private:
  struct Metric {
    std::string name;
    std::string unit;
    int64_t count = 0;
    int64_t invalid = 0;
    std::optional<double> sum;
    std::optional<double> min;
    std::optional<double> max;
  };
  struct Told {
    std::pair<int64_t, int64_t> order = {-1, 0};  ///< when, and how many values, which decides at one moment
    std::vector<Metric> metrics;
  };

  std::map<uint32_t, Told> told_;  // by log index
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_PROCESS_METRICS_H_
