#include "collector/engines/slurm/sacct_table.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <set>

#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/idioms/units.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

// Larger numbers are rejected. Sums of the others still fit.
constexpr int64_t kMostDuration = 1'000'000'000;
constexpr double kMostBytes = 1e15;

/// Digits only, and no more than a count of nanoseconds or bytes can hold.
std::optional<int64_t> Whole(std::string_view text) {
  const bool is_digits = text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos;
  return is_digits ? Parsed<int64_t>(text) : std::nullopt;
}

/// Takes what is before `separator` off the text; all of it where there is none.
std::string_view Cut(std::string_view* text, char separator) {
  const size_t at = text->find(separator);
  const std::string_view before = text->substr(0, at);
  *text = at == text->npos ? std::string_view() : text->substr(at + 1);
  return before;
}

/// `prefix[01-03,7,10-20:5]suffix`. False if the text has another form, or stands for too many names.
bool AddNodes(std::string_view name, size_t most, std::vector<std::string>* nodes) {
  const size_t open = name.find('[');
  if (open == name.npos) {
    nodes->emplace_back(name);
    return !name.empty() && nodes->size() <= most;
  }
  const size_t close = name.find(']', open);
  if (close == name.npos) return false;
  const std::string_view before = name.substr(0, open), after = name.substr(close + 1);
  if (after.find('[') != after.npos) return false;  // names of several dimensions
  std::string_view ranges = name.substr(open + 1, close - open - 1);
  while (!ranges.empty()) {
    std::string_view step = Cut(&ranges, ',');
    std::string_view last = Cut(&step, ':');
    const std::string_view first = Cut(&last, '-');
    const std::optional<int64_t> from = Whole(first), by = step.empty() ? 1 : Whole(step);
    const std::optional<int64_t> to = last.empty() ? from : Whole(last);
    if (!from.has_value() || !to.has_value() || *to < *from || by.value_or(0) < 1) return false;
    for (int64_t number = *from; number <= *to; number += *by) {
      nodes->push_back(fmt::format("{}{:0{}}{}", before, number, first.size(), after));
      if (nodes->size() > most) return false;
    }
  }
  return true;
}

/// Cells between delimiters; between quotation marks one is a part of its cell.
SacctCells Cut(std::string_view line, char delimiter) {
  SacctCells cells(1);
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '"' && delimiter == ',') {
      in_quotes = !in_quotes;
    } else if (c == delimiter && !in_quotes) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

constexpr size_t kMostRows = 2000;
constexpr std::string_view kDigits = "0123456789";

struct Rows {
  std::vector<SacctCells> cells;
  SacctHeader header;  ///< splits lines into these cells; without names

  size_t columns() const { return cells.front().size(); }
  std::string_view JobOf(size_t row, size_t column) const {
    const std::string_view id = cells[row][column];
    return id.substr(0, id.find('.'));
  }
};

/// `82`, `82_3`, `82_[4-9:2%2]`, `82+1`, and steps of these: `82.batch`, `82.0`. A table cuts what is too wide:
/// `82.bat+`.
bool IsJobId(std::string_view text) {
  constexpr size_t kMostDigits = 8;  // longer ones are times
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  if (digits == 0 || digits > kMostDigits) return false;
  text.remove_prefix(digits);
  const size_t dot = text.find('.', text.find(']') + 1);
  const std::string_view place = text.substr(0, dot), step = dot == text.npos ? "0" : text.substr(dot + 1);
  if (!place.empty() && (place.size() == 1 || (place[0] != '_' && place[0] != '+') ||
                         place.substr(1).find_first_not_of("0123456789[]-,%:.") != place.npos)) {
    return false;
  }
  return !step.empty() && step.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz+") == step.npos;
}

bool IsTime(std::string_view text) {
  constexpr size_t kDigitsOfTime = 10;  // since 2001
  const bool is_number = text.find_first_not_of(kDigits) == text.npos;
  return (!is_number || text.size() == kDigitsOfTime) && ParseSacctTime(text).has_value();
}

bool IsTimeOrNone(std::string_view text) { return IsTime(text) || text == "Unknown" || text == "None"; }

/// `0:9`, and no clock: these have two digits behind the colon.
bool IsExit(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || !ParseSacctExit(text).has_value()) return false;
  return text.size() == colon + 2 || text[colon + 1] != '0';
}

