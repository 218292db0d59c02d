// Attempts summed by dataset, file, worker, host or thread (docs/metrics.md, "Tables").
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_BREAKDOWN_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_BREAKDOWN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/statistics/byte_sums.h"

namespace crema {

/// `chunks` and `events` are of results, `attempts failed lost` of all attempts, the rest of ended ones: quantiles and
/// `rss_delta_mean` of those that have a line. Seconds, bytes. nullopt: not measured, as counts of attempts and times
/// are where the row is not from records.
struct BreakdownRow {
  std::string name;
  uint32_t group = 0;  ///< the index it was grouped by
  std::optional<int64_t> chunks;
  std::optional<int64_t> attempts;
  std::optional<int64_t> failed;
  std::optional<int64_t> lost;
  std::optional<int64_t> events;
  std::optional<int64_t> bytes_read;
  std::optional<int64_t> bytes_uncompressed;
  std::optional<double> duration_sum;
  std::optional<double> duration_mean;
  std::optional<double> duration_p50;
  std::optional<double> duration_p95;
  std::optional<double> duration_max;
  std::optional<double> cpu_sum;
  std::optional<double> cpu_wait_sum;
  std::optional<double> blocked_sum;
  std::optional<double> event_rate;  ///< events per busy second
  std::optional<double> events_per_cpu_second;
  std::optional<double> rss_delta_mean;
};

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
