// From sources to a measurement: reads the logs, has the figures computed and the document written.
#include "collector/metrics/measure.h"

#include <system_error>

#include "absl/time/clock.h"
#include "collector/files/output_directory.h"
#include "collector/format/worker_names.h"
#include "collector/metrics/coffea/run_totals.h"
#include "collector/metrics/engine/task_processes.h"
#include "collector/metrics/read_records.h"
#include "collector/metrics/recorded/sampled_tables.h"
#include "collector/metrics/storage/row_memory.h"
#include "collector/sources/prmon/prmon_reader.h"
#include "collector/sources/process_tree/allocated_cores.h"

namespace crema {
namespace {

/// Adds the counts of a log that is not a record log.
template <class Reading>
void Take(const Reading& reading, LogReading& others) {
  others.records_malformed += reading.malformed;
  others.records_torn += reading.torn;
  others.records_unknown += reading.unknown;
  others.warnings.insert(others.warnings.end(), reading.problems.begin(), reading.problems.end());
}

void LeaveOut(const absl::Status& why, RecordLogs& logs, LogReading& others) {
  others.warnings.push_back(std::string(why.message()) + "; it was left out");
  ++logs.logs_left_out;
}

absl::StatusOr<TreeAccumulator> ReadTrees(const MeasureOptions& options, RecordLogs& logs, LogReading& others) {
  TreeAccumulator trees;
  std::vector<absl::StatusOr<TreeLogReading>> readings;
  for (const std::string& path : logs.tree_logs) readings.push_back(ReadTreeLog(path));
  for (const PrmonPaths& paths : logs.prmon) readings.push_back(ReadPrmon(paths));
  for (absl::StatusOr<TreeLogReading>& reading : readings) {
    if (!reading.ok()) {
      LeaveOut(reading.status(), logs, others);
      continue;
    }
    Take(*reading, others);
    trees.Add(std::move(reading->run));
  }
  if (logs.logs.empty() && trees.empty() && !readings.empty()) {
    return absl::InvalidArgumentError("nothing to measure: " + others.warnings.front());
  }
  if (options.run == "all") return trees;
  const std::vector<std::string> ids = trees.run_ids();
  const std::string chosen = logs.logs.empty() ? options.run : logs.logs.front().run_id;
  const bool is_asked_for = !options.run.empty() && !logs.logs.empty();
  if (is_asked_for || std::find(ids.begin(), ids.end(), chosen) != ids.end()) {
    trees.KeepRun(chosen);
  } else if (logs.logs.empty() && !options.run.empty()) {
    return absl::NotFoundError(fmt::format(
        "{} holds nothing of the run {}{}; it holds the {} {}", fmt::join(options.sources, ", "), options.run,
        DidYouMean(options.run, {ids.begin(), ids.end()}), ids.size() == 1 ? "run" : "runs", fmt::join(ids, ", ")));
  } else if (ids.size() > 1) {
    return absl::FailedPreconditionError(fmt::format(
        "{} holds process trees of {} runs: {}; choose one with --run ID, or take them together with --run all",
        fmt::join(options.sources, ", "), ids.size(), fmt::join(ids, ", ")));
  }
  return trees;
}

// All that was given, in the order in which people read it.
std::vector<std::string> AllSources(const MeasureOptions& options) {
  std::vector<std::string> sources = options.sources;
  sources.insert(sources.end(), options.coffea_reports.begin(), options.coffea_reports.end());
  sources.insert(sources.end(), options.metrics_by_dataset.begin(), options.metrics_by_dataset.end());
  return sources;
}

std::string NameRun(const MeasureOptions& options, const std::optional<TreeFigures>& tree) {
  if (!options.name.empty()) return options.name;
  if (tree.has_value() && !tree->name.empty()) return tree->name;
  if (!options.sources.empty()) return NameOfSource(options.sources.front());
  return std::filesystem::path(AllSources(options).front()).stem().string();
}

struct Coffea {
  CoffeaFigures figures;
  std::vector<CoffeaFile> files;  // those that count
  std::vector<std::string> warnings;
};

// Adds a file to those that count, unless one of them says the same: a measurement may be given with its own report.
template <class Contents>
void AddOnce(Contents contents, CoffeaFileKind kind, std::vector<Contents>& seen, CoffeaAccumulator& accumulator,
             Coffea& coffea) {
  for (const Contents& other : seen) {
    if (!SaySame(contents, other)) continue;
    coffea.warnings.push_back(fmt::format("{} and {} say the same; it was counted once", other.path, contents.path));
    return;
  }
  accumulator.Add(contents);
  coffea.files.push_back({contents.path, kind});
  seen.push_back(std::move(contents));
}

// Errors: a file that was given cannot be used. One that is in a source and cannot be used is left out.
absl::StatusOr<Coffea> ReadCoffea(const MeasureOptions& options) {
  Coffea coffea;
  CoffeaAccumulator accumulator;
  std::vector<CoffeaReport> reports;
  std::vector<MetricsByDataset> by_dataset;
  const auto read = [&](const CoffeaFile& file) -> absl::Status {
    if (file.kind == CoffeaFileKind::kReport) {
      absl::StatusOr<CoffeaReport> report = ReadCoffeaReport(file.path);
      if (!report.ok()) return report.status();
      AddOnce(*std::move(report), file.kind, reports, accumulator, coffea);
      return absl::OkStatus();
    }
    absl::StatusOr<MetricsByDataset> metrics = ReadMetricsByDataset(file.path);
    if (!metrics.ok()) return metrics.status();
    coffea.warnings.insert(coffea.warnings.end(), metrics->warnings.begin(), metrics->warnings.end());
    AddOnce(*std::move(metrics), file.kind, by_dataset, accumulator, coffea);
    return absl::OkStatus();
  };
  for (const std::string& source : options.sources) {
    if (IsStream(source)) continue;
    for (const CoffeaFile& file : FindCoffeaFiles(source)) {
      const absl::Status status = read(file);
      if (!status.ok()) coffea.warnings.push_back(std::string(status.message()) + "; it was left out");
    }
  }
  for (const std::string& path : options.coffea_reports) {
    if (absl::Status status = read({path, CoffeaFileKind::kReport}); !status.ok()) return status;
  }
  for (const std::string& path : options.metrics_by_dataset) {
    if (absl::Status status = read({path, CoffeaFileKind::kByDataset}); !status.ok()) return status;
  }
  coffea.figures = accumulator.Finalize();
  return coffea;
}

// The sources in which logs are looked for: not those that hold nothing but files of Coffea.
std::vector<std::string> SourcesOfLogs(const std::vector<std::string>& sources) {
  std::vector<std::string> with_logs;
  for (const std::string& source : sources) {
    if (IsStream(source) || FindCoffeaFiles(source).empty() || FindRecordLogs({source}, "all").ok())
      with_logs.push_back(source);
  }
  return with_logs;
}

struct Clusters {
  ClusterTable table;
  absl::Status refused;  // why the first log was that could not be read
};

// Bytes that a scheduler could not keep are not lost where the log itself was found.
void ForgetWhatWasFound(const std::vector<RecordLog>& logs, const std::string& path, ClusterFact& cluster) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  for (const RecordLog& log : logs) {
    const std::filesystem::path found = log.path;
    if (found.parent_path() != directory) cluster.lost_bytes.erase(found.filename().string());
  }
}

Clusters ReadClusters(RecordLogs& logs, LogReading& others) {
  Clusters clusters;
  for (const EngineLog& log : logs.engine_logs) {
    absl::StatusOr<EngineReading> reading = log.engine->read(log.path);
    if (!reading.ok()) {
      LeaveOut(reading.status(), logs, others);
      if (clusters.refused.ok()) clusters.refused = reading.status();
      continue;
    }
    Take(*reading, others);
    for (ClusterFact& cluster : reading->clusters) {
      cluster.log = log.path;
      if (!cluster.lost_bytes.empty()) ForgetWhatWasFound(logs.logs, log.path, cluster);
      clusters.table.Add(*log.engine, std::move(cluster));
    }
  }
  return clusters;
}

/// Workers of an engine serve one run after another: which records are this one's. nullopt: all.
std::optional<RecordWindow> WindowOf(const MeasureOptions& options, const TreeAccumulator& trees,
                                     const ClusterTable& clusters) {
  // A command's own bounds go before those of what it measured in between.
  if (!trees.empty()) return std::nullopt;
  const std::optional<ClusterSession> session = clusters.Session();
  if (!session.has_value()) return std::nullopt;
  RecordWindow window = {session->window.start_ns, session->window.stop_ns, session->flushed_ns};
  window.start_ns = options.start_ns.value_or(window.start_ns);
  if (options.stop_ns.has_value()) {
    window.stop_ns = *options.stop_ns;
    window.flushed_ns = clusters.FlushedAfter(window.stop_ns).value_or(std::max(window.stop_ns, window.flushed_ns));
  }
  return window;
}

/// `others`: of logs that are not record logs.
Quality SumUp(const RecordLogs& logs, const LogReading& records, const LogReading& others) {
  Quality quality;
  quality.records_read = records.records_read;
  quality.records_malformed = records.records_malformed + others.records_malformed;
  quality.records_torn = records.records_torn + others.records_torn;
  quality.records_unknown = records.records_unknown + others.records_unknown;
  quality.logs_left_out = logs.logs_left_out;
  quality.logs_damaged = records.logs_damaged;
  quality.logs_missing = logs.logs_missing;
  std::vector<std::string>& warnings = quality.warnings;
  warnings = logs.warnings;
  warnings.insert(warnings.end(), records.stops.begin(), records.stops.end());
  if (records.more_stops > 0) {
    warnings.push_back(fmt::format("{} more logs could not be read to their end", records.more_stops));
  }
  warnings.insert(warnings.end(), records.warnings.begin(), records.warnings.end());
  if (records.more_warnings > 0) {
    warnings.push_back(fmt::format("{} more lines could not be used", records.more_warnings));
  }
  warnings.insert(warnings.end(), others.warnings.begin(), others.warnings.end());
  return quality;
}

size_t MemoryFor(const MeasureOptions& options) {
  if (options.memory_bytes > 0) return static_cast<size_t>(options.memory_bytes);
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return static_cast<size_t>(std::min(machine, ReadCgroupLimits().memory_limit_bytes.value_or(machine)) / 4);
}

std::string SpillDirectory(const MeasureOptions& options) {
  if (!options.spill.empty()) return options.spill;
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : directory.string();
}

// Files without a record are known before they are read as a whole.
absl::Status CheckStreams(const RecordLogs& logs, const LogReading& reading) {
  if (logs.logs.empty() || !logs.logs.front().is_stream || reading.records_read > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{}: no record can be read{}", logs.logs.front().path,
                                                reading.stops.empty() ? "" : "; " + reading.stops.front()));
}

}  // namespace

