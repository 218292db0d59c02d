// Attempts summed by dataset, file, worker, host or thread (docs/metrics.md, "Tables").
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_BREAKDOWN_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_BREAKDOWN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/breakdowns.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/statistics/byte_sums.h"

namespace crema {

/// What one table breaks attempts down by.
struct Grouping {
  uint32_t AttemptRow::*index = nullptr;                  ///< `input`, `process` or `thread`
  const std::vector<uint32_t>* group_of_index = nullptr;  ///< nullptr: each is a group of its own
  const std::vector<std::string>* names = nullptr;        ///< by group
  const std::vector<ByteSums>* bytes = nullptr;           ///< by group; may be shorter: nothing was read then

  uint32_t GroupOf(uint32_t unit) const { return group_of_index == nullptr ? unit : (*group_of_index)[unit]; }
  size_t units() const { return group_of_index == nullptr ? names->size() : group_of_index->size(); }
};

/// A table for each grouping: one row for each group that has an attempt, largest `duration_sum` first, then by name.
std::vector<std::vector<BreakdownRow>> BreakDown(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                                                 const std::vector<HelperTimes>& helpers,
                                                 const std::vector<Grouping>& groupings);

/// The tables' order: largest `duration_sum` first, then by name.
void SortByCost(std::vector<BreakdownRow>* rows);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_BREAKDOWN_H_
