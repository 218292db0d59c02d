#include "collector/sources/prmon/prmon_reader.h"

#include <sys/stat.h>

#include <cmath>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collector/compression/decompressed_file.h"
#include "collector/idioms/units.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Values of one row, or of the summary's `Max`, under prmon's names and in prmon's units (s, kB, B).
using PrmonValues = std::map<std::string, int64_t, std::less<>>;

std::optional<int64_t> Find(const PrmonValues& values, std::string_view name, int64_t unit = 1) {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  return found->second * unit;
}

/// What they say of the tree; absent: they do not hold it.
TreeTotals TotalsOf(const PrmonValues& values) {
  TreeTotals totals;
  totals.cpu_user_ns = Find(values, "utime", kSecondNs);
  totals.cpu_system_ns = Find(values, "stime", kSecondNs);
  totals.tree_peak_rss_bytes = Find(values, "rss", kKibibyte);
  totals.tree_peak_pss_bytes = Find(values, "pss", kKibibyte);
  totals.tree_peak_swap_bytes = Find(values, "swap", kKibibyte);
  totals.max_processes = Find(values, "nprocs");
  totals.max_threads = Find(values, "nthreads");
  const std::optional<int64_t> read = Find(values, "read_bytes"), written = Find(values, "write_bytes"),
                               rchar = Find(values, "rchar"), wchar = Find(values, "wchar");
  if (read.has_value() && written.has_value() && rchar.has_value() && wchar.has_value()) {
    totals.io = TreeIo{*read, *written, *rchar, *wchar};
  }
  return totals;
}

/// One row as a sample. What it does not hold is 0 here: a sample has no null. `TotalsOf` has.
TreeSampleFact SampleOf(const PrmonValues& row) {
  const TreeTotals now = TotalsOf(row);
  TreeSampleFact sample;
  sample.time_ns = Find(row, "Time", kSecondNs).value_or(0);
  sample.rss_bytes = now.tree_peak_rss_bytes.value_or(0);
  sample.pss_bytes = now.tree_peak_pss_bytes;
  sample.swap_bytes = now.tree_peak_swap_bytes;
  sample.cpu_user_ns = now.cpu_user_ns.value_or(0);
  sample.cpu_system_ns = now.cpu_system_ns.value_or(0);
  sample.processes = now.max_processes.value_or(0);
  sample.threads = now.max_threads.value_or(0);
  sample.io = now.io;
  return sample;
}

/// prmon's name of a quantity. ATLAS's MemoryMonitor, which came before it, wrote `VMEM` and `rbytes` in rows,
/// `maxVMEM` and `totRBYTES` in summaries.
std::string NowCalled(const std::string& name) {
  static constexpr std::string_view kAsWords[] = {"VMEM", "PSS", "RSS", "Swap"};  // in summaries behind `max`
  if (name == "rbytes" || name == "totRBYTES") return "read_bytes";
  if (name == "wbytes" || name == "totWBYTES") return "write_bytes";
  if (name == "totRCHAR" || name == "totWCHAR") return absl::AsciiStrToLower(name.substr(3));
  const std::string held = name.substr(name.compare(0, 3, "max") == 0 ? 3 : 0);
  return absl::c_linear_search(kAsWords, held) ? absl::AsciiStrToLower(held) : name;
}

/// Since the job's start.
std::optional<int64_t> WallNs(const PrmonValues& values) { return Find(values, "wtime", kSecondNs); }

/// Raises each of `largest` to the value in `values`.
void RaiseTo(const PrmonValues& values, PrmonValues* largest) {
  for (const auto& [name, value] : values) {
    const auto [entry, is_new] = largest->try_emplace(name, value);
    if (!is_new) entry->second = std::max(entry->second, value);
  }
}

// No quantity of a job is larger in prmon's units, and in base units each still fits 64 bits.
constexpr double kLargest = 1e15;
constexpr double kLargestSeconds = 4e9;

struct Rows {
  std::vector<PrmonValues> rows;
  PrmonValues largest;
};

std::optional<int64_t> Integer(const std::string& name, double number) {
  const bool is_time = name == "Time" || name == "wtime" || name == "utime" || name == "stime";
  if (!(number >= 0) || number > (is_time ? kLargestSeconds : kLargest)) return std::nullopt;
  return std::llround(number);
}

absl::Status CannotRead(const std::string& path) {
  return absl::NotFoundError(fmt::format("{}: cannot be opened; check that it exists and that you may read it", path));
}

std::optional<PrmonValues> ParseRow(const std::vector<std::string>& names, const std::vector<std::string>& words) {
  if (words.size() != names.size()) return std::nullopt;
  PrmonValues row;
  for (size_t i = 0; i < names.size(); ++i) {
    double number = 0;
    if (!absl::SimpleAtod(words[i], &number)) return std::nullopt;
    const std::optional<int64_t> value = Integer(names[i], number);
    if (!value.has_value()) return std::nullopt;
    row[names[i]] = *value;
  }
  return row;
}

