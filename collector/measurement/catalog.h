// The one table of the metric set: every key of docs/metrics.md with its unit, label and definition.
#pragma once

#include "collector/measurement/measurement.h"

namespace crema {

struct MetricDefinition {
  std::string key;
  std::string alias;     ///< an older name kept beside it with the same value; empty: none
  std::string unit;      ///< `s`, `B`, `count`, `ratio`, ...; empty for lists
  std::string label;     ///< for people
  std::string text;      ///< the definition in one sentence
  std::string why_null;  ///< why there is no value where nothing more particular is known
};

/// Every key, in docs/metrics.md's order; aliases are not entries of their own.
const std::vector<MetricDefinition>& MetricCatalog();

/// The definition of a key or alias; nullptr where there is none.
const MetricDefinition* FindMetric(std::string_view key_or_alias);

/// Sets every key to null with its usual reason: what is measured is set afterwards.
void SetAllNull(MetricSet* metrics);

/// Gives every alias the value, or the reason, of its key.
void SetAliases(MetricSet* metrics);

/// Written without types, as the tables of the sections are.
struct MetricEntry {
  std::string_view key;
  std::string_view alias;
  std::string_view unit;
  std::string_view label;
  std::string_view text;
  std::string_view why_null;
};

/// A quantity of chunks that is described by eight keys.
struct ChunkQuantity {
  std::string_view key;  ///< what the keys begin with
  std::string_view unit;
  std::string_view label;
  std::string_view text;
  std::string_view why_null;
};

/// The nine quantities of docs/metrics.md, "Chunks: distributions".
absl::Span<const ChunkQuantity> ChunkQuantities();

// The tables of docs/metrics.md, section by section; the distributions are generated.
absl::Span<const MetricEntry> RunMetrics();
absl::Span<const MetricEntry> WorkerMetrics();
absl::Span<const MetricEntry> ChunkMetrics();
absl::Span<const MetricEntry> FineMetrics();
absl::Span<const MetricEntry> EfficiencyMetrics();

}  // namespace crema
