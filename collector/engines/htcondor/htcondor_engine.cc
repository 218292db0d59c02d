#include "collector/engines/htcondor/htcondor_engine.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <utility>

#include "collector/engines/htcondor/condor_events.h"
#include "collector/engines/htcondor/condor_jobs.h"

namespace crema {
namespace {

constexpr EngineTraits kTraits = {"HTCondor", "scheduler", "execution", "event logs of HTCondor"};
constexpr size_t kMostProblems = 20;
constexpr int64_t kSecond = 1'000'000'000;
constexpr size_t kHeadBytes = 256;

int64_t WrittenNs(const std::string& path) {
  struct stat status = {};
  return (stat(path.c_str(), &status) == 0 ? int64_t{status.st_mtime} : int64_t{time(nullptr)}) * kSecond;
}

std::optional<std::string> Find(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return ParseCondorEvent(head.substr(0, head.find('\n')), WrittenNs(path)).has_value() ? std::optional(path)
                                                                                        : std::nullopt;
}

absl::StatusOr<EngineReading> Read(const std::string& log) {
  std::ifstream file(log, std::ios::binary);
  if (!file) return absl::NotFoundError(fmt::format("{} cannot be read", log));
  const int64_t written_ns = WrittenNs(log);
  EngineReading reading;
  CondorJobs jobs;
  std::optional<CondorEvent> event;  // that is being read
  int64_t number = 0;
  const auto complain = [&](std::string_view what) {
    if (reading.problems.size() < kMostProblems) {
      reading.problems.push_back(fmt::format("{}:{}: {}; it was left out", log, number, what));
    }
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.substr(0, 3) == "...") {
      if (event.has_value() && !jobs.Add(*event)) ++reading.unknown;
      event.reset();
      continue;
    }
    if (std::optional<CondorEvent> next = ParseCondorEvent(line, written_ns); next.has_value() && line[0] != '\t') {
      if (event.has_value()) {
        ++reading.torn;
        complain("the event above is cut");
      }
      ++reading.lines;
      event = std::move(next);
      continue;
    }
    const size_t first = line.find_first_not_of(" \t");
    if (first == line.npos) continue;
    if (event.has_value()) {
      event->lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
      continue;
    }
    ++reading.lines;
    ++(file.eof() ? reading.torn : reading.malformed);
    complain(file.eof() ? "the line is cut" : "the line is of no event");
  }
  if (event.has_value()) {
    ++reading.torn;
    complain("the last event is cut");
  }
  reading.clusters = std::move(jobs).Finish();
  return reading;
}

}  // namespace

const Engine kHtcondor = {kTraits, "", ".htcondor.log", Find, Read};

}  // namespace crema
