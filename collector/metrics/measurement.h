// A measurement: the finished document of one run, made from record logs, saved to and loaded from a directory.
#ifndef CREMA_COLLECTOR_METRICS_MEASUREMENT_H_
#define CREMA_COLLECTOR_METRICS_MEASUREMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/document/measurement_schema.h"  // IWYU pragma: export
#include "collector/sources/coffea_report.h"
#include "nlohmann/json.hpp"

namespace crema {

/// `document` is what measurement.json holds (docs/measurements.md), keys in the order in which people read them.
struct Measurement {
  nlohmann::ordered_json document;
  /// The logs it was made from (`*.jsonl`, `*.tree.ndjson`), to be kept beside the document; empty when loaded.
  std::vector<std::string> log_paths;
  /// Coffea's files that it was made from, kept with the logs.
  std::vector<CoffeaFile> coffea_files;
  /// Whatever holds the logs as long as they may be kept: a directory that was made for them.
  std::shared_ptr<void> holder;
};

struct MeasureOptions {
  /// Directories of record logs, or measurement directories with their `records/`; may be none where a report is given.
  std::vector<std::string> sources;
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
  /// Threads that read records; 0: as many as the cores that this process may use. The document is the same for any.
  size_t jobs = 0;
};

/// Reads every record of the sources and computes the whole metric set (docs/metrics.md).
/// Bad lines never make it fail: they are counted in `quality` and named in `quality.warnings`.
/// Errors: a source that cannot be read or holds no log; several runs where none was chosen (they are listed); a file
/// of Coffea that cannot be used.
absl::StatusOr<Measurement> Measure(const MeasureOptions& options);

class OutputDirectory;

struct SaveOptions {
  /// Write into a directory that holds what crema did not write.
  bool force = false;
  /// Throw an older measurement away, which is kept as `DIR.<its start>` otherwise.
  bool replace = false;
  /// Keep the logs in `records/`: ended ones as hard links, the others as copies.
  bool records = true;
  /// The directory where the caller has it already.
  OutputDirectory* claimed = nullptr;
  /// Gets the name of the older measurement, where one was kept.
  std::string* kept_as = nullptr;
};

/// Writes `directory`/measurement.json and, where asked, `directory`/records/ (collector/output/output_directory.h): a
/// reader sees all of it or nothing, and so does whoever comes after a crash. Where the logs lie in the directory's own
/// `records/`, it only gains the document.
absl::Status SaveMeasurement(const Measurement& measurement, const std::string& directory,
                             const SaveOptions& options = {});

/// The measurement of such a file's text; `source` names it in errors: not JSON, another major schema.
absl::StatusOr<Measurement> ParseMeasurement(const std::string& text, const std::string& source);

/// Reads `directory`/measurement.json. Errors: no such file, not JSON, another major schema.
absl::StatusOr<Measurement> LoadMeasurement(const std::string& directory);

/// Whether `directory` holds a measurement.json, of whatever schema.
bool IsMeasurement(const std::string& directory);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEASUREMENT_H_
