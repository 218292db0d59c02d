// Memory sections summed over ended attempts (docs/metrics.md, "memory_sections").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_MEMORY_SECTION_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_MEMORY_SECTION_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/grouped_sums.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/facts.h"

namespace crema {

/// Accumulator of the `memory_sections` of chunk lines.
class MemorySectionTable {
 public:
  static constexpr size_t kMaxPaths = 1000;  ///< docs/limits.md, "Kept short"

  void Add(const ChunkFact& chunk) { Add(chunk.memory_sections, 1); }
  void Add(const SumsFact& sums) { Add(sums.memory_sections, sums.chunks); }
  void Merge(const MemorySectionTable& other) { paths_.Merge(other.paths_); }
  /// Rows by path, last the one of all that found no room, if any did. `dropped`: how many readings that were.
  std::vector<MemorySectionRow> Finalize(int64_t* dropped) const;

 private:
  struct Path {
    int64_t count = 0;
    int64_t chunks = 0;
    KnownSum delta_bytes;
    std::optional<int64_t> min_bytes;
    // (delta, stop, start): the largest is kept, so the order of records does not matter.
    std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>> largest;
    std::optional<int64_t> peak_bytes;

    void Add(const Path& other);
  };
  void Add(const std::vector<MemorySectionFact>& sections, int64_t chunks);

  GroupedSums<Path> paths_{kMaxPaths};
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_MEMORY_SECTION_TABLE_H_
