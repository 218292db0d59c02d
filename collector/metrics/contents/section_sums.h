// One path of sections summed over many records, as rows of the document.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_SUMS_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/facts.h"

namespace crema {

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
    count = AddCounts(count, section.count);
    total_ns += section.total_ns;
    self_ns += section.self_ns;
    if (section.min_ns.has_value()) min_ns = std::min(min_ns, *section.min_ns);
    if (section.max_ns.has_value()) max_ns = std::max(max_ns, *section.max_ns);
    if (section.cpu_ns.has_value()) {
      cpu_ns += *section.cpu_ns;
      has_cpu = true;
    }
    failed = AddCounts(failed, section.failed);
  }
  void Add(const SectionSums& other) {
    count = AddCounts(count, other.count);
    total_ns += other.total_ns;
    self_ns += other.self_ns;
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    cpu_ns += other.cpu_ns;
    has_cpu |= other.has_cpu;
    failed = AddCounts(failed, other.failed);
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_SUMS_H_