/// Columns whose cells all pass.
std::vector<size_t> ColumnsThat(const Rows& rows, const std::function<bool(std::string_view)>& passes) {
  std::vector<size_t> found;
  for (size_t column = 0; column < rows.columns(); ++column) {
    const auto fits = [&](const SacctCells& row) { return passes(row[column]); };
    if (absl::c_all_of(rows.cells, fits)) found.push_back(column);
  }
  return found;
}

/// A table has a blank between its columns in each line.
std::vector<std::pair<size_t, size_t>> PlacesOfTable(const std::vector<std::string_view>& lines) {
  std::vector<std::pair<size_t, size_t>> places;
  bool is_inside = false;
  size_t longest = 0;
  for (const std::string_view line : lines) longest = std::max(longest, line.size());
  for (size_t at = 0; at < longest; ++at) {
    const bool is_blank =
        absl::c_all_of(lines, [at](std::string_view line) { return at >= line.size() || line[at] == ' '; });
    if (!is_blank && !is_inside) places.emplace_back(at, 0);
    if (!is_blank) places.back().second = at + 1 - places.back().first;
    is_inside = !is_blank;
  }
  return places;
}

std::optional<Rows> SplitRows(const std::vector<std::string_view>& lines) {
  constexpr size_t kFewestColumns = 4;
  for (const char delimiter : {'|', ',', ';', '\t', ' '}) {
    const auto count = [delimiter](std::string_view line) { return absl::c_count(line, delimiter); };
    const auto is_like_first = [&](std::string_view line) { return count(line) == count(lines[0]); };
    const bool is_table = delimiter == ' ';
    if (!is_table && !absl::c_all_of(lines, is_like_first)) continue;
    Rows rows;
    rows.header =
        is_table ? SacctHeader(PlacesOfTable(lines)) : SacctHeader(delimiter, static_cast<size_t>(count(lines[0])) + 1);
    for (const std::string_view line : lines) {
      std::optional<SacctCells> row = rows.header.Split(line);
      if (!row.has_value()) return std::nullopt;
      rows.cells.push_back(*std::move(row));
    }
    if (rows.columns() >= kFewestColumns) return rows;
  }
  return std::nullopt;
}

/// The only column of jobs and their steps, or the one of two that has places of arrays, or both if they say the same.
bool TakeIds(const Rows& rows, SacctCells* names, size_t* id) {
  std::vector<size_t> found = ColumnsThat(rows, IsJobId);
  const auto has = [&rows](size_t column, const char* any_of) {
    return absl::c_any_of(rows.cells, [column, any_of](const SacctCells& row) {
      return row[column].find_first_of(any_of) != std::string::npos;
    });
  };
  EraseWhere(&found, [&has](size_t column) { return !has(column, "."); });
  if (found.empty() || found.size() > 2) return false;
  const auto same = [&](const SacctCells& row) { return row[found.front()] == row[found.back()]; };
  if (!absl::c_all_of(rows.cells, same)) {
    if (has(found[0], "_+") == has(found[1], "_+")) return false;
    if (has(found[1], "_+")) std::swap(found[0], found[1]);
    (*names)[found[1]] = "JobIDRaw";
  }
  *id = found[0];
  (*names)[*id] = "JobID";
  return true;
}

/// Sacct gives a step the time of its start as its submission, too. So a column in which each job has the time of its
/// first step holds starts, or what equals them; and only the end is behind a start.
bool TakeTimes(const Rows& rows, size_t id, SacctCells* names) {
  const std::vector<size_t> times = ColumnsThat(rows, IsTimeOrNone);
  std::map<std::string_view, std::vector<size_t>> rows_of_job;
  for (size_t row = 0; row < rows.cells.size(); ++row) rows_of_job[rows.JobOf(row, id)].push_back(row);
  std::set<std::pair<size_t, size_t>> pairs;
  for (const size_t start : times) {
    for (const size_t end : times) {
      bool fits = start != end, is_behind = false;
      for (const auto& entry : rows_of_job) {
        const std::vector<size_t>& of_job = entry.second;
        const SacctCells& whole = rows.cells[of_job.front()];
        const std::string &from = whole[start], &to = whole[end];
        if (!fits || !IsTime(from)) continue;
        const auto has_its_start = [&](size_t row) { return row != of_job.front() && rows.cells[row][start] == from; };
        fits = whole[id] == entry.first && absl::c_any_of(of_job, has_its_start);
        if (!IsTime(to)) continue;
        fits = fits && ParseSacctTime(from)->time_ns <= ParseSacctTime(to)->time_ns;
        is_behind |= from != to;
      }
      if (fits && is_behind) pairs.emplace(start, end);
    }
  }
  if (pairs.empty()) return false;
  // Several starts are the same in all rows; of two ends nobody knows which it is.
  const auto [start, end] = *pairs.begin();
  for (const auto& [other_start, other_end] : pairs) {
    if (other_end != end) return false;
    for (const SacctCells& row : rows.cells) {
      if (row[other_start] != row[start]) return false;
    }
  }
  (*names)[start] = "Start";
  (*names)[end] = "End";
  return true;
}

