// The one conversion of what a record says of a chunk, or of summed chunks, to the row that all figures are made from.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ROW_OF_CHUNK_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ROW_OF_CHUNK_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/facts.h"

namespace crema {

inline int64_t OrUnknown(const std::optional<int64_t>& value) { return value.value_or(AttemptRow::kUnknown); }

/// Threads without guards and child processes count as helpers that do nothing but compute.
template <class Fact>
HelperTimes WithUnannounced(HelperTimes helpers, const Fact& fact) {
  helpers.unannounced_ns = fact.unannounced_cpu_ns.value_or(0);
  helpers.children_ns = fact.children_cpu_ns.value_or(0);
  const int64_t cpu_ns = AddCounts(helpers.unannounced_ns, helpers.children_ns);
  if (helpers.scope_ns <= 0) {  // there were no helpers: nothing of theirs is unknown
    helpers.cpu_ns = std::max<int64_t>(helpers.cpu_ns, 0);
    helpers.cpu_wait_ns = std::max<int64_t>(helpers.cpu_wait_ns, 0);
  }
  if (helpers.cpu_ns >= 0) helpers.cpu_ns = AddCounts(helpers.cpu_ns, cpu_ns);
  helpers.scope_ns = AddCounts(helpers.scope_ns, cpu_ns);
  helpers.union_ns = AddCounts(helpers.union_ns, cpu_ns);
  return helpers;
}

/// Whether threads without guards and child processes did more than their clocks differ by when they are read.
inline bool HasUnannounced(const ChunkFact& fact) {
  constexpr int64_t kLeastShare = 1000;  // one in so many
  const int64_t cpu_ns = AddCounts(fact.unannounced_cpu_ns.value_or(0), fact.children_cpu_ns.value_or(0));
  return cpu_ns > fact.duration_ns() / kLeastShare;
}

/// What helpers added; nullopt where the record has none of them.
inline std::optional<HelperTimes> HelpersOf(const ChunkFact& fact) {
  const HelperTimes announced = {OrUnknown(fact.helper_cpu_ns), OrUnknown(fact.helper_wait_ns),
                                 fact.helper_scope_ns.value_or(0), fact.helper_union_ns.value_or(0)};
  if (HasUnannounced(fact)) return WithUnannounced(announced, fact);
  if (fact.helper_cpu_ns.value_or(0) <= 0 && fact.helper_wait_ns.value_or(0) <= 0 &&
      fact.helper_scope_ns.value_or(0) <= 0 && fact.helper_union_ns.value_or(0) <= 0) {
    return std::nullopt;
  }
  return announced;
}

/// Lanes that were busy at once. Threads without guards and child processes are no lanes of the record; what they
/// computed beside the owner needs as many as it takes.
template <class Fact>
std::optional<int64_t> LanesPeakOf(const Fact& fact, int64_t duration_ns) {
  const int64_t others_ns = AddCounts(fact.unannounced_cpu_ns.value_or(0), fact.children_cpu_ns.value_or(0));
  if (others_ns == 0 || duration_ns <= 0 || !fact.lanes_peak.has_value()) return fact.lanes_peak;
  constexpr double kHardlyOne = 0.1;  // of a lane: clocks are not read at one moment
  const double cpu_ns = static_cast<double>(fact.cpu_ns.value_or(0)) + static_cast<double>(others_ns);
  const double lanes = std::ceil(cpu_ns / static_cast<double>(duration_ns) - kHardlyOne);
  constexpr int64_t kMost = std::numeric_limits<decltype(AttemptRow::lanes_peak)>::max();
  return std::max(*fact.lanes_peak, lanes < static_cast<double>(kMost) ? static_cast<int64_t>(lanes) : kMost);
}
inline std::optional<int64_t> LanesPeakOf(const ChunkFact& fact) { return LanesPeakOf(fact, fact.duration_ns()); }
inline std::optional<int64_t> LanesPeakOf(const SumsFact& fact) { return LanesPeakOf(fact, fact.duration_ns); }

/// The sum of what helpers added; their union is what owners waited for them.
inline HelperTimes HelpersOf(const SumsFact& fact) {
  return WithUnannounced({OrUnknown(fact.helper_cpu_ns), OrUnknown(fact.helper_wait_ns), fact.helper_scope_ns,
                          fact.helper_joined_ns.value_or(fact.helper_union_ns)},
                         fact);
}

/// What the kernel did for it: the same names in both kinds of lines.
template <class Fact>
void AddKernelWork(const Fact& fact, AttemptRow& row) {
  row.system_cpu_ns = OrUnknown(fact.system_cpu_ns);
  row.minor_faults = OrUnknown(fact.minor_faults);
  row.major_faults = OrUnknown(fact.major_faults);
}

/// Times, events, memory and status of a chunk that ended, without its names and its identity.
inline AttemptRow RowOf(const ChunkFact& fact) {
  AttemptRow row;
  row.start_ns = fact.start_ns;
  row.duration_ns = fact.duration_ns();
  row.suspended_ns = fact.stop_ns - fact.start_ns - row.duration_ns;
  row.events = OrUnknown(fact.events);
  row.cpu_ns = OrUnknown(fact.cpu_ns);
  row.cpu_wait_ns = OrUnknown(fact.cpu_wait_ns);
  AddKernelWork(fact, row);
  row.rss_start_bytes = OrUnknown(fact.rss_start_bytes);
  row.rss_stop_bytes = OrUnknown(fact.rss_stop_bytes);
  row.number = fact.number;
  row.lanes_peak = static_cast<uint16_t>(
      std::min<int64_t>(LanesPeakOf(fact).value_or(0), std::numeric_limits<decltype(row.lanes_peak)>::max()));
  row.status = fact.failed ? AttemptState::kFailed : AttemptState::kOk;
  return row;
}

/// The same of chunks that were summed, as if they were one.
inline AttemptRow RowOf(const SumsFact& fact) {
  AttemptRow row;
  row.start_ns = fact.first_start_ns;
  row.duration_ns = fact.duration_ns;
  row.events = OrUnknown(fact.events);
  row.cpu_ns = OrUnknown(fact.cpu_ns);
  row.cpu_wait_ns = OrUnknown(fact.cpu_wait_ns);
  AddKernelWork(fact, row);
  row.lanes_peak = static_cast<uint16_t>(
      std::min<int64_t>(LanesPeakOf(fact).value_or(0), std::numeric_limits<decltype(row.lanes_peak)>::max()));
  row.status = fact.failed ? AttemptState::kFailed : AttemptState::kOk;
  row.is_result = !fact.failed;
  return row;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ROW_OF_CHUNK_H_
