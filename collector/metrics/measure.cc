// From sources to a measurement: reads the logs, has the figures computed and the document written.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/time/clock.h"
#include "collector/metrics/document.h"
#include "collector/metrics/measurement.h"
#include "collector/metrics/quality.h"
#include "collector/metrics/record_accumulator.h"
#include "collector/metrics/run_figures.h"
#include "collector/sources/process_tree/tree_log_reader.h"
#include "collector/sources/record_log.h"

namespace crema {
namespace {

struct Records {
  RecordAccumulator accumulator;
  LogReading reading;
};

// Feeds one log into an accumulator. A log may hold several processes one after another (logs put together by hand);
// those of other runs are passed over.
LogReading ReadInto(const RecordLog& log, bool all_runs, RecordAccumulator& accumulator) {
  const bool running = IsHeldByItsProcess(log.path);
  LogRef process;
  bool taken = false;
  return ReadRecordLog(log, running, [&](const Record& record) {
    if (record.type == RecordType::kProcess) {
      taken = all_runs || record.process.run_id == log.run_id || !log.has_process_line;
      if (taken) process = accumulator.AddProcess(record.process, running);
    } else if (taken) {
      accumulator.Add(process, record);
    }
  });
}

// Logs are read on as many threads as there are cores, each with its own accumulator: they merge in any order.
Records ReadAll(const std::vector<RecordLog>& logs, bool all_runs) {
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, std::max<size_t>(1, logs.size()));
  std::vector<RecordAccumulator> accumulators(threads);
  std::vector<LogReading> readings(logs.size());
  std::atomic<size_t> next{0};
  const auto work = [&](size_t worker) {
    for (size_t i = next++; i < logs.size(); i = next++)
      readings[i] = ReadInto(logs[i], all_runs, accumulators[worker]);
  };
  std::vector<std::thread> pool;
  for (size_t worker = 1; worker < threads; ++worker) pool.emplace_back(work, worker);
  work(0);
  for (std::thread& thread : pool) thread.join();

  Records records;
  records.accumulator = std::move(accumulators[0]);
  for (size_t worker = 1; worker < threads; ++worker) {
    records.accumulator.Merge(accumulators[worker]);
    accumulators[worker] = RecordAccumulator();
  }
  for (const LogReading& reading : readings) records.reading.Add(reading);
  return records;
}

struct Trees {
  TreeAccumulator accumulator;
  ReadingQuality quality;
};

absl::StatusOr<Trees> ReadTrees(const RecordLogs& logs, const MeasureOptions& options) {
  Trees trees;
  for (const std::string& path : logs.tree_logs) {
    absl::StatusOr<TreeLogReading> reading = ReadTreeLog(path);
    if (!reading.ok()) {
      trees.quality.warnings.push_back(std::string(reading.status().message()) + "; it was left out");
      continue;
    }
    trees.quality.records_malformed += reading->malformed;
    trees.quality.records_torn += reading->torn;
    trees.quality.records_unknown += reading->unknown;
    for (const std::string& problem : reading->problems) trees.quality.warnings.push_back(problem);
    trees.accumulator.Add(std::move(reading->run));
  }
  if (options.run == "all") return trees;
  const std::vector<std::string> ids = trees.accumulator.run_ids();
  const std::string chosen = logs.logs.empty() ? options.run : logs.logs.front().run_id;
  if (std::find(ids.begin(), ids.end(), chosen) != ids.end()) {
    trees.accumulator.KeepRun(chosen);
  } else if (logs.logs.empty() && !options.run.empty()) {
    return absl::NotFoundError(fmt::format("{} holds nothing of the run {}; it holds process trees of {}",
                                           fmt::join(options.sources, ", "), options.run, fmt::join(ids, ", ")));
  } else if (ids.size() > 1) {
    return absl::FailedPreconditionError(
        fmt::format("{} holds process trees of {} runs: {}; choose one with --run ID, or take them together with "
                    "--run all",
                    fmt::join(options.sources, ", "), ids.size(), fmt::join(ids, ", ")));
  }
  return trees;
}

// Attempts keep no entry ranges (METRICS.md rule 7 leaves no room): those of stragglers are read again.
std::vector<EntryRange> FindEntryRanges(const RunFigures& figures, const std::vector<RecordLog>& logs, bool all_runs) {
  using Process = std::tuple<std::string, std::string, int64_t, int64_t>;
  using Chunk = std::pair<int64_t, int64_t>;  // number, start
  std::vector<EntryRange> ranges(std::min(figures.stragglers.stragglers.size(), kMaxStragglerRows));
  std::map<Process, std::map<Chunk, size_t>> wanted;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const AttemptRow& attempt = figures.findings.attempts.rows[figures.stragglers.stragglers[i].attempt];
    const ProcessRow& process = figures.findings.processes.processes[attempt.process];
    wanted[Process(process.run_id, process.host, process.pid, process.start_ns)]
          [Chunk(attempt.number, attempt.start_ns)] = i;
  }
  for (const RecordLog& log : logs) {
    const auto chunks = wanted.find(Process(log.run_id, log.host, log.pid, log.start_ns));
    if (chunks == wanted.end()) continue;
    ReadRecordLog(log, all_runs, [&](const Record& record) {
      if (record.type != RecordType::kChunk) return;
      const auto found = chunks->second.find(Chunk(record.chunk.number, record.chunk.start_ns));
      if (found == chunks->second.end()) return;
      ranges[found->second] = {record.chunk.input.entry_start, record.chunk.input.entry_stop};
    });
  }
  return ranges;
}

