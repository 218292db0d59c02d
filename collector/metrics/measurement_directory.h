// Saves a measurement to a directory, and loads it from there.
#pragma once

#include "collector/engines/engines.h"
#include "collector/measurement/measurement.h"
#include "collector/sources/coffea_report.h"

namespace crema {

struct MeasuredRun {
  Measurement measurement;
  /// What the file holds, where it was read from one: keys of a newer crema are in it, too.
  std::string text;
  /// The logs it was made from (`*.jsonl`, `*.tree.ndjson`), to be kept beside the document; empty when loaded.
  std::vector<std::string> log_paths;
  /// Logs of engines that have other names than those by which they are found again.
  std::vector<EngineLog> engine_logs;
  /// Coffea's files that it was made from, kept with the logs.
  std::vector<CoffeaFile> coffea_files;
  /// Whatever holds the logs as long as they may be kept: a directory that was made for them.
  std::shared_ptr<void> holder;
};

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
  /// Asked between two logs: whether to give up. What is there stays as it was.
  std::function<bool()> is_cancelled;
};

/// Writes `directory`/measurement.json and, where asked, `directory`/records/ (collector/files/output_directory.h): a
/// reader sees all of it or nothing, and so does whoever comes after a crash. Where the logs lie in the directory's own
/// `records/`, it only gains the document. Errors also: Cancelled.
absl::Status SaveMeasurement(const MeasuredRun& measured, const std::string& directory,
                             const SaveOptions& options = {});

/// The measurement of such a file's text; `source` names it in errors: not JSON, another major schema.
absl::StatusOr<MeasuredRun> ParseMeasurement(const std::string& text, const std::string& source);

/// Reads `directory`/measurement.json. Errors: no such file, not JSON, another major schema.
absl::StatusOr<MeasuredRun> LoadMeasurement(const std::string& directory);

/// Whether `directory` holds a measurement.json, of whatever schema.
bool IsMeasurement(const std::string& directory);

}  // namespace crema
