// From sources to a judged measurement, and to the single attempts behind it: what the subcommands have in common.
#ifndef CREMA_COLLECTOR_CLI_MEASURED_SOURCE_H_
#define CREMA_COLLECTOR_CLI_MEASURED_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/cli/temporary_directory.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/measure.h"
#include "collector/sources/attempt_stream.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `Measure`, then headline and verdicts; with a note on a terminal where it takes over a second, unless `quiet`.
/// Measurements of roastcoffea among the sources are read by their chunk records; one alone with its other figures too.
absl::StatusOr<MeasuredRun> MeasureAndJudge(const MeasureOptions& options, bool quiet);

/// A measurement as it stands on disk, where that is all that was asked for; of anything else one that is made now.
absl::StatusOr<MeasuredRun> LoadOrMeasure(const MeasureOptions& options, bool quiet);

/// A source that was opened: its measurement, and the way back to the records behind it.
class MeasuredSource {
 public:
  /// Loads a measurement as it stands on disk; of anything else one is made now.
  static absl::StatusOr<MeasuredSource> Open(const MeasureOptions& options, bool quiet);
  /// The same of one source; `run` chooses among its runs.
  static absl::StatusOr<MeasuredSource> Open(const std::string& source, const std::string& run, bool quiet);

  /// A measurement's document on standard input, as another program hands it over; it has no records.
  static absl::StatusOr<MeasuredSource> OpenStandardInput();

  const Measurement& measurement() const { return measurement_; }
  /// As JSON: what the file holds, where it was read from one.
  nlohmann::ordered_json Document() const;
  /// Errors: a measurement without its records.
  absl::StatusOr<RecordLogs> FindLogs() const;
  /// Reads every attempt again, in bounded memory. Errors: as `FindLogs`.
  absl::Status ForEachAttempt(const OnAttempt& on_attempt) const;
  /// Reads every task that workers' logs tell of. Errors: as `FindLogs`.
  absl::Status ForEachTask(const OnTask& on_task) const;

 private:
  std::vector<std::string> sources_;
  std::string run_;
  Measurement measurement_;
  std::string text_;                               ///< of its file; empty: made now
  std::shared_ptr<TemporaryDirectory> unpacked_;   ///< engines' logs as record logs
  std::shared_ptr<TemporaryDirectory> converted_;  ///< another tool's measurement as record logs
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_MEASURED_SOURCE_H_
