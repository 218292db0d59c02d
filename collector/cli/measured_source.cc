#include "collector/cli/measured_source.h"

#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/cli/engine_sources.h"
#include "collector/cli/progress_note.h"
#include "collector/engines/engines.h"
#include "collector/insight/verdicts.h"
#include "collector/measurement/measurement_json.h"
#include "collector/metrics/engine/task_processes.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/sources/roastcoffea/roastcoffea_directory.h"
#include "collector/sources/roastcoffea/roastcoffea_figures.h"
#include "collector/sources/roastcoffea/roastcoffea_records.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// A roastcoffea measurement, and its chunk records as a log.
struct Converted {
  RoastcoffeaMeasurement measurement;
  RoastcoffeaRecords records;
};

absl::StatusOr<Converted> Convert(const std::string& source, const std::string& directory) {
  absl::StatusOr<RoastcoffeaMeasurement> measurement = ReadRoastcoffea(source);
  if (!measurement.ok()) return measurement.status();
  const absl::StatusOr<RoastcoffeaRecords> records = WriteRoastcoffeaRecords(*measurement, directory);
  if (!records.ok()) return records.status();
  return Converted{*std::move(measurement), *records};
}

absl::StatusOr<MeasuredRun> MeasureRoastcoffea(const std::string& source, const std::string& directory,
                                               MeasureOptions options) {
  const absl::StatusOr<Converted> converted = Convert(source, directory);
  if (!converted.ok()) return converted.status();
  options.sources = {directory};
  absl::StatusOr<MeasuredRun> measured = Measure(options);
  if (!measured.ok()) return measured;
  measured->measurement.provenance.sources = {source};
  AddRoastcoffeaFigures(converted->measurement, converted->records, &measured->measurement);
  if (!options.name.empty()) measured->measurement.run.name = options.name;
  return measured;
}

/// Makes the sources readable by `Measure`: those of roastcoffea are converted into folders of `directory`.
absl::Status ConvertAll(const std::string& directory, MeasureOptions* options, std::vector<std::string>* warnings) {
  for (std::string& source : options->sources) {
    if (!IsRoastcoffea(source)) continue;
    const std::string folder = fmt::format("{}/{}", directory, warnings->size());
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    if (const absl::StatusOr<Converted> converted = Convert(source, folder); !converted.ok()) return converted.status();
    warnings->push_back(
        source +
        ": crema took only the chunk records of this roastcoffea measurement, because there are other sources");
    source = folder;
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasuredRun> MeasureAny(MeasureOptions options, const std::string& directory) {
  if (options.sources.size() == 1 && IsRoastcoffea(options.sources.front())) {
    return MeasureRoastcoffea(options.sources.front(), directory, options);
  }
  const std::vector<std::string> given = options.sources;
  std::vector<std::string> warnings;
  if (absl::Status status = ConvertAll(directory, &options, &warnings); !status.ok()) return status;
  absl::StatusOr<MeasuredRun> measured = Measure(options);
  if (!measured.ok()) return measured;
  Measurement& measurement = measured->measurement;
  measurement.quality.warnings.insert(measurement.quality.warnings.end(), warnings.begin(), warnings.end());
  if (!warnings.empty()) measurement.provenance.sources = given;
  return measured;
}

bool AnyIsRoastcoffea(const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    if (IsRoastcoffea(source)) return true;
  }
  return false;
}

/// An engine's workers have names of their own in the measurement. By process, `<host>:<pid>`.
std::map<std::string, std::string> EngineNames(const Measurement& measurement) {
  std::map<std::string, std::string> names;
  for (const WorkerRow& worker : measurement.workers) {
    if (!worker.process.empty() && worker.name != worker.process.str()) names.emplace(worker.process, worker.name);
  }
  return names;
}

/// What an engine calls the worker of a process: of those that it starts for one task, its log says which.
class EngineWorkers {
 public:
  EngineWorkers(const Measurement& measurement, const RecordLogs& logs)
      : names_(EngineNames(measurement)), clusters_(ReadClusters(logs)), tasks_(clusters_) {}

  /// Empty: it is no engine's.
  std::string_view Find(const AttemptProcess& process) const {
    const auto name = names_.find(process.worker);
    if (name != names_.end()) return name->second;
    if (clusters_.empty()) return {};
    ProcessRow row;
    row.start_ns = process.start_ns;
    row.job = process.job;
    row.working_directory = process.working_directory;
    return tasks_.Find(row);
  }

 private:
  static ClusterTable ReadClusters(const RecordLogs& logs) {
    ClusterTable clusters;
    for (const EngineLog& log : logs.engine_logs) {
      absl::StatusOr<EngineReading> reading = log.engine->read(log.path);
      if (!reading.ok()) continue;  // the document says so
      for (ClusterFact& cluster : reading->clusters) clusters.Add(*log.engine, std::move(cluster));
    }
    return clusters;
  }

  std::map<std::string, std::string> names_;
  ClusterTable clusters_;
  WorkerOfTask tasks_;
};

}  // namespace

