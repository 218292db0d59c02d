// clang-format off: first, as GCC's -Wshadow takes its enumerators for names that hide the exit statuses
#include "collector/metrics/engine/task_processes.h"
// clang-format on

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

#include "collector/cli/measured_source.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/prediction/prediction.h"
#include "collector/records/json_fields.h"
#include "collector/sources/roastcoffea/roastcoffea.h"

namespace crema {
namespace {

constexpr std::chrono::seconds kPatience(1);
constexpr char kEraseLine[] = "\r\x1b[K";

namespace fs = std::filesystem;

/// What the run is called where nobody names it: the address, or the log without its ending.
std::string NameOf(const std::string& source, const Engine& engine) {
  if (EngineOfAddress(source) != nullptr) return source.substr(source.rfind('/') + 1);
  fs::path path = fs::path(source).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  std::string name = path.filename().string();
  for (const std::string_view ending : {engine.log_suffix, std::string_view(".ndjson")}) {
    const size_t rest = name.size() - std::min(name.size(), ending.size());
    if (rest > 0 && name.compare(rest, ending.size(), ending) == 0) return name.substr(0, rest);
  }
  return name;
}

/// The folder with what it holds.
absl::StatusOr<std::string> UnpackInto(const fs::path& directory, EngineLog log, const std::string& source) {
  const std::string name = NameOf(source, *log.engine);
  const fs::path folder = directory / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(fmt::format("{}: {}", folder.string(), error.message()));
  if (log.path.empty()) {
    if (log.engine->pull == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("{}: it shows this moment only; crema serve and crema top follow it; collect {} instead", source,
                      log.engine->traits.logs));
    }
    log.path = (directory / "pulled").string();
    if (absl::Status pulled = log.engine->pull(source, log.path); !pulled.ok()) return pulled;
  }
  if (absl::Status unpacked = log.engine->unpack(log.path, folder.string(), name); !unpacked.ok()) return unpacked;
  return folder.string();
}

/// Takes the engines that have addresses: those that can be collected from, or all.
std::string JoinOver(bool all, const std::function<std::string(const EngineTraits&)>& text) {
  std::vector<std::string> texts;
  for (const Engine* engine : Engines()) {
    if (engine->traits.dashboard.empty() || !(all || engine->pull != nullptr)) continue;
    texts.push_back(text(engine->traits));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

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

/// Puts what was given in place of the directories into which it was taken apart.
void NameSources(const std::vector<std::string>& given, const std::vector<std::string>& unpacked,
                 Measurement* measurement) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == unpacked[i]) continue;
    for (std::string& source : measurement->provenance.sources) {
      if (source == unpacked[i]) source = given[i];
    }
    for (std::string& warning : measurement->quality.warnings) {
      warning = absl::StrReplaceAll(warning, {{unpacked[i] + "/", given[i] + ": "}, {unpacked[i], given[i]}});
    }
  }
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

/// What an engine calls the worker of a process: of those that it starts for one task, its log says which.
class EngineWorkers {
 public:
  EngineWorkers(const Measurement& measurement, const RecordLogs& logs)
      : clusters_(ReadClusters(logs)), tasks_(clusters_) {
    for (const WorkerRow& worker : measurement.workers) {
      if (!worker.process.empty() && worker.name != worker.process.str()) names_.emplace(worker.process, worker.name);
    }
  }

