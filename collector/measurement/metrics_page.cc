#include "collector/measurement/metrics_page.h"

#include <fmt/format.h>

#include <set>

#include "collector/measurement/budget_parts.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/measurement.h"

namespace crema {
namespace {

constexpr std::string_view kHead =
    R"(<!-- Written by `bazel run //docs:generated_pages_test -- --write` from collector/measurement. -->
# Metrics

Every figure that crema prints, exports or compares. `crema show SOURCE --metric KEY` prints one with its definition;
`measurement.json` holds all of them, and `definitions` beside them says what stands here.

## Rules

- **Not measured is null**, never 0, and `quality.not_measured` says why. A measured zero is 0. A ratio is null if
  its denominator is not positive, or if a part of it is not known.
- **A figure that contradicts others is null**, with the reason: a share that is not in 0 to 1, an ideal time above the
  elapsed time. Up to 1 % is put down to clocks and rounding, and the figure is put on its limit.
- **Units** are seconds, bytes, counts and plain ratios (0 to 1), unless the key's name says otherwise.
- **Sums are exact**: times, bytes and counts are added up as integers. So records may be divided and merged in any
  order, and the measurement is the same. Floating-point sums (your own metrics, weights) may then differ in the last
  digits. If some attempts did not report a value, the sum leaves them out; if none reported it, the sum is null.
- **Quantiles** are the value of rank ceil(p n), within 1 %, never below the least or above the greatest value.
- **Time averages** of workers, cores and memory are integrals of steps: a value holds until the next one. They are
  cut at the run's bounds.
- **Two sources of one quantity** (records and Coffea's report): both values are kept (`run.coffea_report`),
  `run.*_source` names the one that is used, and a difference over 1 % is a warning. Records are used first, but for
  bytes Coffea's report is. Figures by dataset are used last. No figure mixes two sources.
- **Nothing is left out silently**: what was not read, joined or kept is counted in [`quality`](#quality). Names are
  [bounded](limits.md#kept-short), and an attempt takes some 100 bytes of the collector's memory.

## Chunks and attempts

- **A chunk** is known by its run, pass, dataset, file, tree and range of entries. One without a file or a range is a
  chunk of its own each time.
- **An attempt** at a chunk that *ended* is `ok` or `failed` (by an exception, or by `Fail`). It is *lost* if it began
  and its process then ended or vanished; a lost attempt has no duration. It is *open* while its process runs. It is
  *unrecorded* if it ended and its record is missing. Open and unrecorded attempts count as attempts, neither failed nor
  lost.
- **The duration** of an attempt is its wall time from begin to end, without two parts: the time in which it was
  suspended (a coroutine that waited), when no lane was occupied; and the time in which its thread worked for another
  chunk inside it. So each moment of a thread counts once.
- **The result** of a chunk is its `ok` attempt that stopped last. Results count once; the cost of every attempt counts.
- A chunk is *retried* if it was attempted again after a failed or lost attempt, *recomputed* if it has several `ok`
  attempts, and *unfinished* if it has no result.

| figures | are over |
|---|---|
| events, chunks, cuts, oversized chunks | results |
| attempts, failed and lost ones | all attempts |
| durations, CPU, bytes, sections, memory sections, activities | ended attempts |
| distributions of chunks, fits, stragglers, your metrics | `ok` attempts |

**The time of an attempt's owner** (the thread that has the chunk open) has four parts. Each part is at most what the
parts before it leave. So the parts add up to the duration exactly.

| part | what it is |
|---|---|
| CPU | CPU time of the thread |
| CPU wait | ready to run, without a CPU: the kernel's run delay. If the kernel does not report it, this and blocked are null |
| joined | waiting for its own helpers: at most the time in which one of them was at work |
| blocked | the rest: I/O, locks, the GIL, a GPU, sleep |

## Runs and workers

- **The run** lasts as long as the first of these that exists: the command (`command`, by `crema run`); the processes
  from their first start to their last sign of life, without an engine's workers (`processes`); the chunks from the
  first begin to the last stop (`chunks`). A start or stop that is given (`--start`, `--stop`, a collector in Python)
  replaces that end (`context`). `run.boundary` says which it was.
- **A worker** is a worker of an engine, or a process that recorded chunks. It lives from its start to its `end` line,
  else to the latest time on any of its lines. A worker that a scheduler saw lives from its join to its leave. A worker
  lives at least as long as its chunks.
- **The cores of a worker** are the scheduler's threads for it, or those that it declared (`CREMA_THREADS`, `Enable`).
  Else they are the most lanes that it had at once: threads with a chunk open, and helpers at work; threads without
  guards and child processes are as many as it takes to compute what they did. If no record has this number, they are
  the most chunks that were open at once by their times. If owners only wait for their helpers (for nine tenths of the
  helpers' time or more), the chunks of owners with helpers that were open at once do not count. But the cores are at
  least the chunks at once whose own thread worked for a tenth of the time from their begin to their end, or more. Cores
  that were not declared are at most what affinity and quota allow the process, 0.5 or 1.5 where the quota is so.
  `run.cores_source` says which of these it was.
- **Phases** are spans of four names: `preprocess`, `process`, `reduce`, `postprocess`. If there are no such spans,
  phases come from the prefixes of an engine's tasks: the prefix of the tasks with chunks (`process`), `reduce`, and
  Coffea's `automatic_retries` (`preprocess`).

)";

constexpr std::string_view kReadings =
    R"(## Where a definition leaves a choice

- **Robust fit** (`straggler_chunks`, `predicted`, chunk-size advice): duration = fixed + slope x events, from the `ok`
  attempts of a dataset. The slope is Theil-Sen's, over the median durations of chunks of equal size. A pair of sizes
  has the weight of the pairs of chunks behind it. If a dataset has hundreds of sizes, neighbouring sizes are joined.
  The fixed cost is the median of what the slope leaves. Chunks whose events are not known take no part. If no chunk of
  the dataset has known events, all count as equal in size. A prediction is never below 0 s; residuals are from the line
  itself.
- **`rss_slope`** uses the RSS at the end of ended attempts, in their order, in at most 200 bins of equal numbers of
  attempts where this is possible. Where the process's samples have its anonymous memory, what was resident of files and
  shared memory comes off, on a straight line between two samples. The slope is per 1,000 events, with the mean events
  of those attempts. The interval is Sen's.
- **`rss_start_bytes`, `rss_stop_bytes` of a memory section**: if several deltas are equally large, these are of the one
  that ended with the largest RSS.
- **`load_imbalance`**: lost attempts have no duration, so they occupy no lane. It is null if a chunk was suspended
  or had another one inside it, because then its lane is not known.
- **`max_open_chunks`**: a chunk of zero length counts at its time. Another chunk that ends or begins at that moment does
  not count.
- **`allocated_cores`** from affinity: a host has as many as the process that was allowed the most. If one host does not
  report it, it is null.
- **`avg_memory_per_worker_bytes`** is over the time in which the memory is known: since each worker's first sample.
- **`event_coverage`**: of several announced numbers, crema takes the entries of Coffea's report first, then
  CREMA_TOTAL_EVENTS, then figures by dataset. It is null without an attempt. A report
  counts a chunk as often as it was computed: if the records have as many events as one report in this way, it is 1; if
  several reports count more than the records otherwise have, it is null.
- **`joined`** is known even if the run delay is not, because it comes out of what CPU leaves. `blocked` is not known
  then.
- **A process with several logs** has ended when all of them say so.
- **Rows named `(none)`** hold chunks that do not name a dataset or file. A table that would hold only `(none)` is left
  out.
- **Sums beyond 64 bits** are null.

)";

constexpr std::string_view kFineNote =
    R"(From the activities of an engine, Dask's fine metrics: rows of context, span, worker, function (a task's
prefix), activity, unit and value. Keys are sums over the context `execute`, unless they say otherwise. The
processor's tasks are those that the user names, else those of the prefixes in whose tasks chunks ran. If neither
is known, its keys are null. Transfers go on while tasks run, so they are in no part of the budget. No list of
activities is built in: crema keeps and shows all of them; a label that is not text is shown as JSON. The SDK's own
activities have the context `native`.

)";

constexpr std::string_view kReadingNote =
    R"(Rates of reading and decompression are of metrics that your code records under these names (`crema::metric`):
`bytes_read`, `read_calls`, `read_overhead_bytes`, `read_wall`, `unzip_bytes`, `unzip_wall`.

)";

constexpr std::string_view kBudgetNote =
    R"(The budget divides the core-seconds: cores times the time for which their workers lived. A lane is an open chunk, a
helper at work for one (helpers are spread evenly over their chunk), or a task of an engine. A chunk and the task
around it are one lane. An owner that waits for its helpers occupies no lane. Time that no lane occupies is free. Free
time belongs to the first of these that applies: unused_by_tasks, startup, shutdown, tail, idle.

- The parts add up to `core_seconds`. Where more lanes were occupied than a worker has cores, the time beyond
  (`oversubscribed_core_seconds`) is in no part. It is subtracted from the worker's `cpu_wait` and `blocked`, in
  proportion. If these are too small, the rest is subtracted from `failed` and `unmeasured`, then from tasks, then from
  `compute`.
- When helpers, and chunks that were suspended or had others inside them, occupied a lane is not known, so they are
  spread evenly. What they seem to occupy beyond the cores fills the worker's `idle`, then its `tail`.
- The tail begins at the last moment at which 90 % of the live cores were occupied, but not after the last stop of an
  attempt. If there is no such moment, `tail` is 0 and `tail_time` is null. `balance` then goes to the last stop.
- A worker without a chunk is `startup` as a whole. If no attempt ended, `tail` and `shutdown` are 0.
- What an engine executes outside tasks (spilling, serializing) has no times. It is subtracted from its worker's `idle`,
  down to 0, and what was subtracted counts as `framework`.
- `process_cpu` is the CPU time of a worker's process minus that of its chunks and helpers, between two readings at
  which no chunk was open. It is subtracted from the free time between them: from each part in proportion. Tasks, and
  chunks whose CPU time is not known, count as if they computed all the time, so nothing is counted twice.
- In the same way `process_cpu_wait` is the run delay of a worker's process that no chunk had, where samples have it: it
  is subtracted from what `process_cpu` leaves of the free time between two readings.
- `joined` is subtracted from `idle`, then from `tail`, for as long as owners waited for their helpers.
- A task that was given several cores holds all of them while it runs. Those that its lanes do not occupy are
  `unused_by_tasks`: they are free, but no other task can have them. For the tail they count as occupied.
- If chunks were [summed](limits.md#where-the-disk-is-short), what they leave of their tasks is `framework`.

)";

struct Section {
  std::string_view title;
  absl::Span<const MetricEntry> entries;
  std::string_view note = {};
};

/// A cell of a table: a bar would end it.
std::string CellText(std::string_view text) {
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
  return fmt::format("| {} | {} | {} | {} |\n", keys, CellText(label), CellText(unit), CellText(text));
}

std::string MetricTable(const Section& section) {
  std::string text = fmt::format("## {}\n\n{}| key (alias) | label | unit | definition |\n|---|---|---|---|\n",
                                 section.title, section.note);
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

std::string HeadOf(std::string_view head) { return fmt::format("| {} |\n|---|---|---|\n", head); }

std::string FieldRow(std::string_view key, std::string_view unit, std::string_view meaning) {
  return fmt::format("| `{}` | {} | {} |\n", key, CellText(unit), CellText(meaning));
}

std::string FieldTable(absl::Span<const Column> columns) {
  std::string text = HeadOf("field | unit | what it is");
  for (const Column& column : columns) text += FieldRow(column.key, column.unit, column.meaning);
  return text + "\n";
}

/// Tables of the same columns are described together, where the first of them stands.
std::string RowTables() {
  std::string text;
  std::set<const Column*> described;
  for (const Table& table : Tables()) {
    const absl::Span<const Column> columns = table.columns();
    if (!described.insert(columns.data()).second) continue;
    std::string names;
    for (const Table& other : Tables()) {
      if (other.columns().data() == columns.data())
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", other.key);
    }
    text += fmt::format("### {}\n\n{}\n\n{}", names, table.about, FieldTable(columns));
  }
  return text;
}

}  // namespace

std::string MetricsPage() {
  std::string page(kHead);
  page += MetricTable({"The run", RunMetrics()});
  page += MetricTable({"Workers and the process tree", WorkerMetrics()});
  page += Distributions();
  page += MetricTable({"Chunks, sections and reading", ChunkMetrics(), kReadingNote});
  page += MetricTable({"Fine metrics", FineMetrics(), kFineNote});
  page += MetricTable({"Efficiency", EfficiencyMetrics()});
  page += "## The core-second budget\n\n";
  page += kBudgetNote;
  page += HeadOf("part | group | what it is");
  for (const BudgetPartKind& part : kBudgetParts) page += FieldRow(part.part, part.group, part.meaning);
  page += "\n";
  page += kReadings;
  page += "## Tables\n\nThe rows of `measurement.json`, field by field.\n\n";
  page += RowTables();
  page +=
      "### `timelines`\n\nPoints `[seconds since the run's start, value]`, one at each change. All series but the "
      "first have a line for each worker.\n\n";
  page += HeadOf("series | unit | what it is");
  for (const TimelineKind& kind : TimelineKinds()) page += FieldRow(kind.key, kind.unit, kind.meaning);
  page += "\n### `quality`\n\nHow far all this can be trusted.\n\n";
  page += FieldTable(Quality::Columns());
  page.pop_back();
  return page;
}

}  // namespace crema
