#include "collector/sources/unknown_file.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_split.h"
#include "collector/compression/decompressed_file.h"
#include "collector/engines/engines.h"
#include "collector/engines/slurm/sacct_table.h"
#include "collector/records/schema.h"
#include "fmt/format.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

bool BeginsWith(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }
bool Has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool IsPerformance(std::string_view head) {
  return BeginsWith(head, "# timestamp") && Has(head.substr(0, head.find('\n')), "workers_connected");
}

/// The first row of sacct, without names: a job's number, and a word that is a state.
bool IsSacctRow(std::string_view line) {
  if (line.find_first_of("0123456789") != 0) return false;
  const std::vector<std::string> cells =
      absl::StrSplit(absl::string_view(line.data(), line.size()), absl::ByAnyChar("|,; \t\r"), absl::SkipEmpty());
  for (const std::string& cell : cells) {
    if (!SacctState(cell).empty()) return true;
  }
  return false;
}

std::string AllLogs() {
  std::string logs = fmt::format("record logs (*{})", kRecordLogSuffix);
  for (const Engine* engine : Engines()) logs += fmt::format(", {}", engine->traits.logs);
  return logs + ", files of prmon";
}

}  // namespace

std::string DescribeUnknownFile(const std::string& path) {
  constexpr size_t kHeadBytes = 16384;
  const std::string head = ReadBeginning(path, kHeadBytes);
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  const bool is_json = BeginsWith(head, "{") || BeginsWith(head, "[");
  if (head.empty()) return "is empty";
  if (IsPerformance(head)) {
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
  if (is_json && Has(head, "\"crema.measurement/")) return "is a measurement's document; give its directory";
  if (is_json && (Has(head, "\"bytesread\"") || Has(head, "\"processtime\""))) {
    return "is a report of Coffea; give it with --coffea-report";
  }
  if (is_json && Has(head, "\"raw_chunk_metrics\"")) {
    return "is a part of a roastcoffea measurement; give its directory";
  }
  return fmt::format(
      "is not a record log (*{}), nor another log that crema knows ({}); to name a measurement, give "
      "its directory",
      kRecordLogSuffix, AllLogs());
}

std::string DescribeUnknownDirectory(const std::string& path) {
  std::error_code error;
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "vine-logs"}) {
    if (!fs::exists(folder / "performance", error) && !fs::exists(folder / "taskgraph", error)) continue;
    return "holds a TaskVine run without its `transactions`; it is the log that crema reads";
  }
  std::string measured;  // the last one by name: names of measurements end in their time
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const bool is_measurement = fs::exists(entry.path() / "measurement.json", error);
    if (is_measurement) measured = std::max(measured, entry.path().string());
  }
  if (!measured.empty()) return fmt::format("is not a measurement, but holds some; name one, for example {}", measured);
  return fmt::format("holds no record log (*{}); was the program run with CREMA_DIR set, or under `crema run`?",
                     kRecordLogSuffix);
}

}  // namespace crema
