#include "collector/metrics/contents/loaded_counters.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/known_sum.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kOfProcess = "process";
constexpr std::string_view kOfHelper = "helper";
constexpr std::string_view kOfChunk = "chunk";

/// Calls `set(of, row)`, which takes what was counted there, for each row, and then `set_rest(row)` for that of
/// `(other)`. Helpers come first: what GPUs did for one is in the section of the chunk that it works for, as its path
/// says.
template <class Set, class SetRest>
void SetSections(std::vector<SectionRow>* sections, std::vector<SectionRow>* process_sections, const Set& set,
                 const SetRest& set_rest) {
  for (SectionRow& row : *process_sections) set(kOfProcess, &row);
  SectionRow* other = nullptr;
  for (const bool is_helper : {true, false}) {
    for (SectionRow& row : *sections) {
      if (*row.helper != is_helper) continue;
      if (row.path == kOtherName && !is_helper) {
        other = &row;
      } else {
        set(is_helper ? kOfHelper : kOfChunk, &row);
      }
    }
  }
  if (other != nullptr) set_rest(other);
}

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
  std::optional<int64_t>& growth = (*to)->live_growth_bytes;  // processes of a few chunks do not record theirs
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

// As the source has it; what is no mangled name stays.
std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

void SetGpu(const GpuWork& sums, SectionRow* row) {
  SetGpuWork(sums, row);
  row->gpu_wait_seconds = SecondsOf(sums.wait_ns);
  if (sums.wait_cpu_ns.has_value()) row->gpu_wait_cpu_seconds = SecondsOf(*sums.wait_cpu_ns);
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
    log.rows.push_back({std::string(section.path), std::string(section.of), section.sums});
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
  const auto set = [&take](std::string_view of, SectionRow* row) { SetAllocated(take(of, row->path), row); };
  SetSections(sections, process_sections, set, [&by_section](SectionRow* other) {
    std::optional<AllocationSums> rest;
    for (const auto& [section, sums] : by_section) {
      if (section.first != kOfProcess) AddSection(*sums, &rest);
    }
    SetAllocated(rest.value_or(None()), other);
  });
  return findings;
}

void GpuTable::Keep(uint32_t log, const State& state) {
  State& kept = states_[log];
  if (std::tie(kept.is_last, kept.time_ns) < std::tie(state.is_last, state.time_ns)) kept = state;
}

void GpuTable::Add(const LogRef& log, const GpuFact& fact) {
  Keep(log.index,
       {fact.time_ns, fact.is_last, std::string(fact.reason), fact.busy_ns.value_or(0), fact.lost.value_or(0)});
  for (const GpuRowFact& row : fact.rows) {
    by_section_[{!row.chunk.has_value(), std::string(row.section)}].Add(row.work);
    if (!row.chunk.has_value()) continue;
    by_dataset_[std::string(row.dataset)].Add(row.work);
    by_chunk_[{log.index, *row.chunk}].Add(row.work);
  }
  for (const GpuKernelFact& row : fact.kernels) {
    kernels_[{std::string(row.section), std::string(row.dataset), std::string(row.name)}].Add(row);
  }
}

void GpuTable::Merge(const GpuTable& other, const std::vector<uint32_t>& logs) {
  for (const auto& [log, state] : other.states_) Keep(logs[log], state);
  for (const auto& [section, sums] : other.by_section_) by_section_[section].Add(sums);
  for (const auto& [dataset, sums] : other.by_dataset_) by_dataset_[dataset].Add(sums);
  for (const auto& [key, sums] : other.by_chunk_) by_chunk_[{logs[key.first], key.second}].Add(sums);
  for (const auto& [name, kernel] : other.kernels_) kernels_[name].Add(kernel);
}

GpuFindings GpuTable::Finalize(const std::vector<AttemptKey>& results, std::vector<SectionRow>* sections,
                               std::vector<SectionRow>* process_sections) const {
  GpuFindings findings;
  findings.was_asked = !states_.empty();
  int64_t busy_ns = 0, lost = 0;
  bool has_ended = true;
  for (const auto& [log, state] : states_) {
    if (!state.reason.empty() && (findings.reason.empty() || state.reason < findings.reason)) {
      findings.reason = state.reason;
    }
    busy_ns = AddCounts(busy_ns, state.busy_ns);
    lost = AddCounts(lost, state.lost);
    has_ended = has_ended && state.is_last;
  }
  if (!findings.was_asked) return findings;
  if (findings.reason.empty() && !has_ended) {
    findings.reason = "a process has not ended, or was killed: what GPUs did for it last is not known";
  }
  if (findings.reason.empty() && lost > 0) {
    findings.reason = fmt::format("the places or times of {} kernels and copies are not known", lost);
  }
  for (const auto& [name, kernel] : kernels_) {
    const auto& [section, dataset, mangled] = name;
    findings.kernels.push_back({section, Text::OrNull(dataset), Demangled(mangled), kernel.count,
                                SecondsOf(kernel.total_ns), SecondsOf(kernel.max_ns)});
  }
  std::stable_sort(findings.kernels.begin(), findings.kernels.end(),
                   [](const GpuKernelRow& one, const GpuKernelRow& other) { return one.seconds > other.seconds; });
  if (findings.kernels.size() > kMaxKernels) findings.kernels.resize(kMaxKernels);
  if (!findings.reason.empty()) return findings;
  findings.all = findings.of_results = GpuWork();
  findings.busy_ns = busy_ns;
  findings.by_dataset = by_dataset_;
  for (const auto& [section, sums] : by_section_) findings.all->Add(sums);
  for (const auto& [key, sums] : by_chunk_) {
    if (std::binary_search(results.begin(), results.end(), key)) findings.of_results->Add(sums);
  }
  auto left = by_section_;
  const auto take = [&left](bool is_outside, const std::string& path) {
    const auto found = left.find({is_outside, path});
    if (found == left.end()) return GpuWork();
    const GpuWork sums = found->second;
    left.erase(found);
    return sums;
  };
  const auto set = [&take](std::string_view of, SectionRow* row) {
    SetGpu(take(of == kOfProcess, row->path.str()), row);
  };
  SetSections(sections, process_sections, set, [&left](SectionRow* other) {
    GpuWork rest;
    for (const auto& [section, sums] : left) {
      if (!section.first) rest.Add(sums);
    }
    SetGpu(rest, other);
  });
  return findings;
}

}  // namespace crema
