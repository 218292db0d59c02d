// Sections inside chunks, summed over ended attempts (docs/metrics.md, "sections, process_sections").
#pragma once

#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/metrics/statistics/quantiles.h"
#include "collector/records/facts.h"

namespace crema {

/// One path of sections summed over many records, as rows of the document.
/// Exact sums; nanoseconds.
struct SectionSums {
  int64_t count = 0;
  absl::int128 total_ns = 0;
  absl::int128 self_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();  ///< of one call; the largest integer: not known
  int64_t max_ns = -1;                                   ///< of one call; -1: not known
  absl::int128 cpu_ns = 0;
  bool has_cpu = false;
  int64_t failed = 0;

  void Add(const SectionFact& section) {
    constexpr int64_t kNoMin = std::numeric_limits<int64_t>::max();
    Add({section.count, section.total_ns, section.self_ns, section.min_ns.value_or(kNoMin), section.max_ns.value_or(-1),
         section.cpu_ns.value_or(0), section.cpu_ns.has_value(), section.failed});
  }
  void Add(const SectionSums& other) {
    count = SaturatingAdd(count, other.count);
    total_ns += other.total_ns;
    self_ns += other.self_ns;
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    cpu_ns += other.cpu_ns;
    has_cpu |= other.has_cpu;
    failed = SaturatingAdd(failed, other.failed);
  }
};

inline double SecondsOf(absl::int128 nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

/// The row's fields that come from the sums alone.
inline SectionRow RowOf(std::string path, bool helper, const SectionSums& sums) {
  SectionRow row;
  row.path = std::move(path);
  row.helper = helper;
  row.count = sums.count;
  row.total = SecondsOf(sums.total_ns);
  row.self = SecondsOf(sums.self_ns);
  if (sums.min_ns != std::numeric_limits<int64_t>::max()) row.min = SecondsOf(sums.min_ns);
  if (sums.max_ns >= 0) row.max = SecondsOf(sums.max_ns);
  if (sums.count > 0) row.mean = SecondsOf(sums.total_ns) / static_cast<double>(sums.count);
  if (sums.has_cpu) row.cpu = SecondsOf(sums.cpu_ns);
  row.failed = sums.failed;
  return row;
}

/// The owner's rows first, then the helpers', each as a tree in pre-order; siblings by total time, largest first, then
/// by name. A parent that has no row of its own weighs what its children weigh.
void OrderAsTree(std::vector<SectionRow>& rows);

struct SectionFindings {
  std::vector<SectionRow> rows;     ///< as a tree, `(other)` last; empty without ended attempts
  absl::int128 other_self_ns = 0;   ///< owners' time outside every section that has a row
  int64_t sections_dropped = 0;     ///< paths that found no room, by the SDK's count and here
  int64_t inconsistent_chunks = 0;  ///< attempts whose sections claim more than their duration, and are unused
};

/// Accumulator of `chunk` lines. Conservation: the owner rows' `self` and `(other)` add up to the durations, exactly.
class SectionTable {
 public:
  /// docs/limits.md, "Kept short". Shallow paths stay before deep ones.
  static constexpr size_t kMaxPaths = 1000;

  void Add(const ChunkFact& chunk);
  /// Quantiles stay those of chunks with lines, and in how many chunks a path ran is not known then.
  void Add(const SumsFact& sums);
  void Merge(const SectionTable& other);
  /// `nested_ns`: of the durations, what counts elsewhere (`AttemptFindings`).
  SectionFindings Finalize(int64_t nested_ns = 0) const;

 private:
  struct Path {
    SectionSums sums;
    int64_t chunks = 0;
    bool has_sums = false;    // of chunks without a line: `chunks` is not a count then
    QuantileSketch total_ns;  // of one chunk

    void Add(const Path& other) {
      sums.Add(other.sums);
      chunks += other.chunks;
      has_sums |= other.has_sums;
      total_ns.Merge(other.total_ns);
    }
  };
  /// Adds attempts and their time outside sections. Returns whether their sections, of which `tolerance_ns` may be
  /// rounding, fit into their duration.
  template <class Fact>
  bool AddWhole(const Fact& fact, int64_t chunks, int64_t duration_ns, int64_t tolerance_ns);
  /// Until the next call.
  std::string_view KeyOf(const SectionFact& section);
  static uint64_t RankOf(std::string_view key);

  GroupedSums<Path, ChunkCount, RankOf> paths_{kMaxPaths};  // by the path after one letter: `o`wner or `h`elper
  Path other_;                                              // per attempt
  int64_t attempts_ = 0;
  bool has_sums_ = false;
  absl::int128 duration_ns_ = 0;
  absl::int128 helpers_ns_ = 0;
  int64_t sections_dropped_ = 0;
  int64_t inconsistent_chunks_ = 0;
  std::string key_;  // reused
};

}  // namespace crema
