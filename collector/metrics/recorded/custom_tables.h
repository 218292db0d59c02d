// Users' own metrics (`RecordMetric`; docs/metrics.md, "custom_metrics") and cuts (`RecordCut`), summed over attempts.
#pragma once

#include "collector/measurement/recorded.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/metrics/statistics/quantiles.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// At most 40 bins from `min` to `max`. Where all values are positive and span more than a factor of 100, bins are
/// equal on a logarithmic axis, else on a linear one. Bins are not narrower than the sketch resolves. A few whole
/// numbers (`whole`) have bins of width one, with the number in the middle.
ValueHistogram HistogramOf(const QuantileSketch& values, double min, double max, bool whole);

/// Accumulator of the `metrics` of chunk lines.
class CustomMetricTable {
 public:
  static constexpr size_t kMaxMetrics = 1000;   ///< docs/limits.md, "Kept short"
  static constexpr size_t kMaxDatasets = 1000;  ///< of one metric's breakdown; the others are one row `(other)`

  CustomMetricTable();
  void Add(const ChunkFact& chunk) { Add(chunk.metrics, chunk.input.dataset, chunk.failed, true); }
  /// Quantiles stay those of chunks with lines.
  void Add(const SumsFact& sums) { Add(sums.metrics, sums.input.dataset, sums.failed, false); }
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

  /// `name`: the dataset's.
  void Add(const std::vector<MetricFact>& metrics, std::string_view name, bool failed, bool with_quantiles);
  void MakeRoom() {
    if (metrics_.full() || datasets_.full()) Renumber(metrics_.Prune(), datasets_.Prune());
  }
  void Renumber(const Renumbering& metrics, const Renumbering& datasets);

  NamesWithOther metrics_;  // kind, then name and unit
  BoundedNames datasets_{kMaxDatasets};
  absl::flat_hash_map<Key, Sums> sums_;
  NamesByPosition recent_metrics_;
  NamesByPosition recent_datasets_;
};

/// Accumulator of the `metrics` of sample and end lines. Each line has the sums since the process began: the last
/// one of each log has everything.
class ProcessMetrics {
 public:
  void Add(const LogRef& log, int64_t time_ns, const std::vector<MetricFact>& metrics);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ProcessMetrics& other, const std::vector<uint32_t>& logs);
  /// As those of an attempt that is `ok`, of no dataset.
  void AddTo(CustomMetricTable* table) const;

 private:
  struct Metric {
    MetricFact fact;  // without its texts and its sketch
    std::string name;
    std::string unit;
  };
  struct Reported {
    std::pair<int64_t, int64_t> order = {-1, 0};  ///< when, and how many values, which decides at one moment
    std::vector<Metric> metrics;
  };

  std::map<uint32_t, Reported> reported_;  // by log index
};

// The cut flow (`RecordCut`): summed over results, so it is kept by attempt until the results are known.

/// Accumulator of the `cuts` of `ok` chunk lines: a few bytes for each cut of each attempt. Cuts that have a path are
/// parts of flows; those that have none are a list.
class CutTable {
 public:
  static constexpr size_t kMaxCuts = 1000;     ///< rows
  static constexpr size_t kMaxNames = 10'000;  ///< kept apart until their order is known

  void Add(const LogRef& log, const ChunkFact& chunk);
  /// Each summed `ok` attempt is a result.
  void Add(const LogRef& log, const SumsFact& sums);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const CutTable& other, const std::vector<uint32_t>& logs);

  bool empty() const { return attempts_.empty(); }
  /// Rows in the order of the cuts (`OrderCuts`): the list, then each flow, in it each cut behind its parent.
  /// `results`: sorted. `dropped`: readings of cuts beyond `kMaxCuts`. Beyond `kMaxNames` it is not known which cut was
  /// the first or the one before, so no row has an efficiency.
  std::vector<CutRow> Finalize(const std::vector<AttemptKey>& results, int64_t* dropped) const;

 private:
  struct Attempt {
    AttemptKey key;
    uint64_t offset = 0;  // into `readings_`
  };
  struct Reading {
    uint32_t cut = 0;
    uint64_t events = 0;
    std::optional<double> weights;
    std::optional<uint64_t> seen;
  };
  void Append(const std::vector<Reading>& readings);
  /// Those of an attempt in other `readings`, but for cuts that have no new index.
  template <class NewIndex>
  void AppendKnown(const std::string& readings, uint64_t offset, const NewIndex& new_index);
  static Reading Take(const std::string& readings, uint64_t& offset);
  static uint64_t TakeNumber(const std::string& readings, uint64_t& offset);
  /// Those whose name has room; the others are counted.
  std::vector<Reading> KnownReadings(const std::vector<CutFact>& cuts);
  void AppendNumber(uint64_t number);

  void MakeRoom() {
    if (names_.full()) Renumber(names_.Prune());
  }
  void Renumber(const Renumbering& renumbering);

  BoundedNames names_{kMaxNames};
  NamesByPosition recent_;
  std::vector<Attempt> attempts_;
  int64_t refused_ = 0;               // readings of names that found no room
  std::vector<uint64_t> of_results_;  // offsets: readings that are results' whatever attempts there are
  std::string readings_;  // of each attempt: how many, then each as cut, events, what else there is, weights, seen
};

}  // namespace crema
