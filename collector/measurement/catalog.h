// The one table of the metric set: every key of docs/metrics.md with its unit, label and definition.
#pragma once

#include "collector/measurement/measurement.h"

namespace crema {

template <class String>
struct MetricFields {
  String key;
  String alias;     ///< an older name kept beside it with the same value; empty: none
  String unit;      ///< `s`, `B`, `count`, `ratio`, ...; empty for lists
  String label;     ///< for people
  String text;      ///< the definition in one sentence
  String why_null;  ///< the reason for a null, unless the run gives a better one
};
using MetricDefinition = MetricFields<std::string>;
using MetricEntry = MetricFields<std::string_view>;

/// Every key, in docs/metrics.md's order; aliases are not entries of their own.
const std::vector<MetricDefinition>& MetricCatalog();

/// The definition of a key or alias; nullptr where there is none.
const MetricDefinition* FindMetric(std::string_view key_or_alias);

/// Sets every key to null with its usual reason: what is measured is set afterwards.
void SetAllNull(MetricSet* metrics);

/// Gives every alias the value, or the reason, of its key.
void SetAliases(MetricSet* metrics);

/// A quantity of chunks that is described by eight keys.
struct ChunkQuantity {
  std::string_view key;  ///< what the keys begin with
  std::string_view unit;
  std::string_view label;
  std::string_view text;
  std::string_view why_null;

  Kind kind() const {
    return unit == "s" ? Kind::kDuration : unit == "B" ? Kind::kMemory : unit == "Hz" ? Kind::kRate : Kind::kCount;
  }
};

/// What tables show of each; the keys are `chunk_duration_mean` and so on.
inline constexpr std::string_view kShownStatistics[] = {"mean", "std", "min", "p50", "p90", "p95", "p99", "max"};
/// The nine quantities of docs/metrics.md, "Chunks: distributions".
absl::Span<const ChunkQuantity> ChunkQuantities();

// The tables of docs/metrics.md, section by section; the distributions are generated.
absl::Span<const MetricEntry> RunMetrics();
absl::Span<const MetricEntry> WorkerMetrics();
absl::Span<const MetricEntry> ChunkMetrics();
absl::Span<const MetricEntry> FineMetrics();
absl::Span<const MetricEntry> EfficiencyMetrics();

}  // namespace crema
