#include "collector/metrics/breakdown.h"

#include <algorithm>
#include <limits>

#include "collector/metrics/attempt_interval.h"
#include "collector/metrics/attempt_quantities.h"
#include "collector/metrics/known_sum.h"
#include "collector/metrics/quantile_rank.h"

namespace crema {
namespace {

struct Sums {
  int64_t chunks = 0;
  int64_t attempts = 0;
  int64_t failed = 0;
  int64_t lost = 0;
  KnownSum events;
  KnownSum cpu_ns;
  KnownSum cpu_wait_ns;
  KnownSum blocked_ns;
  KnownSum rss_delta;
  std::vector<int64_t> durations_ns;
};

std::optional<int64_t> Integer(absl::int128 sum, int64_t count) { return KnownSum{sum, count}.Integer(); }

BreakdownRow RowOf(std::string name, uint32_t group, Sums& sums, const ByteSums& bytes) {
  BreakdownRow row;
  row.name = std::move(name);
  row.group = group;
  row.chunks = sums.chunks;
  row.attempts = sums.attempts;
  row.failed = sums.failed;
  row.lost = sums.lost;
  row.events = sums.events.Integer();
  row.bytes_read = Integer(bytes.read, bytes.with_read);
  row.bytes_uncompressed = Integer(bytes.uncompressed, bytes.with_uncompressed);
  if (!sums.durations_ns.empty()) {
    absl::int128 duration_ns = 0;
    for (const int64_t value : sums.durations_ns) duration_ns += value;
    row.duration_sum = static_cast<double>(duration_ns) / 1e9;
    row.duration_mean = row.duration_sum / static_cast<double>(sums.durations_ns.size());
    row.duration_max = static_cast<double>(*std::max_element(sums.durations_ns.begin(), sums.durations_ns.end())) / 1e9;
    row.duration_p50 = static_cast<double>(ExactQuantile(sums.durations_ns, 0.50)) / 1e9;
    row.duration_p95 = static_cast<double>(ExactQuantile(sums.durations_ns, 0.95)) / 1e9;
  }
  row.cpu_sum = sums.cpu_ns.Seconds();
  row.cpu_wait_sum = sums.cpu_wait_ns.Seconds();
  row.blocked_sum = sums.blocked_ns.Seconds();
  row.event_rate = Ratio(sums.events.In(1), row.duration_sum);
  row.events_per_cpu_second = Ratio(sums.events.In(1), row.cpu_sum);
  row.rss_delta_mean = sums.rss_delta.Mean();
  return row;
}

}  // namespace

std::vector<BreakdownRow> BreakDown(const std::vector<AttemptRow>& attempts, const std::vector<HelperTimes>& helpers,
                                    const std::function<uint32_t(const AttemptRow&)>& group_of,
                                    const std::vector<std::string>& names, const std::vector<ByteSums>& bytes) {
  std::vector<Sums> groups(names.size());
  for (const AttemptRow& attempt : attempts) {
    Sums& group = groups[group_of(attempt)];
    ++group.attempts;
    group.failed += attempt.status == AttemptStatus::kFailed;
    group.lost += attempt.status == AttemptStatus::kLost;
    if (attempt.is_result) {
      ++group.chunks;
      group.events.Add(Known(attempt.events));
    }
    if (!HasEnded(attempt)) continue;
    group.durations_ns.push_back(attempt.duration_ns);
    group.cpu_ns.Add(ChunkCpu(attempt, helpers));
    group.cpu_wait_ns.Add(Known(attempt.cpu_wait_ns));
    group.blocked_ns.Add(ChunkBlocked(attempt, helpers));
    group.rss_delta.Add(RssDelta(attempt));
  }
  std::vector<BreakdownRow> rows;
  for (uint32_t group = 0; group < groups.size(); ++group) {
    if (groups[group].attempts == 0) continue;
    rows.push_back(RowOf(names[group], group, groups[group], group < bytes.size() ? bytes[group] : ByteSums()));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const BreakdownRow& a, const BreakdownRow& b) {
    return a.duration_sum != b.duration_sum ? a.duration_sum > b.duration_sum : a.name < b.name;
  });
  return rows;
}

}  // namespace crema
