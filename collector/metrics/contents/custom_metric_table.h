// Users' own metrics (`RecordMetric`), summed over ended attempts (docs/metrics.md, "custom_metrics").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_CUSTOM_METRIC_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_CUSTOM_METRIC_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/names_by_position.h"
#include "collector/metrics/statistics/quantile_sketch.h"
#include "collector/metrics/statistics/real_sum.h"
#include "collector/metrics/statistics/stand_in_names.h"
#include "collector/metrics/statistics/value_histogram.h"
#include "collector/records/facts.h"

namespace crema {

/// Accumulator of the `metrics` of chunk lines.
class CustomMetricTable {
 public:
  static constexpr size_t kMaxMetrics = 1000;   ///< docs/limits.md, "Kept short"
  static constexpr size_t kMaxDatasets = 1000;  ///< of one metric's breakdown; the others are one row `(other)`

  CustomMetricTable();
  void Add(const ChunkFact& chunk);
  /// Quantiles stay those of chunks with lines.
  void Add(const SumsFact& sums);
  void Merge(const CustomMetricTable& other);
  /// Rows by name and unit. What found no room is one metric `(other)` for each unit, and where there are too many
  /// units, one that has counts only. `dropped`: how many readings that were.
  std::vector<CustomMetricRow> Finalize(int64_t* dropped) const;

 private:
  struct Sums {
    int64_t count = 0;
    int64_t invalid = 0;
    int64_t readings = 0;
    RealSum sum;
    std::optional<double> min;
    std::optional<double> max;
    QuantileSketch values;
    bool has_means = false;  ///< among `values`
    int64_t failed_count = 0;
    RealSum failed_sum;

    void Add(const MetricFact& fact, bool failed, bool with_quantiles);
    void AddValues(const MetricFact& fact);
    void Add(const Sums& other);
    CustomMetricFigures Figures() const;
  };
  /// (metric, dataset); a dataset that found no room is `kRefused`.
  using Key = std::pair<uint32_t, uint32_t>;

  template <class Fact>
  void AddAll(const Fact& fact, bool with_quantiles);
  uint32_t InternMetric(std::string_view name, std::string_view unit);
  void MakeRoom();
  void Renumber(const Renumbering& metrics, const Renumbering& datasets);

  StandInNames metrics_;  // kind, name, unit, bytes of the unit
  BoundedNames datasets_{kMaxDatasets};
  absl::flat_hash_map<Key, Sums> sums_;
  NamesByPosition recent_metrics_;
  NamesByPosition recent_datasets_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_CUSTOM_METRIC_TABLE_H_
