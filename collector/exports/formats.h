// What each format writes. Pure functions of the source: they compute no metric.
#pragma once

#include "collector/exports/export_format.h"
#include "collector/records/tree_facts.h"
#include "crema/version.h"

namespace crema {

/// Every attempt, one a line: JSON Lines, or CSV (RFC 4180) where the path ends in `.csv`. With
/// `without_result`, files and entries that have none; where the path ends in `.txt`, as lines `file first last`.
absl::Status WriteChunks(const ExportSource& source, const std::string& path, TextSink* sink);

/// Files and entries without a result, as Coffea's `preprocess` takes them: `{dataset: {"files": {file: {"object_path":
/// tree, "steps": [[start, stop], ...]}}}}`. Without `steps` it is the whole file.
absl::Status WriteCoffeaFileset(const ExportSource& source, const std::string& path, TextSink* sink);

/// One CSV file (RFC 4180) a table of the document, and `crema_tables.json` with their columns.
absl::Status WriteCsvTables(const ExportSource& source, const std::string& directory);

/// Prometheus' text exposition format 0.0.4, in base units.
absl::Status WritePrometheus(const ExportSource& source, const std::string& path, TextSink* sink);

/// Stacks of sections with their self time in microseconds, as flamegraph.pl, speedscope and inferno read them.
absl::Status WriteFolded(const ExportSource& source, const std::string& path, TextSink* sink);

/// Stacks of functions below the dataset and the section that they were seen in, with their samples, in the same form.
/// Errors: the records cannot be read, or have none.
absl::Status WriteFoldedStacks(const ExportSource& source, const std::string& path, TextSink* sink);

/// The same stacks as a profile a dataset (JSON), in seconds of CPU time, for speedscope.app. Sections are frames.
absl::Status WriteSpeedscope(const ExportSource& source, const std::string& path, TextSink* sink);

/// The same stacks for `go tool pprof`, in samples and CPU time, with labels `dataset` and `section`.
absl::Status WritePprof(const ExportSource& source, const std::string& path, TextSink* sink);

/// Chrome's trace events (JSON), for ui.perfetto.dev: processes, threads, chunks, sections in trace mode, counters.
absl::Status WritePerfetto(const ExportSource& source, const std::string& path, TextSink* sink);

/// CMSSW FastTimerService's resources.json: sections as modules, `(other)` among them; they add up to `total`.
absl::Status WriteCmsResources(const ExportSource& source, const std::string& path, TextSink* sink);

/// The directory that roastcoffea's `load_measurement` reads.
absl::Status WriteRoastcoffea(const ExportSource& source, const std::string& directory);

/// `prmon.txt` and `prmon.json`, as HSF prmon writes them of a job.
absl::Status WritePrmon(const ExportSource& source, const std::string& directory);

/// One tree: what it came to, and how it got there.
struct PrmonSeries {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  TreeTotals totals;
  std::vector<TreeSampleFact> samples;
};

struct PrmonTexts {
  std::string rows;     ///< prmon.txt
  std::string summary;  ///< prmon.json
};

/// prmon's names, units (s, kB of 1024 bytes, B) and whole numbers, rounded and not cut. Rows are the samples, PSS as
/// it was last read, and one at the end with the kernel's own totals. `Max` of a counter is its total; `Avg` is the
/// time average of what was held, and total / wall time of a counter. What was not measured is left out, as prmon does
/// for a monitor that is off: `vmem`, packets, the machine's `HW`; so are columns that the totals lack.
PrmonTexts RenderPrmon(const PrmonSeries& series);

/// `prmon.Version` in the summary, which distinguishes crema's files from prmon's.
inline constexpr char kPrmonWriter[] = "crema " CREMA_VERSION_STRING;

}  // namespace crema
