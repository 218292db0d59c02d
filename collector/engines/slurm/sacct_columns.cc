#include "collector/engines/slurm/sacct_columns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/engines/slurm/sacct_values.h"

namespace crema {
namespace {

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

/// `82`, `82_3`, `82_[4-9%2]`, `82+1`, and steps of these: `82.batch`, `82.0`. A table cuts what is too wide:
/// `82.bat+`.
bool IsJobId(std::string_view text) {
  constexpr size_t kMostDigits = 8;  // longer ones are times
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  if (digits == 0 || digits > kMostDigits) return false;
  text.remove_prefix(digits);
  const size_t dot = text.find('.');
  const std::string_view place = text.substr(0, dot), step = dot == text.npos ? "0" : text.substr(dot + 1);
  if (!place.empty() && (place.size() == 1 || (place[0] != '_' && place[0] != '+') ||
                         place.substr(1).find_first_not_of("0123456789[]-,%") != place.npos)) {
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
    if (std::all_of(rows.cells.begin(), rows.cells.end(), fits)) found.push_back(column);
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
    const bool is_blank = std::all_of(lines.begin(), lines.end(),
                                      [at](std::string_view line) { return at >= line.size() || line[at] == ' '; });
    if (!is_blank && !is_inside) places.emplace_back(at, 0);
    if (!is_blank) places.back().second = at + 1 - places.back().first;
    is_inside = !is_blank;
  }
  return places;
}

std::optional<Rows> SplitRows(const std::vector<std::string_view>& lines) {
  constexpr size_t kFewestColumns = 4;
  for (const char delimiter : {'|', ',', ';', '\t', ' '}) {
    const auto count = [delimiter](std::string_view line) { return std::count(line.begin(), line.end(), delimiter); };
    const auto is_like_first = [&](std::string_view line) { return count(line) == count(lines[0]); };
    const bool is_table = delimiter == ' ';
    if (!is_table && !std::all_of(lines.begin(), lines.end(), is_like_first)) continue;
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
    return std::any_of(rows.cells.begin(), rows.cells.end(), [column, any_of](const SacctCells& row) {
      return row[column].find_first_of(any_of) != std::string::npos;
    });
  };
  found.erase(std::remove_if(found.begin(), found.end(), [&has](size_t column) { return !has(column, "."); }),
              found.end());
  if (found.empty() || found.size() > 2) return false;
  const auto same = [&](const SacctCells& row) { return row[found.front()] == row[found.back()]; };
  if (!std::all_of(rows.cells.begin(), rows.cells.end(), same)) {
    if (has(found[0], "_+") == has(found[1], "_+")) return false;
    if (has(found[1], "_+")) std::swap(found[0], found[1]);
    (*names)[found[1]] = "JobIDRaw";
  }
  *id = found[0];
  (*names)[*id] = "JobID";
  return true;
}

/// Sacct gives a step the time of its start as its submission, too. So a column in which each job has the time of its
/// first step holds starts, or what equals them; and only the end lies behind a start.
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
        fits = whole[id] == entry.first && std::any_of(of_job.begin(), of_job.end(), has_its_start);
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

}  // namespace

std::optional<SacctHeader> RecogniseSacctColumns(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size() && lines.size() < kMostRows;) {
    const size_t end = text.find('\n', at);
    if (end == text.npos) break;  // it is cut
    std::string_view line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    at = end + 1;
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
  if (std::any_of(rows->cells.begin(), rows->cells.end(), is_cut)) return std::nullopt;
  if (states.size() != 1 || !TakeIds(*rows, &names, &id) || !TakeTimes(*rows, id, &names)) return std::nullopt;
  names[states[0]] = "State";
  const std::vector<size_t> exits = ColumnsThat(*rows, IsExit);
  if (exits.size() == 1) names[exits[0]] = "ExitCode";
  rows->header.Name(names);
  return rows->header;
}

}  // namespace crema