absl::StatusOr<Rows> ReadText(const std::string& path, TreeLogReading* reading) {
  Rows result;
  DecompressedStream file(path);
  if (!file) return CannotRead(path);
  std::vector<std::string> names;
  std::string line;
  while (std::getline(file, line)) {
    const bool whole = !file.eof();  // getline stops at the end of the file only where a newline is missing
    ++reading->lines;
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (reading->lines == 1) {
      if (words.size() < 2 || words[0] != "Time") break;
      for (const std::string& word : words) names.push_back(NowCalled(word));
      continue;
    }
    if (words.empty()) continue;
    if (std::optional<PrmonValues> row = ParseRow(names, words); row.has_value()) {
      RaiseTo(*row, &result.largest);
      result.rows.push_back(*std::move(row));
    } else if (!whole) {
      ++reading->torn;
    } else {
      ++reading->malformed;
      reading->AddProblem(
          path,
          fmt::format("does not have {} non-negative numbers, one for each name in the first line; it was left out",
                      names.size()));
    }
  }
  if (!file.status().ok()) {
    ++reading->torn;
    reading->problems.push_back(
        fmt::format("{}: {}; crema used what comes before the damage", path, std::string(file.status().message())));
  }
  if (names.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}:1: no `Time wtime …` line of prmon's names; was this file written by prmon?", path));
  }
  return result;
}

// The summary's `Max`: totals of counters, peaks of what was held.
absl::StatusOr<PrmonValues> ReadSummary(const std::string& path) {
  DecompressedStream file(path);
  if (!file) return CannotRead(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto summary = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!summary.is_object() || !summary.contains("Max") || !summary["Max"].is_object()) {
    return absl::InvalidArgumentError(
        fmt::format("{}:1: no JSON object with `Max`; was this file written by prmon?", path));
  }
  PrmonValues largest;
  for (const auto& [name, value] : summary["Max"].items()) {
    if (!value.is_number()) continue;
    if (const std::optional<int64_t> integer = Integer(name, value.get<double>())) largest[NowCalled(name)] = *integer;
  }
  return largest;
}

int64_t ModifiedNs(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return 0;
  return file.st_mtim.tv_sec * kSecondNs + file.st_mtim.tv_nsec;
}

// From when to when: the rows know; else the summary was written as the job ended.
void SetTimes(const Rows& rows, const PrmonValues& largest, const std::string& summary, TreeRun* run) {
  const int64_t wall_ns = WallNs(largest).value_or(0);
  if (rows.rows.empty()) {
    run->last_ns = ModifiedNs(summary);
    run->run.start_ns = run->last_ns - wall_ns;
    return;
  }
  const PrmonValues& last = rows.rows.back();
  const std::optional<int64_t> last_wall_ns = WallNs(last);  // MemoryMonitor has none
  run->run.start_ns =
      last_wall_ns.has_value() ? SampleOf(last).time_ns - *last_wall_ns : SampleOf(rows.rows.front()).time_ns;
  run->last_ns = std::max(SampleOf(last).time_ns, run->run.start_ns + wall_ns);
}

}  // namespace

absl::StatusOr<TreeLogReading> ReadPrmon(const PrmonPaths& paths, const OnTreeSample& on_sample) {
  TreeLogReading reading;
  Rows rows;
  if (!paths.text.empty()) {
    absl::StatusOr<Rows> read = ReadText(paths.text, &reading);
    if (!read.ok()) return read.status();
    rows = *std::move(read);
  }
  PrmonValues largest = rows.largest;
  if (!paths.summary.empty()) {
    const absl::StatusOr<PrmonValues> summary = ReadSummary(paths.summary);
    if (!summary.ok()) return summary.status();
    RaiseTo(*summary, &largest);
  }
  const std::string& path = paths.text.empty() ? paths.summary : paths.text;
  if (largest.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: holds no value; the job ended before prmon's first", path));
  }

  TreeRun& run = reading.run;
  run.run.origin = TreeOrigin::kPrmon;
  run.run.host = path;  // prmon does not say; it only keeps jobs that began in the same second apart
  for (const PrmonValues& row : rows.rows) {
    const TreeSampleFact sample = SampleOf(row);
    run.Add(sample);
    if (on_sample) on_sample(sample);
  }
  run.totals = TotalsOf(largest);
  SetTimes(rows, largest, paths.summary, &run);
  if (!paths.summary.empty() && !IsPrmonSnapshot(paths.summary)) {  // it is written when the job has ended
    run.end.emplace();
    run.end->time_ns = run.last_ns;
    run.end->totals = run.totals;
    run.end->samples = run.samples;
  } else {
    reading.problems.push_back(path +
                               ": no summary (prmon.json) beside it: the job may have gone on after the last row");
  }
  reading.problems.push_back(path +
                             ": prmon rounds CPU time down to whole seconds, and misses what follows its last row; the "
                             "tree's CPU time, peaks and I/O are at least as large as shown");
  return reading;
}

}  // namespace crema
