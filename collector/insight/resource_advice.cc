#include "collector/insight/resource_advice.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// Ranks, from 1 on, of the values that bound the quantile.
struct Ranks {
  size_t low = 1;
  std::optional<size_t> high;
};

/// How many of n values lie below the quantile is binomial: the ranks that leave 2.5 % outside at either end.
Ranks RanksOf(size_t n) {
  constexpr double kOutside = 0.025;
  const auto count = static_cast<double>(n);
  const double log_below = std::log(kRequestQuantile), log_above = std::log1p(-kRequestQuantile);
  const auto chance_of = [&](double k) {
    const double ways = std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1);
    return std::exp(ways + k * log_below + (count - k) * log_above);
  };
  Ranks ranks;
  double below = 0;  // chance that at most k values lie below: that of rank k + 1 is then above the quantile
  for (size_t k = 0; k < n; ++k) {
    below += chance_of(static_cast<double>(k));
    if (below <= kOutside) ranks.low = k + 1;
  }
  double above = 0;  // chance that at least k values lie below: that of rank k is then below the quantile
  for (size_t k = n; k >= 1; --k) {
    above += chance_of(static_cast<double>(k));
    if (above > kOutside) break;
    ranks.high = k;
  }
  return ranks;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

UsedResource Describe(std::string resource, std::vector<double> used, const std::vector<double>& requested) {
  UsedResource row;
  row.resource = std::move(resource);
  row.jobs = static_cast<double>(used.size());
  if (!requested.empty()) row.requested = Median(requested);
  if (!kJobsOfRequest.Holds(row.jobs)) {
    row.reason = fmt::format("fewer than {:g} jobs reported what they used: their {:g} % quantile is just the largest",
                             kJobsOfRequest.value, kRequestQuantile * 100);
    return row;
  }
  std::sort(used.begin(), used.end());
  const auto rank = static_cast<size_t>(std::ceil(kRequestQuantile * row.jobs));
  const Ranks ranks = RanksOf(used.size());
  row.used = used[rank - 1];
  row.used_low = used[ranks.low - 1];
  if (ranks.high.has_value()) {
    row.used_high = used[*ranks.high - 1];
  } else {
    row.reason = "there are too few jobs for an upper end: even the largest may be below the quantile";
  }
  return row;
}

}  // namespace

std::vector<UsedResource> AdviseResources(const Measurement& measurement) {
  std::vector<double> peaks, memory, used_cores, cores;
  bool has_jobs = false;
  for (const WorkerRow& worker : measurement.workers) {
    const std::optional<double> cpu = worker.engine_cpu;
    const std::optional<double> engine_peak = worker.engine_peak_memory_bytes;
    const std::optional<double> time_limit = worker.time_limit;
    if (!cpu.has_value() && !engine_peak.has_value() && !time_limit.has_value()) continue;
    has_jobs = true;
    // One that was ended early would have used more.
    const bool is_over = worker.state.str() == "ended";
    const std::optional<double> peak = std::max<std::optional<double>>(engine_peak, worker.peak_memory_bytes);
    if (peak.has_value() && is_over) peaks.push_back(*peak);
    if (worker.memory_limit_bytes.has_value()) memory.push_back(*worker.memory_limit_bytes);
    const double seconds = worker.stop.value_or(0) - worker.start.value_or(0);
    if (cpu.has_value() && is_over && kSecondsOfJob.Holds(seconds)) used_cores.push_back(*cpu / seconds);
    if (worker.cores.has_value()) cores.push_back(*worker.cores);
  }
  if (!has_jobs) return {};
  return {Describe("memory", std::move(peaks), memory), Describe("cores", std::move(used_cores), cores)};
}

std::vector<ResourceAdviceRow> ResourceAdviceRows(const std::vector<UsedResource>& advice) {
  std::vector<ResourceAdviceRow> rows;
  for (const UsedResource& each : advice) {
    rows.push_back({each.resource, static_cast<int64_t>(each.jobs), each.requested, each.used, each.used_low,
                    each.used_high, Text::OrNull(each.reason)});
  }
  return rows;
}

}  // namespace crema