std::string NameOfSource(const std::string& source) {
  if (source == "-") return "stream";
  std::filesystem::path path = std::filesystem::absolute(source).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.filename() == "records") path = path.parent_path();
  return path.filename().string();
}

absl::StatusOr<MeasuredRun> Measure(const MeasureOptions& options) {
  absl::StatusOr<Coffea> coffea = ReadCoffea(options);
  if (!coffea.ok()) return coffea.status();
  for (const std::string& source : options.sources) {
    if (const absl::Status status = CompleteOutput(source); !status.ok()) return status;
  }
  if (options.sources.empty() && coffea->figures.empty()) return absl::InvalidArgumentError("no source was given");
  const std::vector<std::string> log_sources = SourcesOfLogs(options.sources);
  std::vector<std::string> left_out;
  absl::StatusOr<RecordLogs> logs =
      log_sources.empty() ? RecordLogs() : FindRecordLogs(log_sources, options.run, options.takes_streams, &left_out);
  if (!logs.ok()) return logs.status();
  LogReading others;
  absl::StatusOr<TreeAccumulator> trees = ReadTrees(options, *logs, others);
  if (!trees.ok()) return trees.status();

  Clusters clusters = ReadClusters(*logs, others);
  const bool has_others = !logs->logs.empty() || !trees->empty() || !coffea->figures.empty();
  if (!clusters.refused.ok() && clusters.table.empty() && !has_others) return clusters.refused;
  const size_t memory_bytes = MemoryFor(options);
  RowSpill spill(SpillDirectory(options), memory_bytes / 2);
  Quality quality;
  RunFigures figures;  // has rows of the spill
  FunctionNamer namer;
  std::vector<std::vector<ChunkStretch>> stretches;
  const WorkLimits limits = {ThreadsFor(options.jobs), memory_bytes - memory_bytes / 2, &spill};
  {
    ReadRecordsOptions how;
    how.all_runs = options.run == "all";
    how.threads = limits.threads;
    how.spill = &spill;
    std::optional<RecordWindow> window = WindowOf(options, *trees, clusters.table);
    // Where clocks differ, times of records cannot be held against the scheduler's before they are aligned.
    if (!clusters.table.ClocksDiffer()) how.window = window;
    how.jobs = NumberedJobs(clusters.table);
    RecordsRead records = ReadRecords(logs->logs, how);
    if (absl::Status brought = CheckStreams(*logs, records.reading); !brought.ok()) return brought;
    stretches = std::move(records.stretches);
    quality = SumUp(*logs, records.reading, others);
    quality.warnings.insert(quality.warnings.end(), coffea->warnings.begin(), coffea->warnings.end());
    for (const std::string& reason : records.accumulator.StacksRefused()) {
      quality.warnings.push_back(kNoNativeStacks + reason);
    }
    RecordFindings findings = std::move(records.accumulator).Finalize(limits);
    NameWaits(&namer, &findings.waits);
    for (std::string& moved : AlignWithRecords(findings.processes.processes, &clusters.table)) {
      quality.warnings.push_back(std::move(moved));
      window = WindowOf(options, *trees, clusters.table);
    }
    const bool has_window = window.has_value();
    figures = ComputeFigures(std::move(findings), *trees, has_window ? window->start_ns : options.start_ns,
                             has_window ? window->stop_ns : options.stop_ns, std::move(coffea->figures), clusters.table,
                             limits);
  }
  if (const std::string problem = spill.problem(); !problem.empty()) {
    quality.warnings.push_back(
        fmt::format("could not spill to {} ({}), so what did not fit stayed in memory; choose another directory with "
                    "--spill DIR",
                    SpillDirectory(options), problem));
  }
  RecordFindings& findings = figures.findings;
  NameFunctions(findings.omissions.functions > 0, &namer, &findings.tables.functions);
  quality.warnings.insert(quality.warnings.end(), namer.problems().begin(), namer.problems().end());
  const SearchedLogs searched = {logs->logs, stretches};
  std::vector<EntryRange> ranges;
  RunParallel(
      {{0, [&] { ranges = FindEntryRanges(figures, searched); }}, {0, [&] { NamePeriodSections(searched, &figures); }}},
      limits);
  quality = JudgeQuality(figures, std::move(quality));
  const RunProvenance provenance{
      AllSources(options), HostName(),         absl::GetCurrentTimeNanos(), NameRun(options, figures.tree),
      options.failure,     options.exit_status};
  MeasuredRun measured;
  measured.measurement = Assemble(std::move(figures), std::move(quality), ranges, provenance);
  for (const RecordLog& log : logs->logs) {
    if (!log.is_stream) measured.log_paths.push_back(log.path);
  }
  for (const auto* paths : {&left_out, &logs->tree_logs}) {
    measured.log_paths.insert(measured.log_paths.end(), paths->begin(), paths->end());
  }
  for (const EngineLog& log : logs->engine_logs) {
    if (EngineOfLogName(log.path) == log.engine) {
      measured.log_paths.push_back(log.path);
    } else {
      measured.engine_logs.push_back(log);
    }
  }
  measured.coffea_files = std::move(coffea->files);
  for (const PrmonPaths& paths : logs->prmon) {
    for (const std::string& path : {paths.text, paths.summary}) {
      if (!path.empty()) measured.log_paths.push_back(path);
    }
  }
  measured.measurement.provenance.logs =
      static_cast<int64_t>(measured.log_paths.size() + measured.engine_logs.size()) + logs->logs_missing;
  return measured;
}

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "localhost";
  return absl::StrReplaceAll(name, {{"/", "_"}});
}

}  // namespace crema
