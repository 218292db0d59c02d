// From sources to a judged measurement, and to the single attempts behind it: what the subcommands have in common.
#pragma once

#include "collector/cli/subcommand.h"
#include "collector/exports/export_format.h"
#include "collector/files/output_directory.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/prediction/observed_run.h"
#include "collector/sources/record_log.h"

namespace crema {

/// While it lives longer than a second, `crema: <what> ...` is on stderr, if that is a terminal; then it is gone.
class ProgressNote {
 public:
  ProgressNote(std::string what, bool quiet);
  ~ProgressNote();
  ProgressNote(const ProgressNote&) = delete;
  ProgressNote& operator=(const ProgressNote&) = delete;

 private:
  void Wait();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread waiter_;  // last: it uses the others
};

class TemporaryDirectory {
 public:
  /// Under TMPDIR, else /tmp; for this user only. Removes what killed processes of his left there. Errors: what
  /// mkdtemp(3) says.
  static absl::StatusOr<std::unique_ptr<TemporaryDirectory>> Make();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  TemporaryDirectory(std::string path, HeldLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  HeldLock lock_;
};

/// What engines take, for `--help`: `dask://HOST:PORT (a scheduler's dashboard), Dask logs …`.
std::string EngineSourcesHelp();
/// The addresses that can be followed, for `--help`: `dask://HOST:PORT`.
std::string EngineAddressesHelp();
/// `a Dask scheduler`, of each engine that has addresses.
std::string EngineSchedulersHelp();

/// `Measure`, then headline and verdicts; with a note on a terminal where it takes over a second, unless `quiet`.
/// Measurements of roastcoffea among the sources are read by their chunk records; one alone with its other figures too.
absl::StatusOr<MeasuredRun> MeasureAndJudge(const MeasureOptions& options, bool quiet);

/// A source that was opened: its measurement, and the way back to the records behind it.
class MeasuredSource {
 public:
  /// Loads a measurement as it is on disk; of anything else one is made now.
  static absl::StatusOr<MeasuredSource> Open(const MeasureOptions& options, bool quiet);
  /// The same of one source; `run` chooses among its runs.
  static absl::StatusOr<MeasuredSource> Open(const std::string& source, const std::string& run, bool quiet);

  /// A measurement's document on standard input, as another program hands it over; it has no records.
  static absl::StatusOr<MeasuredSource> OpenStandardInput();

  const Measurement& measurement() const { return measurement_; }
  /// What another command takes for it: its path, and the run where one was chosen. Empty: it has no path.
  const std::string& Named() const { return named_; }
  /// As JSON: what the file holds, where it was read from one.
  Json Document() const;
  /// Errors: a measurement without its records.
  absl::StatusOr<RecordLogs> FindLogs() const;
  /// Reads every attempt again, in bounded memory; `places` as for an `AttemptReader`. Errors: as `FindLogs`.
  absl::Status ForEachAttempt(const OnAttempt& on_attempt, ChunkPlaces* places = nullptr) const;
  /// Reads every task in workers' logs. Errors: as `FindLogs`.
  absl::Status ForEachTask(const OnTask& on_task) const;

 private:
  std::vector<std::string> sources_;
  std::string run_;
  std::string named_;
  Measurement measurement_;
  std::string text_;                               ///< of its file; empty: made now
  std::shared_ptr<TemporaryDirectory> unpacked_;   ///< engines' logs as record logs
  std::shared_ptr<TemporaryDirectory> converted_;  ///< another tool's measurement as record logs
};

/// What a replay needs of it; `section` as for a `RunObserver`. Errors: as `ForEachAttempt`.
absl::StatusOr<ObservedRun> Observe(const MeasuredSource& source, const std::string& section);
/// The next step behind a judgement: `crema predict`, which `brings` that, where it has an answer: the records are
/// there, and the replay of the run as it was does not miss. Else, and where this replay would take long, the page.
std::string NextPrediction(const MeasuredSource& source, const OutputOptions& options, const std::string& brings);

/// `measured` outlives it.
ExportSource ExportSourceOf(const MeasuredSource& measured);

/// The run that `source` is compared with while this lives; none where `path` is empty. Throws a `Failure` where it
/// cannot be opened.
class Baseline {
 public:
  Baseline(const std::string& path, bool quiet, ExportSource* source);

 private:
  std::optional<MeasuredSource> opened_;
  std::optional<ExportSource> source_;
};

}  // namespace crema