std::string HostName() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 ? std::string(name) : std::string();
}

// What the run is called where nobody named it: the directory that holds it.
std::string NameOfSource(const std::string& source) {
  std::filesystem::path path = std::filesystem::absolute(source).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.filename() == "records") path = path.parent_path();
  return path.filename().string();
}

std::string NameRun(const MeasureOptions& options, const std::optional<TreeFigures>& tree) {
  if (!options.name.empty()) return options.name;
  if (tree.has_value() && !tree->name.empty()) return tree->name;
  return NameOfSource(options.sources.front());
}

ReadingQuality SumUp(const RecordLogs& logs, const LogReading& records, const ReadingQuality& trees) {
  ReadingQuality quality = trees;
  quality.records_read = records.records_read;
  quality.records_malformed += records.records_malformed;
  quality.records_torn += records.records_torn;
  quality.records_unknown += records.records_unknown;
  std::vector<std::string> warnings = logs.warnings;
  warnings.insert(warnings.end(), records.warnings.begin(), records.warnings.end());
  if (records.more_warnings > 0) {
    warnings.push_back(fmt::format("{} more lines could not be used", records.more_warnings));
  }
  warnings.insert(warnings.end(), trees.warnings.begin(), trees.warnings.end());
  quality.warnings = std::move(warnings);
  return quality;
}

}  // namespace

absl::StatusOr<Measurement> Measure(const MeasureOptions& options) {
  if (options.sources.empty()) return absl::InvalidArgumentError("no source was given");
  absl::StatusOr<RecordLogs> logs = FindRecordLogs(options.sources, options.run);
  if (!logs.ok()) return logs.status();
  absl::StatusOr<Trees> trees = ReadTrees(*logs, options);
  if (!trees.ok()) return trees.status();

  const bool all_runs = options.run == "all";
  RunFigures figures;
  ReadingQuality reading;
  {
    Records records = ReadAll(logs->logs, all_runs);
    reading = SumUp(*logs, records.reading, trees->quality);
    figures = ComputeFigures(std::move(records.accumulator).Finalize(), trees->accumulator, options.start_ns,
                             options.stop_ns);
  }
  const std::vector<EntryRange> ranges = FindEntryRanges(figures, logs->logs, all_runs);
  const Quality quality = JudgeQuality(figures, std::move(reading));
  const Provenance provenance{options.sources, HostName(), absl::GetCurrentTimeNanos(), NameRun(options, figures.tree)};
  Measurement measurement;
  measurement.document = WriteDocument(figures, quality, ranges, provenance);
  for (const RecordLog& log : logs->logs) measurement.log_paths.push_back(log.path);
  measurement.log_paths.insert(measurement.log_paths.end(), logs->tree_logs.begin(), logs->tree_logs.end());
  return measurement;
}

}  // namespace crema
