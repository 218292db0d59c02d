#include "collector/engines/slurm/slurm_engine.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "collector/engines/slurm/sacct_jobs.h"

namespace crema {
namespace {

constexpr EngineTraits kTraits = {"Slurm", "scheduler", "step", "what `sacct --parsable2` wrote"};
constexpr size_t kMostProblems = 20;
constexpr size_t kMostHeaderBytes = 8192;

std::optional<std::string> Find(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string head(kMostHeaderBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  const size_t end = head.find('\n');
  if (end == head.npos || head.find('\0') < end) return std::nullopt;
  return SacctHeader(std::string_view(head).substr(0, end)).is_sacct() ? std::optional(path) : std::nullopt;
}

absl::StatusOr<EngineReading> Read(const std::string& log) {
  std::ifstream file(log, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{} cannot be read", log));
  std::string line;
  std::getline(file, line);
  const SacctHeader header(line);
  const bool has_end = header.Has("End") || header.Has("Elapsed");
  if (!header.is_sacct() || !(header.Has("Start") ? has_end : header.Has("End") && header.Has("Elapsed"))) {
    return absl::InvalidArgumentError(fmt::format(
        "{}:1: sacct did not say when jobs ran: ask it for the columns JobID, JobIDRaw, State, Start and End", log));
  }
  EngineReading reading;
  SacctJobs jobs(header);
  for (int64_t number = 2; std::getline(file, line); ++number) {
    const bool is_whole = !file.eof();
    if (line.empty()) continue;
    ++reading.lines;
    if (jobs.Add(line) == SacctLine::kTaken) continue;
    ++(is_whole ? reading.malformed : reading.torn);
    if (reading.problems.size() >= kMostProblems) continue;
    reading.problems.push_back(
        fmt::format("{}:{}: the line {}; it was left out", log, number,
                    is_whole ? "is not from sacct, or has other columns than the first line" : "is cut"));
  }
  reading.clusters = std::move(jobs).Finish();
  return reading;
}

}  // namespace

const Engine kSlurm = {kTraits, "", ".sacct.txt", Find, Read};

}  // namespace crema
