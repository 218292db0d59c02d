// Finding logs: which files, whose, of which run.
#include <unistd.h>

#include "absl/strings/str_split.h"
#include "collector/engines/slurm/sacct_table.h"
#include "collector/engines/taskvine/vine_log.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/records/json_fields.h"
#include "collector/records/record_parser.h"
#include "collector/sources/coffea_report.h"
#include "collector/sources/record_log.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

bool Has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The first row of sacct, without names: a job's number, and a word that is a state.
bool IsSacctRow(std::string_view line) {
  if (line.find_first_of("0123456789") != 0) return false;
  const std::vector<std::string> cells =
      absl::StrSplit(absl::string_view(line.data(), line.size()), absl::ByAnyChar("|,; \t\r"), absl::SkipEmpty());
  return absl::c_any_of(cells, [](const std::string& cell) { return !SacctState(cell).empty(); });
}

std::string AllLogs() {
  std::string logs = fmt::format("record logs (*{})", kRecordLogSuffix);
  for (const Engine* engine : Engines()) logs += fmt::format(", {}", engine->traits.logs);
  return logs + ", files of prmon";
}

/// What a file is that no reader takes, and what to do: `is sacct's output without its header; run sacct without
/// --noheader`.
std::string DescribeUnknownFile(const std::string& path) {
  constexpr size_t kHeadBytes = 16384;
  const std::string head = ReadBeginning(path, kHeadBytes);
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  const bool is_json = BeginsWith(head, "{") || BeginsWith(head, "[");
  if (head.empty()) return "is empty";
  if (BeginsWith(line, "# timestamp") && Has(line, "workers_connected")) {
    return "is the performance log of a TaskVine or Work Queue manager; give its run directory, or the file "
           "`transactions` beside it";
  }
  if (BeginsWith(head, "digraph")) return "is a graph of tasks; give the file `transactions` beside it";
  if (IsSacctRow(line))
    return "is sacct's output without its header, and what its columns are is not certain; run sacct without "
           "--noheader";
  if (BeginsWith(line.substr(std::min(line.find_first_not_of(' '), line.size())), "JOBID")) {
    return "is squeue's table; crema reads what `sacct --parsable2` wrote";
  }
  if (Has(head, "ClusterId") && Has(head, "ProcId")) {
    return "is of condor_q or condor_history; crema reads the event log that the submit file names (log = jobs.log)";
  }
  if (is_json && Has(line, "\"type\":\"process\"")) {
    return fmt::format("holds the lines of a record log; give it a name that ends in {}", kRecordLogSuffix);
  }
  if (EndsWith(path, ".tar") || Has(fs::path(path).filename().string(), ".tar.") || EndsWith(path, ".zip")) {
    return "is an archive; unpack it, and give its directory";
  }
  if (is_json && Has(head, "\"crema.measurement/")) return "is a measurement's document; give its directory";
  if (is_json && (Has(head, "\"bytesread\"") || Has(head, "\"processtime\""))) {
    return "is a report of Coffea; give it with --coffea-report";
  }
  if (is_json && Has(head, "\"raw_chunk_metrics\"")) {
    return "is a part of a roastcoffea measurement; give its directory";
  }
  return fmt::format(
      "is not a record log (*{}), nor another log that crema knows ({}); to name a measurement, give its directory",
      kRecordLogSuffix, AllLogs());
}

/// What a directory is that holds measurements, with the last ones by name, which ends in their time; else empty.
std::string DescribeMeasurementsIn(const std::string& path) {
  constexpr size_t kMost = 3;
  std::error_code error;
  std::set<std::string, std::greater<>> measured;
  for (const fs::path& entry : EntriesOf(path)) {
    if (fs::exists(entry / "measurement.json", error)) measured.insert(entry.string());
    if (measured.size() > kMost) measured.erase(std::prev(measured.end()));
  }
  if (measured.empty()) return "";
  return fmt::format("is not a measurement, but holds some; name one, for example {}", fmt::join(measured, ", "));
}

/// The same of a directory in which nothing was found.
std::string DescribeUnknownDirectory(const std::string& path) {
  std::error_code error;
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "vine-logs"}) {
    if (!fs::exists(folder / "performance", error) && !fs::exists(folder / "taskgraph", error)) continue;
    return "holds a TaskVine run without its `transactions`; it is the log that crema reads";
  }
  if (std::string measured = DescribeMeasurementsIn(path); !measured.empty()) return measured;
  return fmt::format("holds no record log (*{}); was the program run with CREMA_DIR set, or under `crema run`?",
                     kRecordLogSuffix);
}

