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

/// A kernel in one section of the chunks of one dataset, on all devices.
struct GpuKernelSumRow {
  std::string section;  ///< empty: outside every section
  std::string dataset;  ///< empty: none
  std::string kernel;   ///< as the source has it
  int64_t launches = 0;
  double seconds = 0;
  double max_seconds = 0;
};

struct GpuFindings {
  bool was_asked = false;                ///< some process counted, or should have
  std::string reason;                    ///< why figures are not known; empty: they are, or nobody asked
  std::optional<GpuSums> all;            ///< of all processes that record, outside chunks too; nullopt: not known
  std::optional<GpuSums> of_results;     ///< of chunks that are results
  std::optional<int64_t> busy_ns;        ///< in which a device worked for a process; sum over processes
  std::vector<GpuKernelSumRow> kernels;  ///< longest first
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
