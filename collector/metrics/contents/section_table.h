// Sections inside chunks, summed over ended attempts (docs/metrics.md, "sections, process_sections").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "collector/metrics/contents/section_sums.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/names_by_position.h"
#include "collector/metrics/statistics/quantile_sketch.h"
#include "collector/records/facts.h"

namespace crema {

struct SectionFindings {
  std::vector<SectionRow> rows;    ///< as a tree, `(other)` last; empty without ended attempts
  absl::int128 other_self_ns = 0;  ///< owners' time outside every section that has a row
  int64_t sections_dropped = 0;    ///< paths that found no room, by the SDK's count and here
  int64_t inconsistent_chunks =
      0;  ///< attempts whose sections claim more than their duration; their sections are unused
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
    bool has_sums = false;    // of chunks without a line: `chunks` is no count then
    QuantileSketch total_ns;  // of one chunk
  };

  Path* Find(std::string_view path, bool helper);
  uint32_t IndexOf(std::string_view path, bool helper);
  void MakeRoom();
  void Renumber(const Renumbering& renumbering);

  BoundedNames names_{kMaxPaths};  // the path after one letter: `o`wner or `h`elper
  std::vector<Path> paths_;
  Path other_;  // per attempt
  int64_t attempts_ = 0;
  bool has_sums_ = false;
  absl::int128 duration_ns_ = 0;
  absl::int128 helpers_ns_ = 0;
  int64_t sections_dropped_ = 0;
  int64_t inconsistent_chunks_ = 0;
  std::string name_;  // reused
  NamesByPosition recent_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_TABLE_H_
