// One attempt at one chunk: what the collector keeps of it after its line was read.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROW_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROW_H_

#include <cstdint>

#include "collector/records/attempt_state.h"

namespace crema {

/// What other threads and child processes added to an attempt; most attempts have none, so it lives in a table of its
/// own. CPU time and run delay that were not measured are `AttemptRow::kUnknown`.
struct HelperTimes {
  int64_t cpu_ns = 0;
  int64_t cpu_wait_ns = 0;
  int64_t scope_ns = 0;  ///< sum of the helpers' scopes
  int64_t union_ns = 0;  ///< length of the union of their intervals
  // Of `cpu_ns` and `scope_ns`; `union_ns` has the same, since the owner waits for what they compute.
  int64_t unannounced_ns = 0;  ///< CPU time of threads without guards
  int64_t children_ns = 0;     ///< CPU time of child processes
};

/// Compact on purpose: millions of chunks are kept. A field that was not measured is `kUnknown`.
struct AttemptRow {
  static constexpr int64_t kUnknown = -1;
  static constexpr uint32_t kNone = 0xffffffff;

  uint64_t chunk_id = 0;  ///< hash of (run, pass, dataset, file, tree, entry range), or of (process, number)
  int64_t start_ns = 0;   ///< Unix time
  int64_t duration_ns =
      kUnknown;              ///< without suspension; unknown for lost and open attempts; of unrecorded ones the most
  int64_t suspended_ns = 0;  ///< between start and stop, on no thread
  int64_t events = kUnknown;
  int64_t cpu_ns = kUnknown;         ///< the owner thread's CPU time
  int64_t cpu_wait_ns = kUnknown;    ///< the owner's run delay
  int64_t system_cpu_ns = kUnknown;  ///< of `cpu_ns`: in the kernel
  int64_t minor_faults = kUnknown;   ///< the owner's, as the next
  int64_t major_faults = kUnknown;
  int64_t rss_start_bytes = kUnknown;
  int64_t rss_stop_bytes = kUnknown;
  int64_t number = 0;         ///< the record's `chunk` number, unique in its log
  uint32_t helpers = kNone;   ///< index into the table of HelperTimes
  uint32_t process = 0;       ///< index into the table of ProcessRow: of the worker that ran it
  uint32_t input = 0;         ///< index into the table of (dataset, file, tree)
  uint32_t thread = 0;        ///< index into the table of threads
  uint32_t recorder = kNone;  ///< index of the process that recorded it, where a worker starts one for each task
  uint16_t lanes_peak = 0;    ///< 0: not recorded
  AttemptState status = AttemptState::kOk;
  bool is_result = false;  ///< the ok attempt of its chunk that stopped last

  uint32_t recording_process() const { return recorder == kNone ? process : recorder; }
  int64_t stop_ns() const { return start_ns + (duration_ns < 0 ? 0 : duration_ns + suspended_ns); }
};
static_assert(sizeof(AttemptRow) <= 128, "millions of chunks are kept");

/// What rows are ordered by within a process.
struct RowPlace {
  explicit RowPlace(const AttemptRow& row)
      : number(row.number),
        start_ns(row.start_ns),
        duration_ns(row.duration_ns),
        chunk_id(row.chunk_id),
        status(row.status) {}
  RowPlace() = default;

  friend bool operator<(const RowPlace& a, const RowPlace& b) {
    if (a.number != b.number) return a.number < b.number;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.duration_ns != b.duration_ns) return a.duration_ns < b.duration_ns;
    if (a.chunk_id != b.chunk_id) return a.chunk_id < b.chunk_id;
    return a.status < b.status;
  }

  int64_t number = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  uint64_t chunk_id = 0;
  AttemptState status = AttemptState::kOk;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROW_H_
