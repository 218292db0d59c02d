// What processes allocated, by section (docs/inside.md, "Allocations").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_ALLOCATION_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_ALLOCATION_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/contents/section_sums.h"
#include "collector/records/facts.h"

namespace crema {

/// What a section allocated itself, without the sections inside it.
struct AllocationSums {
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  std::optional<int64_t> live_bytes;       ///< when recording ended; sum over processes
  std::optional<int64_t> peak_live_bytes;  ///< the largest of one process
  /// `live_bytes` less what was live when a quarter to half of the chunks had ended; the largest of one process.
  std::optional<int64_t> live_growth_bytes;
};

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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_ALLOCATION_TABLE_H_
