#include "collector/engines/slurm/sacct_table.h"

#include <algorithm>
#include <cctype>

#include "collector/engines/slurm/sacct_values.h"

namespace crema {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
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

}  // namespace

std::string_view SacctState(std::string_view text) {
  constexpr std::string_view kStates[] = {
      "BOOT_FAIL",     "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING",  "DEADLINE", "FAILED",  "NODE_FAIL",
      "OUT_OF_MEMORY", "PENDING",   "PREEMPTED", "REQUEUED",   "REQUEUE_HOLD", "RESIZING", "REVOKED", "RUNNING",
      "LAUNCH_FAILED", "SIGNALING", "STAGE_OUT", "STOPPED",    "SUSPENDED",    "TIMEOUT"};
  const size_t end = std::min(text.find_first_of(" +"), text.size());
  const std::string_view word = text.substr(0, end);
  const bool is_cut = end > 0 && end + 1 == text.size() && text[end] == '+';
  const auto state = std::find_if(std::begin(kStates), std::end(kStates), [&](std::string_view name) {
    return is_cut ? name.substr(0, word.size()) == word : name == word;
  });
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
  for (std::string_view rest = begin; !rest.empty(); rest = Trimmed(rest)) {
    const size_t length = std::min(rest.find(' '), rest.size());
    names.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  Name(names);
}

SacctHeader::SacctHeader(const SacctCells& names) { Name(names); }

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

bool SacctHeader::has_times() const {
  return Has("Start") ? Has("End") || Has("Elapsed") : Has("End") && Has("Elapsed");
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
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
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
    if (MakesSense(joined)) found = std::move(joined);  // of several, the last: commands stand behind names
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
      has_free_text =
          std::find(std::begin(kFree), std::end(kFree), name) != std::end(kFree) || name.find("TRES") != name.npos;
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

}  // namespace crema