constexpr std::string_view kStandardInput = "-";

// What was written, also of a compressed log.
int64_t WrittenBytes(const RecordLog& log) {
  return IsCompressed(log.path) ? DecompressedBytes(log.path).value_or(0) : log.bytes;
}

// Cuts the number off the end of `<text>-<number>`.
bool CutNumber(std::string_view& text, int64_t& number) {
  const size_t dash = text.rfind('-');
  if (dash == std::string_view::npos) return false;
  if (!absl::SimpleAtoi(std::string(text.substr(dash + 1)), &number) || number < 0) return false;
  text = text.substr(0, dash);
  return true;
}

RecordLog StreamOf(const std::string& source, const std::string& run) {
  RecordLog log;
  log.path = source == kStandardInput ? "/dev/stdin" : source;
  if (run != "all") log.run_id = run;
  log.host = "stream";
  log.is_stream = true;
  return log;
}

// `<host>-<pid>-<start_ns>-<recorder>.jsonl`; any other name is taken for a host's, which keeps such logs apart.
void FillFromName(const std::string& path, RecordLog& log) {
  const std::string name = fs::path(path).filename().string();
  const std::string stem = name.substr(0, name.size() - KindOfLog(name).size());
  std::string_view rest = stem;
  if (CutNumber(rest, log.recorder) && CutNumber(rest, log.start_ns) && CutNumber(rest, log.pid)) {
    log.host = std::string(rest);
    return;
  }
  log.host = stem;
  log.pid = log.start_ns = log.recorder = 0;
}

// Reads the log up to its first record. False: there is none, or nothing in the log may be read (said in `warnings`).
bool ReadHead(RecordLog& log, std::vector<std::string>& warnings) {
  DecompressedFile file(log.path);
  bool usable = false;
  bool refused = false;
  RecordParser parser;
  const absl::StatusOr<int64_t> lines = ForEachLine(file, LogPart{}, [&](const LogLine& line) {
    const ParseOutcome outcome = line.too_long ? ParseOutcome::kMalformed : parser.Parse(line.text);
    if (outcome == ParseOutcome::kOtherSchema) {
      warnings.push_back(
          fmt::format("{}:{}: its schema is {}, but this crema reads {}; the log was left out: read it with the crema "
                      "that wrote it",
                      log.path, line.number, parser.reason(), kRecordSchema));
      refused = true;
      return false;
    }
    if (outcome != ParseOutcome::kRecord) return true;
    const Record& record = parser.record();
    const bool is_first = !std::exchange(usable, true);
    if (is_first && record.type == RecordType::kProcess) {
      log.Identify(record.process);
      log.has_process_line = true;
      return false;
    }
    if (is_first) {
      warnings.push_back(
          fmt::format("{}:{}: the first line is not a process record; crema took host and pid from the file's name",
                      log.path, line.number));
      FillFromName(log.path, log);
    }
    if (log.start_ns == 0) log.start_ns = TimeOf(record);
    return log.start_ns == 0;
  });
  if (!lines.ok()) {
    warnings.push_back(fmt::format("{}: {}; it was left out", log.path, std::string(lines.status().message())));
    return false;
  }
  if (!usable && !refused) {
    warnings.push_back(fmt::format("{}: holds no record that can be read; it was left out", log.path));
  }
  return usable;
}

struct Paths {
  std::set<std::string> logs;
  std::set<std::string> tree_logs;
  std::map<std::string, const Engine*> engine_logs;
  std::vector<PrmonPaths> prmon;
  std::vector<std::string> warnings;
  int64_t unreadable = 0;  ///< named like logs, and no files, or others'
};

bool IsNamedLikeALog(const std::string& path) {
  return HasSuffixBeforeCompression(path, kTreeLogSuffix) || HasSuffixBeforeCompression(path, kRecordLogSuffix);
}

