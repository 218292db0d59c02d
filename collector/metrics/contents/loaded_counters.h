// What libraries count that crema loads into programs: allocations (docs/inside.md) and work of GPUs (docs/gpu.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/contents/section_table.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

struct AllocationFindings {
  bool was_asked = false;             ///< some process counted, or should have
  std::string reason;                 ///< why figures are not known; empty: they are, or nobody asked
  std::optional<AllocationSums> all;  ///< of all processes that record; nullopt: not known
  std::optional<int64_t> cost_ns;     ///< what counting cost them
};

/// Accumulator of `allocations` lines. A line holds all since its process began, so the last one of each log counts.
class AllocationTable {
 public:
  /// `log_hash`: the log's identity.
  void Add(uint64_t log_hash, const AllocationsFact& fact);
  void Merge(const AllocationTable& other);
  /// Sets the figures of sections inside and outside chunks. What is of no section that has a row counts for the row
  /// `(other)`; outside chunks there is none.
  AllocationFindings Finalize(std::vector<SectionRow>* sections, std::vector<SectionRow>* process_sections) const;

 private:
  struct Row {
    std::string path;
    std::string of;
    AllocationSums sums;
  };
  struct Log {
    int64_t time_ns = -1;
    bool is_last = false;
    std::string reason;
    std::optional<AllocationSums> all;
    std::optional<int64_t> cost_ns;
    std::vector<Row> rows;

    bool IsBefore(const Log& other) const;
  };

  std::map<uint64_t, Log> logs_;
};

/// The row's figures of kernels and copies.
template <class Row>
void SetGpuWork(const GpuWork& sums, Row* row) {
  row->gpu_seconds = SecondsOf(sums.kernel_ns);
  row->gpu_launches = sums.launches;
  row->gpu_copy_seconds = SecondsOf(sums.copy_ns);
  row->gpu_to_device_bytes = sums.to_device_bytes;
  row->gpu_from_device_bytes = sums.from_device_bytes;
}

struct GpuFindings {
  bool was_asked = false;             ///< some process counted, or should have
  std::string reason;                 ///< why figures are not known; empty: they are, or nobody asked
  std::optional<GpuWork> all;         ///< of all processes that record, outside chunks too; nullopt: not known
  std::optional<GpuWork> of_results;  ///< of chunks that are results
  std::optional<int64_t> busy_ns;     ///< in which a device worked for a process; sum over processes
  std::vector<GpuKernelRow> kernels;  ///< longest first
  std::map<std::string, GpuWork> by_dataset;
};

/// Accumulator of `gpu` lines.
class GpuTable {
 public:
  static constexpr size_t kMaxKernels = 200;  ///< docs/limits.md, "Kept short"

  void Add(const LogRef& log, const GpuFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const GpuTable& other, const std::vector<uint32_t>& logs);
  bool empty() const { return states_.empty(); }
  /// Sets the figures of sections inside and outside chunks. `results`: sorted.
  GpuFindings Finalize(const std::vector<AttemptKey>& results, std::vector<SectionRow>* sections,
                       std::vector<SectionRow>* process_sections) const;

 private:
  /// What the last line of a log says.
  struct State {
    int64_t time_ns = -1;
    bool is_last = false;
    std::string reason;
    int64_t busy_ns = 0;
    int64_t lost = 0;
  };
  struct Kernel {
    int64_t count = 0;
    int64_t total_ns = 0;
    int64_t max_ns = 0;

    template <class More>
    void Add(const More& more) {
      count = AddCounts(count, more.count);
      total_ns = AddCounts(total_ns, more.total_ns);
      max_ns = std::max(max_ns, more.max_ns);
    }
  };
  void Keep(uint32_t log, const State& state);

  std::map<uint32_t, State> states_;                            // by log
  std::map<std::pair<bool, std::string>, GpuWork> by_section_;  // outside chunks?, path
  std::map<std::string, GpuWork> by_dataset_;
  absl::flat_hash_map<AttemptKey, GpuWork> by_chunk_;
  std::map<std::tuple<std::string, std::string, std::string>, Kernel> kernels_;  // section, dataset, name
};

}  // namespace crema
