#include "collector/metrics/contents/gpu_table.h"

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

// As the source has it; what is no mangled name stays.
std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

GpuSums SumsOf(const GpuRowFact& row) {
  return {row.launches,          row.kernel_ns,       row.copies,  row.copy_ns,    row.to_device_bytes,
          row.from_device_bytes, row.on_device_bytes, row.wait_ns, row.wait_cpu_ns};
}

void SetGpu(const GpuSums& sums, SectionRow* row) {
  SetGpuWork(sums, row);
  row->gpu_wait_seconds = SecondsOf(sums.wait_ns);
  if (sums.wait_cpu_ns.has_value()) row->gpu_wait_cpu_seconds = SecondsOf(*sums.wait_cpu_ns);
}

}  // namespace

void GpuSums::Add(const GpuSums& other) {
  for (const auto member :
       {&GpuSums::launches, &GpuSums::kernel_ns, &GpuSums::copies, &GpuSums::copy_ns, &GpuSums::to_device_bytes,
        &GpuSums::from_device_bytes, &GpuSums::on_device_bytes, &GpuSums::wait_ns}) {
    this->*member = AddCounts(this->*member, other.*member);
  }
  wait_cpu_ns = wait_cpu_ns.has_value() && other.wait_cpu_ns.has_value()
                    ? std::optional<int64_t>(AddCounts(*wait_cpu_ns, *other.wait_cpu_ns))
                    : std::nullopt;
}

void GpuTable::Keep(uint32_t log, const State& state) {
  State& kept = states_[log];
  if (std::tie(kept.is_last, kept.time_ns) < std::tie(state.is_last, state.time_ns)) kept = state;
}

void GpuTable::Add(const LogRef& log, const GpuFact& fact) {
  Keep(log.index,
       {fact.time_ns, fact.is_last, std::string(fact.reason), fact.busy_ns.value_or(0), fact.lost.value_or(0)});
  for (const GpuRowFact& row : fact.rows) {
    const GpuSums sums = SumsOf(row);
    by_section_[{!row.chunk.has_value(), std::string(row.section)}].Add(sums);
    if (!row.chunk.has_value()) continue;
    by_dataset_[std::string(row.dataset)].Add(sums);
    by_chunk_[{log.index, *row.chunk}].Add(sums);
  }
  for (const GpuKernelFact& row : fact.kernels) {
    Kernel& kernel = kernels_[{std::string(row.section), std::string(row.dataset), std::string(row.name)}];
    kernel.count = AddCounts(kernel.count, row.count);
    kernel.total_ns = AddCounts(kernel.total_ns, row.total_ns);
    kernel.max_ns = std::max(kernel.max_ns, row.max_ns);
  }
}

void GpuTable::Merge(const GpuTable& other, const std::vector<uint32_t>& logs) {
  for (const auto& [log, state] : other.states_) Keep(logs[log], state);
  for (const auto& [section, sums] : other.by_section_) by_section_[section].Add(sums);
  for (const auto& [dataset, sums] : other.by_dataset_) by_dataset_[dataset].Add(sums);
  for (const auto& [key, sums] : other.by_chunk_) by_chunk_[{logs[key.first], key.second}].Add(sums);
  for (const auto& [name, more] : other.kernels_) {
    Kernel& kernel = kernels_[name];
    kernel.count = AddCounts(kernel.count, more.count);
    kernel.total_ns = AddCounts(kernel.total_ns, more.total_ns);
    kernel.max_ns = std::max(kernel.max_ns, more.max_ns);
  }
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
  findings.all = findings.of_results = GpuSums();
  findings.busy_ns = busy_ns;
  findings.by_dataset = by_dataset_;
  for (const auto& [section, sums] : by_section_) findings.all->Add(sums);
  for (const auto& [key, sums] : by_chunk_) {
    if (std::binary_search(results.begin(), results.end(), key)) findings.of_results->Add(sums);
  }
  auto left = by_section_;
  const auto take = [&left](bool is_outside, const std::string& path) {
    const auto found = left.find({is_outside, path});
    if (found == left.end()) return GpuSums();
    const GpuSums sums = found->second;
    left.erase(found);
    return sums;
  };
  for (SectionRow& row : *process_sections) SetGpu(take(true, row.path.str()), &row);
  SectionRow* other = nullptr;
  // A helper's launches are in the section of the chunk that it works for, as its path says.
  for (const bool is_helper : {true, false}) {
    for (SectionRow& row : *sections) {
      if (*row.helper != is_helper) continue;
      if (row.path == kOtherName && !*row.helper) {
        other = &row;
      } else {
        SetGpu(take(false, row.path.str()), &row);
      }
    }
  }
  if (other != nullptr) {
    GpuSums rest;
    for (const auto& [section, sums] : left) {
      if (!section.first) rest.Add(sums);
    }
    SetGpu(rest, other);
  }
  return findings;
}

}  // namespace crema
