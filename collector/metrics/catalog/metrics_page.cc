#include "collector/metrics/catalog/metrics_page.h"

#include <fmt/format.h>

#include <string_view>

#include "collector/metrics/catalog/catalog.h"
#include "collector/metrics/catalog/row_tables.h"

namespace crema {
namespace {

constexpr std::string_view kHead =
    R"(<!-- Written by `bazel run //docs:generated_pages_test -- --write` from collector/metrics/catalog. -->
# Metrics

Every figure that crema prints, exports or compares. `crema show SOURCE --metric KEY` prints one with its definition;
`measurement.json` holds all of them, and `definitions` beside them says what stands here.

- A value that was not measured is null, never 0, and `quality.not_measured` says why. A measured zero is 0.
- Units are seconds, bytes, counts and plain ratios (0 to 1), unless the key's name says otherwise.
- An *attempt* at a chunk ends `ok` or `failed`, or is *lost* with its process. The *result* of a chunk is its `ok` attempt
  that stopped last. Results count once, cost counts always.
- The *duration* of an attempt is its wall time from begin to end, without the time in which it was suspended
  (a coroutine that waited): no lane was occupied then.
- Where records and Coffea's report tell the same, both values are kept (`run.coffea_report`), `run.*_source` names the one
  that is used, and a difference over 1 % is a warning.

)";

constexpr std::string_view kReadings =
    R"(## Where a definition leaves a choice

- **Robust fit** (`straggler_chunks`, `predicted`, chunk-size advice): duration = fixed + slope x events of a dataset's `ok`
  attempts. The slope is Theil-Sen's on the median durations of chunks of equal size, each pair of sizes with the weight of
  the pairs of chunks behind it (where a dataset has hundreds of sizes, neighbours are put together); the fixed cost is the
  median of what the slope leaves. Chunks whose events are not known take no part, unless none of the dataset are: then all
  are of one size. No chunk is predicted to take less than 0 s; residuals are from the line itself.
- **`rss_slope`**: of the RSS at the end of ended attempts, by their number, in at most 200 bins of as many attempts each as
  can be; per 1,000 events with the mean events of those attempts; the interval is Sen's.
- **`balance`**: without a moment at which a tail begins, to the last chunk's stop.
- **`rss_start_bytes`, `rss_stop_bytes` of a memory section**: of several deltas that are as large, of the one that ended
  with most.
- **`load_imbalance`**: lost attempts have no duration, so they hold no lane. Null where a chunk was suspended: which
  lane it ran on is not known.
- **`max_open_chunks`**: a chunk of no length counts where it lies; another that ends or begins at that moment does not.
- **`allocated_cores`** from affinity: a host has the most of what its processes were allowed; where one host does not tell,
  nothing is told.
- **`avg_memory_per_worker_bytes`**: over the time in which the memory is known, so since each worker's first sample.
- **`event_coverage`**: of what was announced, the report's entries come before CREMA_TOTAL_EVENTS.
- **`joined`** is known where the run delay is not, `blocked` is not: joining takes of what CPU leaves.
- **A process with two recorders** has ended when both say so.
- **Rows named `(none)`** hold chunks that do not name a dataset or file; a table of `(none)` alone is left out.
- **Sums beyond 64 bits** are null.

)";

struct Section {
  std::string_view title;
  absl::Span<const MetricEntry> entries;
};

/// A cell of a table: a bar would end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string MetricRow(std::string_view key, std::string_view alias, std::string_view unit, std::string_view label,
                      std::string_view text) {
  const std::string keys = alias.empty() ? fmt::format("`{}`", key) : fmt::format("`{}` (`{}`)", key, alias);
  return fmt::format("| {} | {} | {} | {} |\n", keys, Cell(label), Cell(unit), Cell(text));
}

std::string MetricTable(const Section& section) {
  std::string text =
      fmt::format("## {}\n\n| key (alias) | label | unit | definition |\n|---|---|---|---|\n", section.title);
  for (const MetricEntry& entry : section.entries) {
    text += MetricRow(entry.key, entry.alias, entry.unit, entry.label, entry.text);
  }
  return text + "\n";
}

std::string Distributions() {
  std::string text =
      "## Chunks: distributions\n\nEach quantity of the `ok` attempts, with `_mean _min _max _std` (sample, n - 1) and "
      "`_p50 _p90 _p95 _p99`\n(value of rank ceil(p n), within 1 %). Chunks without the value are left out, and "
      "counted "
      "in `quality.missing_values`.\n\n| key | label | unit | of |\n|---|---|---|---|\n";
  for (const ChunkQuantity& quantity : ChunkQuantities()) {
    text += fmt::format("| `{}_*` | {} | {} | {} |\n", quantity.key, quantity.label, quantity.unit, quantity.text);
  }
  return text + "\n";
}

std::string FieldTable(std::string_view head, absl::Span<const RowField> fields) {
  std::string text = fmt::format("| {} |\n|---|---|---|\n", head);
  for (const RowField& field : fields) {
    text += fmt::format("| `{}` | {} | {} |\n", field.name, Cell(field.unit), Cell(field.text));
  }
  return text + "\n";
}

/// "datasets files" as "`datasets`, `files`".
std::string Names(std::string_view names) {
  std::string text = "`";
  for (const char c : names) text += c == ' ' ? "`, `" : std::string(1, c);
  return text + "`";
}

}  // namespace

std::string MetricsPage() {
  std::string page(kHead);
  page += MetricTable({"The run", RunMetrics()});
  page += MetricTable({"Workers and the process tree", WorkerMetrics()});
  page += Distributions();
  page += MetricTable({"Chunks, sections and reading", ChunkMetrics()});
  page += MetricTable({"Fine metrics", FineMetrics()});
  page += MetricTable({"Efficiency", EfficiencyMetrics()});
  page +=
      "## The core-second budget\n\nCores times the time for which their workers lived, part by part. A lane is a "
      "chunk "
      "that is open, or a helper at work for\none; what lanes do not occupy is free. Free time goes to the first that "
      "applies of startup, shutdown, tail, idle.\n\n";
  page += FieldTable("part | group | what it is", BudgetParts());
  page += kReadings;
  page += "## Tables\n\nThe rows of `measurement.json`, field by field.\n\n";
  for (const RowTable& table : RowTables()) {
    page += fmt::format("### {}\n\n{}\n\n", Names(table.names), table.text);
    page += FieldTable("field | unit | what it is", table.fields);
  }
  page +=
      "### `timelines`\n\nPoints `[seconds since the run's start, value]`, on change; one line for each worker, but "
      "for "
      "the first.\n\n";
  page += FieldTable("series | unit | what it is", TimelineSeries());
  page += "### `quality`\n\nHow far all this can be trusted.\n\n";
  page += FieldTable("key | unit | what it is", QualityFields());
  page.pop_back();
  return page;
}

}  // namespace crema
