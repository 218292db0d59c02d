// One attempt at one chunk: what the collector keeps of it after its line was read.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROW_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROW_H_

#include <cstdint>

namespace crema {

enum class AttemptStatus : uint8_t {
  kOk,
  kFailed,
  kLost,        // begun, and its process ended or vanished
  kOpen,        // begun, and its process still runs (a live job)
  kUnrecorded,  // ended, and the record of it is lost: whether it was ok, and when it ended, is not known
};

/// What helper threads added to an attempt; most attempts have none, so it lives in a table of its own. CPU time and
/// run delay that were not measured are `AttemptRow::kUnknown`.
struct HelperTimes {
  int64_t cpu_ns = 0;
  int64_t cpu_wait_ns = 0;
  int64_t scope_ns = 0;  ///< sum of the helpers' scopes
  int64_t union_ns = 0;  ///< length of the union of their intervals
};

/// Compact on purpose: millions of chunks are kept. A field that was not measured is `kUnknown`.
struct AttemptRow {
  static constexpr int64_t kUnknown = -1;
  static constexpr uint32_t kNone = 0xffffffff;

  uint64_t chunk_id = 0;           ///< hash of (run, pass, dataset, file, tree, entry range), or of (process, number)
  int64_t start_ns = 0;            ///< Unix time
  int64_t duration_ns = kUnknown;  ///< stop - start; unknown for lost and open attempts; of unrecorded ones the most
  int64_t events = kUnknown;
  int64_t cpu_ns = kUnknown;       ///< the owner thread's CPU time
  int64_t cpu_wait_ns = kUnknown;  ///< the owner's run delay
  int64_t rss_start_bytes = kUnknown;
  int64_t rss_stop_bytes = kUnknown;
  int64_t number = 0;        ///< the record's `chunk` number, unique in its log
  uint32_t helpers = kNone;  ///< index into the table of HelperTimes
  uint32_t process = 0;      ///< index into the table of ProcessRow
  uint32_t input = 0;        ///< index into the table of (dataset, file, tree)
  uint32_t thread = 0;       ///< index into the table of threads
  uint16_t lanes_peak = 0;   ///< 0: not recorded
  AttemptStatus status = AttemptStatus::kOk;
  bool is_result = false;  ///< the ok attempt of its chunk that stopped last

  int64_t stop_ns() const { return start_ns + (duration_ns < 0 ? 0 : duration_ns); }
};
static_assert(sizeof(AttemptRow) <= 96, "millions of chunks are kept");

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_ROW_H_
