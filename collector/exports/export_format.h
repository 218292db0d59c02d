// The formats of `crema export`: one row a format. What writes them is beside it, by what it reads.
#pragma once

#include "collector/exports/missing_ranges.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/column.h"
#include "collector/measurement/measurement.h"
#include "collector/records/tree_facts.h"
#include "collector/sources/record_log.h"
#include "crema/version.h"

namespace crema {

// Where an export writes its text to: buffered, with the first error kept until the end.

/// Writes to a descriptor in large pieces. After an error nothing more is written.
class TextSink {
 public:
  /// `name` is what errors call the file. The descriptor stays the caller's.
  TextSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  /// Appends to a text instead.
  explicit TextSink(std::string* text) : text_(text) {}
  void Write(std::string_view text);
  /// Writes what is buffered. Errors: what write(2) said, of this or any write before.
  absl::Status Flush();

 private:
  int descriptor_ = -1;
  std::string* text_ = nullptr;
  std::string name_;
  std::string buffer_;
  absl::Status status_;
};

/// Writes a file that is not there yet, for whom the umask says: other tools read it. Errors: what open(2) and write(2)
/// say.
absl::Status WriteTextFile(const std::string& path, std::string_view text);
/// As above, the text piece by piece.
absl::Status WriteTextFile(const std::string& path, const std::function<absl::Status(TextSink*)>& write);

/// A field: in double quotes where it holds a comma, a quote or a line end; quotes are doubled.
std::string CsvField(std::string_view text);

/// A value as a field: null is empty, lists and objects are compact JSON. A text that a spreadsheet would take for a
/// formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) has an apostrophe before it, unless it is a
/// number.
std::string CsvField(const Cell& value);
std::string CsvField(const Json& value);

/// The fields with commas between, ended by CR LF.
std::string CsvLine(const std::vector<std::string>& fields);

/// What a format may read. The measurement holds all that was computed; single attempts come from the records again.
struct ExportSource {
  const Measurement& measurement;
  AttemptReader for_each_attempt;
  std::function<absl::Status(const OnTask&)> for_each_task;
  std::function<absl::StatusOr<RecordLogs>()> find_logs;
  const ExportSource* baseline = nullptr;   ///< another run, for formats that compare
  bool without_result = false;              ///< of chunks, those that have no result yet
  std::vector<ExpectedFile> expected = {};  ///< what should have been processed; empty: not given
  /// Definitions of the measurement's metrics, in the order in which they are written.
  absl::Span<const MetricDefinition> metrics = MetricCatalog();
};

struct ExportFormat {
  std::string_view name;
  std::string_view writes;  ///< what it writes, and for whom, in one line
  /// Formats of one file: writes it. `path` is the name it will have: its extension may choose between variants.
  absl::Status (*write_file)(const ExportSource& source, const std::string& path, TextSink* sink) = nullptr;
  /// Formats of several files: fills an empty directory.
  absl::Status (*write_directory)(const ExportSource& source, const std::string& directory) = nullptr;
  /// Whether crema wrote what is there: of a file its first 4096 bytes are given, of a directory its path.
  bool (*is_ours)(std::string_view beginning_or_path) = nullptr;
  /// What comes next with what was written, `{}`.
  std::string_view opens = "";
  /// The command that writes it, for those that have one of their own; empty: `crema export --to NAME`.
  std::string_view command = "";
  bool compares = false;  ///< `ExportSource::baseline` is read
};

/// All formats, in the order in which the help lists them.
absl::Span<const ExportFormat> ExportFormats();

/// Writes `path` under a temporary name beside it, syncs it and renames it: a reader sees all of it or nothing.
/// In a directory that is there, files of other names stay. `-` is stdout, for formats of one file.
/// Errors: what is there was not written by crema (unless `force`); what the disk or the source says.
absl::Status Export(const ExportFormat& format, const ExportSource& source, const std::string& path, bool force);

// What each format writes. Pure functions of the source: they compute no metric.

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

// The sampled stacks of a run, from its records.

/// A function with its name as people read it.
struct SampledFunction {
  std::string name;
  std::string file;             ///< empty: not known
  std::optional<int64_t> line;  ///< of its definition
  std::string build_id;         ///< of `file`, while `name` is an address in it
};
inline bool operator<(const SampledFunction& a, const SampledFunction& b) {
  return std::tie(a.name, a.file, a.line, a.build_id) < std::tie(b.name, b.file, b.line, b.build_id);
}

struct StackWeight {
  int64_t samples = 0;
  double cpu_seconds = 0;  ///< that the samples stand for
};

/// Where stacks were seen.
struct StackPlace {
  std::string dataset;  ///< empty: none
  std::string section;  ///< a path; empty: outside every section
};
inline bool operator<(const StackPlace& a, const StackPlace& b) {
  return std::tie(a.dataset, a.section) < std::tie(b.dataset, b.section);
}

struct SampledStacks {
  std::vector<SampledFunction> functions;
  /// The stacks of each place: indices into `functions`, the outermost first.
  std::map<StackPlace, std::map<std::vector<size_t>, StackWeight>> places;
};

/// Errors: there are no records, or they have no stacks. Beyond 200,000 different stacks, or functions, the rest is in
/// one place, `(other)`.
absl::StatusOr<SampledStacks> ReadSampledStacks(const ExportSource& source);

}  // namespace crema
