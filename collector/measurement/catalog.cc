#include "collector/measurement/catalog.h"

#include <map>

namespace crema {
namespace {

// docs/metrics.md, "Chunks: distributions": nine quantities of `ok` attempts ...
constexpr ChunkQuantity kQuantities[] = {
    {"chunk_duration", "s", "Chunk time", "wall time of a chunk", "no chunk was recorded"},
    {"chunk_cpu", "s", "Chunk CPU", "CPU time of a chunk, owner thread and helpers", "no chunk recorded its CPU time"},
    {"chunk_cpu_wait", "s", "Chunk CPU wait", "time the owner was ready to run without a CPU (schedstat run delay)",
     "the kernel does not report the run delay (/proc/thread-self/schedstat), or no chunk was recorded"},
    {"chunk_blocked", "s", "Chunk blocked",
     "time without CPU that is neither contention nor waiting for its own helpers: I/O, locks, the GIL, a GPU, sleep",
     "it needs CPU time and run delay, which no chunk recorded"},
    {"chunk_events", "count", "Events per chunk", "events of a chunk", "no chunk said how many events it had"},
    {"chunk_time_per_event", "s", "Time per event", "wall time of a chunk over its events",
     "no chunk said how many events it had"},
    {"chunk_rss_delta", "B", "RSS delta",
     "resident memory at a chunk's end less at its start (chunks open at once share it)",
     "no chunk recorded its memory"},
    {"chunk_rss_delta_per_event", "B", "RSS delta per event", "resident memory gained in a chunk over its events",
     "no chunk recorded both its memory and its events"},
    {"chunk_event_rate", "Hz", "Chunk event rate", "events of a chunk over its wall time",
     "no chunk said how many events it had"},
};

struct Statistic {
  std::string_view suffix;
  std::string_view label;
  std::string_view text;
};

// ... and eight statistics of each.
constexpr Statistic kStatistics[] = {
    {"mean", "mean", "Mean"},
    {"min", "least", "Least"},
    {"max", "largest", "Largest"},
    {"std", "std", "Standard deviation (sample, n - 1)"},
    {"p50", "median", "Median (value of rank ceil(p n))"},
    {"p90", "p90", "90 % quantile (value of rank ceil(p n))"},
    {"p95", "p95", "95 % quantile (value of rank ceil(p n))"},
    {"p99", "p99", "99 % quantile (value of rank ceil(p n))"},
};

void AddEntries(absl::Span<const MetricEntry> entries, std::vector<MetricDefinition>& catalog) {
  for (const MetricEntry& entry : entries) {
    catalog.push_back({std::string(entry.key), std::string(entry.alias), std::string(entry.unit),
                       std::string(entry.label), std::string(entry.text), std::string(entry.why_null)});
  }
}

void AddDistributions(std::vector<MetricDefinition>& catalog) {
  for (const ChunkQuantity& quantity : kQuantities) {
    for (const Statistic& statistic : kStatistics) {
      MetricDefinition definition;
      definition.key = std::string(quantity.key) + "_" + std::string(statistic.suffix);
      definition.unit = std::string(quantity.unit);
      definition.label = std::string(quantity.label) + ", " + std::string(statistic.label);
      definition.text = std::string(statistic.text) + ", over ok attempts, of: " + std::string(quantity.text) + ".";
      definition.why_null = std::string(quantity.why_null);
      if (statistic.suffix == "std") definition.why_null += ", or only one";
      catalog.push_back(std::move(definition));
    }
  }
}

std::vector<MetricDefinition> MakeCatalog() {
  std::vector<MetricDefinition> catalog;
  AddEntries(RunMetrics(), catalog);
  AddEntries(WorkerMetrics(), catalog);
  AddDistributions(catalog);
  AddEntries(ChunkMetrics(), catalog);
  AddEntries(FineMetrics(), catalog);
  AddEntries(EfficiencyMetrics(), catalog);
  return catalog;
}

}  // namespace

absl::Span<const ChunkQuantity> ChunkQuantities() { return kQuantities; }

const std::vector<MetricDefinition>& MetricCatalog() {
  static const auto* const kCatalog = new std::vector<MetricDefinition>(MakeCatalog());
  return *kCatalog;
}

const MetricDefinition* FindMetric(std::string_view key_or_alias) {
  static const auto* const kIndex = [] {
    auto* entries = new std::map<std::string, const MetricDefinition*, std::less<>>;
    for (const MetricDefinition& definition : MetricCatalog()) {
      entries->emplace(definition.key, &definition);
      if (!definition.alias.empty()) entries->emplace(definition.alias, &definition);
    }
    return entries;
  }();
  const auto found = kIndex->find(key_or_alias);
  return found == kIndex->end() ? nullptr : found->second;
}

void SetAllNull(MetricSet* metrics) {
  for (const MetricDefinition& definition : MetricCatalog()) metrics->SetNull(definition.key, definition.why_null);
}

void SetAliases(MetricSet* metrics) {
  for (const MetricDefinition& definition : MetricCatalog()) {
    if (definition.alias.empty()) continue;
    const MetricValue* value = metrics->Find(definition.key);
    if (value == nullptr) continue;
    metrics->Set(definition.alias, *value, metrics->Reason(definition.key));
  }
}

}  // namespace crema
