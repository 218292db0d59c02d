// Attempts summed by dataset, file, worker, host or thread (METRICS.md section 4).
#ifndef CREMA_COLLECTOR_METRICS_BREAKDOWN_H_
#define CREMA_COLLECTOR_METRICS_BREAKDOWN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/attempt_row.h"
#include "collector/metrics/byte_sums.h"

namespace crema {

/// `chunks` and `events` are of results, `attempts failed lost` of all attempts, the rest of ended ones. Seconds,
/// bytes.
struct BreakdownRow {
  std::string name;
  uint32_t group = 0;  ///< the index it was grouped by
  int64_t chunks = 0;
  int64_t attempts = 0;
  int64_t failed = 0;
  int64_t lost = 0;
  std::optional<int64_t> events;
  std::optional<int64_t> bytes_read;
  std::optional<int64_t> bytes_uncompressed;
  double duration_sum = 0;
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

/// One row for each group that has an attempt, largest `duration_sum` first, then by name. `group_of` gives an
/// attempt's group, an index into `names` and `bytes` (which may be shorter: nothing was read then).
std::vector<BreakdownRow> BreakDown(const std::vector<AttemptRow>& attempts, const std::vector<HelperTimes>& helpers,
                                    const std::function<uint32_t(const AttemptRow&)>& group_of,
                                    const std::vector<std::string>& names, const std::vector<ByteSums>& bytes);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BREAKDOWN_H_
