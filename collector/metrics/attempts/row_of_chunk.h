// The one conversion of what a record says of a chunk, or of summed chunks, to the row that all figures are made from.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ROW_OF_CHUNK_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ROW_OF_CHUNK_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/records/facts.h"

namespace crema {

inline int64_t OrUnknown(const std::optional<int64_t>& value) { return value.value_or(AttemptRow::kUnknown); }

/// What helpers added; nullopt where the record has none of them.
inline std::optional<HelperTimes> HelpersOf(const ChunkFact& fact) {
  if (fact.helper_cpu_ns.value_or(0) <= 0 && fact.helper_wait_ns.value_or(0) <= 0 &&
      fact.helper_scope_ns.value_or(0) <= 0 && fact.helper_union_ns.value_or(0) <= 0) {
    return std::nullopt;
  }
  return HelperTimes{OrUnknown(fact.helper_cpu_ns), OrUnknown(fact.helper_wait_ns), fact.helper_scope_ns.value_or(0),
                     fact.helper_union_ns.value_or(0)};
}

/// The sum of what helpers added; their union is what owners waited for them.
inline HelperTimes HelpersOf(const SumsFact& fact) {
  return {OrUnknown(fact.helper_cpu_ns), OrUnknown(fact.helper_wait_ns), fact.helper_scope_ns,
          fact.helper_joined_ns.value_or(fact.helper_union_ns)};
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
      std::min<int64_t>(fact.lanes_peak.value_or(0), std::numeric_limits<decltype(row.lanes_peak)>::max()));
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
      std::min<int64_t>(fact.lanes_peak.value_or(0), std::numeric_limits<decltype(row.lanes_peak)>::max()));
  row.status = fact.failed ? AttemptState::kFailed : AttemptState::kOk;
  row.is_result = !fact.failed;
  return row;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ROW_OF_CHUNK_H_
