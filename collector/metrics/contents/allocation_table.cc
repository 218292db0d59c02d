#include "collector/metrics/contents/allocation_table.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

constexpr std::string_view kOfProcess = "process";
constexpr std::string_view kOfHelper = "helper";

void AddIfKnown(std::optional<int64_t>* sum, const std::optional<int64_t>& more) {
  *sum = sum->has_value() && more.has_value() ? std::optional<int64_t>(AddCounts(**sum, *more)) : std::nullopt;
}

void RaiseIfKnown(std::optional<int64_t>* largest, const std::optional<int64_t>& other) {
  *largest = largest->has_value() && other.has_value() ? std::max(*largest, other) : std::nullopt;
}

// The same section of another process: each has its own peak, at its own time.
void AddProcess(const AllocationSums& from, std::optional<AllocationSums>* to) {
  if (!to->has_value()) {
    *to = from;
    return;
  }
  (*to)->allocations = AddCounts((*to)->allocations, from.allocations);
  (*to)->allocated_bytes = AddCounts((*to)->allocated_bytes, from.allocated_bytes);
  AddIfKnown(&(*to)->live_bytes, from.live_bytes);
  RaiseIfKnown(&(*to)->peak_live_bytes, from.peak_live_bytes);
  std::optional<int64_t>& growth = (*to)->live_growth_bytes;  // processes of a few chunks do not tell theirs
  growth = std::max(growth, from.live_growth_bytes);
}

// Another section: when both together were largest is not known.
void AddSection(const AllocationSums& from, std::optional<AllocationSums>* to) {
  const bool is_first = !to->has_value();
  AddProcess(from, to);
  if (!is_first) (*to)->peak_live_bytes = (*to)->live_growth_bytes = std::nullopt;
}

AllocationSums None() { return {0, 0, 0, 0, 0}; }

void SetAllocated(const AllocationSums& sums, SectionRow* row) {
  row->allocations = sums.allocations;
  row->allocated_bytes = sums.allocated_bytes;
  row->live_bytes = sums.live_bytes;
  row->peak_live_bytes = sums.peak_live_bytes;
  row->live_growth_bytes = sums.live_growth_bytes;
}

}  // namespace

bool AllocationTable::Log::IsBefore(const Log& other) const {
  return std::tie(is_last, time_ns) < std::tie(other.is_last, other.time_ns);
}

void AllocationTable::Add(uint64_t log_hash, const AllocationsFact& fact) {
  Log log;
  log.time_ns = fact.time_ns;
  log.is_last = fact.is_last;
  log.reason = std::string(fact.reason);
  log.cost_ns = fact.cost_ns;
  if (fact.allocations.has_value() && fact.allocated_bytes.has_value()) {
    log.all = {*fact.allocations, *fact.allocated_bytes, fact.live_bytes, fact.peak_live_bytes, std::nullopt};
  }
  for (const AllocationSiteFact& section : fact.sites) {
    log.rows.push_back({std::string(section.path),
                        std::string(section.of),
                        {section.allocations, section.allocated_bytes, section.live_bytes, section.peak_live_bytes,
                         section.live_growth_bytes}});
  }
  Log& kept = logs_[log_hash];
  if (kept.IsBefore(log)) kept = std::move(log);
}

void AllocationTable::Merge(const AllocationTable& other) {
  for (const auto& [log_hash, log] : other.logs_) {
    Log& kept = logs_[log_hash];
    if (kept.IsBefore(log)) kept = log;
  }
}

AllocationFindings AllocationTable::Finalize(std::vector<SectionRow>* sections,
                                             std::vector<SectionRow>* process_sections) const {
  AllocationFindings findings;
  findings.was_asked = !logs_.empty();
  std::map<std::pair<std::string_view, std::string_view>, std::optional<AllocationSums>> by_section;
  bool is_known = !logs_.empty();
  for (const auto& [log_hash, log] : logs_) {
    if (!log.reason.empty() && (findings.reason.empty() || log.reason < findings.reason)) findings.reason = log.reason;
    is_known = is_known && log.is_last && log.all.has_value();
    if (log.cost_ns.has_value()) findings.cost_ns = AddCounts(findings.cost_ns.value_or(0), *log.cost_ns);
    if (log.all.has_value()) AddProcess(*log.all, &findings.all);
    for (const Row& row : log.rows) AddProcess(row.sums, &by_section[{row.of, row.path}]);
  }
  if (!is_known) {
    findings.all = std::nullopt;
    if (findings.was_asked && findings.reason.empty()) {
      findings.reason = "a process has not ended, or was killed: what it allocated last is not known";
    }
    return findings;
  }
  const auto take = [&by_section](std::string_view of, const std::string& path) {
    const auto found = by_section.find({of, path});
    if (found == by_section.end()) return None();
    const AllocationSums sums = *found->second;
    by_section.erase(found);
    return sums;
  };
  for (SectionRow& row : *process_sections) SetAllocated(take(kOfProcess, row.path), &row);
  SectionRow* other = nullptr;
  for (SectionRow& row : *sections) {
    if (row.path == kOtherName && !*row.helper) {
      other = &row;
    } else {
      SetAllocated(take(*row.helper ? kOfHelper : std::string_view("chunk"), row.path), &row);
    }
  }
  if (other != nullptr) {
    std::optional<AllocationSums> rest;
    for (const auto& [section, sums] : by_section) {
      if (section.first != kOfProcess) AddSection(*sums, &rest);
    }
    SetAllocated(rest.value_or(None()), other);
  }
  return findings;
}

}  // namespace crema
