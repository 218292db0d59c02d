#include "collector/engines/slurm/slurm_engine.h"

#include <fmt/format.h>

#include <utility>

#include "collector/compression/decompressed_file.h"
#include "collector/engines/log_lines.h"
#include "collector/engines/slurm/sacct_columns.h"
#include "collector/engines/slurm/sacct_jobs.h"
#include "collector/engines/slurm/sacct_table.h"

namespace crema {
namespace {

constexpr EngineTraits Traits() {
  EngineTraits traits = {"Slurm", "scheduler", "step", "what `sacct --parsable2` or `sacct --json` wrote"};
  traits.numbers_jobs = true;
  return traits;
}
constexpr size_t kHeadBytes = 8192;
constexpr size_t kRowsBytes = 262'144;  // so much of a file without a header tells its columns
constexpr std::string_view kAsk =
    "sacct did not say when jobs ran: ask it for the columns JobID, JobIDRaw, State, Start and End, with --parsable2";

bool IsJson(const std::string& head) {
  if (head.compare(0, 1, "{") != 0) return false;
  const size_t jobs = head.find("\"jobs\"");
  return jobs != head.npos && (head.find("\"job_id\"") != head.npos || head.find("sacct") != head.npos ||
                               head.find("\"Slurm\"") != head.npos || head.find("\"slurm\"") != head.npos);
}

/// Of a file that has no header.
std::optional<SacctHeader> ReadColumns(const std::string& path) {
  const std::string head = ReadBeginning(path, kRowsBytes);
  const bool is_other = SacctHeader(std::string_view(head).substr(0, head.find('\n'))).is_sacct() || head[0] == '{';
  return is_other ? std::nullopt : RecogniseSacctColumns(head);
}

std::optional<std::string> Find(const std::string& path) {
  const std::string head = ReadBeginning(path, kHeadBytes);
  if (IsJson(head)) return path;
  const size_t end = head.find('\n');
  if (end == head.npos || head.find('\0') < end) return std::nullopt;
  const bool is_sacct = SacctHeader(std::string_view(head).substr(0, end)).is_sacct() || ReadColumns(path).has_value();
  return is_sacct ? std::optional(path) : std::nullopt;
}

absl::Status ReadJson(const std::string& log, LogLines* lines, EngineReading* reading, SacctJobs* jobs) {
  std::string text;
  for (std::string line; lines->Next(&line);) text += line + "\n";
  SacctHeader header;
  const absl::StatusOr<std::vector<SacctCells>> rows = ReadSacctJson(text, &header);
  if (!rows.ok()) return absl::InvalidArgumentError(fmt::format("{}: {}", log, std::string(rows.status().message())));
  for (const SacctCells& row : *rows) {
    ++reading->lines;
    if (jobs->Add(header, row) == SacctRow::kMalformed) ++reading->malformed;
  }
  return absl::OkStatus();
}

absl::StatusOr<EngineReading> Read(const std::string& log) {
  EngineReading reading;
  LogLines lines(log, &reading);
  if (absl::Status opened = lines.opened(); !opened.ok()) return opened;
  SacctJobs jobs;
  if (IsJson(ReadBeginning(log, kHeadBytes))) {
    if (absl::Status read = ReadJson(log, &lines, &reading, &jobs); !read.ok()) return read;
    reading.clusters = std::move(jobs).Finish();
    return reading;
  }
  SacctHeader header;
  if (std::optional<SacctHeader> columns = ReadColumns(log)) {
    header = *std::move(columns);
    reading.problems.push_back(
        fmt::format("{}: sacct wrote no header; crema took jobs, states and times, which nothing else can be, and left "
                    "all other columns; run sacct without --noheader for cores, CPU time and memory",
                    log));
  }
  for (std::string line; lines.Next(&line);) {
    if (line.empty()) continue;
    // Files of several queries, one behind the other, name their columns again.
    if (SacctHeader next(line.find("JobID") == line.npos ? "" : line); next.is_sacct()) {
      if (!next.has_times()) return absl::InvalidArgumentError(fmt::format("{}:{}: {}", log, lines.number(), kAsk));
      header = std::move(next);
      continue;
    }
    if (header.is_table() && header.TakeWidths(line)) continue;
    ++reading.lines;
    const std::optional<SacctCells> row = header.Split(line);
    if (row.has_value() && jobs.Add(header, *row) == SacctRow::kTaken) continue;
    ++(lines.is_whole() ? reading.malformed : reading.torn);
    lines.Complain(lines.is_whole() ? "the line is not from sacct, or has other columns than the first line; if a cell "
                                      "holds the delimiter, choose another one (sacct --delimiter)"
                                    : "the line is cut");
  }
  reading.clusters = std::move(jobs).Finish();
  for (ClusterFact& cluster : reading.clusters) cluster.seen_ns = header.Has("Elapsed") ? 0 : WrittenNs(log);
  return reading;
}

}  // namespace

const Engine kSlurm = {Traits(), "", ".sacct.txt", Find, Read};

}  // namespace crema