absl::Status AddDirectory(const fs::path& directory, Paths& paths, bool& found) {
  std::error_code error;
  bool has_tree = false;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string path = entries->path().lexically_normal().string();
    std::error_code ignored;
    if (!entries->is_regular_file(ignored)) {
      if (IsNamedLikeALog(path)) {
        paths.warnings.push_back(fmt::format("{}: crema cannot read it as a log; it was left out", path));
        ++paths.unreadable;
      }
      continue;
    }
    if (HasSuffixBeforeCompression(path, kTreeLogSuffix)) {
      paths.tree_logs.insert(path);
      found = has_tree = true;
    } else if (const Engine* engine = EngineOfLogName(path)) {
      paths.engine_logs.emplace(path, engine);
      found = true;
    } else if (HasSuffixBeforeCompression(path, kRecordLogSuffix)) {
      paths.logs.insert(path);
      found = true;
    }
  }
  // After an error, too, it is at its end.
  if (error) return absl::UnavailableError(fmt::format("{}: {}", directory.string(), error.message()));
  if (has_tree) return absl::OkStatus();
  for (PrmonPaths& job : FindPrmonFiles(directory.string())) {
    paths.prmon.push_back(std::move(job));
    found = true;
  }
  return absl::OkStatus();
}

/// What a measurement's document has there, as JSON; empty where it has nothing. The rest may be long: it is not kept.
std::string PartOf(const fs::path& measurement, std::string_view pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element part;
  const auto document = parser.load((measurement / "measurement.json").string());
  return document.at_pointer(pointer).get(part) == simdjson::SUCCESS ? simdjson::minify(part) : "";
}

/// Why a measurement has no records, and the remedy.
std::string WhyNoRecords(const fs::path& measurement) {
  const bool is_converted = Has(PartOf(measurement, "/run/run_ids"), "\"roastcoffea-");
  if (!is_converted && PartOf(measurement, "/provenance/logs") != "0") {
    return "a measurement without its records; collect it again from files, without --no-records";
  }
  return fmt::format("made {}; measure with `crema run`, or collect record logs",
                     is_converted ? "from a roastcoffea measurement, which has no record logs" : "without record logs");
}

/// How many of the logs that a measurement was made from are no longer in its `records`.
int64_t MissingLogs(const fs::path& measurement, const fs::path& records) {
  int64_t logs = 0;
  if (!absl::SimpleAtoi(PartOf(measurement, "/provenance/logs"), &logs)) return 0;
  const auto here = static_cast<int64_t>(EntriesOf(records).size() - FindCoffeaFiles(records.string()).size());
  return std::max<int64_t>(0, logs - here);
}

// A copy of a log that was made while it grew is a beginning of it: the larger one says everything.
// `sent`: directories of logs that workers sent; that their originals are found too is nothing to warn of.
void TakeEachLogOnce(std::vector<RecordLog>& logs, const std::set<fs::path>& sent, std::vector<std::string>& warnings) {
  const auto identity_of = [](const RecordLog& log) { return std::tuple_cat(IdentityOf(log), std::tie(log.recorder)); };
  const auto less = [&identity_of](const RecordLog& a, const RecordLog& b) { return identity_of(a) < identity_of(b); };
  std::map<RecordLog, size_t, decltype(less)> kept(less);
  std::vector<RecordLog> once;
  for (RecordLog& log : logs) {
    if (!log.has_process_line || kept.try_emplace(log, once.size()).second) {
      once.push_back(std::move(log));
      continue;
    }
    RecordLog& other = once[kept.at(log)];
    std::error_code ignored;
    if (!fs::equivalent(log.path, other.path, ignored)) {
      // A copy of the same size, made on the way, says less: not even whether the process has ended.
      const int64_t bytes = WrittenBytes(log), other_bytes = WrittenBytes(other);
      const bool larger = bytes > other_bytes || (bytes == other_bytes && IsLiveCopy(other.path));
      const bool was_sent =
          sent.count(fs::path(log.path).parent_path()) + sent.count(fs::path(other.path).parent_path()) > 0;
      if (!was_sent) {
        warnings.push_back(fmt::format("{} and {} are logs of the same process; only the fuller, {}, was read",
                                       other.path, log.path, larger ? log.path : other.path));
      }
      if (larger) other = std::move(log);
    }
  }
  logs = std::move(once);
}

void MarkParents(std::vector<RecordLog>& logs) {
  const auto place = [](const RecordLog& log, int64_t pid) {
    return std::tuple(log.host, log.boot_id, log.pid_namespace, pid);
  };
  // By start: a number of a process comes again.
  std::map<decltype(place({}, 0)), std::map<int64_t, std::vector<RecordLog*>>> processes;
  for (RecordLog& log : logs) processes[place(log, log.pid)][log.start_ns].push_back(&log);
  for (const RecordLog& child : logs) {
    const auto found = processes.find(place(child, child.parent_pid));
    if (found == processes.end() || child.parent_pid == child.pid) continue;
    const auto after = found->second.upper_bound(child.start_ns);
    if (after == found->second.begin()) continue;
    for (RecordLog* parent : std::prev(after)->second) parent->has_recorded_children = true;
  }
}

