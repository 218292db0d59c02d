// Makes the measurement of a run from its record logs.
#pragma once

#include "collector/metrics/measurement_directory.h"

namespace crema {

struct MeasureOptions {
  /// Directories of record logs, or measurement directories with their `records/`; may be none where a report is given.
  std::vector<std::string> sources;
  /// A source may be a named pipe, or `-` for standard input. Such logs are read once and kept nowhere.
  bool takes_streams = false;
  /// JSON files of Coffea (collector/sources/coffea_report.h): reports, and figures by dataset, beside those that the
  /// sources hold. Several add up; the same one counts once.
  std::vector<std::string> coffea_reports;
  std::vector<std::string> metrics_by_dataset;
  /// Bounds of the run in Unix nanoseconds; each overrides the one found in the records.
  std::optional<int64_t> start_ns;
  std::optional<int64_t> stop_ns;
  /// Which run's records to take: empty for the only one, `all`, or a run id.
  std::string run;
  /// Shown as the run's name; empty: what `crema run` noted, else the first source's directory name.
  std::string name;
  /// Exception and exit status by which the program, or the measured block, ended; empty, nullopt: not known.
  std::string failure;
  std::optional<int64_t> exit_status;
  /// Threads that read records and analyse them; 0: as many as the cores that this process may use. The document is the
  /// same for any.
  size_t jobs = 0;
  /// Memory budget in bytes. Attempts use at most half; what does not fit goes to files in `spill` (empty: TMPDIR, or
  /// /tmp). 0: a quarter of the machine's memory, or of what a control group leaves.
  int64_t memory_bytes = 0;
  std::string spill;
};

/// Reads every record of the sources and computes the whole metric set (docs/metrics.md).
/// Bad lines never make it fail: they are counted in `quality` and named in `quality.warnings`.
/// Errors: a source that cannot be read or holds no log; several runs where none was chosen (they are listed); a file
/// of Coffea that cannot be used.
absl::StatusOr<MeasuredRun> Measure(const MeasureOptions& options);

/// This host's name, fit for a file's name.
std::string HostName();

/// What the run is called where nobody named it: the directory that holds it.
std::string NameOfSource(const std::string& source);

}  // namespace crema