using SacctJson = nlohmann::json;

/// `/time/start` and so on; null where it is not there.
const SacctJson& At(const SacctJson& value, const char* path) {
  static const SacctJson kNull;
  const SacctJson::json_pointer pointer(path);
  return value.contains(pointer) ? value[pointer] : kNull;
}

/// A number, or `{"set": true, "number": 3}`; empty: it is not set.
std::string NumberText(const SacctJson& value) {
  if (value.is_number_integer()) return value.dump();
  if (At(value, "/set") != true) return "";
  return At(value, "/number").is_number() ? fmt::format("{:.0f}", value["number"].get<double>()) : "";
}

std::string Text(const SacctJson& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_array() && !value.empty() && value[0].is_string() ? value[0].get<std::string>() : NumberText(value);
}

std::string Time(const SacctJson& value) {
  const std::string seconds = NumberText(value);
  return seconds.empty() || seconds == "0" ? "Unknown" : seconds;
}

std::string Exit(const SacctJson& value) {
  const std::string code = NumberText(At(value, "/return_code"));
  std::string signal = NumberText(At(value, "/signal/id"));
  if (signal.empty()) signal = NumberText(At(value, "/signal/signal_id"));
  return fmt::format("{}:{}", code.empty() ? "0" : code, signal.empty() ? "0" : signal);
}

/// Seconds and microseconds as `0:0:1.000250`.
std::string Duration(const SacctJson& value) {
  const SacctJson &seconds = At(value, "/seconds"), &microseconds = At(value, "/microseconds");
  if (!seconds.is_number_integer()) return "";
  return fmt::format("00:00:{}.{:06}", seconds.get<int64_t>(),
                     microseconds.is_number_integer() ? microseconds.get<int64_t>() : 0);
}

/// The count of one resource in a list of them; empty: it is not there.
std::string Resource(const SacctJson& list, const char* type) {
  if (!list.is_array()) return "";
  for (const SacctJson& entry : list) {
    if (At(entry, "/type") == type && At(entry, "/count").is_number()) {
      return fmt::format("{:.0f}", At(entry, "/count").get<double>());
    }
  }
  return "";
}

/// An empty text stays empty.
std::string Within(const char* before, const std::string& text, const char* behind) {
  return text.empty() ? text : before + text + behind;
}

}  // namespace

std::optional<LogTime> ParseSacctTime(std::string_view text) {
  if (const std::optional<int64_t> seconds = Whole(text)) return LogTimeOf(*seconds);
  tm local = {};
  const std::string whole(text);
  const char* rest = strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &local);
  if (rest == nullptr) return std::nullopt;
  if (*rest == '\0') return ReadLocalTime(local);
  tm zone = {};
  if (const char* const end = strptime(rest, "%z", &zone); end == nullptr || *end != '\0') return std::nullopt;
  return LogTimeOf(timegm(&local) - zone.tm_gmtoff);
}