  /// Empty: it is no engine's.
  std::string_view Find(const AttemptProcess& process) const {
    if (const auto name = names_.find(process.worker); name != names_.end()) return name->second;
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

  std::map<std::string, std::string> names_;  // by process, `<host>:<pid>`, where the engine has one of its own
  ClusterTable clusters_;
  WorkerOfTask tasks_;
};

/// Replaces each address of an engine and each of its logs by a directory with what it holds, below the directory that
/// is returned; null where there was none. Errors: as those of the engine's `pull` and `unpack`.
absl::StatusOr<std::shared_ptr<TemporaryDirectory>> UnpackEngineSources(std::vector<std::string>* sources) {
  std::shared_ptr<TemporaryDirectory> directory;
  int number = 0;
  for (std::string& source : *sources) {
    const Engine* engine = EngineOfAddress(source);
    const std::optional<EngineLog> log = engine == nullptr ? FindEngineLog(source) : EngineLog{engine, ""};
    if (!log.has_value() || (log->engine->unpack == nullptr && !log->path.empty())) continue;
    if (directory == nullptr) {
      absl::StatusOr<std::unique_ptr<TemporaryDirectory>> made = TemporaryDirectory::Make();
      if (!made.ok()) return made.status();
      directory = *std::move(made);
    }
    const fs::path folder = fs::path(directory->path()) / std::to_string(number++);
    const absl::StatusOr<std::string> unpacked = UnpackInto(folder, *log, source);
    if (!unpacked.ok()) return unpacked.status();
    source = *unpacked;
  }
  return directory;
}

/// A measurement as it stands on disk, where that is all that was asked for; of anything else one that is made now.
absl::StatusOr<MeasuredRun> LoadOrMeasure(const MeasureOptions& options, bool quiet) {
  // one run of several, or Coffea's files beside it: the records have to be read again
  const bool adds_nothing = options.coffea_reports.empty() && options.metrics_by_dataset.empty() &&
                            (options.run.empty() || options.run == "all");
  if (adds_nothing && options.sources.size() == 1 && IsMeasurement(options.sources.front())) {
    return LoadMeasurement(options.sources.front());
  }
  return MeasureAndJudge(options, quiet);
}

}  // namespace

ProgressNote::ProgressNote(std::string what, bool quiet) : what_(std::move(what)) {
  if (!quiet && isatty(STDERR_FILENO) != 0) waiter_ = std::thread([this] { Wait(); });
}

ProgressNote::~ProgressNote() {
  if (!waiter_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  waiter_.join();
}

void ProgressNote::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (over_.wait_for(lock, kPatience, [this] { return is_over_; })) return;
  std::fprintf(stderr, "crema: %s ...", what_.c_str());
  // Not wait(): GCC 12 binds it to GLIBCXX_3.4.30, which AlmaLinux 9 does not have.
  while (!over_.wait_for(lock, kPatience, [this] { return is_over_; })) {
  }
  std::fputs(kEraseLine, stderr);
}

absl::StatusOr<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::Make() {
  constexpr char kPrefix[] = "crema-temporary-";
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (!error) RemoveUnlocked(parent, kPrefix);
  for (;;) {
    std::string name = (parent / kPrefix).string() + "XXXXXX";
    if (error || mkdtemp(name.data()) == nullptr) {
      const int reason = error ? error.value() : errno;
      return absl::ErrnoToStatus(
          reason, fmt::format("no temporary directory: {}; set TMPDIR to one that can be written", strerror(reason)));
    }
    HeldLock lock(name);
    // One that looks for remains may have been faster, and removes it.
    if (lock.state() == HeldLock::State::kTaken || !std::filesystem::exists(name, error)) continue;
    return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(name, std::move(lock)));
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string EngineSourcesHelp() {
  std::string logs;
  for (const Engine* engine : Engines()) logs += fmt::format(", {}", engine->traits.logs);
  return JoinOver(false,
                  [](const EngineTraits& traits) {
                    return fmt::format("{} (a {}'s dashboard)", traits.dashboard, traits.scheduler);
                  }) +
         logs;
}

std::string EngineAddressesHelp() {
  return JoinOver(true, [](const EngineTraits& traits) { return std::string(traits.dashboard); });
}

std::string EngineSchedulersHelp() {
  return JoinOver(false,
                  [](const EngineTraits& traits) { return fmt::format("a {} {}", traits.name, traits.scheduler); });
}

absl::StatusOr<MeasuredRun> MeasureAndJudge(const MeasureOptions& given, bool quiet) {
  const ProgressNote note("reading the records", quiet);
  MeasureOptions options = given;
  const absl::StatusOr<std::shared_ptr<TemporaryDirectory>> unpacked = UnpackEngineSources(&options.sources);
  if (!unpacked.ok()) return unpacked.status();
  absl::StatusOr<MeasuredRun> measured;
  if (absl::c_any_of(options.sources, IsRoastcoffea)) {
    const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
    if (!directory.ok()) return directory.status();
    measured = MeasureAny(options, (*directory)->path());
    if (measured.ok()) measured->log_paths.clear();  // they go with the directory
  } else {
    measured = Measure(options);
  }
  if (!measured.ok()) return measured;
  if (*unpacked != nullptr) {
    NameSources(given.sources, options.sources, &measured->measurement);
    measured->holder = *unpacked;
  }
  AddInsight(&measured->measurement);
  return measured;
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
  if (opened.unpacked_ != nullptr) NameSources(given.sources, options.sources, &opened.measurement_);
  if (options.sources.size() != 1) return opened;
  opened.named_ = ShellWord(given.sources.front()) + (given.run.empty() ? "" : " --run " + ShellWord(given.run));
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

Json MeasuredSource::Document() const { return text_.empty() ? JsonOf(measurement_) : ParsedJson(text_); }

absl::StatusOr<RecordLogs> MeasuredSource::FindLogs() const {
  if (sources_.empty()) return absl::NotFoundError("standard input has no single chunks: name the measurement");
  if (converted_ != nullptr) return FindRecordLogs({converted_->path()}, run_);
  return FindRecordLogs(sources_, run_);
}

absl::Status MeasuredSource::ForEachAttempt(const OnAttempt& on_attempt, ChunkPlaces* places) const {
  const absl::StatusOr<RecordLogs> logs = FindLogs();
  if (!logs.ok()) return logs.status();
  const EngineWorkers workers(measurement_, *logs);
  const auto named = [&](const Attempt& attempt) {
    const std::string_view name = workers.Find(attempt.process);
    if (name.empty()) return on_attempt(attempt);
    AttemptProcess process = attempt.process;
    process.worker = name;
    on_attempt({process, attempt.state, attempt.chunk, attempt.gpu});
  };
  crema::ForEachAttempt(*logs, named, places);
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

absl::StatusOr<ObservedRun> Observe(const MeasuredSource& source, const std::string& section) {
  RunObserver observer(section);
  absl::Status read = source.ForEachAttempt([&observer](const Attempt& attempt) { observer.Add(attempt); });
  if (!read.ok()) return read;
  return observer.Finish(source.measurement());
}

std::string NextPrediction(const MeasuredSource& source, const OutputOptions& options, const std::string& brings) {
  constexpr double kMostAttempts = 20'000;  // tens of milliseconds
  if (options.quiet || options.json) return "";
  if (source.measurement().Metric("num_attempts").value_or(0) <= kMostAttempts) {
    const absl::StatusOr<ObservedRun> run = Observe(source, "");
    if (run.ok() && Predict(*run, {}).refused.empty()) {
      return NextStep(options, "crema predict " + source.Named(), brings);
    }
  }
  return NextReport(options, source.Named());
}

ExportSource ExportSourceOf(const MeasuredSource& measured) {
  return {measured.measurement(),
          [&measured](const OnAttempt& on, ChunkPlaces* places) { return measured.ForEachAttempt(on, places); },
          [&measured](const OnTask& on_task) { return measured.ForEachTask(on_task); },
          [&measured] { return measured.FindLogs(); }};
}

Baseline::Baseline(const std::string& path, bool quiet, ExportSource* source) {
  if (path.empty()) return;
  opened_ = OrFail(MeasuredSource::Open(path, "", quiet));
  source->baseline = &source_.emplace(ExportSourceOf(*opened_));
}

}  // namespace crema