absl::Status ChooseRun(const std::vector<std::string>& sources, const std::string& run, RecordLogs& found) {
  std::map<std::string, int64_t> logs_of_run;
  for (const RecordLog& log : found.logs) {
    if (log.has_process_line) ++logs_of_run[log.run_id];
  }
  std::vector<std::string> runs;
  std::vector<std::string_view> ids;
  for (const auto& [id, count] : logs_of_run) {
    ids.push_back(id);
    runs.push_back(fmt::format("{} ({} {})", id.empty() ? "(no id)" : id, count, count == 1 ? "log" : "logs"));
  }
  if (run == "all") return absl::OkStatus();
  if (run.empty() && logs_of_run.size() > 1) {
    return absl::FailedPreconditionError(
        fmt::format("{} holds records of {} runs: {}; choose one with --run ID, or take them together with --run all",
                    fmt::join(sources, ", "), runs.size(), fmt::join(runs, ", ")));
  }
  if (!run.empty() && logs_of_run.count(run) == 0) {
    if (!found.tree_logs.empty()) {  // a command that records nothing has a process tree all the same
      found.logs.clear();
      return absl::OkStatus();
    }
    return absl::NotFoundError(fmt::format("{} holds no records of the run {}{}; it holds {}", fmt::join(sources, ", "),
                                           run, DidYouMean(run, ids), fmt::join(runs, ", ")));
  }
  if (logs_of_run.empty()) return absl::OkStatus();
  const std::string chosen = run.empty() ? logs_of_run.begin()->first : run;
  const bool are_several = logs_of_run.size() > 1;
  for (RecordLog& log : found.logs) {
    if (log.has_process_line) continue;
    log.run_id = chosen;
    if (!are_several) continue;
    found.warnings.push_back(fmt::format("{}: crema cannot know to which run it belongs; it was left out", log.path));
    ++found.logs_left_out;
  }
  EraseWhere(&found.logs,
             [&](const RecordLog& log) { return log.run_id != chosen || (are_several && !log.has_process_line); });
  return absl::OkStatus();
}

}  // namespace

bool IsStream(const std::string& source) {
  std::error_code error;
  return source == kStandardInput || fs::is_fifo(source, error);
}

std::string Schemes() {
  std::vector<std::string_view> schemes;
  for (const Engine* engine : Engines()) {
    if (!engine->scheme.empty()) schemes.push_back(engine->scheme);
  }
  return fmt::format("{}", fmt::join(schemes, " or "));
}

std::string DidYouMeanSource(const std::string& source) {
  if (source.find("://") == source.npos) return DidYouMeanEntry(source);
  return fmt::format("; an address is {}, then HOST:PORT", Schemes());
}