std::optional<int64_t> SacctDurationNs(std::string_view text) {
  int64_t days = 0;
  if (text.find('-') != text.npos) {
    const std::optional<int64_t> whole_days = Whole(Cut(&text, '-'));
    if (!whole_days.has_value() || *whole_days > 10'000) return std::nullopt;
    days = *whole_days;
  }
  int64_t seconds = 0;
  int parts = 0;
  std::string_view fraction = text;
  std::string_view clock = Cut(&fraction, '.');
  for (; !clock.empty() && parts < 4; ++parts) {
    const std::optional<int64_t> part = Whole(Cut(&clock, ':'));
    if (!part.has_value() || *part > kMostDuration) return std::nullopt;
    seconds = seconds * 60 + *part;
    if (seconds > kMostDuration) return std::nullopt;
  }
  if (parts < 2 || parts > 3) return std::nullopt;
  int64_t nanoseconds = 0;
  if (!fraction.empty()) {
    const std::optional<int64_t> digits = Whole(fraction);
    if (!digits.has_value() || fraction.size() > 9) return std::nullopt;
    nanoseconds = *digits * static_cast<int64_t>(std::llround(std::pow(10, 9 - static_cast<double>(fraction.size()))));
  }
  return (days * 86'400 + seconds) * kSecondNs + nanoseconds;
}

std::optional<SacctMemory> ParseSacctMemory(std::string_view text) {
  SacctMemory memory;
  if (!text.empty() && (text.back() == 'n' || text.back() == 'c')) {
    memory.of = text.back() == 'n' ? SacctMemory::Of::kNode : SacctMemory::Of::kCore;
    text.remove_suffix(1);
  }
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kUnits = "KMGTP";
  double factor = 1;
  if (const size_t unit = kUnits.find(text.back()); unit != kUnits.npos) {
    factor = std::pow(1024, static_cast<double>(unit) + 1);
    text.remove_suffix(1);
  }
  const std::optional<double> number = Parsed<double>(text);
  const bool is_number = number.has_value() && text.find_first_not_of("0123456789.") == text.npos;
  if (!is_number || *number * factor > kMostBytes) return std::nullopt;
  memory.bytes = std::llround(*number * factor);
  return memory;
}

std::string_view SacctResource(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    if (std::string_view value = Cut(&text, ','); Cut(&value, '=') == name) return value;
  }
  return {};
}

std::optional<SacctExit> ParseSacctExit(std::string_view text) {
  const std::optional<int64_t> code = Whole(Cut(&text, ':'));
  const std::optional<int64_t> signal = Whole(text);
  if (!code.has_value() || !signal.has_value()) return std::nullopt;
  return SacctExit{*code, *signal};
}

std::vector<std::string> SacctNodes(std::string_view text, size_t most) {
  std::vector<std::string> nodes;
  while (!text.empty()) {
    size_t end = text.find(',');
    // A bracket may hold commas.
    if (const size_t open = text.find('['); open < end) end = text.find(',', text.find(']', open));
    if (!AddNodes(text.substr(0, end), most, &nodes)) return {};
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  if (nodes.size() == 1 && nodes[0] == "None assigned") return {};
  return nodes;
}

std::string_view SacctState(std::string_view text) {
  constexpr std::string_view kStates[] = {
      "BOOT_FAIL",     "CANCELLED", "COMPLETED",    "COMPLETING", "CONFIGURING",  "DEADLINE",  "FAILED",  "NODE_FAIL",
      "OUT_OF_MEMORY", "PENDING",   "PREEMPTED",    "REQUEUED",   "REQUEUE_HOLD", "RESIZING",  "REVOKED", "RUNNING",
      "LAUNCH_FAILED", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT",  "STOPPED",      "SUSPENDED", "TIMEOUT"};
  const size_t end = std::min(text.find_first_of(" +"), text.size());
  const std::string_view word = text.substr(0, end);
  const bool is_cut = end > 0 && end + 1 == text.size() && text[end] == '+';
  const auto state = absl::c_find_if(
      kStates, [&](std::string_view name) { return is_cut ? name.substr(0, word.size()) == word : name == word; });
  return state == std::end(kStates) ? std::string_view() : *state;
}

SacctHeader::SacctHeader(std::string_view line) {
  line = line.substr(0, line.find_last_not_of('\r') + 1);
  const std::string_view begin = Trimmed(line);
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const size_t end = static_cast<size_t>(std::find_if_not(begin.begin(), begin.end(), is_name) - begin.begin());
  if (end == 0 || end == begin.size()) return;
  delimiter_ = begin[end] == '"' ? ',' : begin[end];
  if (delimiter_ != ' ') {
    Name(Cut(line, delimiter_));
    return;
  }
  SacctCells names;
  for (std::string_view rest = begin; !rest.empty(); rest = Trimmed(rest)) names.emplace_back(Cut(&rest, ' '));
  Name(names);
}

void SacctHeader::Name(const SacctCells& names) {
  columns_ = names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) column_of_.emplace(names[i], i);
  }
}

bool SacctHeader::is_sacct() const {
  const bool names_jobs = Has("JobID") || Has("JobIDRaw");
  return columns_ > 1 && names_jobs && (Has("State") || Has("Start") || Has("End") || Has("Elapsed"));
}

std::string_view SacctHeader::Of(const SacctCells& row, std::string_view name) const {
  const auto column = column_of_.find(name);
  return column == column_of_.end() || column->second >= row.size() ? std::string_view() : row[column->second];
}

bool SacctHeader::TakeWidths(std::string_view dashes) {
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t at = 0; (at = dashes.find('-', at)) < dashes.size();) {
    const size_t end = std::min(dashes.find_first_not_of('-', at), dashes.size());
    places.emplace_back(at, end - at);
    at = end;
  }
  if (places.size() != columns_ || dashes.find_first_not_of("- \r") != dashes.npos) return false;
  places_ = std::move(places);
  return true;
}