absl::StatusOr<MeasuredRun> MeasureAndJudge(const MeasureOptions& given, bool quiet) {
  const ProgressNote note("reading the records", quiet);
  MeasureOptions options = given;
  const absl::StatusOr<std::shared_ptr<TemporaryDirectory>> unpacked = UnpackEngineSources(&options.sources);
  if (!unpacked.ok()) return unpacked.status();
  absl::StatusOr<MeasuredRun> measured;
  if (AnyIsRoastcoffea(options.sources)) {
    const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
    if (!directory.ok()) return directory.status();
    measured = MeasureAny(options, (*directory)->path());
    if (measured.ok()) measured->log_paths.clear();  // they go with the directory
  } else {
    measured = Measure(options);
  }
  if (!measured.ok()) return measured;
  if (*unpacked != nullptr) {
    measured->measurement.provenance.sources = given.sources;
    measured->holder = *unpacked;
  }
  AddInsight(&measured->measurement);
  return measured;
}

absl::StatusOr<MeasuredRun> LoadOrMeasure(const MeasureOptions& options, bool quiet) {
  // one run of several, or Coffea's files beside it: the records have to be read again
  const bool adds_nothing = options.coffea_reports.empty() && options.metrics_by_dataset.empty() &&
                            (options.run.empty() || options.run == "all");
  if (adds_nothing && options.sources.size() == 1 && IsMeasurement(options.sources.front())) {
    return LoadMeasurement(options.sources.front());
  }
  return MeasureAndJudge(options, quiet);
}

absl::StatusOr<MeasuredSource> MeasuredSource::Open(const MeasureOptions& given, bool quiet) {
  MeasuredSource opened;
  MeasureOptions options = given;
  absl::StatusOr<std::shared_ptr<TemporaryDirectory>> unpacked = UnpackEngineSources(&options.sources);
  if (!unpacked.ok()) return unpacked.status();
  opened.unpacked_ = *std::move(unpacked);
  opened.sources_ = options.sources;
  opened.run_ = options.run;
  absl::StatusOr<MeasuredRun> measured = LoadOrMeasure(options, quiet);
  if (!measured.ok()) return measured.status();
  opened.measurement_ = std::move(measured->measurement);
  opened.text_ = std::move(measured->text);
  if (options.sources.size() != 1) return opened;
  const std::string& source = options.sources.front();
  if (options.run.empty() && IsMeasurement(source)) opened.run_ = "all";  // whatever is in a measurement is of it
  if (IsRoastcoffea(source)) {
    absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
    if (!directory.ok()) return directory.status();
    opened.converted_ = *std::move(directory);
    const absl::StatusOr<Converted> converted = Convert(source, opened.converted_->path());
    if (!converted.ok()) return converted.status();
  }
  return opened;
}

absl::StatusOr<MeasuredSource> MeasuredSource::Open(const std::string& source, const std::string& run, bool quiet) {
  MeasureOptions options;
  options.sources = {source};
  options.run = run;
  return Open(options, quiet);
}

absl::StatusOr<MeasuredSource> MeasuredSource::OpenStandardInput() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  absl::StatusOr<MeasuredRun> measured = ParseMeasurement(text, "standard input");
  if (!measured.ok()) return measured.status();
  MeasuredSource opened;
  opened.measurement_ = std::move(measured->measurement);
  opened.text_ = std::move(measured->text);
  return opened;
}

nlohmann::ordered_json MeasuredSource::Document() const {
  return text_.empty() ? JsonOf(measurement_) : nlohmann::ordered_json::parse(text_);
}

absl::StatusOr<RecordLogs> MeasuredSource::FindLogs() const {
  if (sources_.empty()) return absl::NotFoundError("standard input has no single chunks: name the measurement");
  if (converted_ != nullptr) return FindRecordLogs({converted_->path()}, run_);
  return FindRecordLogs(sources_, run_);
}

absl::Status MeasuredSource::ForEachAttempt(const OnAttempt& on_attempt) const {
  const absl::StatusOr<RecordLogs> logs = FindLogs();
  if (!logs.ok()) return logs.status();
  const EngineWorkers workers(measurement_, *logs);
  crema::ForEachAttempt(*logs, [&](const Attempt& attempt) {
    const std::string_view name = workers.Find(attempt.process);
    if (name.empty()) return on_attempt(attempt);
    AttemptProcess process = attempt.process;
    process.worker = name;
    on_attempt({process, attempt.state, attempt.chunk});
  });
  return absl::OkStatus();
}

absl::Status MeasuredSource::ForEachTask(const OnTask& on_task) const {
  const absl::StatusOr<RecordLogs> logs = FindLogs();
  if (!logs.ok()) return logs.status();
  const EngineWorkers workers(measurement_, *logs);
  crema::ForEachTask(*logs, [&](const TaskOfRun& task) {
    const std::string_view name = workers.Find(task.process);
    if (name.empty()) return on_task(task);
    AttemptProcess process = task.process;
    process.worker = name;
    on_task({process, task.fact});
  });
  return absl::OkStatus();
}

}  // namespace crema