absl::StatusOr<RecordLogs> FindRecordLogs(const std::vector<std::string>& sources, const std::string& run,
                                          bool takes_streams, std::vector<std::string>* left_out) {
  RecordLogs result;
  result.all_runs = run == "all";
  Paths paths;
  std::vector<RecordLog> streams;
  for (const std::string& source : sources) {
    if (takes_streams && IsStream(source)) {
      if (source == kStandardInput && isatty(STDIN_FILENO) == 1) {
        return absl::InvalidArgumentError("-: standard input is a terminal; pipe record logs into it");
      }
      streams.push_back(StreamOf(source, run));
      continue;
    }
    std::error_code error;
    const fs::file_status status = fs::status(source, error);
    if (!fs::exists(status))
      return absl::NotFoundError(fmt::format("{}: no such directory{}", source, DidYouMeanSource(source)));
    bool found = true;
    const std::optional<EngineLog> engine_log = FindEngineLog(source);
    if (engine_log.has_value() && engine_log->engine->unpack == nullptr) {
      paths.engine_logs.emplace(fs::path(engine_log->path).lexically_normal(), engine_log->engine);
      if (const size_t runs = VineRunsIn(source).size(); runs > 1) {
        paths.warnings.push_back(fmt::format("{} has {} runs, and crema took {}; for another, give its directory",
                                             source, runs, engine_log->path));
      }
    } else if (fs::is_directory(status)) {
      found = false;
      if (absl::Status added = AddDirectory(source, paths, found); !added.ok()) return added;
      if (const fs::path records = fs::path(source) / "records"; fs::is_directory(records, error)) {
        if (absl::Status added = AddDirectory(records, paths, found); !added.ok()) return added;
        if (const int64_t missing = MissingLogs(source, records); missing > 0) {
          result.logs_missing += missing;
          paths.warnings.push_back(
              fmt::format("{}: {} since the measurement was made", source,
                          missing == 1 ? "one of its logs is gone" : fmt::format("{} of its logs are gone", missing)));
        }
      }
    } else if (!fs::is_regular_file(status)) {
      return absl::InvalidArgumentError(fmt::format("{}: is neither a file nor a directory", source));
    } else if (std::optional<PrmonPaths> job = PrmonFilesOf(source)) {
      paths.prmon.push_back(*std::move(job));
    } else if (const Engine* engine = EngineOfLogName(source)) {
      paths.engine_logs.emplace(fs::path(source).lexically_normal(), engine);
    } else if (!HasSuffixBeforeCompression(source, kRecordLogSuffix) &&
               !HasSuffixBeforeCompression(source, ".ndjson")) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", source, DescribeUnknownFile(source)));
    } else {
      std::set<std::string>& kind = HasSuffixBeforeCompression(source, kTreeLogSuffix) ? paths.tree_logs : paths.logs;
      kind.insert(fs::path(source).lexically_normal());
    }
    if (!found) {
      return fs::exists(fs::path(source) / "measurement.json", error)
                 ? absl::FailedPreconditionError(source + ": " + WhyNoRecords(source))
                 : absl::NotFoundError(source + ": " + DescribeUnknownDirectory(source));
    }
    result.directories.push_back(source);
  }
  result.warnings = std::move(paths.warnings);
  std::vector<std::string> empty, dropped;
  for (const std::string& path : paths.logs) {
    RecordLog log;
    log.path = path;
    std::error_code error;
    log.bytes = static_cast<int64_t>(fs::file_size(path, error));
    if (log.bytes == 0 && !error) {
      empty.push_back(path);
      continue;
    }
    if (ReadHead(log, result.warnings)) {
      result.logs.push_back(std::move(log));
    } else {
      dropped.push_back(path);
    }
  }
  dropped.insert(dropped.end(), empty.begin(), empty.end());
  result.logs_left_out = paths.unreadable + static_cast<int64_t>(dropped.size());
  const auto can_be_read = [](const std::string& path) { return access(path.c_str(), R_OK) == 0; };
  if (left_out != nullptr) std::copy_if(dropped.begin(), dropped.end(), std::back_inserter(*left_out), can_be_read);
  if (!empty.empty()) {
    result.warnings.push_back(fmt::format("{}: empty: nothing was recorded, or the disk was full at the start{}",
                                          empty.front(),
                                          empty.size() > 1 ? fmt::format("; so are {} more", empty.size() - 1) : ""));
  }
  result.tree_logs.assign(paths.tree_logs.begin(), paths.tree_logs.end());
  for (const auto& [path, engine] : paths.engine_logs) result.engine_logs.push_back({engine, path});
  result.prmon = std::move(paths.prmon);
  std::set<fs::path> sent;
  for (const EngineLog& log : result.engine_logs) sent.insert(fs::path(log.path).parent_path());
  TakeEachLogOnce(result.logs, sent, result.warnings);
  if (streams.empty() || !result.logs.empty()) {
    if (absl::Status chosen = ChooseRun(sources, run, result); !chosen.ok()) return chosen;
  }
  MarkParents(result.logs);
  for (RecordLog& stream : streams) {  // their run is not known before they are read
    if (run.empty() && !result.logs.empty()) stream.run_id = result.logs.front().run_id;
  }
  Append(&result.logs, std::move(streams));
  if (result.logs.empty() && result.tree_logs.empty() && result.engine_logs.empty() && result.prmon.empty()) {
    for (const std::string& source : sources) {
      const std::string measured = DescribeMeasurementsIn(source);
      if (!measured.empty()) return absl::FailedPreconditionError(source + ": " + measured);
    }
    return absl::FailedPreconditionError(
        fmt::format("{}: no readable record log{}", fmt::join(sources, ", "),
                    result.warnings.empty() ? " (all are empty)" : "; " + result.warnings.front()));
  }
  return result;
}

}  // namespace crema