std::optional<SacctCells> SacctHeader::Split(std::string_view line) const {
  if (is_table()) {
    SacctCells row;
    for (const auto& [at, width] : places_) {
      row.emplace_back(at < line.size() ? Trimmed(line.substr(at, width)) : std::string_view());
    }
    // What is too wide is cut, and ends in `+`.
    const std::string_view id = Of(row, "JobID");
    const bool is_cut = !id.empty() && id.back() == '+';
    return row.empty() || is_cut ? std::nullopt : std::optional(std::move(row));
  }
  SacctCells row = Cut(line, delimiter_);
  if (row.size() < columns_) return std::nullopt;
  if (row.size() == columns_) return row;
  std::optional<SacctCells> found;
  const size_t more = row.size() - columns_;
  for (size_t column = 0; column < columns_; ++column) {
    SacctCells joined(row.begin(), row.begin() + static_cast<long>(column) + 1);
    for (size_t i = column + 1; i <= column + more; ++i) joined.back() += delimiter_ + row[i];
    joined.insert(joined.end(), row.begin() + static_cast<long>(column + more) + 1, row.end());
    if (MakesSense(joined)) found = std::move(joined);  // of several, the last: commands are behind names
  }
  return found;
}

bool SacctHeader::MakesSense(const SacctCells& row) const {
  bool has_free_text = false;
  for (const auto& [name, column] : column_of_) {
    const std::string& cell = row[column];
    if (cell.find(delimiter_) != cell.npos) {
      // Only these may hold one.
      constexpr std::string_view kFree[] = {"JobName", "SubmitLine",  "WorkDir",   "Comment",        "AdminComment",
                                            "Account", "NodeList",    "AllocTRES", "ReqTRES",        "SystemComment",
                                            "Extra",   "Reservation", "StdOut",    "TRESUsageInTot", "Container"};
      has_free_text = absl::c_find(kFree, name) != std::end(kFree) || name.find("TRES") != name.npos;
      if (!has_free_text) return false;
    }
    if (cell.empty()) continue;
    if (name == "State" && SacctState(cell).empty()) return false;
    if (name == "ExitCode" && !ParseSacctExit(cell).has_value()) return false;
    const bool is_time = name == "Start" || name == "End" || name == "Submit";
    if (is_time && !ParseSacctTime(cell).has_value() && cell != "Unknown" && cell != "None") return false;
    const bool is_span = name == "Elapsed" || name == "TotalCPU";
    if (is_span && !SacctDurationNs(cell).has_value()) return false;
    const bool is_memory = name == "MaxRSS" || name == "ReqMem";
    if (is_memory && !ParseSacctMemory(cell).has_value()) return false;
    const bool is_count = name == "AllocCPUS" || name == "NTasks" || name == "AllocNodes" || name == "NCPUS";
    if (is_count && cell.find_first_not_of("0123456789") != cell.npos) return false;
  }
  return true;
}

std::optional<SacctHeader> RecogniseSacctColumns(std::string_view text) {
  std::vector<std::string_view> lines;
  while (lines.size() < kMostRows && text.find('\n') != text.npos) {  // what has no newline is cut
    std::string_view line = Cut(&text, '\n');
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.empty()) return std::nullopt;
  std::optional<Rows> rows = SplitRows(lines);
  if (!rows.has_value()) return std::nullopt;
  SacctCells names(rows->columns());
  size_t id = 0;
  const std::vector<size_t> states =
      ColumnsThat(*rows, [](std::string_view cell) { return !SacctState(cell).empty(); });
  // Where each job was cancelled, the blanks of `CANCELLED by 1000` look like those between a table's columns.
  const auto is_cut = [&](const SacctCells& row) {
    return states.size() == 1 && states[0] + 1 < row.size() && row[states[0] + 1] == "by";
  };
  if (absl::c_any_of(rows->cells, is_cut)) return std::nullopt;
  if (states.size() != 1 || !TakeIds(*rows, &names, &id) || !TakeTimes(*rows, id, &names)) return std::nullopt;
  names[states[0]] = "State";
  if (const std::vector<size_t> exits = ColumnsThat(*rows, IsExit); exits.size() == 1) names[exits[0]] = "ExitCode";
  rows->header.Name(names);
  return rows->header;
}

