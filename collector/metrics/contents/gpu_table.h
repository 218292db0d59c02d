// What GPUs did for chunks and sections (docs/gpu.md).
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_GPU_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_GPU_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/contents/section_sums.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// What GPUs did for a section, without the sections inside it, or for whatever else launched it.
struct GpuSums {
  int64_t launches = 0;
  int64_t kernel_ns = 0;  ///< of kernels on the devices, added up
  int64_t copies = 0;
  int64_t copy_ns = 0;
  int64_t to_device_bytes = 0;
  int64_t from_device_bytes = 0;
  int64_t on_device_bytes = 0;
  int64_t wait_ns = 0;                     ///< of threads inside CUDA's synchronisations and copies
  std::optional<int64_t> wait_cpu_ns = 0;  ///< of this, CPU time: they spun; nullopt: not known

  void Add(const GpuSums& other);
};

/// The row's figures of kernels and copies.
template <class Row>
void SetGpuWork(const GpuSums& sums, Row* row) {
  row->gpu_seconds = SecondsOf(sums.kernel_ns);
  row->gpu_launches = sums.launches;
  row->gpu_copy_seconds = SecondsOf(sums.copy_ns);
  row->gpu_to_device_bytes = sums.to_device_bytes;
  row->gpu_from_device_bytes = sums.from_device_bytes;
}

struct GpuFindings {
  bool was_asked = false;             ///< some process counted, or should have
  std::string reason;                 ///< why figures are not known; empty: they are, or nobody asked
  std::optional<GpuSums> all;         ///< of all processes that record, outside chunks too; nullopt: not known
  std::optional<GpuSums> of_results;  ///< of chunks that are results
  std::optional<int64_t> busy_ns;     ///< in which a device worked for a process; sum over processes
  std::vector<GpuKernelRow> kernels;  ///< longest first
  std::map<std::string, GpuSums> by_dataset;
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
  };
  void Keep(uint32_t log, const State& state);

  std::map<uint32_t, State> states_;                            // by log
  std::map<std::pair<bool, std::string>, GpuSums> by_section_;  // outside chunks?, path
  std::map<std::string, GpuSums> by_dataset_;
  absl::flat_hash_map<AttemptKey, GpuSums> by_chunk_;
  std::map<std::tuple<std::string, std::string, std::string>, Kernel> kernels_;  // section, dataset, name
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_GPU_TABLE_H_