absl::StatusOr<std::vector<SacctCells>> ReadSacctJson(const std::string& text, SacctHeader* header) {
  const SacctJson document = SacctJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !At(document, "/jobs").is_array()) {
    return absl::InvalidArgumentError("it is not whole JSON of `sacct --json`");
  }
  for (const SacctJson& job : document["jobs"]) {
    if (At(job, "/time").is_object()) continue;
    return absl::InvalidArgumentError(
        "a job has no `time`, as in what squeue and scontrol write: give crema the output of `sacct --json`");
  }
  *header =
      SacctHeader(SacctCells{"JobID",  "JobIDRaw", "JobName", "Cluster",        "State",    "ExitCode",   "Submit",
                             "Start",  "End",      "Elapsed", "Timelimit",      "NodeList", "AllocNodes", "AllocCPUS",
                             "NTasks", "ReqMem",   "MaxRSS",  "TRESUsageInTot", "TotalCPU", "Reason"});
  std::vector<SacctCells> rows;
  for (const SacctJson& job : document["jobs"]) {
    const std::string raw = NumberText(At(job, "/job_id"));
    std::string id = raw;
    const std::string array = NumberText(At(job, "/array/job_id")), place = NumberText(At(job, "/array/task_id"));
    const std::string waiting = Text(At(job, "/array/task"));
    const std::string het = NumberText(At(job, "/het/job_id")), part = NumberText(At(job, "/het/job_offset"));
    if (!array.empty() && array != "0") {
      id = !place.empty()    ? fmt::format("{}_{}", array, place)
           : waiting.empty() ? raw
                             : fmt::format("{}_[{}]", array, waiting);
    }
    if (!het.empty() && het != "0" && !part.empty()) id = fmt::format("{}+{}", het, part);
    std::string state = Text(At(job, "/state/current"));
    const std::string killer = Text(At(job, "/kill_request_user"));
    if (state == "CANCELLED" && !killer.empty()) state += " by " + killer;
    const std::string cpus = Resource(At(job, "/tres/allocated"), "cpu");
    rows.push_back({id,
                    raw,
                    Text(At(job, "/name")),
                    Text(At(job, "/cluster")),
                    state,
                    Exit(At(job, "/exit_code")),
                    Time(At(job, "/time/submission")),
                    Time(At(job, "/time/start")),
                    Time(At(job, "/time/end")),
                    Within("00:00:", NumberText(At(job, "/time/elapsed")), ""),
                    Within("00:", NumberText(At(job, "/time/limit")), ":00"),
                    Text(At(job, "/nodes")),
                    NumberText(At(job, "/allocation_nodes")),
                    cpus.empty() ? NumberText(At(job, "/required/CPUs")) : cpus,
                    "",
                    Within("", Resource(At(job, "/tres/allocated"), "mem"), "M"),
                    "",
                    "",
                    Duration(At(job, "/time/total")),
                    Text(At(job, "/state/reason"))});
    const SacctJson& steps = At(job, "/steps");
    for (const SacctJson& step : steps.is_array() ? steps : SacctJson::array()) {
      std::string name = Text(At(step, "/step/id"));
      if (name.empty()) name = Text(At(step, "/step/id/step_id"));
      if (const size_t dot = name.find('.'); dot != name.npos) name = name.substr(dot + 1);
      if (name.empty()) continue;
      rows.push_back({id + "." + name,
                      raw + "." + name,
                      Text(At(step, "/step/name")),
                      Text(At(job, "/cluster")),
                      Text(At(step, "/state")),
                      Exit(At(step, "/exit_code")),
                      "",
                      Time(At(step, "/time/start")),
                      Time(At(step, "/time/end")),
                      Within("00:00:", NumberText(At(step, "/time/elapsed")), ""),
                      "",
                      Text(At(step, "/nodes/range")),
                      NumberText(At(step, "/nodes/count")),
                      Resource(At(step, "/tres/allocated"), "cpu"),
                      NumberText(At(step, "/tasks/count")),
                      "",
                      Resource(At(step, "/tres/requested/max"), "mem"),
                      Within("mem=", Resource(At(step, "/tres/requested/total"), "mem"), ""),
                      Duration(At(step, "/time/total")),
                      ""});
    }
  }
  return rows;
}

}  // namespace crema
